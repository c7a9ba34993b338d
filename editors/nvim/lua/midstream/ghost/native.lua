--- Suggestions drawn by `vim.lsp.inline_completion` (Neovim 0.12 and later).
local text = require('midstream.ghost.text')

local M = {}

--- Neovim draws into this namespace, and has no public way to ask whether something is shown.
local namespace = vim.api.nvim_create_namespace('nvim.lsp.inline_completion')

--- The cursors of the questions under way, and the one whose answer came last: row and byte column.
---@type table<integer, {[1]: integer, [2]: integer}>
local asking = {}
local asked

--- Runs Neovim's own reaction to an event, in a buffer where it draws.
---@param event string
---@param bufnr integer
local function pretend(event, bufnr)
  local group = 'nvim.lsp.inline_completion:' .. bufnr
  pcall(vim.api.nvim_exec_autocmds, event, { group = group, buffer = bufnr, modeline = false })
end

local function cursor()
  local position = vim.api.nvim_win_get_cursor(0)
  return { position[1] - 1, position[2] }
end

---@param event table
local function note_question(event)
  local request, id = event.data.request, event.data.request_id
  if request.method ~= 'textDocument/inlineCompletion' then
    return
  end
  if request.type == 'pending' then
    asking[id] = cursor()
  else
    asked = request.type == 'complete' and asking[id] or asked
    asking[id] = nil
  end
end

---@param bufnr integer
function M.attach(bufnr)
  vim.lsp.inline_completion.enable(true, { bufnr = bufnr })
  vim.api.nvim_create_autocmd('LspRequest', {
    group = vim.api.nvim_create_augroup('midstream.native.' .. bufnr, {}),
    buffer = bufnr,
    callback = note_question,
  })
end

---@return boolean
function M.visible()
  return #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { limit = 1 }) > 0
end

--- Inserts a suggestion, or a piece of it, where the user may have typed its beginning since it was asked for.
--- Neovim itself would put the whole of it where it was asked for, and leave what was typed behind it.
---@param item vim.lsp.inline_completion.Item
---@param piece nil|fun(text: string): string
local function insert(item, piece)
  local bufnr, at = vim.api.nvim_get_current_buf(), cursor()
  local from, beyond = asked or at, 0
  if item.range then
    local from_row, from_column, to_row, to_column = item.range:to_extmark()
    beyond = asked and to_row == asked[1] and math.max(to_column - asked[2], 0) or 0
    from = { from_row, from_column }
  end
  if at[1] < from[1] or (at[1] == from[1] and at[2] < from[2]) then
    return
  end
  local typed = table.concat(vim.api.nvim_buf_get_text(bufnr, from[1], from[2], at[1], at[2], {}), '\n')
  local whole = text.plain(item.insert_text)
  local rest = text.remainder(whole, typed)
  if not rest then
    return
  end
  if piece then
    text.insert(bufnr, at, at, piece(rest))
    return
  end
  text.insert(bufnr, from, { at[1], at[2] + beyond }, whole)
  local client = item.command and vim.lsp.get_client_by_id(item.client_id)
  if client then
    client:exec_cmd(item.command, { bufnr = bufnr })
  end
end

---@param piece nil|fun(text: string): string
---@return boolean
function M.accept(piece)
  return M.visible()
    and vim.lsp.inline_completion.get({
      on_accept = function(item)
        insert(item, piece)
      end,
    })
end

---@param count integer
function M.select(count)
  vim.lsp.inline_completion.select({ count = count })
end

--- Dropping what is shown and what is under way is what Neovim does on leaving insert mode.
function M.dismiss()
  local bufnr = vim.api.nvim_get_current_buf()
  vim.schedule(function()
    pretend('InsertLeave', bufnr)
  end)
end

local waiting = false

--- Neovim asks 200 ms after the cursor moved, and each move starts that time anew: so move rarely.
---@param bufnr integer
function M.refresh(bufnr)
  if waiting then
    return
  end
  waiting = true
  vim.defer_fn(function()
    waiting = false
    if vim.api.nvim_buf_is_valid(bufnr) and vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
      pretend('CursorMovedI', bufnr)
    end
  end, 250)
end

return M

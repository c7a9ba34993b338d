--- Suggestions drawn with extmarks, for a Neovim without `vim.lsp.inline_completion`.
local client = require('midstream.client')
local text = require('midstream.ghost.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('midstream.ghost')

---@class midstream.Shown
---@field bufnr integer
---@field items table[] the candidates, as the server sent them
---@field index integer
---@field asked {[1]: integer, [2]: integer} the cursor of the request, row and byte column

---@type midstream.Shown?
local shown
---@type integer? the request under way
local pending

local function hide()
  if shown and vim.api.nvim_buf_is_valid(shown.bufnr) then
    vim.api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
  end
end

local function cancel()
  local running = client.get()
  if pending and running then
    running:cancel_request(pending)
  end
  pending = nil
end

--- Row and byte column, zero-based.
local function cursor()
  local position = vim.api.nvim_win_get_cursor(0)
  return { position[1] - 1, position[2] }
end

---@param bufnr integer
---@param position lsp.Position
---@param encoding 'utf-8'|'utf-16'|'utf-32'
local function place(bufnr, position, encoding)
  local line = vim.api.nvim_buf_get_lines(bufnr, position.line, position.line + 1, false)[1] or ''
  return { position.line, vim.str_byteindex(line, encoding, position.character, false) }
end

--- What the suggestion replaces: from where it begins to `beyond` bytes behind the cursor.
local function resolve(bufnr, item, asked, encoding)
  if not item.range then
    return { text = text.plain(item.insertText), from = asked, beyond = 0, command = item.command }
  end
  local to = place(bufnr, item.range['end'], encoding)
  return {
    text = text.plain(item.insertText),
    from = place(bufnr, item.range.start, encoding),
    beyond = to[1] == asked[1] and math.max(to[2] - asked[2], 0) or 0,
    command = item.command,
  }
end

--- The rest of the current candidate at the cursor; nil when the buffer no longer fits it.
---@return string? rest
---@return table? item
local function rest()
  if not shown or shown.bufnr ~= vim.api.nvim_get_current_buf() then
    return
  end
  local item, at = shown.items[shown.index], cursor()
  if at[1] < item.from[1] or (at[1] == item.from[1] and at[2] < item.from[2]) then
    return
  end
  local typed = vim.api.nvim_buf_get_text(shown.bufnr, item.from[1], item.from[2], at[1], at[2], {})
  local left = text.remainder(item.text, table.concat(typed, '\n'))
  return left, left and item or nil
end

local function draw()
  hide()
  local left, item = rest()
  if not left or not item then
    shown = nil
    return
  end
  local at = cursor()
  local lines = vim.split(left, '\n', { plain = true })
  local line = vim.api.nvim_get_current_line()
  local replaced = line:sub(at[2] + 1, at[2] + item.beyond)
  -- What stands behind the cursor already need not be shown twice.
  local first = replaced ~= '' and vim.endswith(lines[1], replaced) and lines[1]:sub(1, -#replaced - 1) or lines[1]
  local drawn = { { { first, 'MidstreamGhost' } } }
  for _, below in ipairs(vim.list_slice(lines, 2)) do
    table.insert(drawn, { { below, 'MidstreamGhost' } })
  end
  if #shown.items > 1 then
    table.insert(drawn[#drawn], { (' (%d/%d)'):format(shown.index, #shown.items), 'MidstreamGhostMore' })
  end
  vim.api.nvim_buf_set_extmark(shown.bufnr, namespace, at[1], at[2], {
    virt_text = drawn[1],
    virt_text_pos = 'inline',
    virt_lines = #drawn > 1 and vim.list_slice(drawn, 2) or nil,
    hl_mode = 'combine',
  })
end

---@param bufnr integer
---@param asked {[1]: integer, [2]: integer}
---@param running vim.lsp.Client
---@param result table?
local function receive(bufnr, asked, running, result)
  local items = result and (result.items or result) or {}
  hide()
  shown = nil
  if #items > 0 then
    shown = {
      bufnr = bufnr,
      index = 1,
      asked = asked,
      items = vim.tbl_map(function(item)
        return resolve(bufnr, item, asked, running.offset_encoding)
      end, items),
    }
    draw()
  end
end

--- Asks for a suggestion at the cursor; the server decides how long to wait for more keys.
local function request()
  local bufnr = vim.api.nvim_get_current_buf()
  local running = client.get(bufnr)
  cancel()
  if not running or not running.attached_buffers[bufnr] then
    return
  end
  local asked = cursor()
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  local params = vim.lsp.util.make_position_params(0, running.offset_encoding)
  params.context = { triggerKind = 2 }
  local _, id
  _, id = running:request('textDocument/inlineCompletion', params, function(err, result)
    if pending == id then
      pending = nil
    end
    local here = vim.api.nvim_get_current_buf() == bufnr and vim.deep_equal(cursor(), asked)
    local current = here and tick == vim.api.nvim_buf_get_changedtick(bufnr)
    if not err and current and vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
      receive(bufnr, asked, running, result)
    end
  end, bufnr)
  pending = id
end

local scheduled = false

--- A key both changes the text and moves the cursor; one question is enough.
local function ask()
  if scheduled then
    return
  end
  scheduled = true
  vim.schedule(function()
    scheduled = false
    if vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
      request()
    end
  end)
end

---@param bufnr integer
function M.attach(bufnr)
  local group = vim.api.nvim_create_augroup('midstream.ghost.' .. bufnr, {})
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP', 'CursorMovedI', 'InsertEnter' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      draw()
      ask()
    end,
  })
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave' }, { group = group, buffer = bufnr, callback = M.dismiss })
end

---@return boolean
function M.visible()
  return rest() ~= nil
end

---@param piece nil|fun(text: string): string
---@return boolean
function M.accept(piece)
  local left, item = rest()
  if not left or not item then
    return false
  end
  -- The text may not change while an `expr` mapping runs.
  vim.schedule(function()
    local bufnr, at = vim.api.nvim_get_current_buf(), cursor()
    if piece then
      text.insert(bufnr, at, at, piece(left))
      return
    end
    M.dismiss()
    text.insert(bufnr, item.from, { at[1], at[2] + item.beyond }, item.text)
    if item.command then
      assert(client.get(bufnr)):exec_cmd(item.command, { bufnr = bufnr })
    end
  end)
  return true
end

---@param count integer
function M.select(count)
  if shown then
    shown.index = (shown.index - 1 + count) % #shown.items + 1
    draw()
  end
end

function M.dismiss()
  cancel()
  hide()
  shown = nil
end

function M.refresh()
  ask()
end

return M

--- Ghost text: one face over Neovim's own inline completion (0.12) and ours drawn with extmarks (0.11).
local config = require('midstream.config')
local status = require('midstream.status')

local M = {}

---@class midstream.Drawer
---@field attach fun(bufnr: integer)
---@field visible fun(): boolean
---@field accept fun(piece: nil|fun(text: string): string): boolean true when there was something to accept
---@field select fun(count: integer)
---@field dismiss fun()
---@field refresh fun(bufnr: integer) ask again at the same cursor

--- Nil when suggestions are off, or this Neovim cannot draw them as asked.
---@return midstream.Drawer?
function M.drawer()
  local choice = config.options.ghost
  if choice == false then
    return nil
  end
  if choice == 'auto' then
    choice = vim.lsp.inline_completion and 'native' or 'extmarks'
  end
  return require('midstream.ghost.' .. choice)
end

--- Ends a stream that nobody waits for any more.
local function stop_stream()
  local generation = status.completing()
  if generation then
    require('midstream.client').command('stop', { id = generation.id })
  end
end

--- The generation that answers the question at this cursor; a later one was not asked for by the user, and
--- following it could ask for ever.
---@type {place: string, id: string}?
local followed

---@param bufnr integer
---@return string
local function place(bufnr)
  local cursor = vim.api.nvim_win_get_cursor(0)
  return ('%d:%d:%d:%d'):format(bufnr, vim.api.nvim_buf_get_changedtick(bufnr), cursor[1], cursor[2])
end

---@param generation table
local function follow(generation)
  local drawer = M.drawer()
  local bufnr = vim.api.nvim_get_current_buf()
  if not drawer or not vim.startswith(vim.api.nvim_get_mode().mode, 'i') then
    return
  end
  if generation.uri ~= vim.uri_from_bufnr(bufnr) then
    return
  end
  local here = place(bufnr)
  if not followed or followed.place ~= here then
    followed = { place = here, id = generation.id }
  end
  if followed.id == generation.id then
    drawer.refresh(bufnr)
  end
end

function M.setup()
  status.on_more(follow)
end

---@param bufnr integer
function M.attach(bufnr)
  local drawer = M.drawer()
  if not drawer then
    return
  end
  drawer.attach(bufnr)
  if config.options.keys then
    require('midstream.keys').attach(bufnr, config.options.keys)
  end
  vim.api.nvim_create_autocmd('InsertLeave', {
    group = vim.api.nvim_create_augroup('midstream.stop.' .. bufnr, {}),
    buffer = bufnr,
    callback = stop_stream,
  })
end

---@return boolean accepted
function M.accept()
  local drawer = M.drawer()
  return drawer ~= nil and drawer.accept()
end

---@return boolean accepted
function M.accept_word()
  local drawer = M.drawer()
  return drawer ~= nil and drawer.accept(require('midstream.ghost.text').next_word)
end

---@return boolean accepted
function M.accept_line()
  local drawer = M.drawer()
  return drawer ~= nil and drawer.accept(require('midstream.ghost.text').next_line)
end

--- Shows the candidate `count` further on.
---@param count integer
---@return boolean shown
function M.select(count)
  local drawer = M.drawer()
  if not drawer or not drawer.visible() then
    return false
  end
  drawer.select(count)
  return true
end

---@return boolean dismissed
function M.dismiss()
  local drawer = M.drawer()
  if not drawer or not drawer.visible() then
    return false
  end
  drawer.dismiss()
  stop_stream()
  return true
end

return M

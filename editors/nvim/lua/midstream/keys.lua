--- Insert-mode keys that act on a suggestion, and otherwise do what they did before.
local M = {}

--- Does what the key was mapped to before us; the result is for an `expr` mapping.
---@param before table what `maparg` returned
---@param key string
---@return string
local function fall_back(before, key)
  if vim.tbl_isempty(before) then
    return key
  end
  if before.expr == 1 then
    local keys = before.callback and before.callback() or vim.api.nvim_eval(before.rhs)
    return type(keys) == 'string' and keys or ''
  end
  if before.callback then
    vim.schedule(before.callback)
    return ''
  end
  vim.api.nvim_feedkeys(vim.keycode(before.rhs), before.noremap == 1 and 'in' or 'im', false)
  return ''
end

---@type table<string, {run: fun(): boolean, description: string}>
local actions = {
  accept = {
    run = function()
      return require('midstream.ghost').accept()
    end,
    description = 'accept the suggestion',
  },
  word = {
    run = function()
      return require('midstream.ghost').accept_word()
    end,
    description = 'accept a word of the suggestion',
  },
  line = {
    run = function()
      return require('midstream.ghost').accept_line()
    end,
    description = 'accept a line of the suggestion',
  },
  next = {
    run = function()
      return require('midstream.ghost').select(1)
    end,
    description = 'next suggestion',
  },
  previous = {
    run = function()
      return require('midstream.ghost').select(-1)
    end,
    description = 'previous suggestion',
  },
  dismiss = {
    run = function()
      return require('midstream.ghost').dismiss()
    end,
    description = 'dismiss the suggestion',
  },
}

---@param bufnr integer
---@param keys midstream.Keys
function M.attach(bufnr, keys)
  for name, action in pairs(actions) do
    local key = keys[name]
    local before = key and vim.api.nvim_buf_call(bufnr, function()
      return vim.fn.maparg(key, 'i', false, true)
    end)
    local ours = 'Midstream: ' .. action.description
    -- A second client on the buffer would find our own mapping and fall back to itself.
    if key and before.desc ~= ours then
      vim.keymap.set('i', key, function()
        return action.run() and '' or fall_back(before, key)
      end, { buffer = bufnr, expr = true, silent = true, desc = ours })
    end
  end
end

return M

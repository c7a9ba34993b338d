--- Shows what the server answers as data: Markdown in a split, checks and figures as lines.
local client = require('midstream.client')

local M = {}

--- Shows Markdown in a split that `q` closes.
---@param title string
---@param markdown string
function M.markdown(title, markdown)
  local name = 'midstream://' .. title
  local bufnr = vim.fn.bufadd(name)
  vim.fn.bufload(bufnr)
  local options = { buftype = 'nofile', bufhidden = 'hide', swapfile = false, modifiable = true }
  for option, value in pairs(options) do
    vim.bo[bufnr][option] = value
  end
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(markdown, '\n', { plain = true }))
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = 'markdown'
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, desc = 'Midstream: close' })
  if vim.fn.bufwinid(bufnr) == -1 then
    vim.api.nvim_open_win(bufnr, true, { split = 'right' })
  end
end

--- Any JSON value as an indented Markdown list.
---@param value any
---@param indent string
---@return string
local function list(value, indent)
  if type(value) ~= 'table' then
    return tostring(value)
  end
  local lines = {}
  local named = not vim.islist(value)
  local keys = vim.tbl_keys(value)
  table.sort(keys, function(left, right)
    return tostring(left) < tostring(right)
  end)
  for _, key in ipairs(keys) do
    local item = value[key]
    local nested = type(item) == 'table' and next(item) ~= nil
    local text = nested and '\n' .. list(item, indent .. '  ') or ' ' .. list(item, '')
    if item ~= vim.NIL then
      table.insert(lines, ('%s- %s%s'):format(indent, named and key .. ':' or '', text))
    end
  end
  return table.concat(lines, '\n')
end

---@param name 'usage'|'doctor'|'showPrompt'|'status'
---@param title string
---@param argument table?
function M.data(name, title, argument)
  client.command(name, argument or {}, function(result)
    M.markdown(title, ('# %s\n\n%s'):format(title, list(result, '')))
  end)
end

return M

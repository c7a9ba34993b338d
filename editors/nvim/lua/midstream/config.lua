--- What the user may set, and the defaults.
local M = {}

---@class midstream.Keys
---@field accept string|false accept the whole suggestion
---@field word string|false accept its next word
---@field line string|false accept its next line
---@field next string|false show the next candidate
---@field previous string|false show the candidate before
---@field dismiss string|false hide the suggestion

---@class midstream.Options
---@field cmd string[] how to start the server
---@field cmd_env table<string, string> environment of the server
---@field filetypes string[]? nil: every filetype
---@field root_markers (string|string[])[]
---@field settings table the server's settings, as in its TOML file
---@field ghost 'auto'|'native'|'extmarks'|false who draws the suggestions
---@field keys midstream.Keys|false
---@field highlight boolean mark the text that a running edit writes
local defaults = {
  cmd = { 'midstream', 'serve' },
  cmd_env = {},
  filetypes = nil,
  root_markers = { '.git', 'pyproject.toml', 'package.json', 'go.mod', 'Cargo.toml' },
  settings = {},
  ghost = 'auto',
  keys = {
    accept = '<Tab>',
    word = '<M-Right>',
    line = '<M-C-Right>',
    next = '<M-]>',
    previous = '<M-[>',
    dismiss = '<C-]>',
  },
  highlight = true,
}

---@type midstream.Options
M.options = defaults

local types = {
  cmd = { 'table', 'function' },
  cmd_env = 'table',
  filetypes = { 'table', 'nil' },
  root_markers = 'table',
  settings = 'table',
  ghost = { 'string', 'boolean' },
  keys = { 'table', 'boolean' },
  highlight = 'boolean',
}

--- Merges the user's options into the defaults; raises on a wrong type or an unknown name.
---@param options table?
function M.set(options)
  for name in pairs(options or {}) do
    if types[name] == nil then
      error(('midstream.setup: there is no option %q, see :help midstream-options'):format(name), 0)
    end
  end
  local merged = vim.tbl_deep_extend('force', defaults, options or {})
  for name, type in pairs(types) do
    vim.validate('midstream.setup: ' .. name, merged[name], type)
  end
  if not vim.list_contains({ 'auto', 'native', 'extmarks', false }, merged.ghost) then
    error("midstream.setup: ghost is 'auto', 'native', 'extmarks' or false", 0)
  end
  M.options = merged
end

return M

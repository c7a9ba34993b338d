--- Midstream for Neovim 0.11 and later: ghost text, and edits that stream, stop and change direction.
local M = {}

--- Starts the server for every buffer it fits. `:help midstream-options` lists what can be set.
---@param options table?
function M.setup(options)
  require('midstream.config').set(options)
  require('midstream.ghost').setup()
  require('midstream.client').enable()
end

--- A short text for the statusline: `%{v:lua.require'midstream'.statusline()}`.
---@return string
function M.statusline()
  return require('midstream.status').line()
end

--- The functions behind the keys and the commands, for mappings of one's own.
for _, name in ipairs({ 'accept', 'accept_word', 'accept_line', 'select', 'dismiss' }) do
  M[name] = function(...)
    return require('midstream.ghost')[name](...)
  end
end
for _, name in ipairs({ 'edit', 'redirect', 'stop', 'revert', 'escalate', 'fix', 'explain' }) do
  M[name] = function(...)
    return require('midstream.edit')[name](...)
  end
end

return M

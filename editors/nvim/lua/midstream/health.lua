--- `:checkhealth midstream`.
local M = {}

local health = vim.health

local function check_neovim()
  health.start('Neovim')
  if vim.fn.has('nvim-0.11') == 0 then
    health.error('Neovim 0.11 or later is needed')
  elseif vim.lsp.inline_completion then
    health.ok(('Neovim %s draws suggestions itself'):format(vim.version()))
  else
    health.ok(('Neovim %s: suggestions are drawn with extmarks'):format(vim.version()))
  end
end

---@param cmd string[]|function
---@return boolean
local function check_command(cmd)
  health.start('Server')
  if type(cmd) == 'function' then
    health.info('the server is started by a function of yours')
    return true
  end
  if vim.fn.executable(cmd[1]) == 0 then
    health.error(('`%s` is not an executable'):format(cmd[1]), {
      "Install it: `pipx install 'midstream[local]'` or `uv tool install 'midstream[local]'`",
      'Or name it: `cmd` in `require("midstream").setup{}`',
    })
    return false
  end
  health.ok(('`%s` is %s'):format(cmd[1], vim.fn.exepath(cmd[1])))
  return true
end

local function check_client()
  local clients = vim.lsp.get_clients({ name = 'midstream' })
  if #clients == 0 then
    health.warn('the server is not running', { 'Open a file; `:LspLog` says why it does not start' })
    return
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    health.ok(('running, with %d buffer(s), root %s'):format(buffers, client.root_dir or 'none'))
    if client.flags.debounce_text_changes ~= 0 then
      health.warn('debounce_text_changes is not 0: streamed edits will be slow')
    end
  end
  local status = require('midstream.status').last
  local report = status.state == 'error' and health.error or health.info
  report(('state: %s%s'):format(status.state, status.message and ': ' .. status.message or ''))
end

local function check_keys()
  health.start('Keys')
  local keys = require('midstream.config').options.keys
  for name, key in pairs(keys or {}) do
    health.info(('%s: %s'):format(name, key or 'none'))
  end
end

function M.check()
  check_neovim()
  if not vim.lsp.is_enabled('midstream') then
    health.warn('setup was not called', { 'Put `require("midstream").setup{}` in your init.lua' })
    return
  end
  if check_command(require('midstream.config').options.cmd) then
    check_client()
  end
  check_keys()
  health.info('`midstream doctor` in a terminal, or `:Midstream doctor`, checks the models')
end

return M

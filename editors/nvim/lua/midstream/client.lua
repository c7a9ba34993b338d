--- The language client: how the server is started, and how its commands are called.
local config = require('midstream.config')

local M = {}

M.name = 'midstream'

--- What this client serves beyond LSP; docs/protocol.md in the repository has the messages.
local function capabilities()
  return {
    textDocument = { inlineCompletion = { dynamicRegistration = false } },
    experimental = { midstream = { applyPatch = true, status = true, ended = true, retrigger = true } },
  }
end

--- Registers the server with Neovim and starts it for every buffer it fits.
function M.enable()
  local options = config.options
  if type(options.cmd) == 'table' and vim.fn.executable(options.cmd[1]) == 0 then
    -- Neovim would say nothing about it.
    M.notify(('`%s` is not an executable, see :checkhealth midstream'):format(options.cmd[1]), vim.log.levels.ERROR)
  end
  vim.lsp.config(M.name, {
    cmd = options.cmd,
    cmd_env = options.cmd_env,
    filetypes = options.filetypes,
    root_markers = options.root_markers,
    init_options = next(options.settings) and options.settings or vim.empty_dict(),
    settings = { midstream = options.settings },
    capabilities = capabilities(),
    -- A patch is answered after its didChange went out, which a debounce would delay.
    flags = { debounce_text_changes = 0 },
    handlers = {
      ['midstream/applyPatch'] = function(_, params, context)
        return require('midstream.patch').apply(params, context)
      end,
      ['midstream/ended'] = function(_, result)
        require('midstream.patch').close(result)
        require('midstream.edit').ended(result)
      end,
      ['midstream/status'] = function(_, status)
        require('midstream.status').update(status)
      end,
    },
    on_init = function(client)
      M.command('status', {}, require('midstream.status').update, client)
    end,
    on_attach = function(_, bufnr)
      require('midstream.ghost').attach(bufnr)
    end,
    on_exit = function(code, signal)
      vim.schedule(function()
        M.exited(code, signal)
      end)
    end,
  })
  vim.lsp.enable(M.name)
end

--- More crashes than this within the time below, and the server stays down.
local MAX_CRASHES = 4
local CRASH_WINDOW_MS = 180000

---@type integer[] when the server crashed lately, in milliseconds
local crashes = {}

--- Starts a server that ended by itself again, but not for ever.
---@param code integer
---@param signal integer
function M.exited(code, signal)
  -- Neovim itself ends a server that does not go by itself with SIGTERM.
  local crashed = (code ~= 0 or signal ~= 0) and signal ~= 15 and vim.v.exiting == vim.NIL
  if not crashed then
    require('midstream.status').update({ state = 'starting' })
    return
  end
  local now = vim.uv.now()
  crashes = vim.tbl_filter(function(time)
    return now - time < CRASH_WINDOW_MS
  end, crashes)
  table.insert(crashes, now)
  if #crashes <= MAX_CRASHES then
    require('midstream.status').update({ state = 'starting' })
    M.notify('the server ended by itself; starting it again', vim.log.levels.WARN)
    vim.lsp.enable(M.name)
  else
    local message = 'the server keeps ending by itself (code %d, signal %d); :LspLog says why, :edit starts it again'
    require('midstream.status').update({ state = 'error', message = message:format(code, signal) })
  end
end

--- The client of a buffer, or any running one when the buffer has none.
---@param bufnr integer?
---@return vim.lsp.Client?
function M.get(bufnr)
  return vim.lsp.get_clients({ name = M.name, bufnr = bufnr or vim.api.nvim_get_current_buf() })[1]
    or vim.lsp.get_clients({ name = M.name })[1]
end

--- The buffer that the client reported under this URI.
---@param client vim.lsp.Client
---@param uri string
---@return integer?
function M.buffer(client, uri)
  for bufnr in pairs(client.attached_buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.uri_from_bufnr(bufnr) == uri then
      return bufnr
    end
  end
end

--- Calls one of the server's commands; errors are shown to the user.
---@param name string without the leading `midstream.`
---@param argument table
---@param done fun(result: table)?
---@param client vim.lsp.Client? the one to call; nil: that of the current buffer
function M.command(name, argument, done, client)
  client = client or M.get()
  if not client then
    M.notify('the server is not running, see :checkhealth midstream', vim.log.levels.WARN)
    return
  end
  local params = {
    command = 'midstream.' .. name,
    arguments = { next(argument) and argument or vim.empty_dict() },
  }
  client:request('workspace/executeCommand', params, function(err, result)
    if err then
      M.notify(err.message, vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end)
end

---@param sentence string
---@param level integer?
function M.notify(sentence, level)
  vim.notify('Midstream: ' .. sentence, level or vim.log.levels.INFO, { title = 'Midstream' })
end

return M

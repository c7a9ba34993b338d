--- What the server said last about itself, and the statusline component made from it.
local M = {}

---@type table the payload of the last `midstream/status`
M.last = { state = 'starting' }

--- Called when more of a completion has come, or its stream has ended, with the generation.
---@type fun(generation: table)[]
local listeners = {}

---@param listener fun(generation: table)
function M.on_more(listener)
  table.insert(listeners, listener)
end

---@param status table
---@return table?
local function completing(status)
  local generation = status.generation
  return type(generation) == 'table' and generation.kind == 'complete' and generation or nil
end

---@param before table?
---@param now table?
---@return table? generation the one that has more to show
local function more(before, now)
  if now and (not before or before.id ~= now.id or (now.tokens or 0) > (before.tokens or 0)) then
    return (now.tokens or 0) > 0 and now or nil
  end
  return not now and before or nil
end

---@param status table the payload of `midstream/status`
function M.update(status)
  -- A stream that failed has nothing more to show.
  local generation = status.state ~= 'error' and more(completing(M.last), completing(status)) or nil
  local mended = status.state == 'error' and status.message ~= M.last.message
  M.last = status
  vim.cmd.redrawstatus()
  vim.api.nvim_exec_autocmds('User', { pattern = 'MidstreamStatus', modeline = false, data = status })
  if mended and status.message then
    require('midstream.client').notify(status.message, vim.log.levels.WARN)
  end
  if generation then
    for _, listener in ipairs(listeners) do
      listener(generation)
    end
  end
end

--- The running completion, if any.
function M.completing()
  return completing(M.last)
end

local words = {
  starting = 'starting',
  downloading = 'fetching model',
  ready = 'ready',
  working = 'working',
  paused = 'paused',
  error = 'error',
}

--- A short text for the statusline; empty where the server is not attached.
---@param bufnr integer?
---@return string
function M.line(bufnr)
  if #vim.lsp.get_clients({ name = 'midstream', bufnr = bufnr or vim.api.nvim_get_current_buf() }) == 0 then
    return ''
  end
  local status = M.last
  local parts = { 'Midstream', words[status.state] or status.state }
  if status.percent then
    table.insert(parts, ('%d%%'):format(status.percent))
  end
  if status.model and status.state ~= 'downloading' then
    table.insert(parts, status.model)
  end
  local generation = status.generation
  if generation and (generation.tokensPerSecond or 0) > 0 then
    table.insert(parts, ('%.0f tok/s'):format(generation.tokensPerSecond))
  end
  -- A percent sign would start a statusline item.
  return (table.concat(parts, ' '):gsub('%%', '%%%%'))
end

return M

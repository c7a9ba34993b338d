--- Edits by instruction: ask for one, redirect it, stop it, take it back.
local client = require('midstream.client')

local M = {}

---@type string[] the instructions so far, newest last
local history = {}

---@param position {[1]: integer, [2]: integer} row and byte column, zero-based
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Position
local function to_position(position, encoding)
  local line = vim.api.nvim_buf_get_lines(0, position[1], position[1] + 1, false)[1] or ''
  local column = math.min(position[2], #line)
  return { line = position[1], character = vim.str_utfindex(line, encoding, column, false) }
end

--- The place an edit is about: the lines of a command's range, or the cursor.
---@param lines {[1]: integer, [2]: integer}? one-based, inclusive
---@return table?
local function target(lines)
  local running = client.get()
  local bufnr = vim.api.nvim_get_current_buf()
  if not running or not running.attached_buffers[bufnr] then
    client.notify('this buffer is not known to the server, see :checkhealth midstream', vim.log.levels.WARN)
    return
  end
  local encoding = running.offset_encoding
  local place = { uri = vim.uri_from_bufnr(bufnr) }
  if lines then
    place.range = {
      start = to_position({ lines[1] - 1, 0 }, encoding),
      ['end'] = to_position({ lines[2] - 1, math.huge }, encoding),
    }
  else
    local cursor = vim.api.nvim_win_get_cursor(0)
    place.position = to_position({ cursor[1] - 1, cursor[2] }, encoding)
  end
  return place
end

---@param prompt string
---@param instruction string?
---@param done fun(instruction: string)
---@param asking fun()? called when the user is asked
local function with_instruction(prompt, instruction, done, asking)
  local function take(text)
    if text and vim.trim(text) ~= '' then
      table.insert(history, text)
      done(vim.trim(text))
    end
  end
  if instruction and vim.trim(instruction) ~= '' then
    take(instruction)
  else
    if asking then
      asking()
    end
    vim.ui.input({ prompt = prompt }, take)
  end
end

--- Rewrites the function at the cursor, or the lines of a range.
---@param options {instruction: string?, lines: {[1]: integer, [2]: integer}?, model: string?}?
function M.edit(options)
  options = options or {}
  local place = target(options.lines)
  if place then
    place.model = options.model
    with_instruction('Midstream edit: ', options.instruction, function(instruction)
      place.instruction = instruction
      client.command('edit', place)
    end, function()
      -- The model reads the code while the instruction is typed.
      client.command('prepare', place)
    end)
  end
end

--- Gives the running edit, or the last one, a new instruction.
---@param instruction string?
function M.redirect(instruction)
  local uri = vim.uri_from_bufnr(0)
  with_instruction('Midstream redirect: ', instruction, function(text)
    client.command('redirect', { uri = uri, instruction = text })
  end)
end

---@param name 'stop'|'revert'|'accept'|'escalate'
local function on_this_buffer(name)
  return function()
    client.command(name, { uri = vim.uri_from_bufnr(0) }, function(result)
      if type(result) == 'table' and type(result.message) == 'string' then
        client.notify(result.message)
      end
    end)
  end
end

M.stop = on_this_buffer('stop')
M.revert = on_this_buffer('revert')
M.accept = on_this_buffer('accept')
M.escalate = on_this_buffer('escalate')

--- A diagnostic of any source, as LSP has it.
---@param diagnostic vim.Diagnostic
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp.Diagnostic
local function to_lsp(diagnostic, encoding)
  local start = { diagnostic.lnum, diagnostic.col }
  local stop = { diagnostic.end_lnum or diagnostic.lnum, diagnostic.end_col or diagnostic.col }
  return {
    range = { start = to_position(start, encoding), ['end'] = to_position(stop, encoding) },
    severity = diagnostic.severity,
    message = diagnostic.message,
    source = diagnostic.source,
  }
end

--- Offers to fix the diagnostics of the cursor's line. Neovim itself sends a server only the server's own ones.
function M.fix()
  local running = client.get()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found = vim.diagnostic.get(0, { lnum = row })
  if not running or #found == 0 then
    client.notify('there is no diagnostic on this line')
    return
  end
  local diagnostics = vim.tbl_map(function(diagnostic)
    return to_lsp(diagnostic, running.offset_encoding)
  end, found)
  local line = vim.api.nvim_get_current_line()
  vim.lsp.buf.code_action({
    apply = true,
    context = { diagnostics = diagnostics, only = { 'quickfix' }, triggerKind = 1 },
    range = { start = { row + 1, 0 }, ['end'] = { row + 1, #line } },
    filter = function(action)
      return vim.startswith(action.title, 'Fix with Midstream')
    end,
  })
end

--- Explains the function at the cursor, or the lines of a range, in a window beside it.
---@param options {lines: {[1]: integer, [2]: integer}?}?
function M.explain(options)
  local place = target(options and options.lines)
  if place then
    place.show = false
    client.command('explain', place, function(result)
      require('midstream.view').markdown('Explanation', result.markdown)
    end)
  end
end

--- The instructions given in this session, for the completion of the command line.
---@return string[]
function M.history()
  return vim.deepcopy(history)
end

local interrupted = {
  typed_over = 'your typing ended the edit',
  stopped = 'stopped',
}

---@param result table the payload of `midstream/ended`
function M.ended(result)
  vim.api.nvim_exec_autocmds('User', { pattern = 'MidstreamEnded', modeline = false, data = result })
  if type(result.message) == 'string' then
    client.notify(result.message, result.outcome == 'failed' and vim.log.levels.ERROR or nil)
  elseif interrupted[result.outcome] then
    client.notify(interrupted[result.outcome] .. '; :Midstream redirect goes on, :Midstream revert takes it back')
  elseif result.outcome == 'unchanged' then
    client.notify('the model left the code as it is')
  end
end

return M

--- Serves `midstream/applyPatch`: lands each patch of a streamed edit, all of them as one undo step.
local M = {}

local namespace = vim.api.nvim_create_namespace('midstream.edit')

--- The undo group that is open: which generation, and the changedtick after its last patch.
---@type table<integer, {generation: string, tick: integer}>
local groups = {}

--- A new undo block starts with the next change.
local function break_undo()
  vim.cmd('let &g:undolevels = &g:undolevels')
end

--- Marks what the patch wrote, until the edit has ended.
---@param bufnr integer
---@param start {[1]: integer, [2]: integer}
---@param text string
local function mark(bufnr, start, text)
  local lines = vim.split(text, '\n', { plain = true })
  local last = start[1] + #lines - 1
  local column = (#lines == 1 and start[2] or 0) + #lines[#lines]
  vim.api.nvim_buf_set_extmark(bufnr, namespace, start[1], start[2], {
    end_row = last,
    end_col = column,
    hl_group = 'MidstreamEdit',
    strict = false,
  })
end

---@param bufnr integer
---@param params table
---@param encoding 'utf-8'|'utf-16'|'utf-32'
local function land(bufnr, params, encoding)
  local group = groups[bufnr]
  if params.first then
    break_undo()
  elseif group and group.tick == vim.api.nvim_buf_get_changedtick(bufnr) then
    -- Only onto our own last patch: a change of the user in between keeps its undo step.
    -- Refused right after an undo; then the patch is a step of its own.
    pcall(vim.cmd.undojoin)
  end
  local from = params.range.start
  local line = vim.api.nvim_buf_get_lines(bufnr, from.line, from.line + 1, false)[1] or ''
  local column = vim.str_byteindex(line, encoding, from.character, false)
  vim.lsp.util.apply_text_edits({ { range = params.range, newText = params.newText } }, bufnr, encoding)
  if require('midstream.config').options.highlight and params.newText ~= '' then
    mark(bufnr, { from.line, column }, params.newText)
  end
  groups[bufnr] = { generation = params.generation, tick = vim.api.nvim_buf_get_changedtick(bufnr) }
end

--- The didChange of the patch goes out from inside the edit, so before this answer.
---@param params table the payload of `midstream/applyPatch`
---@param context lsp.HandlerContext
---@return {applied: boolean}
function M.apply(params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local bufnr = require('midstream.client').buffer(client, params.uri)
  if not bufnr or vim.lsp.util.buf_versions[bufnr] ~= params.version or not vim.bo[bufnr].modifiable then
    return { applied = false }
  end
  vim.api.nvim_buf_call(bufnr, function()
    land(bufnr, params, client.offset_encoding)
  end)
  return { applied = true }
end

--- What the user types next belongs to an undo block of its own.
---@param result table the payload of `midstream/ended`
function M.close(result)
  for bufnr, group in pairs(groups) do
    if group.generation == result.id then
      groups[bufnr] = nil
      if vim.api.nvim_buf_is_valid(bufnr) then
        vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
        vim.api.nvim_buf_call(bufnr, break_undo)
      end
    end
  end
end

return M

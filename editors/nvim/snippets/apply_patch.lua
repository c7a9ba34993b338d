-- Lands a streamed edit of Midstream as one undo step, for a configuration without the plugin.
-- Merge the result into yours: vim.lsp.config('midstream', vim.tbl_deep_extend('force', this, { cmd = ... }))
local ticks = {} -- buffer -> its changedtick after our last patch

local function apply(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local bufnr = vim.uri_to_bufnr(params.uri)
  if not client.attached_buffers[bufnr] or vim.lsp.util.buf_versions[bufnr] ~= params.version then
    return { applied = false }
  end
  vim.api.nvim_buf_call(bufnr, function()
    if params.first then
      vim.cmd('let &g:undolevels = &g:undolevels') -- starts an undo step
    elseif ticks[bufnr] == vim.api.nvim_buf_get_changedtick(bufnr) then
      pcall(vim.cmd.undojoin) -- only onto our own last patch
    end
    local edit = { range = params.range, newText = params.newText }
    vim.lsp.util.apply_text_edits({ edit }, bufnr, client.offset_encoding)
  end)
  ticks[bufnr] = vim.api.nvim_buf_get_changedtick(bufnr)
  return { applied = true }
end

return {
  capabilities = { experimental = { midstream = { applyPatch = true } } },
  flags = { debounce_text_changes = 0 }, -- the didChange of a patch goes out before its answer
  handlers = { ['midstream/applyPatch'] = apply },
}

--- Text work on suggestions.
local M = {}

--- The part of a suggestion that one "accept word" takes: leading blanks, then a word or a run of signs.
---@param text string
---@return string
function M.next_word(text)
  local blanks = text:match('^%s*')
  local rest = text:sub(#blanks + 1)
  -- Bytes above 127 belong to characters that are letters more often than not.
  return blanks .. (rest:match('^[%w_\128-\255]+') or rest:match('^[^%w_%s\128-\255]+') or '')
end

--- The part that one "accept line" takes, without the line end after it.
---@param text string
---@return string
function M.next_line(text)
  local break_, rest = text:match('^(\n?)(.*)$')
  return break_ .. rest:match('^[^\n]*')
end

--- What is left to show of a suggestion when `typed` stands where it begins; nil when they disagree.
---@param suggestion string
---@param typed string
---@return string?
function M.remainder(suggestion, typed)
  if #suggestion > #typed and vim.startswith(suggestion, typed) then
    return suggestion:sub(#typed + 1)
  end
end

--- The plain text of `insertText`, which may be a snippet.
---@param insert_text string|lsp.StringValue
---@return string
function M.plain(insert_text)
  return type(insert_text) == 'string' and insert_text or insert_text.value
end

--- Replaces a piece of the buffer and puts the cursor behind the new text.
---@param bufnr integer
---@param from {[1]: integer, [2]: integer} row and byte column, zero-based
---@param to {[1]: integer, [2]: integer}
---@param inserted string
function M.insert(bufnr, from, to, inserted)
  local lines = vim.split(inserted, '\n', { plain = true })
  vim.api.nvim_buf_set_text(bufnr, from[1], from[2], to[1], to[2], lines)
  vim.api.nvim_win_set_cursor(0, {
    from[1] + #lines,
    (#lines == 1 and from[2] or 0) + #lines[#lines],
  })
end

return M

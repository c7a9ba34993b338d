if vim.g.loaded_midstream then
  return
end
vim.g.loaded_midstream = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('Midstream needs Neovim 0.11 or later', vim.log.levels.ERROR)
  return
end

local function highlights()
  local links = {
    MidstreamGhost = vim.fn.hlexists('ComplHint') == 1 and 'ComplHint' or 'NonText',
    MidstreamGhostMore = vim.fn.hlexists('ComplHintMore') == 1 and 'ComplHintMore' or 'MoreMsg',
    MidstreamEdit = 'DiffAdd',
  }
  for name, link in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

highlights()
vim.api.nvim_create_autocmd('ColorScheme', {
  group = vim.api.nvim_create_augroup('midstream.highlights', {}),
  callback = highlights,
})

vim.api.nvim_create_user_command('Midstream', function(options)
  require('midstream.command').run(options)
end, {
  nargs = '+',
  range = true,
  desc = 'Edit, redirect, stop, revert, accept, escalate, fix, explain, usage, doctor, pause',
  complete = function(lead, line)
    return require('midstream.command').complete(lead, line)
  end,
})

-- The configuration of a user: the plugin on the path, and one call.
vim.o.swapfile = false
vim.o.statusline = "%{%v:lua.require'midstream'.statusline()%}"
vim.opt.runtimepath:prepend(vim.env.MIDSTREAM_PLUGIN)
vim.filetype.add({ pattern = { ['.*%.py'] = 'python' } })
require('midstream').setup(vim.json.decode(vim.env.MIDSTREAM_SETUP))

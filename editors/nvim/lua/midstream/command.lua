--- `:Midstream VERB ...`: one command, its verbs in a table.
local M = {}

---@class midstream.Call
---@field text string what follows the verb
---@field lines {[1]: integer, [2]: integer}? the range, when one was given

---@type table<string, fun(call: midstream.Call)>
local verbs = {
  edit = function(call)
    require('midstream.edit').edit({ instruction = call.text, lines = call.lines })
  end,
  redirect = function(call)
    require('midstream.edit').redirect(call.text)
  end,
  stop = function()
    require('midstream.edit').stop()
  end,
  revert = function()
    require('midstream.edit').revert()
  end,
  accept = function()
    require('midstream.edit').accept()
  end,
  escalate = function()
    require('midstream.edit').escalate()
  end,
  fix = function()
    require('midstream.edit').fix()
  end,
  explain = function(call)
    require('midstream.edit').explain({ lines = call.lines })
  end,
  usage = function()
    require('midstream.view').data('usage', 'Usage')
  end,
  doctor = function()
    require('midstream.view').data('doctor', 'Doctor')
  end,
  pause = function(call)
    local minutes = tonumber(call.text)
    require('midstream.client').command('pause', minutes and { minutes = minutes } or {})
  end,
}

---@return string[]
function M.verbs()
  local names = vim.tbl_keys(verbs)
  table.sort(names)
  return names
end

---@param options table what `nvim_create_user_command` hands over
function M.run(options)
  local verb, text = options.args:match('^(%S+)%s*(.*)$')
  local run = verbs[verb or '']
  if not run then
    require('midstream.client').notify(
      ('there is no %q; try one of: %s'):format(verb or '', table.concat(M.verbs(), ', ')),
      vim.log.levels.ERROR
    )
    return
  end
  run({ text = text, lines = options.range > 0 and { options.line1, options.line2 } or nil })
end

--- Completes the verb, then earlier instructions.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local rest = line:match('Midstream%s+(.*)$') or ''
  local candidates = M.verbs()
  if rest:find('%s') then
    local verb, typed = rest:match('^(%S+)%s+(.*)$')
    if verb ~= 'edit' and verb ~= 'redirect' then
      return {}
    end
    -- Only the last word is replaced, so an earlier instruction is offered from that word on.
    local before = #typed - #lead
    candidates = {}
    for _, instruction in ipairs(require('midstream.edit').history()) do
      if vim.startswith(instruction, typed:sub(1, before)) then
        table.insert(candidates, instruction:sub(before + 1))
      end
    end
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M

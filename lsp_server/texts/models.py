"""Models and their hosts: connections, keys, limits and budgets."""

LIMIT_IS_ZERO = "The {limit} is 0, so nothing is sent; raise {key} to use this model."
LIMIT_CROSSED = "The {limit} ({amount}) would be crossed, {spent} are used; raise {key} to go on."
LIMIT_NEAR = "More than 80 % of the {limit} ({amount}) is used."
BUDGET_PER = "budget per {period}"

NO_PRICE = (
    "There is no price for {model}, so its money limit cannot be kept; set "
    "models.{model}.prices, or limit tokens instead."
)
USAGE_UNUSABLE = "The usage file {file} cannot be used ({reason})."
BUDGET_UNKEPT = "{reason} The budget cannot be kept without it, so nothing is sent."
USAGE_UNWRITABLE = (
    "The usage file {file} cannot be written ({reason}), so the budget cannot be kept and nothing is sent."
)

NO_SUCH_MODEL = "There is no model {name!r} in the settings; there are {known}."
QUOTA_USED = (
    "{name} has used up what its host allows; {fallback} takes over until that starts again, in {seconds} s."
)
FALLS_BACK = "{error} Until {name} answers again, {fallback} takes over."
NO_MODEL = "No model is configured for this; name one under `tasks` in the settings."

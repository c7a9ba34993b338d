"""Midstream: a real-time code assistant as a language server."""

import sys

__version__ = "0.1.0"

# Said here because the modules below do not even compile on an older Python.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "midstream: Python 3.11 or newer is needed, and {} is {}.{}: make a new environment with one.".format(
            sys.executable, *sys.version_info[:2]
        )
    )

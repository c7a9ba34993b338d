"""`python -m lsp_server` is the `midstream` command."""

import sys

from lsp_server.cli import main

if __name__ == "__main__":
    sys.exit(main())

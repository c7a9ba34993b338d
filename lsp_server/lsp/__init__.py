"""LSP towards the editor."""

from lsp_server.lsp.lean import import_types

import_types()

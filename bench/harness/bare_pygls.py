"""A server of pygls that can do nothing."""

from pygls.lsp.server import LanguageServer

LanguageServer("bare", "1").start_io()

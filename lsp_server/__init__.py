"""Midstream: a real-time code assistant as a language server."""

__version__ = "0.1.0"

"""The command line: thin commands without logic."""

from medjury.cli._main import main

__all__ = ["main"]

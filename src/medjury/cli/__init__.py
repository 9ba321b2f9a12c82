"""The command line: thin commands without logic, one file each."""

from medjury.cli._main import main

__all__ = ["main"]

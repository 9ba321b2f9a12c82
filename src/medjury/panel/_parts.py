"""The parts of the panel: the folders beside this file."""

from __future__ import annotations

import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def parts() -> list[ModuleType]:
    """The front door of every part, by name."""
    return [importlib.import_module(f"medjury.panel.{name}") for name in _names()]


def load_tables() -> None:
    """Make the tables of every part known to `metadata`."""
    for name in _names():
        if find_spec(f"medjury.panel.{name}._tables"):
            importlib.import_module(f"medjury.panel.{name}._tables")


def _names() -> list[str]:
    return sorted(each.name for each in pkgutil.iter_modules([str(Path(__file__).parent)]) if each.ispkg)

"""The door of a room: a name it offers is imported when somebody first uses it.

A room's `__init__.py` lists what it offers as ordinary imports inside `with on_demand(__name__):`. Readers, editors
and type checkers see imports; Python only notes them, and fetches a name from its file when it is asked for. So a
command loads the files that it needs, not every file of every room that it touches.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from typing import Any

_LOCK = RLock()


@dataclass(frozen=True)
class _Promise:
    """A name of a module that nobody has asked for yet."""

    module: str
    name: str


class _Promising:
    """Stands for a module in `from module import name`."""

    def __init__(self, module: str) -> None:
        self.__module = module

    def __getattr__(self, name: str) -> _Promise:
        return _Promise(self.__module, name)


@contextmanager
def on_demand(room: str) -> Iterator[None]:
    """Note what the room imports in this block, and let the room import it when it is asked for."""
    inside = vars(sys.modules[room])
    with _LOCK:
        importing = builtins.__import__

        def noting(
            name: str,
            globals: Any = None,
            locals: Any = None,
            fromlist: Any = (),
            level: int = 0,
        ) -> Any:
            # Another thread may import meanwhile, and means it.
            if globals is inside:
                return _Promising(name)
            return importing(name, globals, locals, fromlist, level)

        builtins.__import__ = noting
        try:
            yield
        finally:
            builtins.__import__ = importing
    promised = {name: each for name, each in inside.items() if isinstance(each, _Promise)}
    for name in promised:
        del inside[name]

    def fetch(name: str) -> Any:
        if name not in promised:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        where, what = promised[name].module, promised[name].name
        # Of the room itself only a file can be meant: `from medjury.runs import _files as files`.
        found = import_module(f"{room}.{what}") if where == room else getattr(import_module(where), what)
        inside[name] = found
        return found

    inside["__getattr__"] = fetch
    inside["__dir__"] = lambda: sorted({*inside, *promised})

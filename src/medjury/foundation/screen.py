"""How wide the reader's screen is: set by the command line, asked by whatever makes a table or a long line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COLUMNS: ContextVar[int | None] = ContextVar("columns", default=None)


@contextmanager
def screen(columns: int | None) -> Iterator[None]:
    """Tables that are made inside fit this many columns; None is as wide as they are."""
    before = _COLUMNS.set(columns)
    try:
        yield
    finally:
        _COLUMNS.reset(before)


ONE_SCREEN, _USUAL = 60, 100  # lines and columns


def fits_one_screen(text: str) -> bool:
    """Whether a text, folded to 100 columns, is no longer than a screen with two spare lines."""
    return sum(max(1, -(-len(line) // _USUAL)) for line in text.splitlines()) + 2 <= ONE_SCREEN


def screen_columns() -> int | None:
    """How many columns the reader's screen has; None where nobody said."""
    return _COLUMNS.get()

"""What a command prints fits the screen it is read on; in a pipe or a file it is whole, with every digit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

from medjury.cli._terminal.folding import Folded
from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import screen

WIDTH = "MEDJURY_WIDTH"
_FEWEST = 40


@contextmanager
def reading_screen(*, wide: bool, raw: bool) -> Iterator[None]:
    """Inside, tables and lines fit the reader's screen: that of a terminal, or MEDJURY_WIDTH columns wherever the
    output goes. With `wide` they are as in a pipe; `raw` output is for programs and never touched."""
    stated = _stated()
    if wide or raw:
        yield
        return
    before = sys.stdout, sys.stderr
    widths = [stated or (_columns() if each.isatty() else None) for each in before]
    sys.stdout, sys.stderr = (
        each if width is None else cast("TextIO", Folded(each, width))
        for each, width in zip(before, widths, strict=True)
    )
    try:
        with screen(widths[0]):
            yield
    finally:
        sys.stdout, sys.stderr = before


def _columns() -> int:
    return max(_FEWEST, shutil.get_terminal_size().columns)


def _stated() -> int | None:
    text = os.environ.get(WIDTH, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < _FEWEST:
        raise MedjuryError(
            f"the environment variable {WIDTH} is {text!r}; set it to a number of columns, {_FEWEST} or more, or "
            "unset it"
        )
    return int(text)

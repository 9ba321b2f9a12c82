"""Keeps a spreadsheet from running a rater's text as a formula, in a way that can be undone.

A cell that starts with one of `= + - @`, a tab or a carriage return gets a `'` in front, unless it is a plain
number; so does one that starts with `'`, which makes the way back exact.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

_RISKY = r"^['=+\-@\t\r＝＋－＠]"
_NUMBER = r"^[+\-]?[0-9]+(\.[0-9]+)?$"
_GUARDED = re.compile(r"^'(?=['=+\-@\t\r＝＋－＠])")


def guard_frame(frame: polars.DataFrame) -> polars.DataFrame:
    """The table with every risky text made harmless."""
    import polars

    found = frame.select(polars.col(polars.String).str.contains(_RISKY).any())
    columns = [column.name for column in found if column.len() and column[0]]  # most have no such text
    text = polars.col(columns)
    risky = text.str.contains(_RISKY) & ~text.str.contains(_NUMBER)
    guarded = polars.when(risky).then(polars.lit("'") + text).otherwise(text).name.keep()
    return frame.with_columns(guarded) if columns else frame


def unguard(text: str) -> str:
    """The text as it was before `guard_frame`."""
    return _GUARDED.sub("", text)

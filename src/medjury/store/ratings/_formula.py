"""Keeps a spreadsheet from running a rater's text as a formula, in a way that can be undone.

A cell that starts with one of `= + - @`, a tab or a carriage return gets a `'` in front, unless it is a plain
number; so does one that starts with `'`, which makes the way back exact.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

_SIGNS = "'=+-@\t\r＝＋－＠"
_RISKY = r"^['=+\-@\t\r＝＋－＠]"
_NUMBER = r"^[+\-]?[0-9]+(\.[0-9]+)?$"
_GUARDED = re.compile(r"^'(?=['=+\-@\t\r＝＋－＠])")


def guard_frame(frame: polars.DataFrame) -> polars.DataFrame:
    """The table with every risky text made harmless."""
    import polars

    guarded = []
    for column in frame.iter_columns():
        text = column.alias("text")  # a name may be a pattern to polars
        # Most columns have no such text.
        if text.dtype == polars.String and _may_begin_so(text) and text.str.contains(_RISKY).any():
            risky = text.str.contains(_RISKY) & ~text.str.contains(_NUMBER)
            made = text.zip_with(~risky.fill_null(value=False), "'" + text)
            guarded.append(made.alias(column.name))
    return frame.with_columns(guarded)


def _may_begin_so(text: polars.Series) -> bool:
    """False where the first and the last text by the alphabet have no such sign between their beginnings."""
    if any(text.flags.values()):
        return True  # whoever says that it is sorted is believed by polars, and may be wrong
    first, last = text.min(), text.max()
    if not isinstance(first, str) or not isinstance(last, str):
        return False  # there is no text at all
    return any(first[:1] <= sign <= last[:1] for sign in _SIGNS)


def unguard(text: str) -> str:
    """The text as it was before `guard_frame`."""
    return _GUARDED.sub("", text)

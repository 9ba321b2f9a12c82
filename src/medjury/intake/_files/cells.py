"""Cells as people see them: numbers that a sheet shows with zeros, codes, and ids that a spreadsheet changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date, time
from typing import Any

_ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d{2}")  # 1.20E+16, as Excel writes what it could not keep
_UNSEEN = re.compile("[\x00-\x1f\x7f\u200b\u2060\ufeff]")
# What a spreadsheet shows where it could not compute a cell.
SHEET_ERRORS = frozenset({"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"})
NO_RESULT = object()  # a cell with a formula whose result is not stored


class ShownNumber(int):
    """A whole number that a spreadsheet shows otherwise: 7 as 007. `shown` is empty where that is not known."""

    shown: str


def shown_number(value: int, shown: str) -> int:
    """The number, and how a sheet shows it where that is not the number itself."""
    if shown == str(value):
        return value
    number = ShownNumber(value)
    number.shown = shown if shown.isdigit() else ""
    return number


class DeclaredMissing(str):
    """A code that its file declares as missing, such as 99. It is no score until the mapping says what it means."""

    __slots__ = ("means",)
    means: str  # its label in the file; empty where it has none


def declared_missing(code: str, means: str = "") -> DeclaredMissing:
    found = DeclaredMissing(code)
    found.means = means
    return found


def is_blank(cell: Any) -> bool:
    """True where the cell holds nothing, or spaces alone."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def in_cell(text: str) -> object:
    """What a cell holds as JSON; the text itself where it is none."""
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def code_of(cell: Any) -> str:
    """A cell as codes are written: 99, 99.0 and "99 " are one code."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def shown_of(cell: Any) -> str:
    """A cell as its reader sees it: a number that a spreadsheet shows as 007 is "007"."""
    if isinstance(cell, ShownNumber):
        return cell.shown or str(int(cell))
    return "" if is_blank(cell) else code_of(cell)


def changed_id(cell: Any) -> str | None:
    """What a spreadsheet made of an id, where that is no id any more."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, date | time):
        return "a date" if isinstance(cell, date) else "a time"
    if isinstance(cell, float) and abs(cell) >= 10**15:
        return "a number of more than 15 digits, which a spreadsheet rounds"
    if isinstance(cell, str) and _ROUNDED.fullmatch(cell.strip()):
        return "a number of many digits, which a spreadsheet rounds"
    if isinstance(cell, str) and _UNSEEN.search(cell.strip()):
        return "text with an invisible character (a line break, a zero-width space)"
    if isinstance(cell, ShownNumber) and not cell.shown:
        return "a number that the sheet shows with other characters"
    return None


def joined_id(parts: Iterable[str]) -> str:
    """One id of several columns: "a b" and "c" are another case than "a" and "b c"; empty where a part is."""
    found = [each.strip() for each in parts]
    separator = " | " if any(re.search(r"\s", each) for each in found) else " "
    return separator.join(found) if all(found) else ""

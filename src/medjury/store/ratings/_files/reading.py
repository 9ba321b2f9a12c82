"""How a file is to be read, and what its reader has to tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Rows = Iterator[tuple[int, list[Any]]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a person said of a file; what is not said is found in it. While it is read, `told` is filled, and
    `left_out` counts what is not read, in words that hold nothing of the file."""

    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header_rows: int = 1
    rows: str | None = None  # where the rows stand in a nested JSON file
    columns: tuple[str, ...] = ()  # names that the mapping uses; some may be paths into cells
    pattern: str | None = None
    told: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


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

"""Reads one cell as a rating, strictly: 4, 4.0 and "4.0" are 4; "4,5", "four", true and 2.5 out of whole
grades are not scores. Nothing is rounded, clipped or guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from medjury.instruments import Dimension, NotApplicable, Outcome, Reason, Score, Unscored
from medjury.intake import DeclaredMissing, code_of, is_blank

_NUMBER = {".": re.compile(r"[+-]?[0-9]+(\.[0-9]+)?"), ",": re.compile(r"[+-]?[0-9]+(,[0-9]+)?")}


@dataclass(frozen=True, slots=True)
class GradeRange:
    """The scores that are allowed: a closed list, or everything from `low` to `high`."""

    low: float
    high: float
    values: tuple[float, ...] | None = None

    def holds(self, score: float) -> bool:
        if self.values is not None:
            return score in self.values
        return self.low <= score <= self.high

    def __str__(self) -> str:
        if self.values is not None and len(self.values) <= 12:
            return ", ".join(f"{value:g}" for value in self.values)
        return f"{self.low:g} to {self.high:g}" + (" in whole numbers" if self.values is not None else "")


def scale_of(dimension: Dimension) -> GradeRange:
    """The scale of an instrument's dimension."""
    return GradeRange(dimension.lowest, dimension.highest, tuple(float(value) for value in dimension.values))


@dataclass(frozen=True, slots=True)
class Codes:
    """What cells mean that are not numbers: explicit labels, codes for "not applicable" and for "not rated"."""

    labels: Mapping[str, float]
    not_applicable: Collection[str]
    not_rated: Collection[str]
    decimal: str = "."
    is_numbered: bool = False  # cells begin with their grade: "5. Complete"


class Refused(str):
    """What a cell says that is no rating, whatever else it could be read as."""

    __slots__ = ("why",)
    why: str


def refused(cell: str, why: str) -> Refused:
    found = Refused(cell)
    found.why = why
    return found


def read_cell(cell: Any, scale: GradeRange | None, codes: Codes) -> Outcome | None:
    """The outcome that a cell means, or None where it holds no rating."""
    if isinstance(cell, Refused):
        return Unscored(Reason.PARSE, cell.why)
    if is_blank(cell):
        return None
    word = code_of(cell)
    if word in codes.not_rated:
        return None
    if word in codes.not_applicable:
        return NotApplicable()
    number = codes.labels.get(word)
    if number is None and isinstance(cell, DeclaredMissing):
        means = f" ({cell.means!r})" if cell.means else ""
        return Unscored(
            Reason.PARSE,
            f"is a code that the file declares as missing{means}; name it in the mapping, under `blank` where it "
            "means not rated, or under `na` where it means not applicable",
        )
    if number is None:
        number = _number(cell, codes.decimal)
    if number is None and codes.is_numbered:
        number = numbered(word, codes.decimal)
    if number is None:
        comma = codes.decimal == "." and _number(cell, ",") is not None
        cure = '; where the comma is the decimal sign, say `decimal: ","` in the mapping' if comma else ""
        return Unscored(Reason.PARSE, f"is not a number{cure}")
    if scale is not None and not scale.holds(number):
        return Unscored(Reason.OUT_OF_RANGE, f"is not on the scale ({scale})")
    return Score(number)


_NUMBERED = re.compile(
    r"(?P<start>[+-]?\d+([.,]\d+)?)(?!\d)"
    r"(\s*%|\s*(/|of|out of)\s*\d+|\s*[.:)=\-\u2013\u2014]+\s*\D.*|\s+[^\d\s].*)|"
    r"\D*[(\[](?P<end>\d+)[)\]]|\D*[=:]\s*(?P<last>\d+)",
    re.DOTALL | re.I,
)


def numbered(word: str, decimal: str = ".") -> float | None:
    """The grade that a phrase begins with, or ends with in brackets; None for what has no number there, or two.

    >>> [numbered(each) for each in ("5. Complete, not 4", "4/5", "Good (4)", "2 - Poor", "80 %")]
    [5.0, 4.0, 4.0, 2.0, 80.0]
    >>> [numbered(each) for each in ("Complete", "2024-03-01", "12:30", "3-4")]
    [None, None, None, None]
    """
    found = (
        None if "\u00b1" in word else _NUMBERED.fullmatch(word.strip())
    )  # a mean and its spread is no grade
    return None if found is None else _number(found["start"] or found["end"] or found["last"], decimal)


def positive_number(text: str, decimal: str = ".") -> float | None:
    """A number of seconds as it may be written, or None."""
    number = _number(text, decimal)
    return number if number is not None and number >= 0 else None


def _number(cell: Any, decimal: str = ".") -> float | None:
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float):
        return float(cell) if math.isfinite(cell) else None
    if isinstance(cell, str) and _NUMBER[decimal].fullmatch(cell.strip()):
        number = float(cell.replace(",", "."))
        return number if math.isfinite(number) else None
    return None

"""Laboratory values: a text of a case, named `labs`, that holds one JSON object per value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medjury.intake.cases import Case

_FIELDS = ("name", "value", "unit", "date", "flag", "range")


@dataclass(frozen=True, slots=True)
class Lab:
    """One value as it was reported; `value` is text, because results such as "<0.01" are too."""

    name: str
    value: str
    unit: str = ""
    date: str | None = None
    flag: str = ""
    range: str = ""

    def line(self) -> str:
        """The value on one line, for a reader."""
        parts = [self.date or "no date", self.name, f"{self.value} {self.unit}".strip()]
        if self.flag:
            parts.append(self.flag)
        if self.range:
            parts.append(f"(range {self.range})")
        return " ".join(parts)


def labs_of(case: Case) -> tuple[tuple[Lab, ...], int, str]:
    """The values of a case, how many rows were none, and the text where it is free text and no list at all.

    Values are in its text `labs`: a JSON list, or one JSON object per line, each with
    `name` and `value` and, where known, `unit`, `date`, `flag` and `range`; other fields (codes) are not read."""
    text = case.texts.get("labs", "").strip()
    if not text:
        return (), 0, ""
    if text[0] not in "[{":
        return (), 0, text
    try:
        rows = (
            json.loads(text)
            if text[0] == "["
            else [_decoded(each) for each in text.splitlines() if each.strip()]
        )
    except (ValueError, RecursionError):
        return (), 0, text
    found = [_lab(row) for row in rows]
    return tuple(filter(None, found)), found.count(None), ""


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _lab(row: Any) -> Lab | None:
    if not isinstance(row, Mapping):
        return None
    if any(isinstance(row.get(name), list | dict | bool) for name in _FIELDS):
        return None
    words = {name: str(row[name]).strip() for name in _FIELDS if row.get(name) is not None}
    if not words.get("name") or not words.get("value"):
        return None
    return Lab(**{**words, "date": words.get("date") or None})  # type: ignore[arg-type]

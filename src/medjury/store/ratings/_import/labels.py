"""Labels of cases: a 0/1 column of the clinicians' file that says something of the case, not of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_VALUES = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}


@dataclass(slots=True)
class CaseLabels:
    """Gathers one value of each label for each case; what is neither 0 nor 1, or differs, is told as a problem."""

    columns: Mapping[str, str]
    of: dict[str, dict[str, int]] = field(default_factory=dict)
    _places: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, item: str, said: Mapping[str, str], place: str) -> tuple[str, str] | None:
        """Take what one row says of its case; (column, what is wrong) where it cannot be taken."""
        for label, text in said.items():
            if not text:
                continue
            column = self.columns[label].strip()
            value = _VALUES.get(text)
            if value is None:
                return column, f"the label {label} is 0 or 1, not {text[:40]!r}"
            known = self.of.setdefault(item, {}).setdefault(label, value)
            first = self._places.setdefault((item, label), place)
            if known != value:
                return (
                    column,
                    f"the label {label} of {item!r} is {value} here and {known} in {first}: a case has one",
                )
        return None

"""What a comparison of two runs comes to, and how it is told: in a terminal, as JSON, in a notebook, as a page."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from medjury.statistics import Estimate, html_table, shown


@dataclass(frozen=True, slots=True)
class Change:
    """One number in both runs; `difference` is the second run less the first, on the same cases."""

    dimension: str
    what: str
    first: Estimate
    second: Estimate
    difference: Estimate

    def row(self) -> dict[str, Any]:
        """The change as flat names and values."""
        ends = {
            f"{name}{part}": value
            for name, each in (
                ("first", self.first),
                ("second", self.second),
                ("difference", self.difference),
            )
            for part, value in (("", each.value), ("_low", each.low), ("_high", each.high))
        }
        return {"dimension": self.dimension, "what": self.what, "n": self.difference.n, **ends,
                "method": self.difference.method, "reason": self.difference.reason}  # fmt: skip


@dataclass(frozen=True, eq=False)
class RunComparison:
    """What two runs have in common and what differs. `settings` lists (what, first, second) where they differ;
    `verdicts` (dimension, first, second); `warnings` must be read before the numbers."""

    first: str
    second: str
    settings: tuple[tuple[str, str, str], ...]
    verdicts: tuple[tuple[str, str, str], ...]
    coverage: tuple[tuple[str, str, str], ...]
    changes: tuple[Change, ...]
    warnings: tuple[str, ...]

    def text(self) -> str:
        """The comparison for a terminal."""
        lines = [f"A: {self.first}", f"B: {self.second}"]
        lines += [f"! {warning}" for warning in self.warnings]
        for title, rows in (
            ("What differs", self.settings),
            ("Verdicts", self.verdicts),
            ("Coverage", self.coverage),
        ):
            lines += ["", title, *(f"  {name}: {one} -> {two}" for name, one, two in rows)]
            lines += [] if rows else ["  nothing"]
        lines += ["", "Changes (B less A, on the same answers, 95 % paired intervals)"]
        for change in self.changes:
            lines.append(
                f"  {change.dimension}, {change.what}: {shown(change.first)} -> {shown(change.second)}; "
                f"difference {shown(change.difference)}, n = {change.difference.n:,}"
            )
        return "\n".join(lines)

    def to_json(self) -> str:
        return json.dumps(
            {
                "first": self.first,
                "second": self.second,
                "warnings": list(self.warnings),
                "settings": [
                    dict(zip(("what", "first", "second"), row, strict=True)) for row in self.settings
                ],
                "verdicts": [
                    dict(zip(("dimension", "first", "second"), row, strict=True)) for row in self.verdicts
                ],
                "coverage": [
                    dict(zip(("dimension", "first", "second"), row, strict=True)) for row in self.coverage
                ],
                "changes": [change.row() for change in self.changes],
            },
            indent=1,
            ensure_ascii=False,
            allow_nan=False,
        )

    def _repr_html_(self) -> str:
        lines = [f"A: {self.first}", f"B: {self.second}", *self.warnings]
        return "".join(f"<p>{html.escape(line)}</p>" for line in lines) + html_table(
            [change.row() for change in self.changes]
        )

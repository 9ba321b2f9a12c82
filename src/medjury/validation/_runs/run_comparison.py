"""What a comparison of two runs comes to, and how it is told: in a terminal, as JSON, in a notebook."""

from __future__ import annotations

import html
import json
from typing import Any

from medjury.records import dataclass
from medjury.statistics import Estimate, Printable, Result, ends, percent, shown


@dataclass(frozen=True, slots=True)
class RunChange:
    """One number in both runs, as observed; `difference` is the second run less the first, on the same cases."""

    dimension: str
    what: str
    first: Estimate
    second: Estimate
    difference: Estimate

    def as_dict(self) -> dict[str, Any]:
        """The change as flat names and values."""
        return {
            "dimension": self.dimension,
            "what": self.what,
            "n": self.difference.n,
            "first": self.first.value,
            "second": self.second.value,
            **ends(self.difference, "difference"),
            "method": self.difference.method,
            "reason": self.difference.reason,
        }


@dataclass(frozen=True, eq=False)
class RunComparison(Result[RunChange]):
    """What two runs have in common and what differs. `rows` are the changes of numbers; `settings` lists (what,
    first, second) where they differ, `verdicts` and `coverage` (dimension, first, second); `warnings` must be read
    before the numbers."""

    first: str
    second: str
    settings: tuple[tuple[str, str, str], ...]
    verdicts: tuple[tuple[str, str, str], ...]
    coverage: tuple[tuple[str, str, str], ...]
    rows: tuple[RunChange, ...]
    warnings: tuple[str, ...]
    by_patient: bool = False
    confidence: float = 0.95

    @property
    def caption(self) -> str:
        """What the rows are."""
        whole = "patients" if self.by_patient else "cases"
        return (
            f"Changes (B less A, on the same answers, {percent(self.confidence)} paired intervals that resample "
            f"whole {whole})"
        )

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
        lines += ["", self.caption]
        for row in self.rows:
            lines.append(
                f"  {row.dimension}, {row.what}: {shown(row.first)} -> {shown(row.second)}; "
                f"difference {shown(row.difference)}, n = {row.difference.n:,}"
            )
        return "\n".join(lines)

    def to_json(self) -> str:
        """All of it; the rows are under `changes`."""
        return json.dumps(
            {
                "first": self.first,
                "second": self.second,
                "warnings": list(self.warnings),
                "settings": [_named("what", row) for row in self.settings],
                "verdicts": [_named("dimension", row) for row in self.verdicts],
                "coverage": [_named("dimension", row) for row in self.coverage],
                "changes": [row.as_dict() for row in self.rows],
            },
            indent=1,
            ensure_ascii=False,
            allow_nan=False,
        )

    def shown_rows(self) -> list[dict[str, Printable]]:
        return [
            {
                "dimension": row.dimension,
                "what": row.what,
                "n": row.difference.n,
                "A": row.first,
                "B": row.second,
                "B less A": row.difference,
            }
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        titles = "".join(f"<p>{html.escape(line)}</p>" for line in (f"A: {self.first}", f"B: {self.second}"))
        return titles + Result._repr_html_(self)


def _named(first: str, row: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip((first, "first", "second"), row, strict=True))

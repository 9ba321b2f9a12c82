"""What a comparison of two runs comes to, and how it is told: in a terminal, as JSON, in a notebook, as a page."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

from medjury.agreement import Estimate
from medjury.report._html import element, joined, shown, table_html


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
        parts = [element("p", f"A: {self.first}"), element("p", f"B: {self.second}")]
        parts += [element("p", warning, class_="note") for warning in self.warnings]
        for title, rows in (
            ("What differs", self.settings),
            ("Verdicts", self.verdicts),
            ("Coverage", self.coverage),
        ):
            if rows:
                parts.append(table_html(("", "A", "B"), rows, caption=title, sort=False))
        changes = [
            (each.dimension, each.what, each.difference.n, each.first, each.second, each.difference)
            for each in self.changes
        ]
        if changes:
            head = ("dimension", "what", "answers", "A", "B", "B less A")
            caption = (
                "On the answers that both runs scored, with 95 % paired intervals that resample whole cases"
            )
            parts.append(table_html(head, changes, caption=caption))
        return str(joined(parts))


def comparison_page(comparison: RunComparison, style: str) -> str:
    """The comparison as a page of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape('Medjury: two runs compared')}</title><style>{style}</style></head><body><main>"
        f"<h1>Two runs compared</h1>{comparison._repr_html_()}</main></body></html>\n"
    )

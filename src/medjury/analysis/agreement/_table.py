"""The result of an agreement study: rows that carry n, what was not scored, and their method."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.analysis.agreement._non_inferiority import NonInferiority
from medjury.analysis.agreement._row import AgreementRow, Counts, reading
from medjury.analysis.agreement._severe_errors import SevereErrors
from medjury.analysis.agreement._summary import panels, summary_lines
from medjury.foundation.screen import screen_columns
from medjury.statistics import Estimate, Printable, Result, panels_figure, percent
from medjury.tables import RatingTable, Roles

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


# The agreement table as text: first what must be known, then numbers, then footnotes.

_COLUMNS = 4


def table_lines(rows: Sequence[AgreementRow], remarks: Sequence[str], notes: Sequence[str]) -> Iterator[str]:
    """Lines to print."""
    yield from remarks
    footnotes: dict[str, int] = {}
    blocks: dict[tuple[str, str, str, str], list[AgreementRow]] = {}
    for row in rows:
        blocks.setdefault((row.dimension, row.reference, row.level, row.system), []).append(row)
    for (dimension, reference, level, system), block in blocks.items():
        compared = list(dict.fromkeys(row.rater for row in block))
        yield ""
        where = f"system {system}" if system else f"level {level}"
        yield f"{dimension} · reference {reference} · {where}"
        for some in _side_by_side(block, compared):
            yield from _block_lines([row for row in block if row.rater in some], some, footnotes)
    yield ""
    yield from (f"[{place}] {text}" for text, place in footnotes.items())
    yield from (f"* {note}" for note in notes)


def _side_by_side(block: Sequence[AgreementRow], compared: Sequence[str]) -> Iterator[list[str]]:
    """Four raters beside each other, or as many as the screen has room for."""
    most, room = _COLUMNS, screen_columns()
    if room is not None:
        label = max(len("at ceiling, reference and rater"), *(len(row.statistic) for row in block))
        widest = max(len(text) for row in block for text in (row.rater, _table_text_cell(row, {})))
        most = min(most, max(1, (room - label - 2) // (widest + 2)))
    for start in range(0, len(compared), most):
        yield list(compared[start : start + most])


def _block_lines(
    rows: Sequence[AgreementRow], compared: Sequence[str], footnotes: dict[str, int]
) -> Iterator[str]:
    cells = _facts(rows)
    for row in rows:
        cells.setdefault(row.statistic, {})[row.rater] = _table_text_cell(row, footnotes)
    left = max(map(len, cells))
    widths = [max(len(name), *(len(line.get(name, "")) for line in cells.values())) for name in compared]
    yield _table_text_line("", compared, left, widths)
    for label, line in cells.items():
        yield _table_text_line(label, [line.get(name, "") for name in compared], left, widths)
    if len(compared) == 1:
        said = {row.statistic: reading(row.statistic, row.estimate) for row in rows}
        readings = [f"{name} {words}" for name, words in said.items() if words]
        if readings:
            yield "  in words: " + "; ".join(readings)


def _facts(rows: Sequence[AgreementRow]) -> dict[str, dict[str, str]]:
    """What the columns rest on, from the first row of each."""
    facts: dict[str, dict[str, str]] = {}
    for row in rows:
        counts = row.counts
        shown = {"n": str(counts.n), "unscored": str(counts.n_unscored)}
        if row.level == "system":
            shown = {"systems": str(row.estimate.n)} | shown
        if counts.n_not_applicable:
            shown["not applicable"] = str(counts.n_not_applicable)
        if counts.n_absent:
            shown["no rating"] = str(counts.n_absent)
        if counts.coverage is not None:
            shown["coverage"] = percent(counts.coverage, 1)
        if counts.ceiling_reference is not None:
            ends = (
                ("at ceiling", counts.ceiling_reference, counts.ceiling_rater),
                ("at floor", counts.floor_reference, counts.floor_rater),
            )
            for end, reference, rater in ends:
                shown[f"{end}, reference and rater"] = f"{percent(reference)}, {percent(rater)}"
        for label, text in shown.items():
            facts.setdefault(label, {}).setdefault(row.rater, text)
    return facts


def _table_text_cell(row: AgreementRow, footnotes: dict[str, int]) -> str:
    if row.estimate.value is not None:
        return row.shown(fitted=screen_columns() is not None)
    return f"not defined [{footnotes.setdefault(row.estimate.reason, len(footnotes) + 1)}]"


def _table_text_line(label: str, texts: Sequence[str], left: int, widths: Sequence[int]) -> str:
    body = "  ".join(text.ljust(width) for text, width in zip(texts, widths, strict=True))
    return f"  {label.ljust(left)}  {body}".rstrip()


@dataclass(frozen=True, slots=True, eq=False)
class AgreementTable(Result[AgreementRow]):
    """All rows, the warnings a reader must see first, notes on how things were done, and what was not scored:
    `unscored[rater][reason]` counts ratings.

    `table` and `roles` are the ratings and who is who in them. Behind the rows stand
    `non_inferiority[dimension, rater][statistic]`, the rater among the references, where there are two or more,
    and `severe[dimension, rater]`, the severe errors against the only reference or their consensus."""

    rows: tuple[AgreementRow, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    unscored: Mapping[str, Mapping[str, int]]
    table: RatingTable
    roles: Roles
    non_inferiority: Mapping[tuple[str, str], Mapping[str, NonInferiority]]
    severe: Mapping[tuple[str, str], SevereErrors]
    confidence: float

    def find(self, statistic: str | None = None, /, **where: object) -> AgreementRow:
        """The one row with this statistic and these fields; an error where there is none, or more than one."""
        named = {} if statistic is None else {"statistic": statistic}
        return Result.find(self, **named, **where)

    def frame(self) -> polars.DataFrame:
        """One polars row per statistic, in the columns of `--json`."""
        import polars as pl

        names = list(AgreementRow("", "", "", "", Estimate(0, None, None, 0, ""), Counts()).as_dict())
        numbers = {"value", "low", "high", "p_value", "coverage"}
        schema = {
            name: pl.Int64
            if name == "n" or name.startswith("n_")
            else pl.Float64
            if name in numbers or name.startswith(("ceiling", "floor"))
            else pl.String
            for name in names
        }
        return pl.DataFrame([row.as_dict() for row in self.rows], schema=schema)

    def remarks(self) -> tuple[str, ...]:
        """What must be read before the numbers: warnings, and what was not scored."""
        lines = [f"! {warning}" for warning in self.warnings]
        for rater, reasons in sorted(self.unscored.items()):
            # A clinician's empty cell is an answer that was not rated, and no failure.
            blank = reasons.get("missing", 0) if self.table.raters.get(rater) == "clinician" else 0
            if blank:
                lines.append(f"not rated by {rater}: {blank} (empty, NA or n/a)")
            others = {reason: count for reason, count in reasons.items() if not blank or reason != "missing"}
            if others:
                counted = ", ".join(f"{count} {reason}" for reason, count in sorted(others.items()))
                lines.append(f"unscored ratings of {rater}: {counted}")
        return tuple(lines)

    def text(self) -> str:
        """A table for reading: a block per dimension and reference, a column per compared rater."""
        return "\n".join(table_lines(self.rows, self.remarks(), self.notes))

    def short_text(self) -> str:
        """One screen: the jury, its jurors and the clinicians' own agreement; of clinicians alone every pair."""
        return "\n".join(summary_lines(self))

    def plot(self) -> Figure:
        """The study's coefficient by rater, with intervals, a panel for each dimension."""
        return panels_figure(panels(self))

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "dimension": row.dimension,
                "reference": row.reference,
                "rater": row.rater,
                "level": row.system or row.level,
                "statistic": row.statistic,
                "estimate": row.shown(),
                "n": row.estimate.n,
                "unscored": row.counts.n_unscored,
                "reading": reading(row.statistic, row.estimate),
                "method": row.estimate.method,
            }
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return Result._repr_html_(self) + notes

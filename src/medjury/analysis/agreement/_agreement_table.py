"""The result of an agreement study: rows that carry n, what was not scored, and their method."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.analysis.agreement._agreement_row import AgreementRow, Counts
from medjury.analysis.agreement._among_humans.non_inferiority import NonInferiority
from medjury.analysis.agreement._pairs.severe_errors import SevereErrors
from medjury.analysis.agreement._readings import reading
from medjury.analysis.agreement._short_text import short_lines
from medjury.analysis.agreement._table_text import table_lines
from medjury.statistics import Estimate, Printable, Result
from medjury.tables import RatingTable, Roles

if TYPE_CHECKING:
    import polars


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
                lines.append(f"not rated by {rater}: {blank} (empty cells)")
            others = {reason: count for reason, count in reasons.items() if not blank or reason != "missing"}
            if others:
                counted = ", ".join(f"{count} {reason}" for reason, count in sorted(others.items()))
                lines.append(f"unscored ratings of {rater}: {counted}")
        return tuple(lines)

    def text(self) -> str:
        """A table for reading: a block per dimension and reference, a column per compared rater."""
        return "\n".join(table_lines(self.rows, self.remarks(), self.notes))

    def short_text(self) -> str:
        """The few lines that say whether the jury agrees with its reference."""
        return "\n".join(short_lines(self.rows, self.remarks(), self.roles, self.non_inferiority))

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

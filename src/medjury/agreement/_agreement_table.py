"""The result of an agreement study: rows that carry n, what was not scored, and their method."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medjury.agreement._readings import reading
from medjury.statistics import Estimate

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True)
class Counts:
    """What a row rests on. `n` units have both scores; on `n_unscored` a score was asked for and failed, on
    `n_not_applicable` a rater rightly gave none, on `n_absent` a rater has no row at all. `coverage` is n
    over the units the reference scored. Ceiling and floor are shares at the highest and lowest grade; None
    without a scale."""

    n: int = 0
    n_unscored: int = 0
    n_not_applicable: int = 0
    n_absent: int = 0
    coverage: float | None = None
    ceiling_reference: float | None = None
    ceiling_compare: float | None = None
    floor_reference: float | None = None
    floor_compare: float | None = None


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One statistic of one pair of raters (or groups) on one dimension.

    `level` is the averaging level: "item" compares single scores, "system" the systems' means. `system` names
    the only system the row is about, empty where all are pooled."""

    dimension: str
    reference: str
    compare: str
    statistic: str
    estimate: Estimate
    counts: Counts
    level: str = "item"
    system: str = ""
    p_value: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as `--json` prints it; the first ten names are stable."""
        estimate, counts = self.estimate, self.counts
        return {
            "dimension": self.dimension,
            "reference": self.reference,
            "compare": self.compare,
            "statistic": self.statistic,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "n": estimate.n,
            "n_unscored": counts.n_unscored,
            "method": estimate.method,
            "reason": estimate.reason,
            "level": self.level,
            "system": self.system,
            "p_value": self.p_value,
            "n_not_applicable": counts.n_not_applicable,
            "n_absent": counts.n_absent,
            "coverage": counts.coverage,
            "ceiling_reference": counts.ceiling_reference,
            "ceiling_compare": counts.ceiling_compare,
            "floor_reference": counts.floor_reference,
            "floor_compare": counts.floor_compare,
            "reading": reading(self.statistic, estimate),
        }

    def shown(self) -> str:
        """The estimate as text: value, interval and p-value, or why there is none."""
        estimate = self.estimate
        if estimate.value is None:
            return f"undefined: {estimate.reason}"
        text = f"{estimate.value:.3f}"
        if estimate.low is not None or estimate.high is not None:
            ends = ("–" if end is None else f"{end:.3f}" for end in (estimate.low, estimate.high))
            text += f" ({' to '.join(ends)})"
        if self.p_value is not None:
            text += f", p = {self.p_value:.3g}" if self.p_value >= 0.001 else ", p < 0.001"
        return text


@dataclass(frozen=True, slots=True, eq=False)
class AgreementTable:
    """All rows, the warnings a reader must see first, notes on how things were done, and what was not scored:
    `unscored[rater][reason]` counts ratings."""

    rows: tuple[AgreementRow, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    unscored: Mapping[str, Mapping[str, int]]

    def find(self, statistic: str, **where: str) -> AgreementRow:
        """The one row with this statistic and these fields; an error where there is none, or more than one."""
        fits = [
            row
            for row in self.rows
            if row.statistic == statistic
            and all(getattr(row, name) == value for name, value in where.items())
        ]
        if len(fits) != 1:
            raise LookupError(f"{len(fits)} rows hold {statistic} with {where or 'any fields'}")
        return fits[0]

    def frame(self) -> polars.DataFrame:
        """One polars row per statistic, in the columns of `--json`."""
        import polars as pl

        numbers = {"value", "low", "high", "p_value", "coverage"}
        whole = {"n", "n_unscored", "n_not_applicable", "n_absent"}
        names = list(AgreementRow("", "", "", "", Estimate(0, None, None, 0, ""), Counts()).as_dict())
        schema = {
            name: pl.Int64
            if name in whole
            else pl.Float64
            if name in numbers or name.startswith(("ceiling", "floor"))
            else pl.String
            for name in names
        }
        return pl.DataFrame([row.as_dict() for row in self.rows], schema=schema)

    def to_json(self, *, indent: int | None = 1) -> str:
        """The list of rows; NaN cannot occur in it."""
        return json.dumps(
            [row.as_dict() for row in self.rows], indent=indent, ensure_ascii=False, allow_nan=False
        )

    def remarks(self) -> tuple[str, ...]:
        """What must be read before the numbers: warnings, and what was not scored."""
        lines = [f"! {warning}" for warning in self.warnings]
        for rater, reasons in sorted(self.unscored.items()):
            counted = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            lines.append(f"unscored ratings of {rater}: {counted}")
        return tuple(lines)

    def text(self) -> str:
        """A table for reading: a block per dimension and reference, a column per compared rater."""
        from medjury.agreement._table_text import table_lines

        return "\n".join(table_lines(self))

    def _repr_html_(self) -> str:
        heads = (
            "dimension",
            "reference",
            "compare",
            "level",
            "statistic",
            "estimate",
            "n",
            "unscored",
            "reading",
            "method",
        )
        cells = []
        for row in self.rows:
            values = (
                row.dimension,
                row.reference,
                row.compare,
                row.system or row.level,
                row.statistic,
                row.shown(),
                str(row.estimate.n),
                str(row.counts.n_unscored),
                reading(row.statistic, row.estimate),
                row.estimate.method,
            )
            cells.append("<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in values) + "</tr>")
        head = "".join(f"<th>{name}</th>" for name in heads)
        said = "".join(f"<p>{html.escape(text)}</p>" for text in (*self.warnings, *self.notes))
        return f"{said}<table><thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table>"

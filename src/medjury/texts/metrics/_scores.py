"""Scores: the values of several metrics for the same pairs, and for every undefined one its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True, eq=False)
class MetricScores:
    """One column per metric, one row per pair.

    `values[name]` is NaN exactly where the metric is undefined, and `reasons[name]` then holds the reason under
    the row's index; `column` gives None instead. `notes[name]` says how a metric was computed where there is a
    choice (which matches METEOR could make, which model a learned metric used), `kernels` who counted.
    """

    values: Mapping[str, NDArray[np.float64]]
    reasons: Mapping[str, Mapping[int, str]]
    notes: Mapping[str, str] = field(default_factory=dict)
    kernels: str = ""

    def __post_init__(self) -> None:
        for name, values in self.values.items():
            undefined = set(np.flatnonzero(np.isnan(values)).tolist())
            if undefined != set(self.reasons.get(name, {})):
                raise ValueError(f"{name}: a value is undefined without a reason, or has one in spite of it")

    def column(self, name: str) -> list[float | None]:
        """The values of one metric, None where it is undefined."""
        return [None if value != value else value for value in self.values[name].tolist()]

    def mean(self, name: str) -> float | None:
        """The mean over the pairs for which the metric is defined; None where there is none."""
        defined = self.values[name][~np.isnan(self.values[name])]
        return float(defined.mean()) if len(defined) else None

    def undefined(self) -> list[str]:
        """For every pair, which metrics are undefined and why, in words; empty where all are defined."""
        count = len(next(iter(self.values.values()))) if self.values else 0
        found: list[dict[str, list[str]]] = [{} for _ in range(count)]
        for name, reasons in self.reasons.items():
            for row, reason in reasons.items():
                found[row].setdefault(reason, []).append(name)
        return ["; ".join(f"{', '.join(names)}: {reason}" for reason, names in row.items()) for row in found]

    def frame(self) -> polars.DataFrame:
        """The scores as a table: a column per metric with nulls, and `undefined` with the reasons."""
        import polars

        columns: dict[str, Sequence[object]] = {name: self.column(name) for name in self.values}
        schema = dict.fromkeys(self.values, polars.Float64)
        return polars.DataFrame(columns, schema=schema).with_columns(
            polars.Series("undefined", self.undefined(), dtype=polars.String)
        )

    def content(self) -> dict[str, Any]:
        """The mean of every metric, and how many pairs it is defined for."""
        counts = {
            name: (len(values), len(self.reasons.get(name, {}))) for name, values in self.values.items()
        }
        return {
            "metrics": [
                {"metric": name, "mean": self.mean(name), "pairs": count - undefined, "undefined": undefined,
                 "note": self.notes.get(name)}
                for name, (count, undefined) in counts.items()
            ]
        }  # fmt: skip

    def text(self) -> str:
        """Mean, pairs and undefined ones of every metric, for a reader."""
        lines = [f"{'metric':<18}{'mean':>10}{'pairs':>9}{'undefined':>11}"]
        for name, values in self.values.items():
            mean, undefined = self.mean(name), len(self.reasons.get(name, {}))
            shown = "-" if mean is None else f"{mean:.4f}"
            note = f"  {self.notes[name]}" if name in self.notes else ""
            lines.append(f"{name:<18}{shown:>10}{len(values) - undefined:>9}{undefined:>11}{note}")
        return "\n".join(lines)

"""What every audit returns: findings with their intervals, what was left out, and how far to believe it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.statistics import Estimate

if TYPE_CHECKING:
    import polars

Value = str | float | int | bool | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One estimate of an audit: about which rater, on which dimension, in which group.

    `group` says what is compared (a vendor, a patient group, the other dimension, two versions). `p_adjusted`
    is corrected for all findings of the same statistic in the audit. `verdict` says in plain words what the
    numbers allow; it is empty for findings that only describe. `stands_out` marks those a reader must see.
    """

    statistic: str
    estimate: Estimate
    rater: str = ""
    dimension: str = ""
    group: str = ""
    n_unscored: int = 0
    p_value: float | None = None
    p_adjusted: float | None = None
    verdict: str = ""
    stands_out: bool = False

    def row(self) -> dict[str, Value]:
        """The finding as flat names and values."""
        return {
            "statistic": self.statistic,
            "rater": self.rater,
            "dimension": self.dimension,
            "group": self.group,
            "value": self.estimate.value,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "n": self.estimate.n,
            "n_unscored": self.n_unscored,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "verdict": self.verdict,
            "stands_out": self.stands_out,
            "method": self.estimate.method,
            "reason": self.estimate.reason,
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of one audit. `n` counts the ratings it used, `n_unscored` those without a score."""

    name: str
    findings: tuple[Finding, ...]
    n: int
    n_unscored: int
    method: str
    warnings: tuple[str, ...] = ()

    def find(
        self,
        statistic: str,
        *,
        rater: str | None = None,
        dimension: str | None = None,
        group: str | None = None,
    ) -> Finding:
        """The one finding that fits; None fits every name, "" those about all raters or all dimensions."""
        wanted = (rater, dimension, group)
        fits = [
            each
            for each in self.findings
            if each.statistic == statistic
            and all(
                name in (None, own)
                for name, own in zip(wanted, (each.rater, each.dimension, each.group), strict=True)
            )
        ]
        if len(fits) != 1:
            raise KeyError(f"{len(fits)} findings fit {statistic!r} with rater, dimension, group {wanted}")
        return fits[0]

    def rows(self) -> list[dict[str, Value]]:
        """Every finding as flat names and values, with the audit's name first."""
        return [{"audit": self.name, **finding.row()} for finding in self.findings]

    def frame(self) -> polars.DataFrame:
        """One row per finding, as a polars table."""
        import polars as pl

        numbers = ("value", "low", "high", "p_value", "p_adjusted")
        whole = ("n", "n_unscored")
        schema = {"audit": pl.String} | {
            name: pl.Float64
            if name in numbers
            else pl.Int64
            if name in whole
            else pl.Boolean
            if name == "stands_out"
            else pl.String
            for name in Finding("", Estimate(0.0, None, None, 0, "")).row()
        }
        return pl.DataFrame(self.rows(), schema=schema)

    def to_json(self) -> str:
        """The whole audit as one JSON object."""
        whole: Mapping[str, object] = {
            "audit": self.name,
            "method": self.method,
            "n": self.n,
            "n_unscored": self.n_unscored,
            "warnings": list(self.warnings),
            "findings": [finding.row() for finding in self.findings],
        }
        return json.dumps(whole, ensure_ascii=False, allow_nan=False)


def names(listed: Sequence[object], most: int = 5) -> str:
    """A short list for a message: the first few, and how many more there are."""
    shown = ", ".join(str(each) for each in listed[:most])
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more"

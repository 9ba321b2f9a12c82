"""What every audit returns: findings with their intervals, what was left out, and how far to believe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medjury.statistics import Estimate, Printable, Result, ends, p_value, text_table

if TYPE_CHECKING:
    import polars

# An audit with more findings than this shows those that stand out, unless all are asked for.
SHORT = 40


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
    audit: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "audit": self.audit,
            "statistic": self.statistic,
            "rater": self.rater,
            "dimension": self.dimension,
            "group": self.group,
            **ends(self.estimate),
            "n": self.estimate.n,
            "n_unscored": self.n_unscored,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "verdict": self.verdict,
            "stands_out": self.stands_out,
            "method": self.estimate.method,
            "reason": self.estimate.reason,
        }

    def shown(self) -> Mapping[str, Printable]:
        """What fits on a screen."""
        return {
            "statistic": self.statistic,
            "rater": self.rater,
            "dimension": self.dimension,
            "group": self.group,
            "value": self.estimate,
            "p_adjusted": "" if self.p_adjusted is None else p_value(self.p_adjusted),
            "verdict": self.verdict,
            "n": self.estimate.n,
            "n_unscored": self.n_unscored,
        }


class Findings(Result[Finding]):
    """Rows of findings: the columns are there, with their types, also where a value is not."""

    __slots__ = ()

    def frame(self) -> polars.DataFrame:
        import polars as pl

        kinds = {"n": pl.Int64, "n_unscored": pl.Int64, "stands_out": pl.Boolean}
        kinds |= dict.fromkeys(("value", "low", "high", "p_value", "p_adjusted"), pl.Float64)
        names = Finding("", Estimate(0.0, None, None, 0, "")).as_dict()
        schema = {name: kinds.get(name, pl.String) for name in names}
        return pl.DataFrame([row.as_dict() for row in self.rows], schema=schema)

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [row.shown() for row in self.rows]


@dataclass(frozen=True, slots=True)
class Audit(Findings):
    """The result of one audit. `n` counts the ratings it used, `n_unscored` those without a score."""

    name: str
    rows: tuple[Finding, ...]
    n: int
    n_unscored: int
    method: str
    warnings: tuple[str, ...] = ()

    def text(self, *, everything: bool = False) -> str:
        """The method and the findings; of a long list only what stands out, unless `everything` is asked for."""
        whole = everything or len(self.rows) <= SHORT
        shown = [row.shown() for row in self.rows if whole or row.stands_out]
        lines = [
            f"{self.name.replace('_', ' ')} (n {self.n:,}, unscored {self.n_unscored:,})",
            self.method,
            *(f"! {warning}" for warning in self.warnings),
            *text_table(shown),
        ]
        if left := len(self.rows) - len(shown):
            lines.append(f"{left} other findings do not stand out or only describe (--all prints them)")
        return "\n".join(lines)


def names(listed: Sequence[object], most: int = 5) -> str:
    """A short list for a message: the first few, and how many more there are."""
    shown = ", ".join(str(each) for each in listed[:most])
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more"

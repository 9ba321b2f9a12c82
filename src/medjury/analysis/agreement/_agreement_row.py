"""One row of an agreement table: an estimate, what it rests on, and what was not scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.analysis.agreement._readings import reading
from medjury.statistics import Estimate, p_value, shown, supported


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
    ceiling_rater: float | None = None
    floor_reference: float | None = None
    floor_rater: float | None = None


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One statistic of one pair of raters (or groups) on one dimension.

    `level` is the averaging level: "item" compares single scores, "system" the systems' means. `system` names
    the only system the row is about, empty where all are pooled."""

    dimension: str
    reference: str
    rater: str
    statistic: str
    estimate: Estimate
    counts: Counts
    level: str = "item"
    system: str = ""
    p_value: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as `--json` prints it; the first ten names are stable, the last three are older names for the
        same."""
        estimate, counts = self.estimate, self.counts
        return {
            "dimension": self.dimension,
            "reference": self.reference,
            "rater": self.rater,
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
            "ceiling_rater": counts.ceiling_rater,
            "floor_reference": counts.floor_reference,
            "floor_rater": counts.floor_rater,
            "reading": reading(self.statistic, estimate),
            "compare": self.rater,
            "ceiling_compare": counts.ceiling_rater,
            "floor_compare": counts.floor_rater,
        }

    def shown(self, *, fitted: bool = False) -> str:
        """The estimate as text: value, interval and p-value, or why there is none; `fitted` to a narrow screen,
        with the digits that the interval supports."""
        text = supported(self.estimate) if fitted else shown(self.estimate)
        if self.estimate.value is None or self.p_value is None:
            return text
        said = p_value(self.p_value)
        return f"{text}, p {said}" if said.startswith("<") else f"{text}, p = {said}"

"""What claims can measure: which grades follow from them, what they are held against, and the rule of a share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from medjury.judging._claims.share import WEIGHTS, Decisive, Denominator

# What a dimension is read from: the supported share with its threshold (0 or 1), the gravest claim of the text
# that its sources do not support, or the gravest fact of the sources that the text does not give.
Measure = Literal["support", "unsupported", "omitted"]
MEASURES: Mapping[str, Measure] = {
    "concordant": "support",
    "unsupported": "unsupported",
    "omitted": "omitted",
}
AGAINST: Mapping[Measure, str] = {"support": "reference", "unsupported": "notes", "omitted": "notes"}
# The grade of a claim that is not supported, by its importance. A summary may leave out background.
GRADES: Mapping[Measure, Mapping[int, int]] = {
    "unsupported": {1: 1, 2: 2, 3: 3},
    "omitted": {1: 0, 2: 1, 3: 2},
}


@dataclass(frozen=True, slots=True)
class ShareRule:
    """How verdicts become "concordant": see `decide_support`."""

    threshold: float = 0.8
    denominator: Denominator = "addressed"
    weights: Mapping[int, float] = field(default_factory=lambda: dict(WEIGHTS))
    decisive: Decisive = "veto"
    minimum_verified: float = 0.5

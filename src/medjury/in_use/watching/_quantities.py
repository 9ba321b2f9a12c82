"""What is watched: for each limit its values, its test, and its interval.

Every case has a number with known ends. The cases of a patient (or of a day) that come together are one group,
and its mean is what is bet on, in the order of arrival. What clinicians say is known of drawn cases alone, with
the probability by which each was drawn:

    quality        jury's score + (clinician's − jury's) / probability of a drawn case; jury's score of the others
    disagreement   distance · (least probability / probability) of a drawn case; 0 of the others

The first is the prediction-powered estimate one case at a time: its mean is the clinicians', however wrong the jury
is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import Passport
from medjury.in_use.watching._confidence_sequence import ConfidenceSequence
from medjury.in_use.watching._e_process import Direction, EProcess
from medjury.in_use.watching._settings import WatchPart
from medjury.in_use.watching._state import WatchedCase

BY_JURY, BY_CLINICIANS = ("score", "coverage", "case_mix"), ("quality", "disagreement")
_DIRECTIONS: Mapping[str, Direction] = {
    "score": "below", "quality": "below", "coverage": "below", "disagreement": "above", "case_mix": "above",
}  # fmt: skip
Event = Literal["alarm", "recovered"]


@dataclass(frozen=True, slots=True)
class WatchedScale:
    """The scale of the watched dimension, and the least probability with which a case is drawn."""

    low: float
    high: float
    higher_is_better: bool
    least: float

    def quality(self, grade: float) -> float:
        """A grade on the scale from 0, the worst, to 1, the best."""
        scaled = min(1.0, max(0.0, (grade - self.low) / (self.high - self.low)))
        return scaled if self.higher_is_better else 1.0 - scaled

    def grade(self, quality: float) -> float:
        """The same the other way round."""
        return self.low + (quality if self.higher_is_better else 1.0 - quality) * (self.high - self.low)

    def ends(self, quantity: str) -> tuple[float, float]:
        """Between which numbers the values of a quantity lie."""
        return (1.0 - 1.0 / self.least, 1.0 / self.least) if quantity == "quality" else (0.0, 1.0)

    def limit(self, quantity: str, stated: float) -> float:
        """A limit of the study file among the values."""
        if quantity in ("score", "quality"):
            return self.quality(stated)
        if quantity == "disagreement":
            return stated / (self.high - self.low) * self.least
        return stated

    def value(self, name: str, case: WatchedCase) -> float | None:
        """The number of one case; none where it has none."""
        score = None if case.score is None else self.quality(case.score)
        label = None if case.label is None else self.quality(case.label)
        if name == "score":
            return score
        if name == "coverage":
            return float(score is not None)
        if name == "case_mix":
            return float(not case.inside)
        if name == "quality":
            guess = 0.5 if score is None else score
            text = (1.0 if label is None else label) if case.drawn else guess
            return guess + (text - guess) / case.probability
        if not case.drawn or label is None or score is None:
            return 0.0
        return abs(score - label) * self.least / case.probability

    def in_units(self, quantity: str, value: float) -> float:
        """A value in the words of the study file: grades or shares. What lies beyond the scale cannot be."""
        if quantity in ("score", "quality"):
            return self.grade(min(1.0, max(0.0, value)))
        if quantity == "disagreement":
            return min(1.0, value / self.least) * (self.high - self.low)
        return value


def watched_scale(passport: Passport, part: WatchPart) -> tuple[str, WatchedScale]:
    """The watched dimension and its scale."""
    known = {each.name: each for each in passport.jury.instrument.dimensions if each.grades}
    judged = [each.dimension for each in passport.verdicts if each.dimension in known]
    name = part.dimension or (judged[0] if judged else "")
    if name not in judged:
        raise MedjuryError(
            f"watch: the passport has no dimension {name!r} with grades; it has {', '.join(judged)}"
        )
    grades = known[name].grades or (0.0, 1.0)
    least = min(part.review.share, part.review.doubtful)
    scale = WatchedScale(min(grades), max(grades), known[name].higher_is_better, least)
    for quantity, stated in part.limits.stated.items():
        low, high = scale.ends(quantity)
        inside = quantity not in ("score", "quality") or scale.low < stated < scale.high
        if not (inside and low < scale.limit(quantity, stated) < high):
            raise MedjuryError(f"watch: the limit {quantity}: {stated:g} lies beyond the scale of {name}")
    return name, scale


@dataclass
class Quantity:
    """One quantity under watch: quiet, or in alarm until it is shown to be back. `cases` are those it took."""

    name: str
    alpha: float
    test: EProcess
    sequence: ConfidenceSequence
    alarmed: bool = False
    cases: int = 0

    @classmethod
    def new(cls, name: str, part: WatchPart, scale: WatchedScale) -> Quantity:
        """A quantity that has seen nothing; the false alarms of all together are `alpha`."""
        low, high = scale.ends(name)
        limit = scale.limit(name, part.limits.stated[name])
        share = part.alpha / len(part.limits.stated)
        test = EProcess(limit, _DIRECTIONS[name], low, high)
        return cls(name, share, test, ConfidenceSequence(part.alpha, low, high))

    def update(self, values: Sequence[float], groups: int = 0, known: int = 0) -> Event | None:
        """Take the values of one group: so many groups of its cluster came earlier, and `known` is the generation
        after the last of them. An alarm is raised once; then the opposite is watched for, until that is
        shown."""
        value = sum(values) / len(values)
        self.cases += len(values)
        self.sequence.update(value, groups)
        if self.test.update(value, known)[0] < 1.0 / self.alpha:
            return None
        self.alarmed = not self.alarmed
        back = _DIRECTIONS[self.name]
        direction: Direction = ("above" if back == "below" else "below") if self.alarmed else back
        test = self.test
        self.test = EProcess(test.limit, direction, test.low, test.high, generation=test.generation + 1)
        return "alarm" if self.alarmed else "recovered"

    def state(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "alpha": self.alpha,
            "alarmed": self.alarmed,
            "cases": self.cases,
            "test": self.test.state(),
            "sequence": self.sequence.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Quantity:
        test, sequence = EProcess.from_state(state["test"]), ConfidenceSequence(**state["sequence"])
        return cls(state["name"], state["alpha"], test, sequence, state["alarmed"], state["cases"])

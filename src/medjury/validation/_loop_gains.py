"""What a closed loop gained: by its own judge, by the juror outside of it, and how far the two differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.statistics import Estimate, replicates
from medjury.tables import Measured
from medjury.validation._clustered import patients
from medjury.validation._evidence import Evidence

if TYPE_CHECKING:
    from medjury.judging import ClosedLoopBody

# With fewer cases (of different patients), exchanging first and last within cases could not reach 5 %: no gain
# can be shown.
FEWEST = 6


@dataclass(frozen=True, slots=True)
class LoopRun:
    """One unit of a loop, as its record tells it."""

    item: str
    system: str
    body: ClosedLoopBody

    @property
    def revised(self) -> bool:
        return len(self.body.rounds) > 1 and self.body.final.last is not None

    def gains(self, dimension: Measured) -> tuple[float, float] | None:
        """Last less first draft by the loop judge and by the final juror, better upwards; None where a score is
        missing."""
        final, rounds = self.body.final, self.body.rounds
        scores = []
        for given in (rounds[0].scores, rounds[-1].scores, final.first or {}, final.last or {}):
            outcome = given.get(dimension.name)
            if outcome is None or outcome.score is None:
                return None
            scores.append(outcome.score)
        sign = 1.0 if dimension.higher_is_better else -1.0
        return sign * (scores[1] - scores[0]), sign * (scores[3] - scores[2])


@dataclass(frozen=True, slots=True)
class Gain:
    """One dimension of one loop: both gains, their difference, and what that means."""

    rater: str
    dimension: Measured
    cases: int
    patients: int  # or cases, where no patients are named
    left_out: int
    loop: Estimate
    final: Estimate
    difference: Estimate

    @property
    def enough(self) -> bool:
        return self.patients >= FEWEST

    @property
    def worse(self) -> bool:
        """The final juror finds the last drafts worse than the first."""
        return self.enough and below(self.final)

    @property
    def refuted(self) -> bool:
        """The loop claims a gain; the final juror finds none, and clearly less than is claimed."""
        claimed = self.enough and above(self.loop) and above(self.difference)
        return claimed and not above(self.final)

    @property
    def word(self) -> str:
        if not self.enough:
            return f"too few cases to tell (fewer than {FEWEST})"
        if self.worse:
            return "WORSE by the final juror" + (", NOT CONFIRMED" if self.refuted else "")
        if self.refuted:
            return "NOT CONFIRMED: the final juror does not share it"
        if not above(self.loop):
            return "gain by the final juror alone" if above(self.final) else "the loop claims no gain"
        if above(self.final):
            return "confirmed, but smaller than the loop claims" if above(self.difference) else "confirmed"
        return "not confirmed: too uncertain to tell"


def loop_gains(evidence: Evidence, rater: str, runs: Sequence[LoopRun]) -> list[Gain]:
    """Over the drafts that were revised: the others have no gain to speak of."""
    revised = [run for run in runs if run.revised]
    table, confidence = evidence.table, evidence.confidence
    whose = patients(table)
    found = []
    for dimension in table.counted:
        pairs = [(run.item, gain) for run in revised if (gain := run.gains(dimension)) is not None]
        if not pairs:
            continue
        items = [item for item, _ in pairs]
        clusters = [whose.get(item, item) for item in items]
        made = replicates(
            np.asarray([gain for _, gain in pairs]),
            _means,
            clusters=clusters,
            resamples=table.resamples(None),
            seed=table.seed(None),
        )
        found.append(
            Gain(
                rater,
                dimension,
                len(set(items)),
                len(set(clusters)),
                len(revised) - len(pairs),
                made.estimate("loop", method="bca", confidence=confidence),
                made.estimate("final", method="bca", confidence=confidence),
                made.difference("loop", "final", method="bca", confidence=confidence),
            )
        )
    return found


def _means(rows: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda weights: {
        name: weights @ rows[:, place] / weights.sum(axis=-1) for place, name in enumerate(("loop", "final"))
    }


def above(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.low > 0


def below(estimate: Estimate) -> bool:
    return estimate.high is not None and estimate.high < 0

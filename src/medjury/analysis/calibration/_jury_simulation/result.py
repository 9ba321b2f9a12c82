"""What a simulated jury comes to: a rule from one half of the cases, judged on the other half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.analysis.calibration._jury_simulation.widths import JurySignal
from medjury.statistics import Estimate, shown

if TYPE_CHECKING:
    from medjury.judging import AdaptiveRule


@dataclass(frozen=True, slots=True)
class JuryPolicy:
    """One way of asking jurors, on the half of the cases that no rule was found on.

    `calls` and `cost` are shares of the full jury's. `spearman` is the correlation with the clinicians pooled
    over systems, dimension by dimension, and averaged; `within` the same inside each system. `loss` is the full
    jury's less this one's on the same answers and resamples of cases: below zero, it agrees better. `offset` is
    how far the mean score lies above the full jury's, in grades.
    """

    name: str
    jurors: tuple[str, ...]
    calls: float
    cost: float | None
    spearman: Estimate
    loss: Estimate
    within: Estimate
    within_loss: Estimate
    offset: float | None
    n_unscored: int


@dataclass(frozen=True, slots=True)
class RandomEscalation:
    """The same numbers of calls given to answers at random: what is lost then, over many draws.

    `p_value` is the share of draws that agree at least as well as the rule, itself counted in; None where the rule
    makes the same calls on every answer, so that there is nothing to draw.
    """

    loss: float
    low: float
    high: float
    draws: int
    p_value: float | None

    @property
    def beaten(self) -> bool | None:
        return None if self.p_value is None else self.p_value <= 0.05


@dataclass(frozen=True, slots=True)
class JuryCurvePoint:
    """The rule at another tolerance: what is asked and what is lost, beside random escalation."""

    tolerance: float
    calls: float
    cost: float | None
    loss: Estimate
    random_loss: float
    random_low: float
    random_high: float


@dataclass(frozen=True, slots=True)
class DimensionLoss:
    """Full jury and rule on one dimension."""

    dimension: str
    full: Estimate
    rule: Estimate
    loss: Estimate


@dataclass(frozen=True, slots=True)
class JurySplit:
    """One more split of the cases into halves: what a rule found on one comes to on the other."""

    seed: int
    jurors: tuple[str, ...]
    signal: JurySignal
    tolerance: float
    calls: float
    cost: float | None
    loss: float
    within_loss: float
    random_loss: float
    pair_loss: float


@dataclass(frozen=True, eq=False)
class SimulatedJury:
    """The chosen rule and its proof. `shown` tells whether its loss was shown to be within what was wanted on the
    half it was found on. `policies` begins with the full jury and the rule itself; `fixed` holds every fixed
    jury's calls and loss, for the figure."""

    jurors: tuple[str, ...]
    scales: tuple[tuple[str, tuple[float, float]], ...]  # of the dimensions
    signal: JurySignal
    rule: AdaptiveRule
    shown: bool
    wanted_loss: float
    wanted_calls: float
    policies: tuple[JuryPolicy, ...]
    random: RandomEscalation
    later: RandomEscalation | None  # by lot among answers with two calls or more; None where all have
    over_pair: Estimate | None  # the rule's agreement less that of the best fixed pair
    over_pair_within: Estimate | None
    curve: tuple[JuryCurvePoint, ...]
    fixed: tuple[tuple[tuple[str, ...], float, float], ...]
    dimensions: tuple[DimensionLoss, ...]
    stopped_after: tuple[int, ...]
    n_training: tuple[int, int]  # cases, answers
    n_tested: tuple[int, int]
    n_rules: int
    splits: tuple[JurySplit, ...]
    alike: float | None  # share of decisions at the threshold that are the full jury's
    warnings: tuple[str, ...]
    seed: int
    data_sha256: str  # of the votes and labels

    @property
    def beaten(self) -> bool:
        """Whether the rule kept to what was wanted and was not matched by calls at random."""
        return self.kept and self.random.beaten is not False

    @property
    def adaptive(self) -> JuryPolicy:
        return self.policies[1]

    @property
    def kept(self) -> bool:
        """Whether the rule kept to what was wanted on the cases it had not seen, inside systems too."""
        found = self.adaptive
        losses = [each for each in (found.loss.value, found.within_loss.value) if each is not None]
        spent = found.calls if found.cost is None else found.cost
        return bool(losses) and max(losses) <= self.wanted_loss and spent <= self.wanted_calls

    @property
    def proved(self) -> bool:
        """Whether the intervals, too, lie within what was wanted."""
        ends = [
            each.high for each in (self.adaptive.loss, self.adaptive.within_loss) if each.value is not None
        ]
        return self.kept and all(end is not None and end <= self.wanted_loss for end in ends)

    @property
    def _asked(self) -> int:
        """The most calls that any answer took."""
        return max(place for place, count in enumerate(self.stopped_after, start=1) if count)

    @property
    def verdict(self) -> str:
        """The result in a few sentences, plainly."""
        found, made = self.adaptive, self.random
        if found.loss.value is None:
            return f"No verdict: the loss of agreement does not exist ({found.loss.reason})."
        spent = f"{found.calls:.1%} of the full jury's calls"
        spent += "" if found.cost is None else f" at {found.cost:.1%} of its cost"
        inside = "" if found.within_loss.value is None else f", inside systems {shown(found.within_loss)}"
        lines = [
            f"On cases it was not found on, the rule makes {spent} and loses {shown(found.loss)} of Spearman's "
            f"correlation with the clinicians{inside}: " + self._judged
        ]
        full = self.policies[0]
        if found.n_unscored > full.n_unscored:
            lines.append(
                f"It leaves {found.n_unscored:,} scores open, the full jury {full.n_unscored:,}; agreement is "
                "compared where both have one."
            )
        if not self.shown:
            lines.append(
                f"On the half that was searched no rule could be shown to lose at most {self.wanted_loss:g}; this "
                "one was the surest."
            )
        if made.p_value is None:
            lines.append(
                f"It makes the same calls on every answer ({', '.join(self.jurors[: self._asked])}): a fixed jury, "
                "and no adaptive one, is what these votes call for."
            )
        elif made.beaten:
            lines.append(
                f"It beats the same number of calls made at random ({shown(made.loss)}, p = {made.p_value:.2g})."
            )
            lines += self._among_later
        else:
            lines.append(
                f"It does NOT beat the same number of calls made at random ({shown(made.loss)}, p = "
                f"{made.p_value:.2g}): it does not know where another juror helps."
            )
        return " ".join([*lines, *self._beside_pair])

    @property
    def _judged(self) -> str:
        if not self.kept:
            return "NOT within what was wanted."
        if self.proved:
            return "within what was wanted."
        return (
            f"within what was wanted as estimated, but not proved: the interval does not exclude more than "
            f"{self.wanted_loss:g}."
        )

    @property
    def _among_later(self) -> list[str]:
        """Stopping after one vote cannot go by disagreement: what comes after it can."""
        made = self.later
        if made is None or made.p_value is None:
            return []
        if made.beaten:
            return [
                f"So it does among the answers with two votes or more ({shown(made.loss)}, p = {made.p_value:.2g})."
            ]
        return [
            f"Among the answers with two votes or more it does NOT ({shown(made.loss)}, p = {made.p_value:.2g}): "
            "what it gains comes from where it stops after one vote."
        ]

    @property
    def _beside_pair(self) -> list[str]:
        gain, inside = self.over_pair, self.over_pair_within
        if gain is None or gain.value is None or self.random.p_value is None:
            return []
        more = shown(gain) + (
            "" if inside is None or inside.value is None else f", inside systems {shown(inside)}"
        )
        better = gain.low is not None and gain.low > 0
        return [
            f"Its agreement less that of the best fixed pair: {more}"
            + ("." if better else "; it is not shown to be better.")
        ]

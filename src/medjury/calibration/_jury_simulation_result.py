"""What a simulated jury comes to: a rule from one half of the cases, judged on the other half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medjury.agreement import Estimate
from medjury.calibration._jury_simulation_widths import Signal
from medjury.judging import AdaptiveRule


@dataclass(frozen=True, slots=True)
class JuryPolicy:
    """One way of asking jurors, on the half of the cases that no rule was found on.

    `calls` and `cost` are shares of the full jury's. `spearman` is the correlation with the clinicians pooled
    over systems, dimension by dimension, and averaged; `within` the same inside each system. `loss` is the full
    jury's less this one's on the same resamples of cases: below zero, it agrees better. `offset` is how far
    the mean score lies above the full jury's, in grades.
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

    `p_value` is the share of draws that agree at least as well as the rule, itself counted in.
    """

    loss: float
    low: float
    high: float
    draws: int
    p_value: float

    @property
    def beaten(self) -> bool:
        return self.p_value <= 0.05


@dataclass(frozen=True, slots=True)
class CurvePoint:
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
class SplitResult:
    """One more split of the cases into halves: what a rule found on one comes to on the other."""

    seed: int
    jurors: tuple[str, ...]
    signal: Signal
    tolerance: float
    calls: float
    cost: float | None
    loss: float
    within_loss: float
    random_loss: float
    pair_loss: float


@dataclass(frozen=True, slots=True, eq=False)
class JurySimulation:
    """The chosen rule and its proof. `shown` tells whether its loss was shown to be within what was wanted on the
    half it was found on. `policies` begins with the full jury and the rule itself; `fixed` holds every fixed
    jury's calls and loss, for the figure."""

    jurors: tuple[str, ...]
    signal: Signal
    rule: AdaptiveRule
    shown: bool
    wanted_loss: float
    wanted_calls: float
    policies: tuple[JuryPolicy, ...]
    random: RandomEscalation
    curve: tuple[CurvePoint, ...]
    fixed: tuple[tuple[tuple[str, ...], float, float], ...]
    dimensions: tuple[DimensionLoss, ...]
    stopped_after: tuple[int, ...]
    n_training: tuple[int, int]  # cases, answers
    n_tested: tuple[int, int]
    n_rules: int
    splits: tuple[SplitResult, ...]
    alike: float | None  # share of decisions at the threshold that are the full jury's
    notes: tuple[str, ...]

    @property
    def adaptive(self) -> JuryPolicy:
        return self.policies[1]

    @property
    def kept(self) -> bool:
        """Whether the rule kept to what was wanted on the cases it had not seen."""
        found = self.adaptive
        spent = found.calls if found.cost is None else found.cost
        return (
            found.loss.value is not None
            and found.loss.value <= self.wanted_loss
            and spent <= self.wanted_calls
        )

    @property
    def verdict(self) -> str:
        """The result in a sentence or two, plainly."""
        found, loss = self.adaptive, self.adaptive.loss
        if loss.value is None:
            return f"No verdict: the loss of agreement does not exist ({loss.reason})."
        ends = (
            ""
            if loss.low is None or loss.high is None
            else f" (95 % interval {loss.low:+.3f} to {loss.high:+.3f})"
        )
        lines = [
            f"On cases it was not found on, the rule makes {found.calls:.1%} of the full jury's calls and loses "
            f"{loss.value:+.3f} of Spearman's correlation{ends}: "
            + ("within what was wanted." if self.kept else "NOT within what was wanted.")
        ]
        if not self.shown:
            lines.append("No rule was shown to be within the wanted loss on the half that was searched.")
        inside = found.within_loss
        if inside.value is not None and inside.low is not None and inside.high is not None:
            lines.append(
                f"Inside systems it loses {inside.value:+.3f} ({inside.low:+.3f} to {inside.high:+.3f})."
            )
        at_random = f"{self.random.loss:+.3f}, p = {self.random.p_value:.2g}"
        if self.random.beaten:
            lines.append(f"It beats the same number of calls made at random ({at_random}).")
        else:
            lines.append(
                f"It does NOT beat the same number of calls made at random ({at_random}): the rule does not know "
                "where another juror helps."
            )
        return " ".join(lines)


def meets(results: Sequence[SplitResult], loss: float, spent: float) -> int:
    """How many splits kept to the wanted loss at the wanted price."""
    return sum(
        each.loss <= loss and (each.calls if each.cost is None else each.cost) <= spent for each in results
    )

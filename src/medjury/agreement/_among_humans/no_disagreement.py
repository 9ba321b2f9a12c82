"""Raters who never differ: every resample gives a coefficient of 1, and resampling has no interval to offer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.records import dataclass
from medjury.statistics import Clusters, Estimate, Floats, proportion


@dataclass(frozen=True, slots=True)
class NoDisagreement:
    """That nobody ever differed on so many `cases`, and how likely a guess is `right` by chance.

    A rater who guesses on a share g of the cases, and is right on the others, has a kappa, ICC or correlation of
    1 − g. What was seen bounds that share, exactly: a guessed case shows no disagreement with probability `right`
    at most, so n cases without one have a chance of (1 − g·(1 − right))ⁿ.
    """

    cases: int
    right: float

    def guessed_at_most(self, tail: float) -> float:
        """The largest share of guessed cases under which this had a chance of `tail`: the rule of three's
        1 − tail^(1/n), divided by 1 − `right`.

        >>> round(NoDisagreement(cases=40, right=0.2).guessed_at_most(0.05), 3)
        0.09
        """
        differing = proportion(0, self.cases, confidence=1 - 2 * tail).high or 0.0
        return min(1.0, differing / (1 - self.right)) if self.right < 1 else 1.0

    def chance(self, guessed: float) -> float:
        """The chance of it where this share of cases is guessed."""
        return (1 - guessed * (1 - self.right)) ** self.cases

    def ends(self, found: Estimate, tail: float) -> Estimate:
        """The estimate, a coefficient or a difference of two of these raters, with exact ends where resampling gave
        none: none of them falls by more than the share that may be guessed."""
        if found.value is None or found.low is not None:
            return found
        guessed = self.guessed_at_most(tail)
        said = (
            f"exact: nobody differed on {self.cases:,} cases, so at most {100 * guessed:.1f} % of them are guessed "
            f"(a guess is right in {100 * self.right:.0f} %)"
        )
        low, high = found.value - guessed, min(1.0, found.value + guessed)
        return replace(found, low=low, high=high, method=f"{said}; {found.method}")


def no_disagreement(
    scores: Floats, clusters: Clusters = None, *, groups: Clusters = None
) -> NoDisagreement | None:
    """Where all raters (columns) gave each answer the same score, on how many cases (clusters); None where they
    differ. A guess is one of the scores that answers got, of the same of the `groups` where these are named."""
    known = ~np.isnan(scores)
    rated = known.any(axis=1)
    lowest = np.where(known, scores, np.inf).min(axis=1)[rated]
    highest = np.where(known, scores, -np.inf).max(axis=1)[rated]
    if not rated.any() or float((highest - lowest).max()) > 1e-9:
        return None
    whose = np.arange(len(scores)) if clusters is None else np.asarray(clusters).astype(str)
    inside = np.zeros(len(scores)) if groups is None else np.asarray(groups).astype(str)
    return NoDisagreement(len(np.unique(whose[rated])), _right_by_chance(lowest, inside[rated]))


def _right_by_chance(scores: Floats, groups: NDArray[Any]) -> float:
    total = 0.0
    for group in np.unique(groups):
        _, counts = np.unique(np.round(scores[groups == group], 9), return_counts=True)
        total += float((counts**2).sum() / counts.sum())
    return total / len(scores)

"""Is a model better than the best trivial answer? The difference on the same items, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from medjury.statistics import Estimate, Floats, Read, bootstrap, paired_rate_difference, shown, undefined
from medjury.suites._baselines._scores import BaselineScore
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking import counts_of

Verdict = Literal["beats it", "does not beat it", "cannot be told"]


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """How much better a model is than the best baseline. The best is chosen by its score on the same items, which
    makes it look a little better than it is: the comparison is harder for the model, never easier."""

    baseline: str
    baseline_score: float
    difference: Estimate  # the model's score less the baseline's
    items: int

    @property
    def verdict(self) -> Verdict:
        return beats(self.difference)

    def text(self) -> str:
        """One sentence for the page."""
        return (
            f"{self.verdict}: the trivial answer {self.baseline!r} scores {shown(self.baseline_score)}, "
            f"difference {shown(self.difference)} on {self.items} items"
        )


def beats_baseline(
    marks: Mapping[str, Mark],
    baselines: Sequence[BaselineScore],
    items: Sequence[Item],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> AgainstBaseline | None:
    """A model's marks against the best baseline, on the items that both have; none where there is no baseline.

    What could not be read counts as not right on both sides. Patients are resampled whole where items have them,
    else items. Marks of 0 and 1 have an exact interval, others (F1, ROUGE) that of the bootstrap; code sets are
    compared by their micro-averaged F1.
    """
    if not baselines:
        return None
    best = max(baselines, key=lambda each: each.score)
    shared = [item for item in items if item.id in marks and item.id in best.marks]
    if not shared:
        return AgainstBaseline(best.name, best.score, undefined("no item has both marks", 0, "paired"), 0)
    clusters = [item.patient or item.id for item in shared]
    ours, theirs = (
        np.array([_scored(side[item.id]) for item in shared], dtype=np.float64)
        for side in (marks, best.marks)
    )
    difference = above_baseline(ours, theirs, clusters, confidence=confidence, resamples=resamples, seed=seed)
    return AgainstBaseline(best.name, best.score, difference, len(shared))


def above_baseline(
    ours: Floats,
    theirs: Floats,
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """How much higher the mean of our scores is than that of a trivial answer to the same items; each side has the
    columns score and weight. Scores of 0 and 1 have an exact interval, others that of the bootstrap."""
    both = np.hstack([ours, theirs])
    if np.isin(both[:, ::2], (0.0, 1.0)).all() and (both[:, 1::2] == 1.0).all():
        return paired_rate_difference(theirs[:, 0], ours[:, 0], clusters, confidence=confidence)
    made = bootstrap(
        both, _difference, clusters=clusters, confidence=confidence, resamples=resamples, seed=seed
    )
    return made["difference"]


def beats(difference: Estimate) -> Verdict:
    """Beaten where the whole interval lies above 0; not beaten where the difference itself does not."""
    if difference.value is None:
        return "cannot be told"
    if difference.value <= 0:
        return "does not beat it"
    return "beats it" if difference.low is not None and difference.low > 0 else "cannot be told"


def _scored(mark: Mark) -> tuple[float, float]:
    """Score and weight. A micro-averaged F1 is the mean of the items' F1, each weighing as many codes as it is
    about; where an item is about none, and none is said, nothing is wrong, which weighs nothing."""
    counts = counts_of(mark)
    weight = 1.0 if counts is None else float(2 * counts.true + counts.false + counts.missed)
    return mark.score or 0.0, weight


def _difference(rows: Floats) -> Read:
    return lambda drawn: {"difference": _mean(rows[:, :2], drawn) - _mean(rows[:, 2:], drawn)}


def _mean(rows: Floats, drawn: Floats) -> Floats:
    total = drawn @ rows[:, 1]
    return np.where(total > 0, drawn @ (rows[:, 0] * rows[:, 1]) / np.where(total > 0, total, 1.0), 1.0)

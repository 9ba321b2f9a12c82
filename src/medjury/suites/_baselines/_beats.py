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
        """Beaten where the whole interval lies above 0; not beaten where the difference itself does not."""
        value, low = self.difference.value, self.difference.low
        if value is None or low is None:
            return "cannot be told"
        if low > 0:
            return "beats it"
        return "does not beat it" if value <= 0 else "cannot be told"

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
    ours, theirs = ([side[item.id] for item in shared] for side in (marks, best.marks))
    difference = _difference(ours, theirs, clusters, confidence, resamples, seed)
    return AgainstBaseline(best.name, best.score, difference, len(shared))


def _difference(
    ours: Sequence[Mark],
    theirs: Sequence[Mark],
    clusters: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> Estimate:
    counts = [(counts_of(one), counts_of(other)) for one, other in zip(ours, theirs, strict=True)]
    if all(one and other for one, other in counts):
        rows: list[list[float]] = [
            [each.true, each.false, each.missed, other.true, other.false, other.missed]
            for each, other in counts
            if each and other
        ]
        statistics = _micro_difference
    else:
        scores = [[one.score or 0.0, other.score or 0.0] for one, other in zip(ours, theirs, strict=True)]
        if all(value in (0.0, 1.0) for row in scores for value in row):
            first, second = zip(*scores, strict=True)
            return paired_rate_difference(second, first, clusters, confidence=confidence)
        rows, statistics = scores, _mean_difference
    made = bootstrap(
        np.asarray(rows, dtype=np.float64),
        statistics,
        clusters=clusters,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    return made["difference"]


def _mean_difference(rows: Floats) -> Read:
    difference = rows[:, 0] - rows[:, 1]
    return lambda weights: {"difference": weights @ difference / weights.sum(axis=-1)}


def _micro_difference(rows: Floats) -> Read:
    def read(weights: Floats) -> dict[str, Floats]:
        sums = weights @ rows
        return {"difference": _f1(sums[..., :3]) - _f1(sums[..., 3:])}

    return read


def _f1(sums: Floats) -> Floats:
    total = 2 * sums[..., 0] + sums[..., 1] + sums[..., 2]
    return np.where(total > 0, 2 * sums[..., 0] / np.where(total > 0, total, 1.0), 1.0)

"""How well the supported share of claims tells concordant answers from discordant ones, at every threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from medjury.analysis.agreement import RocCurve, area_statistics, roc_curve
from medjury.statistics import Estimate, bootstrap
from medjury.validation._evidence import Evidence

AnswerId = tuple[str, str]  # item and system
_SAME = 1e-9  # a mean of equal shares is that share, whatever its last digits


@dataclass(frozen=True)
class ShareCurve:
    """The curve of one judge's share against the clinicians' majority, and what could not be used: answers
    without a share (also those that the judge could not decide), and answers on which the clinicians are tied."""

    rater: str
    dimension: str
    threshold: float
    truth: tuple[float, ...]
    shares: tuple[float, ...]
    curve: RocCurve
    area: Estimate
    without_share: int
    tied: int

    def at(self, threshold: float) -> tuple[int, int, int, int]:
        """True and false positives, false and true negatives where a share of `threshold` is concordant."""
        truth, called = np.asarray(self.truth) == 1, np.asarray(self.shares) >= threshold - _SAME
        counts = (truth & called, ~truth & called, truth & ~called, ~truth & ~called)
        return tuple(int(each.sum()) for each in counts)  # type: ignore[return-value]


def share_curve(
    evidence: Evidence,
    rater: str,
    dimension: str,
    shares: Mapping[AnswerId, Sequence[float]],
    threshold: float,
) -> ShareCurve | None:
    """None where no clinician rated the dimension, or where it has more grades than yes and no. Repeats of one
    answer are averaged; cases that served development do not count."""
    table = evidence.table
    known = {each.name: each.grades for each in table.dimensions}
    grades = known.get(dimension)
    if not evidence.clinicians or dimension not in known or (grades and set(grades.values) - {0.0, 1.0}):
        return None
    grid = evidence.grid(dimension)
    mean = evidence.reference(grid)
    truth: list[float] = []
    found: list[float] = []
    clusters: list[str] = []
    without = tied = 0
    for item, system, cluster, rated in zip(grid.items, grid.systems, grid.clusters, mean, strict=True):
        if np.isnan(rated):
            continue
        given = shares.get((str(item), str(system)))
        if rated == 0.5:
            tied += 1
        elif not given:
            without += 1
        else:
            truth.append(float(rated > 0.5))
            found.append(float(np.mean(given)))
            clusters.append(str(cluster))
    if not truth:
        return None
    curve = roc_curve(truth, found, confidence=evidence.confidence)
    area = curve.auc
    if area.value is not None and len(set(clusters)) < len(clusters):  # answers of one patient go together
        area = bootstrap(
            np.column_stack([truth, found]),
            area_statistics(1.0),
            clusters=clusters,
            resamples=table.resamples(None),
            confidence=evidence.confidence,
            seed=table.seed(None),
        )["auc"]
    return ShareCurve(rater, dimension, threshold, tuple(truth), tuple(found), curve, area, without, tied)

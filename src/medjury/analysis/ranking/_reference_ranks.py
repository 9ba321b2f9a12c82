"""The clinicians' ranking, estimated from those answers that they labelled and from the jury's scores of all.

A jury's own ranks say what the jury thinks, however many cases it judges. Where clinicians labelled some cases, the
mean of every system is prediction-powered, so its error is right however biased the jury is, and the ranks that the
separations leave open are ranks by the clinicians."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from medjury.analysis.calibration import powered_means
from medjury.analysis.ranking._ranked import Ranked
from medjury.analysis.ranking._ranking import Part
from medjury.analysis.ranking._ties import rank_limits, separate, tie_groups
from medjury.analysis.ranking._win_rate import SAME
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Printable, ends
from medjury.tables import UNSCORED


@dataclass(frozen=True, slots=True)
class ReferenceStanding:
    """One system as the reference would rank it: the best and worst rank left open, and its mean over
    dimensions."""

    system: str
    rank: int
    rank_low: int
    rank_high: int
    mean: Estimate
    tie_group: str
    labels: int

    def as_dict(self) -> dict[str, Any]:
        return {**self._ranks(), **ends(self.mean, "mean"), "tie_group": self.tie_group, "labels": self.labels,
                "method": self.mean.method}  # fmt: skip

    def shown(self) -> Mapping[str, Printable]:
        return {**self._ranks(), "mean": self.mean, "tie_group": self.tie_group, "labels": self.labels}

    def _ranks(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("system", "rank", "rank_low", "rank_high")}


def reference_ranks(
    ranked: Ranked, *, confidence: float, resamples: int, seed: int, labels_random: bool
) -> Part[ReferenceStanding]:
    """Rank systems by the reference's mean over dimensions. Ranks hold together: all pairs are looked at at once,
    by the largest difference among draws of the cases' errors (Gaussian multipliers)."""
    if ranked.composites or "benchmark" in ranked.table.rows.columns:
        raise MedjuryError("it is estimated for dimensions, not for composites or benchmarks")
    if len(ranked.raters) != 1:
        raise MedjuryError("one jury is needed, or one judge: name it (--raters)")
    systems = list(ranked.table.systems)
    dimensions = list(ranked.grids)
    labels, scores, groups, cases = _answers(ranked)
    order = [_group(system, name) for system in systems for name in dimensions]
    means = powered_means(
        labels, scores, groups=groups, order=order, cases=cases, labels_random=labels_random
    )
    values = means.values.reshape(len(systems), -1).mean(axis=1)
    errors = means.errors.reshape(len(means.errors), len(systems), -1).mean(axis=2)
    freedom = means.labelled_cases - 1
    draws = np.random.default_rng(seed).normal(size=(max(resamples, 200), len(errors))) @ errors
    apart = separate(values, values + draws, freedom=freedom, confidence=confidence)
    listed = sorted(range(len(systems)), key=lambda place: (-values[place], systems[place]))
    letters, (low, high) = tie_groups(listed, apart.separated), rank_limits(values, apart.separated)
    averages = means.averages(len(dimensions), confidence)
    rows = tuple(
        ReferenceStanding(
            systems[place],
            1 + int(np.count_nonzero(values > values[place] + SAME)),
            low[place],
            high[place],
            averages[place],
            letters[place],
            averages[place].n,
        )
        for place in listed
    )  # fmt: skip
    whose = ", ".join(ranked.reference)
    counted = sum(each.n for each in averages)
    title = f"as {whose} would rank them: estimated from {counted:,} labels and the scores of " \
            f"{', '.join(ranked.raters)} ({ranked.scale.words})"  # fmt: skip
    return Part(title, rows, tuple(dict.fromkeys(means.warnings)))  # said once, not for every mean


def _answers(ranked: Ranked) -> tuple[list[float], list[float], list[str], list[str]]:
    """Of every answer that was labelled or judged: label, jury score, group of system and dimension, case; on the
    common scale."""
    labels: list[float] = []
    scores: list[float] = []
    groups: list[str] = []
    cases: list[str] = []
    for name, grid in ranked.grids.items():
        slope, shift = ranked.scale.lines[name]
        label = ranked.table.reference_scores(grid, ranked.reference) * slope + shift
        score = grid.scores[ranked.raters[0]] * slope + shift
        known = ~(np.isnan(label) & np.isnan(score)) | (grid.states[ranked.raters[0]] == UNSCORED)
        known &= grid.systems != ""
        labels += label[known].tolist()
        scores += score[known].tolist()
        groups += [_group(system, name) for system in grid.systems[known].tolist()]
        cases += [str(case) for case in grid.clusters[known].tolist()]
    return labels, scores, groups, cases


def _group(system: str, dimension: str) -> str:
    return f"{system}, {dimension}"

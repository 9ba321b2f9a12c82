"""Answers without a score are harmless only if they are missing by chance."""

from __future__ import annotations

import numpy as np

from medjury.statistics import Floats, p_value, shown
from medjury.tables import Measured
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import RUN_AGAIN, Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial

PERMUTATIONS = 1999
LINES = Lines(
    "What the jury left out was neither better nor worse than the rest.",
    "Permutation test of the clinicians' mean score of unscored against scored answers, whole clusters exchanged.",
    RUN_AGAIN,
)


def missing(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, level = evidence.trial(dimension), 1 - evidence.confidence
    name, asked = "Missing answers are not about quality", f"p of {level:.2g} or more"
    if not trial.silent.any() or not trial.both.any():
        said = "no answer is missing" if not trial.silent.any() else "nothing to compare"
        return (does_not_apply(name, asked, said, lines=LINES),)
    lost, kept = (
        float(np.average(trial.middle[each], weights=trial.of(each))) for each in (trial.silent, trial.both)
    )
    p = _permuted(trial) if trial.weights is None else _contrasted(trial, trial.weights)
    return (
        found(
            name,
            asked,
            f"clinicians' mean {shown(lost)} on {int(trial.silent.sum()):,} unscored answers, {shown(kept)} on the "
            f"others; p {p_value(p)}",
            p >= level,
            essential=False,
            why=f"The answers that the jury left without a score are not like the others (clinicians' mean "
            f"{shown(lost)} against {shown(kept)}): its numbers describe only what it chose to score.",
            numbers=f"{int(trial.silent.sum()):,} without a score",
            lines=LINES,
        ),
    )


def _contrasted(trial: Trial, weights: Floats) -> float:
    """Two-sided p-value of the weighted means' difference: answers of unequal weight do not change places."""
    groups = np.where(trial.silent, 1, np.where(trial.both, 0, 2))
    middle = np.where(np.isnan(trial.middle), 0.0, trial.middle)
    _, below = clustered_contrast(middle, groups, trial.grid.clusters, weights=weights)
    return 2 * min(below, 1 - below)


def _permuted(trial: Trial) -> float:
    """Two-sided p-value. The clinicians' scores of whole clusters change places with those of other clusters of the
    same size, in a random order inside, so that answers that go together stay together; which answers are missing
    stays as it is."""
    used = trial.both | trial.silent
    _, codes = np.unique(trial.grid.clusters[used], return_inverse=True)
    order = np.argsort(codes, kind="stable")
    scores, lost = trial.middle[used][order], trial.silent[used][order].astype(np.float64)
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    generator = np.random.default_rng(trial.seed)
    places = [starts[sizes == size][:, np.newaxis] + np.arange(size) for size in np.unique(sizes)]
    centred = scores - scores.mean()
    groups = [(lost[place], centred[place]) for place in places]
    observed, extreme = abs(float(lost @ centred)), 0
    for _ in range(PERMUTATIONS):
        total = 0.0
        for silent, given in groups:
            moved = given[generator.permutation(len(given))]
            total += float(
                (silent * (generator.permuted(moved, axis=1) if moved.shape[1] > 1 else moved)).sum()
            )
        extreme += abs(total) >= observed - 1e-9
    return (1 + extreme) / (1 + PERMUTATIONS)

"""A jury that was given the clinicians' scores is not validated by them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from medjury.statistics import Floats, shown
from medjury.tables import Measured
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial

NAME = "and is not made of the clinicians' scores"
# With fewer cases on which clinicians differ, to lie between them is luck.
FEWEST = 20
# The exact mean of k clinicians shows −1/k; half of it is too much.
_SHARE = 0.5
LINES = Lines(
    "The jury did not see what the clinicians said: it does not always lie between them.",
    "For a rater who errs independently of two clinicians, the mean product of its (centred) differences from them "
    "is its own error variance, never negative (Grubbs 1948); fails below −1/(2k) times theirs, k clinicians to an "
    "answer; one-sided clustered t-test.",
    "Find out how the clinicians' scores reached the judges, and run the study again without them.",
)


def own_scores(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial = evidence.trial(dimension)
    asked = "where clinicians differ, it does not lie between them beyond what chance allows"
    products, squares, whose, weights = _differences(trial)
    if len(np.unique(whose[squares > 1e-9])) < FEWEST:
        return (does_not_apply(NAME, asked, "clinicians differ on too few cases", lines=LINES),)
    share = _SHARE / float(trial.raters[trial.both & (trial.raters > 1)].mean())
    lacking = products + share * squares / 2
    own_weights = None if trial.weights is None else weights
    _, p = clustered_contrast(lacking, np.ones(len(lacking), dtype=np.int64), whose, weights=own_weights)
    own = float(np.average(products, weights=weights) / (np.average(squares, weights=weights) / 2))
    return (
        found(
            NAME,
            asked,
            f"its own error variance is {shown(own)} times the clinicians'; −{share:.2g} or less cannot be its own",
            p >= 1 - evidence.confidence,
            essential=True,
            why="Where clinicians differ, the jury lies between them more often than anybody could who has not "
            "seen their scores. Find out how the scores got to the jury.",
            numbers=f"error variance {shown(own)} times theirs, above −{share:.2g} expected",
            lines=LINES,
        ),
    )


def _differences(trial: Trial) -> tuple[Floats, Floats, Floats, Floats]:
    """For each answer and each two clinicians: the product of the jury's differences from them, the square of
    theirs from one another, the cluster and the weight; each clinician's own strictness is taken out."""
    apart = np.where(trial.both[:, np.newaxis], trial.said[:, np.newaxis] - trial.humans, np.nan)
    known = ~np.isnan(apart)
    weights = np.ones(len(apart)) if trial.weights is None else trial.weights
    totals = np.where(known, weights[:, np.newaxis], 0.0).sum(axis=0)
    apart = apart - np.nansum(apart * weights[:, np.newaxis], axis=0) / np.where(totals > 0, totals, 1.0)
    counted = [np.empty(0)]
    products, squares, whose = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=trial.grid.clusters.dtype)]
    for one, other in combinations(range(apart.shape[1]), 2):
        shared = known[:, one] & known[:, other]
        first, second = apart[shared, one], apart[shared, other]
        products.append(first * second)
        squares.append((first - second) ** 2)
        whose.append(trial.grid.clusters[shared])
        counted.append(weights[shared])
    return np.concatenate(products), np.concatenate(squares), np.concatenate(whose), np.concatenate(counted)

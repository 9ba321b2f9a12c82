"""Gwet's standard errors: each coefficient as a mean of one number per item, and the spread of those numbers.

Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 5: the coefficient is linearised in the
items' contributions to observed and chance agreement, with infinitely many items and these raters.

As published, an item scored once contributes zero to the observed agreement and is then compared with the
coefficient, which adds spread that is not there: with such items the standard error is too large. We give
Gwet's number and, beside it, the same linearisation with p_a taken as the ratio it is; without such items the
two are one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from medjury.statistics import Floats, Scale, level_codes


@dataclass(frozen=True, slots=True)
class ChanceCorrected:
    """(observed − chance)/(1 − chance) over `n` items; None where undefined.

    `standard_error` is Gwet's, `ratio_error` the one that items scored once do not inflate.
    """

    value: float | None
    standard_error: float | None
    observed: float | None
    chance: float | None
    n: int
    ratio_error: float | None = None


def linearised(table: Floats, scale: Scale, credit: Floats) -> dict[str, ChanceCorrected]:
    """All five coefficients of a table of items by raters in which every item has a score."""
    present = ~np.isnan(table)
    codes = level_codes(scale.positions, np.where(present, table, scale.positions[0]))
    given = np.eye(len(scale))[codes] * present[:, :, np.newaxis]
    counts = given.sum(axis=1)
    rated = counts.sum(axis=1)
    n, size = len(table), len(scale)
    several = rated > 1
    nothing = ChanceCorrected(None, None, None, None, n)
    if not several.any():
        return dict.fromkeys(("gwet", "fleiss", "conger", "brennan_prediger", "krippendorff"), nothing)
    agreeing = (counts * (counts @ credit - 1.0)).sum(axis=1)
    agreement = np.where(several, agreeing / np.where(several, rated * (rated - 1.0), 1.0), 0.0)
    share = counts / rated[:, np.newaxis]
    pooled = share.mean(axis=0)
    spread = credit.sum() / (size * (size - 1.0))
    chance = {
        "gwet": (float(spread * (pooled * (1.0 - pooled)).sum()), spread * share @ (1.0 - pooled)),
        "fleiss": (float(pooled @ credit @ pooled), share @ credit @ pooled),
        "conger": _conger(given, credit),
        "brennan_prediger": (float(credit.sum() / size**2), np.full(n, credit.sum() / size**2)),
    }
    found = {}
    for name, (expected, by_item) in chance.items():
        if not expected < 1.0 - 1e-12:
            found[name] = nothing
            continue
        observed = float(agreement[several].mean())
        value = (observed - expected) / (1.0 - expected)
        share_paired = float(several.mean())
        by_chance = 2.0 * (1.0 - value) * (by_item - expected) / (1.0 - expected)
        published = (agreement - expected * several) / share_paired / (1.0 - expected) - by_chance - value
        ratio = (agreement - observed * several) / share_paired / (1.0 - expected) - by_chance
        errors = _standard_error(published), _standard_error(ratio)
        found[name] = ChanceCorrected(value, errors[0], observed, expected, n, errors[1])
    found["krippendorff"] = _krippendorff(counts[several], agreeing[several], credit)
    return found


def _conger(given: Floats, credit: Floats) -> tuple[float, Floats]:
    """Chance agreement of two different raters, and each item's part in it."""
    n, raters, _ = given.shape
    if raters < 2:
        return float("nan"), np.zeros(n)
    scored = given.sum(axis=2)
    per_rater = scored.sum(axis=0)
    habits = given.sum(axis=0) / per_rater[:, np.newaxis]
    together = habits.sum(axis=0)
    own = ((habits @ credit) * habits).sum()
    expected = float(together @ credit @ together - own) / (raters * (raters - 1.0))
    # Each item moves a rater's shares by its own level, less what its being scored adds below.
    moved = given - (scored - per_rater / n)[:, :, np.newaxis] * habits
    felt = (moved @ credit) * (n / per_rater)[:, np.newaxis] * (together - habits)
    return expected, felt.sum(axis=(1, 2)) / (raters * (raters - 1.0))


def _krippendorff(counts: Floats, agreeing: Floats, credit: Floats) -> ChanceCorrected:
    """Alpha with these weights, over the items with two scores or more."""
    rated = counts.sum(axis=1)
    n, mean_rated = len(counts), float(rated.mean())
    few = 1.0 / float(rated.sum())
    by_item = agreeing / (mean_rated * (rated - 1.0))
    plain = float(by_item.mean())
    observed = (1.0 - few) * plain + few
    pooled = counts.mean(axis=0) / mean_rated
    expected = float(pooled @ credit @ pooled)
    if not expected < 1.0 - 1e-12:
        return ChanceCorrected(None, None, None, None, n)
    value, uncorrected = (observed - expected) / (1.0 - expected), (plain - expected) / (1.0 - expected)
    excess = (rated - mean_rated) / mean_rated
    chance_part = counts @ credit @ pooled / mean_rated - expected * excess
    parts = (by_item - observed * excess - expected) / (1.0 - expected)
    parts = parts - 2.0 * (1.0 - uncorrected) * (chance_part - expected) / (1.0 - expected)
    error = _standard_error(parts - uncorrected)
    return ChanceCorrected(value, error, observed, expected, n, error)


def _standard_error(deviations: Floats) -> float | None:
    n = len(deviations)
    return None if n < 2 else float(np.sqrt((deviations**2).sum() / (n * (n - 1.0))))

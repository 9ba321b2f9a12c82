"""How much each answer is worth reading: the size of the error that not reading it would leave.

The variance of an estimate from answers drawn with probability π is Σ ψ²/π, ψ being what each answer adds to its
error, and least for π ∝ √E ψ² (Neyman 1934, J R Stat Soc 97:558-625; Isaki & Fuller 1982, J Am Stat Assoc
77:89-96). What a clinician will say is guessed from the judges: near their mean, by as much as they differ
themselves and no less than they round, and once in fifty anything. The guess decides how much a review saves, never
whether it is right: every answer is weighted by its probability, whatever the guess was worth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medjury.statistics import Floats

# Of a grade: somewhat more than rounding alone (1/√12). And how often a clinician says something else altogether.
_ROUNDING = 0.35
_ANYTHING = 1 / 50
# Severe errors are what hurts patients, and the rarest to be seen: they count twice.
_SEVERE = 2.0


def influence_sizes(
    judges: Floats, jury: Floats, *, grades: tuple[float, ...], danger: tuple[float, float] | None = None
) -> Floats:
    """√ of the mean expected squared influence of each answer on the clinicians' mean (beside the jury's), on the
    quadratic kappa of jury and clinicians and, with `danger` (threshold and gap, low being dangerous), on the rate
    of severe errors; each influence on its own footing, severe errors twice, their mean 1. `judges` has a row for
    each of them; NaN is no score, and an answer without a jury's score has the mean size."""
    size = np.full(jury.shape, np.nan)
    known = ~np.isnan(jury)
    if not known.any():
        return np.ones(len(jury))
    values = np.asarray(grades, dtype=np.float64)
    given = jury[known]
    expected = _expected(judges[:, known], given, values)
    parts = [
        (expected * (values - given[:, np.newaxis]) ** 2).sum(axis=1),
        (expected * _kappa_influence(expected, values, _nearest(given, values)) ** 2).sum(axis=1),
    ]
    counts = [1.0, 1.0]
    if danger is not None:
        bad = np.broadcast_to(values <= danger[0] + 1e-9, expected.shape)
        missed = bad & (given[:, np.newaxis] - values >= danger[1] - 1e-9)
        among = float((expected * bad).sum())
        rate = float((expected * missed).sum()) / among if among > 0 else 0.0
        parts.append((expected * (missed - rate * bad) ** 2).sum(axis=1))
        counts.append(_SEVERE)
    together = np.zeros(int(known.sum()))
    for part, count in zip(parts, counts, strict=True):
        together += count * part / part.mean() if part.mean() > 0 else 0.0
    size[known] = np.sqrt(together) if together.any() else 1.0
    size[known] /= size[known].mean()
    return np.where(known, size, 1.0)


def _expected(judges: Floats, jury: Floats, grades: Floats) -> Floats:
    """How likely each grade of a clinician is: answers in rows."""
    step = float(np.diff(grades).min()) if len(grades) > 1 else 1.0
    seen = ~np.isnan(judges)
    count = seen.sum(axis=0)
    middle = np.nansum(judges, axis=0) / np.maximum(count, 1)
    squares = np.where(seen, (judges - middle) ** 2, 0.0).sum(axis=0)
    spread = np.where(count > 1, squares / np.maximum(count - 1, 1), step**2) + (_ROUNDING * step) ** 2
    near = np.exp(-((grades - jury[:, np.newaxis]) ** 2) / (2.0 * spread[:, np.newaxis]))
    near /= np.maximum(near.sum(axis=1, keepdims=True), 1e-300)
    found: Floats = (1.0 - _ANYTHING) * near + _ANYTHING / len(grades)
    return found


def _kappa_influence(expected: Floats, grades: Floats, jury: Floats) -> Floats:
    """What one answer adds to 1 − D_o/D_e, with D_o = E(x − y)² of pairs and D_e that of grades by chance, for each
    grade x that the clinician could give:

        ψ = −((x − y)² − D_o)/D_e + D_o/D_e² · (E(x − Y)² + E(X − y)² − 2 D_e)
    """
    given = jury[:, np.newaxis]
    shares = expected.mean(axis=0)
    mean, mean_jury = float(shares @ grades), float(jury.mean())
    variance, variance_jury = float(shares @ (grades - mean) ** 2), float(jury.var())
    observed = float((expected * (grades - given) ** 2).sum(axis=1).mean())
    chance = variance + variance_jury + (mean - mean_jury) ** 2
    if chance <= 0:
        return np.zeros_like(expected)
    habits = (grades - mean_jury) ** 2 + variance_jury + (given - mean) ** 2 + variance
    found: Floats = -((grades - given) ** 2 - observed) / chance + observed / chance**2 * (
        habits - 2.0 * chance
    )
    return found


def _nearest(scores: Floats, grades: Floats) -> NDArray[np.float64]:
    """Each score's grade; half way between two, the higher one."""
    edges = (grades[1:] + grades[:-1]) / 2.0
    return grades[np.searchsorted(edges, scores, side="right")]

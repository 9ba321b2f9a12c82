"""Severe errors: the reference saw danger and the judge did not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Clusters, Estimate, error_rate

# The paper that defines the rate lost both numbers on its way into text, so these are ours: on a 1-5 safety
# scale, a reference of 1 or 2 says harm is likely, and two grades higher is another decision.
THRESHOLD, GAP = 2.0, 2.0


@dataclass(frozen=True, slots=True)
class SevereErrors:
    """`rate` = `errors` / `dangerous`, the items the reference scored at most `threshold` and the rater
    scored at all; `unscored` dangerous items have no rater's score and are not in that denominator. They are in
    those of `worst`, which counts each of them as an error, and of `best`, which counts none: what the rater would
    have said is not known, and a rater may fail on the dangerous answers. `flags` has one entry per item given:
    True where the error happened; `danger` where the reference saw danger."""

    errors: int
    dangerous: int
    unscored: int
    rate: Estimate
    worst: Estimate
    best: Estimate
    danger: NDArray[np.bool_]
    flags: NDArray[np.bool_]
    threshold: float
    gap: float


def severe_errors(
    reference: ArrayLike,
    rater: ArrayLike,
    *,
    threshold: float = THRESHOLD,
    gap: float = GAP,
    clusters: Clusters = None,
    confidence: float = 0.95,
    weights: ArrayLike | None = None,
) -> SevereErrors:
    """Among items the reference scored `threshold` or less, the share the rater scored `gap` or more higher.

    Scores must be oriented so that low is dangerous (reverse a risk into a safety first); NaN is no score.
    The upper end of the interval, the promise, is Clopper-Pearson's, which has a width at zero errors; the lower
    end is Jeffreys' (see `error_rate`). `clusters` names the patient (or case) of each item, and items of one
    cluster count for as much as they are worth; `weights` are one over the probability with which each was drawn.

    >>> found = severe_errors([1, 2, 2, 5, 1], [3, 2, 5, 1, float("nan")])
    >>> found.errors, found.dangerous, found.unscored
    (2, 3, 1)
    """
    first, second = _scores(reference), _scores(rater)
    if first.shape != second.shape:
        raise MedjuryError(
            f"severe errors need scores of the same items: {len(first)} and {len(second)} given."
        )
    # A mean such as 3 1/3 is not exact in binary; a score of exactly 2, and a gap of 2, must still count as 2.
    danger = first <= threshold + 1e-9
    scored = ~np.isnan(second)
    flags = danger & scored & (second - first >= gap - 1e-9)
    errors, dangerous = int(flags.sum()), int((danger & scored).sum())
    cases = None if clusters is None else np.asarray(clusters, dtype=object)

    own = None if weights is None else np.asarray(weights, dtype=np.float64)

    def share(hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Estimate:
        named, heavy = (None if each is None else each[among] for each in (cases, own))
        return error_rate(hits[among], named, weights=heavy, confidence=confidence)

    rate = share(flags, danger & scored)
    worst, best = share(flags | ~scored, danger), share(flags, danger)
    unscored = int((danger & ~scored).sum())
    return SevereErrors(errors, dangerous, unscored, rate, worst, best, danger, flags, threshold, gap)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Exact intersections: how many items carry a flag of precisely these judges and of no other (the bars of
    an UpSet plot), how many of each judge, and how many of a majority. `items` counts items with any flag."""

    intersections: Mapping[tuple[str, ...], int]
    totals: Mapping[str, int]
    items: int
    by_majority: int


def error_overlap(flags: Mapping[str, ArrayLike]) -> Overlap:
    """Which judges make their severe errors together? Judges that err on the same items are one judge.

    >>> shared = error_overlap({"a": [True, True, False], "b": [True, False, False]})
    >>> dict(shared.intersections), shared.by_majority
    ({('a', 'b'): 1, ('a',): 1}, 1)
    """
    names = tuple(flags)
    if not names:
        raise MedjuryError("overlap needs at least one judge.")
    matrix = np.stack([np.asarray(flags[name], dtype=bool) for name in names])
    # Only sets of judges that occur: all that could be are as many as 2 to the number of judges.
    rows, numbers = np.unique(matrix.T, axis=0, return_counts=True)
    found = [(np.flatnonzero(row).tolist(), int(number)) for row, number in zip(rows, numbers, strict=True)]
    found.sort(key=lambda each: (-each[1], -len(each[0]), each[0]))
    ordered = {tuple(names[member] for member in members): number for members, number in found if members}
    votes = matrix.sum(axis=0)
    totals = dict(zip(names, (int(total) for total in matrix.sum(axis=1)), strict=True))
    return Overlap(ordered, totals, int((votes > 0).sum()), int((2 * votes > len(names)).sum()))


def _scores(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(
        [np.nan if value is None else value for value in np.asarray(values).tolist()], dtype=float
    )

"""Non-inferiority: does the judge agree with the humans at least as well as they agree with one another?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from medjury.agreement._among_humans.pairwise import mean_over_pairs
from medjury.errors import MedjuryError
from medjury.statistics import Clusters, Estimate, Floats, Statistics, combined, read_scores, replicates


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """`difference` = judge-human − human-human agreement; its lower end is the one-sided bound at
    `confidence`. `non_inferior` where that bound lies above −`margin`; None where the difference does not
    exist."""

    statistic: str
    judge_human: Estimate
    human_human: Estimate
    difference: Estimate
    margin: float
    confidence: float
    p_value: float | None
    non_inferior: bool | None


def non_inferiority(
    humans: ArrayLike,
    judge: ArrayLike,
    statistics: Statistics,
    *,
    margin: float,
    names: Sequence[str] | None = None,
    clusters: Clusters = None,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> dict[str, NonInferiority]:
    """Test judge-human against human-human agreement with a margin stated beforehand.

    `statistics` gives two-rater coefficients for which more is better, such as
    `correlation_statistics(["spearman"])`; each is averaged over the judge's pairs with the humans and over
    the humans' own pairs, on the items that the judge and at least two humans scored, and both averages
    come from the same resamples of cases. The bound is the lower end of the two-sided BCa interval at
    2·confidence − 1; `p_value` is the share of resampled differences at or below −margin. `names` restricts
    the result.

    >>> from medjury.agreement._pairs.correlation import correlation_statistics
    >>> truth = np.tile([1.0, 2, 3, 4, 5], 12)
    >>> noise = np.random.default_rng(0).normal(0, 0.7, (60, 3))
    >>> humans, judge = truth[:, None] + noise[:, :2], truth + noise[:, 2]
    >>> pearson = correlation_statistics(["pearson"])
    >>> result = non_inferiority(humans, judge, pearson, margin=0.1, resamples=2000)
    >>> result["pearson"].non_inferior
    True
    """
    if not margin > 0:
        raise MedjuryError(f"a non-inferiority margin is a positive number stated beforehand, not {margin}.")
    if not 0.5 < confidence < 1:
        raise MedjuryError(f"the one-sided confidence lies between 0.5 and 1, not {confidence}.")
    table, said = read_scores(humans, None, 2), read_scores(judge, None, 1)
    count = table.shape[1]
    if len(said) != len(table):
        raise MedjuryError(f"{len(table)} items were rated by the humans and {len(said)} by the judge.")
    if count < 2:
        raise MedjuryError(
            "non-inferiority compares with human-human agreement: two humans or more are needed."
        )
    usable = ~np.isnan(said) & ((~np.isnan(table)).sum(axis=1) >= 2)
    rows = np.column_stack([table, said])[usable]
    both = combined(
        mean_over_pairs(statistics, [(human, count) for human in range(count)], "judge "),
        mean_over_pairs(statistics, list(combinations(range(count), 2)), "human "),
    )
    cases = None if clusters is None else np.asarray(clusters, dtype=object)[usable]
    if not len(rows):
        raise MedjuryError("no item was scored by the judge and by two humans: there is nothing to compare.")
    made = replicates(rows, both, clusters=cases, resamples=resamples, seed=seed)
    # The least p that so few cases can give, however much they agree: two alike prove nothing.
    least = 0.5**made.units
    results = {}
    for key in made.observed:
        name = key.removeprefix("judge ")
        if key == name or f"human {name}" not in made.observed or (names is not None and name not in names):
            continue
        difference = made.difference(key, f"human {name}", confidence=2 * confidence - 1)
        gap = made.resampled[key] - made.resampled[f"human {name}"]
        bounded = difference.low is not None
        results[name] = NonInferiority(
            name,
            made.estimate(key),
            made.estimate(f"human {name}"),
            difference,
            margin,
            confidence,
            max(_share_below(gap, -margin), least) if bounded else None,
            bool(difference.low > -margin and least <= 1 - confidence)
            if difference.low is not None
            else None,
        )
    return results


def _share_below(values: Floats, bound: float) -> float:
    known = values[np.isfinite(values)]
    return float((1 + np.count_nonzero(known <= bound + 1e-12)) / (1 + known.size))

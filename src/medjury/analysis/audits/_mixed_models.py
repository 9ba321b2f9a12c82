"""Linear mixed model with nested random intercepts: score = Xβ + case + response within case + residual.

Written here because the two intercepts are nested, which makes the likelihood a few sums per evaluation, and
because a variance of zero is common with judges and must be an ordinary answer. (On 20,000 ratings statsmodels'
MixedLM takes 4 s where this takes 0.1 s, and in simulations without case and response variance it stops away
from the optimum.) Estimates equal lme4's; intervals and p-values are Wald's, from the normal distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, undefined

# Columns of a design: which of them the data tell apart from the others.


# A column is a combination of the others where they leave less of its square than this.
COLLINEAR = 1e-9


def identified(design: Floats) -> list[bool]:
    """For each column, whether the data hold something of it that the other columns have not."""
    products = _unit_products(design)
    if _all_apart(products):
        return [True] * len(products)
    return [
        _left_over(products, place, [*range(place), *range(place + 1, len(products))])
        for place in range(len(products))
    ]


def independent(design: Floats) -> list[int]:
    """The columns, from the left, that the ones before them do not make up; together they span the same."""
    products = _unit_products(design)
    if _all_apart(products):
        return list(range(len(products)))
    kept: list[int] = []
    for place in range(len(products)):
        if _left_over(products, place, kept):
            kept.append(place)
    return kept


def _unit_products(design: Floats) -> Floats:
    """Cross-products of the columns at length one; a column of zeros stays one."""
    products = design.T @ design
    length = np.sqrt(np.diag(products))
    length = np.where(length > 0, length, 1.0)
    return np.asarray(products / np.outer(length, length))


def _all_apart(products: Floats) -> bool:
    """What the others leave of a column is never less than the smallest eigenvalue: one look instead of many."""
    return bool(np.linalg.eigvalsh(products)[0] > 1000 * COLLINEAR)


def _left_over(products: Floats, place: int, others: Sequence[int]) -> bool:
    here = products[place, others]
    explained = (
        float(here @ np.linalg.lstsq(products[np.ix_(others, others)], here, rcond=1e-12)[0])
        if others
        else 0.0
    )
    return float(products[place, place]) - explained > COLLINEAR


# All that the likelihood of nested intercepts needs of the data, summed once: an evaluation then costs a few
# products, whatever the number of scores.


@dataclass(frozen=True, slots=True, eq=False)
class NestedSums:
    """All the likelihood needs of [X y]: cross-products in all, within responses, and sums within cases.

    Responses of the same size (number of scores) are treated alike, so each part is kept once per size.
    """

    total: Floats
    sizes: Floats
    counts: Floats
    within_responses: tuple[Floats, ...]
    within_cases: tuple[Floats, ...]
    responses_of_case: Floats
    nested: bool

    @property
    def cases(self) -> int:
        return len(self.responses_of_case)

    def whitened(self, ratios: Floats) -> tuple[Floats, float]:
        """[X y]ᵀV⁻¹[X y] and log|V| for V = I + ratio_case·11ᵀ (by case) + ratio_response·11ᵀ (by
        response)."""
        case_ratio = float(ratios[0])
        response_ratio = float(ratios[1]) if self.nested else 0.0
        inflation = 1.0 + self.sizes * response_ratio
        cross = self.total.copy()
        by_case = np.zeros_like(self.within_cases[0])
        for size, products, sums in zip(inflation, self.within_responses, self.within_cases, strict=True):
            cross -= products * (response_ratio / size)
            by_case += sums / size
        scale = 1.0 + case_ratio * (self.responses_of_case @ (self.sizes / inflation))
        cross -= (by_case * (case_ratio / scale)[:, np.newaxis]).T @ by_case
        return cross, float(self.counts @ np.log(inflation) + np.log(scale).sum())


def nested_sums(table: Floats, case: NDArray[np.int64], response: NDArray[np.int64] | None) -> NestedSums:
    # Without a response intercept every case is its own "response": the same sums serve.
    inner = case if response is None else response
    order = np.lexsort((inner, case))
    starts = np.flatnonzero(np.diff(inner[order], prepend=-1) | np.diff(case[order], prepend=-1))
    cases = case[order][starts]
    if len(starts) != int(inner.max()) + 1:
        raise MedjuryError("A response belongs to two cases. Name responses by case and answering system.")
    by_response = np.add.reduceat(table[order], starts, axis=0)
    size_of = np.diff(starts, append=len(table))
    sizes, counts = np.unique(size_of, return_counts=True)
    products, sums, members = [], [], []
    for size in sizes:
        chosen = size_of == size
        part = by_response[chosen]
        products.append(part.T @ part)
        summed = np.zeros((int(case.max()) + 1, table.shape[1]))
        np.add.at(summed, cases[chosen], part)
        sums.append(summed)
        members.append(np.bincount(cases[chosen], minlength=len(summed)))
    return NestedSums(
        table.T @ table,
        sizes.astype(np.float64),
        counts.astype(np.float64),
        tuple(products),
        tuple(sums),
        np.column_stack(members).astype(np.float64),
        response is not None,
    )


def codes_of(names: Sequence[object] | NDArray[Any]) -> NDArray[np.int64]:
    """Numbers 0, 1, 2… for names of any kind."""
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu":
        return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


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


# Crossed random intercepts of few levels: y = Xβ + u_first + u_second + … + ε. Here every level is a column of Z,
# which is right for physicians and components (tens of levels) and too wide for cases. What observations of one
# case share beyond that enters the standard errors: they are cluster-robust.


@dataclass(frozen=True, slots=True, eq=False)
class CrossedModel:
    """`model` has coefficients, model-based covariance and variances; `robust` is the covariance that allows for
    whatever the observations of one cluster share, with `clusters` of them."""

    model: MixedModel
    robust: Floats
    clusters: int

    def estimate(self, term: str, confidence: float = 0.95) -> Estimate:
        """The coefficient with its cluster-robust interval, Student's t with clusters − 1 degrees of freedom."""
        model = self.model
        if not model.converged:
            return undefined("the mixed model did not converge", model.n, model.method)
        value, error = float(model.coefficients[model.terms.index(term)]), self.standard_error(term)
        half = float(special.stdtrit(self.clusters - 1, 0.5 + confidence / 2.0)) * error
        method = f"{100 * confidence:g} % cluster-robust by case, {model.method}"
        return Estimate(value, value - half, value + half, model.n, method)

    def standard_error(self, term: str) -> float:
        place = self.model.terms.index(term)
        return math.sqrt(self.robust[place, place])

    def p_value(self, term: str) -> float | None:
        """Two-sided, of "the coefficient is zero"."""
        if not self.model.converged:
            return None
        t = abs(float(self.model.coefficients[self.model.terms.index(term)])) / self.standard_error(term)
        return float(2.0 * special.stdtr(self.clusters - 1, -t))


def fit_crossed_model(
    score: ArrayLike,
    design: ArrayLike,
    terms: Sequence[str],
    *,
    groups: Mapping[str, Sequence[object] | NDArray[Any]],
    clusters: Sequence[object] | NDArray[Any],
    reml: bool = True,
) -> CrossedModel:
    """Fit by restricted (default) or full maximum likelihood.

    With Λ = diag(σ_g/σ) and L Lᵀ = ΛZᵀZΛ + I, the profiled criterion is
    −2ℓ = 2 log|L| + log|XᵀV⁻¹X| + (n − p)(1 + log(2π r²/(n − p))); Bates et al. (2015) J Stat Softw 67(1).
    The robust covariance is A⁻¹ (WᵀZ D ZᵀW + (G − 1)/G Σ_c s_c s_cᵀ) A⁻¹ with A = XᵀV⁻¹X, W = V⁻¹X, D the
    variances of the intercepts and s_c = A (A − A_c)⁻¹ Σ w_i ε̂_i over the rows of a cluster, A_c its part of A: the
    intercepts' part is the model's, that of the residuals allows for any dependence within a cluster (Liang & Zeger
    (1986) Biometrika 73:13-22) and is the jackknife's, for few of them.

    >>> score = [3, 4, 1, 2, 4, 5, 2, 3.5, 5, 5, 4, 4.5]
    >>> design = [[1, x] for x in [0, 1] * 6]
    >>> who, what = "aabbaabbaabb", "ccccddddeeee"
    >>> both = {"who": who, "what": what}
    >>> found = fit_crossed_model(score, design, ["all", "later"], groups=both, clusters=what)
    >>> round(float(found.model.coefficients[1]), 3)
    0.833
    """
    y, x = np.asarray(score, dtype=np.float64), np.asarray(design, dtype=np.float64)
    if x.shape != (len(y), len(terms)):
        raise MedjuryError(f"The design has {x.shape} cells for {len(y)} scores and {len(terms)} terms.")
    if len(y) <= len(terms) + len(groups) + 1:
        raise MedjuryError(f"{len(y)} scores are too few for {len(terms)} terms and the random intercepts.")
    if np.ptp(y) == 0.0:
        raise MedjuryError("Every score is the same: there is nothing for a model to explain.")
    dependent = [term for term, apart in zip(terms, identified(x), strict=True) if not apart]
    if dependent:
        raise MedjuryError(f"The terms {', '.join(dependent)} cannot be told apart in these data.")
    codes = [codes_of(each) for each in groups.values()]
    sizes = [int(each.max()) + 1 for each in codes]
    z = np.hstack([np.eye(size)[code] for size, code in zip(sizes, codes, strict=True)])
    whole = np.column_stack([x, y])
    squares, mixed, cross = z.T @ z, z.T @ whole, whole.T @ whole
    free = len(y) - len(terms) if reml else len(y)

    def reduced(ratios: Floats) -> tuple[Any, Any, Any, Any]:
        scale = np.repeat(np.sqrt(ratios), sizes)
        lower = np.linalg.cholesky(scale[:, None] * squares * scale + np.eye(len(scale)))
        half = np.linalg.solve(lower, scale[:, None] * mixed)
        return scale, lower, half, cross - half.T @ half

    def deviance(ratios: Floats) -> float:
        _, lower, _, left = reduced(ratios)
        information = left[:-1, :-1]
        solution = np.linalg.solve(information, left[:-1, -1])
        rss = max(float(left[-1, -1] - left[:-1, -1] @ solution), np.finfo(float).tiny)
        extra = np.linalg.slogdet(information)[1] if reml else 0.0
        determinant = 2.0 * np.log(np.diag(lower)).sum()
        return float(determinant + extra + free * (1.0 + math.log(2.0 * math.pi * rss / free)))

    ratios, converged = least_deviance(deviance, len(groups))
    scale, lower, half, left = reduced(ratios)
    inverse = np.linalg.inv(left[:-1, :-1])
    coefficients = inverse @ left[:-1, -1]
    residual = float(left[-1, -1] - left[:-1, -1] @ coefficients) / free
    spread = np.linalg.solve(lower.T, half[:, -1] - half[:, :-1] @ coefficients)
    left_over = y - x @ coefficients - z @ (scale * spread)
    weighted = x - z @ (scale[:, None] * np.linalg.solve(lower.T, half[:, :-1]))  # σ² V⁻¹X
    cluster = codes_of(clusters)
    count = int(cluster.max()) + 1
    sums = np.zeros((count, len(terms)))
    np.add.at(sums, cluster, weighted * left_over[:, None])
    own = np.zeros((count, len(terms), len(terms)))
    np.add.at(own, cluster, x[:, :, None] * weighted[:, None, :])
    sums = _as_left_out(sums, own, left[:-1, :-1])
    of_levels = (weighted.T @ z) * scale
    middle = residual * of_levels @ of_levels.T + sums.T @ sums * (count - 1) / count
    robust = inverse @ middle @ inverse
    variances = {name: residual * float(ratio) for name, ratio in zip(groups, ratios, strict=True)}
    warnings = [
        f"the variance of the {name} is estimated as zero (a boundary fit): the data show no spread between "
        f"{name}s beyond the residual"
        for name, variance in variances.items()
        if variance == 0.0
    ]
    if not converged:
        warnings.append("the mixed model did not converge: its coefficients are not reported")
    model = MixedModel(
        terms=tuple(terms),
        coefficients=coefficients,
        covariance=np.asarray(inverse * residual, dtype=np.float64),
        variances={**variances, "residual": residual},
        log_likelihood=-deviance(ratios) / 2.0,
        n=len(y),
        cases=count,
        converged=converged,
        method=f"linear mixed model ({'REML' if reml else 'ML'}), random intercepts of {' and '.join(groups)}",
        warnings=tuple(warnings),
    )
    return CrossedModel(model, np.asarray(robust, dtype=np.float64), count)


def _as_left_out(sums: Floats, own: Floats, information: Floats) -> Floats:
    """What each cluster adds to the score, as it would look from a fit without it: A (A − A_c)⁻¹ s_c. A cluster
    draws the line to itself, so that its own residuals are too small; with 20 cases intervals held in 90 % of
    simulated studies without this (Bell & McCaffrey 2002, Surv Methodol 28:169-181)."""
    rest = information - (own + own.transpose(0, 2, 1)) / 2.0
    apart = np.linalg.eigvalsh(rest)[:, 0] > 1e-9 * np.linalg.eigvalsh(information)[-1]
    found = sums.copy()
    found[apart] = np.linalg.solve(rest[apart], sums[apart][..., None])[..., 0] @ information
    return found

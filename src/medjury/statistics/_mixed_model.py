"""Linear mixed models, fitted in one place: score = Xβ + random intercepts + residual.

The likelihood needs of the data what the scores and columns leave of one another once the intercepts are
taken out: [X y]ᵀV⁻¹[X y] and log|V|. Where intercepts are nested (responses within cases) that is a few sums,
whatever the number of scores; where they cross (physicians and components, tens of levels) every level is a
column. One criterion and one search serve both. A variance of zero is common with judges and is an ordinary
answer. Estimates equal lme4's.
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
from medjury.statistics._estimate import Estimate, undefined
from medjury.statistics._resample import Floats, Integers, cluster_codes

# A column is a combination of the others where they leave less of its square than this.
COLLINEAR = 1e-9
# The largest share of a random intercept's variance in it and the residual together that is searched.
LARGEST = 1.0 - 1e-6
# The search goes over the variances in turn, at most this often; a handful is usual.
ROUNDS = 50
# Two fits whose −2 log-likelihoods differ by less are the same fit.
SAME_DEVIANCE = 1e-4
GOLDEN = (3.0 - math.sqrt(5.0)) / 2.0
# A minimum cannot be told from its neighbourhood below the root of the machine's precision.
ROUGHNESS = math.sqrt(2.220446049250313e-16)
EVALUATIONS = 500


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """The fitted model. `variances` has those of the intercepts and the residual; `covariance` is the model's
    own, `robust` (with crossed intercepts) the one that allows for whatever the scores of one of the
    `clusters` share; `warnings` says where the fit cannot be trusted or a variance is zero."""

    terms: tuple[str, ...]
    coefficients: Floats
    covariance: Floats
    robust: Floats | None
    variances: dict[str, float]
    log_likelihood: float
    n: int
    clusters: int
    converged: bool
    method: str
    warnings: tuple[str, ...]

    def standard_error(self, term: str) -> float:
        place = self.terms.index(term)
        return math.sqrt((self.covariance if self.robust is None else self.robust)[place, place])

    def estimate(self, term: str, confidence: float = 0.95) -> Estimate:
        """The coefficient with its Wald interval, or with the cluster-robust one, Student's t with clusters −
        1 degrees of freedom; undefined where the fit did not converge."""
        if not self.converged:
            return undefined("the mixed model did not converge", self.n, self.method)
        value, error = float(self.coefficients[self.terms.index(term)]), self.standard_error(term)
        level = 0.5 + confidence / 2.0
        if self.robust is None:
            half, name = float(special.ndtri(level)) * error, "Wald"
        else:
            half, name = float(special.stdtrit(self.clusters - 1, level)) * error, "cluster-robust by case"
        method = f"{100 * confidence:g} % {name}, {self.method}"
        return Estimate(value, value - half, value + half, self.n, method)

    def p_value(self, term: str) -> float | None:
        """Two-sided, of "the coefficient is zero"."""
        if not self.converged:
            return None
        size = abs(float(self.coefficients[self.terms.index(term)])) / self.standard_error(term)
        below = special.ndtr(-size) if self.robust is None else special.stdtr(self.clusters - 1, -size)
        return float(2.0 * below)


def fit_mixed_model(
    score: ArrayLike,
    design: ArrayLike,
    terms: Sequence[str],
    intercepts: Mapping[str, Sequence[object] | NDArray[Any]],
    *,
    clusters: Sequence[object] | NDArray[Any] | None = None,
    reml: bool = True,
) -> MixedModel:
    """Fit by restricted (default) or full maximum likelihood.

    y = Xβ + Σ u_g + ε; Laird & Ware (1982) Biometrics 38:963-974. The variances are profiled (Bates et al.
    2015, J Stat Softw 67(1)): with V the covariance of the scores over that of the residual, −2ℓ = log|V| +
    log|XᵀV⁻¹X| + (n − p)(1 + log(2π r²/(n − p))), searched over the ratios of variances, ≥ 0.

    `intercepts` are one, or two of which the second is nested in the first. With `clusters` they are crossed
    instead, any number of them with few levels each, and the errors are cluster-robust:
    A⁻¹ (WᵀZ D ZᵀW + (G − 1)/G Σ_c s_c s_cᵀ) A⁻¹ with A = XᵀV⁻¹X, W = V⁻¹X, D the variances of the intercepts
    and s_c = A (A − A_c)⁻¹ Σ w_i ε̂_i over the rows of a cluster, A_c its part of A. The intercepts' part is
    the model's, that of the residuals allows for any dependence within a cluster (Liang & Zeger 1986,
    Biometrika 73:13-22) and is the jackknife's, for few of them.

    >>> score = [3, 4, 1, 2, 4, 5, 2, 3.5, 5, 5]
    >>> later = [[1, x] for x in [0, 1] * 5]
    >>> found = fit_mixed_model(score, later, ["intercept", "later"], {"case": "aabbccddee"})
    >>> round(found.estimate("later").value, 3)
    0.9
    >>> both = {"who": "aabbaabbaa", "what": "ccccddddee"}
    >>> crossed = fit_mixed_model(score, later, ["intercept", "later"], both, clusters="ccccddddee")
    >>> round(crossed.estimate("later").value, 3)
    0.9
    """
    y, x = np.asarray(score, dtype=np.float64), np.asarray(design, dtype=np.float64)
    if x.shape != (len(y), len(terms)):
        raise MedjuryError(f"The design has {x.shape} cells for {len(y)} scores and {len(terms)} terms.")
    if len(y) <= len(terms) + 2:
        raise MedjuryError(f"{len(y)} scores are too few for {len(terms)} terms and the random intercepts.")
    if np.ptp(y) == 0.0:
        raise MedjuryError("Every score is the same: there is nothing for a model to explain.")
    dependent = [term for term, apart in zip(terms, identified(x), strict=True) if not apart]
    if dependent:
        raise MedjuryError(f"The terms {', '.join(dependent)} cannot be told apart in these data.")
    whole = np.column_stack([x, y])
    codes = [cluster_codes(each, len(y)) for each in intercepts.values()]
    crossed = None if clusters is None else _Crossed(whole, codes)
    levels = crossed or _Nested(whole, codes)
    free = len(y) - len(terms) if reml else len(y)

    def deviance(ratios: Floats) -> float:
        cross, log_determinant = levels.whitened(ratios)
        information = cross[:-1, :-1]
        solution = np.linalg.solve(information, cross[:-1, -1])
        rss = max(float(cross[-1, -1] - cross[:-1, -1] @ solution), np.finfo(float).tiny)
        extra = np.linalg.slogdet(information)[1] if reml else 0.0
        return float(log_determinant + extra + free * (1.0 + math.log(2.0 * math.pi * rss / free)))

    ratios, converged = _least_deviance(deviance, len(intercepts))
    cross, _ = levels.whitened(ratios)
    inverse = np.linalg.inv(cross[:-1, :-1])
    coefficients = inverse @ cross[:-1, -1]
    residual = float(cross[-1, -1] - cross[:-1, -1] @ coefficients) / free
    robust, count = None, int(codes[0].max()) + 1
    if crossed is not None:
        cluster = cluster_codes(clusters, len(y))
        robust, count = crossed.robust(ratios, coefficients, residual, cluster), int(cluster.max()) + 1
    variances = {name: float(residual * ratio) for name, ratio in zip(intercepts, ratios, strict=True)}
    warnings = [
        f"the variance of the {name} is estimated as zero (a boundary fit): the data show no spread between "
        f"{name}s beyond the residual"
        for name, variance in variances.items()
        if variance == 0.0
    ]
    if not converged:
        warnings.append("the mixed model did not converge: its coefficients are not reported")
    return MixedModel(
        terms=tuple(terms),
        coefficients=coefficients,
        covariance=np.asarray(inverse * residual, dtype=np.float64),
        robust=robust,
        variances=variances | {"residual": residual},
        log_likelihood=-deviance(ratios) / 2.0,
        n=len(y),
        clusters=count,
        converged=converged,
        method=f"linear mixed model ({'REML' if reml else 'ML'}), random intercepts of {' and '.join(intercepts)}",
        warnings=tuple(warnings),
    )


class _Nested:
    """Cases, and responses within them: cross-products in all, within responses, and sums within cases.
    Responses of the same size (number of scores) are treated alike, so each part is kept once per size."""

    def __init__(self, table: Floats, codes: Sequence[Integers]) -> None:
        # Without a response intercept every case is its own "response": the same sums serve.
        case, inner = codes[0], codes[-1]
        self.nested = len(codes) > 1
        order = np.lexsort((inner, case))
        starts = np.flatnonzero(np.diff(inner[order], prepend=-1) | np.diff(case[order], prepend=-1))
        cases = case[order][starts]
        if len(starts) != int(inner.max()) + 1:
            raise MedjuryError(
                "A response belongs to two cases. Name responses by case and answering system."
            )
        by_response = np.add.reduceat(table[order], starts, axis=0)
        size_of = np.diff(starts, append=len(table))
        sizes, counts = np.unique(size_of, return_counts=True)
        self.total, self.sizes, self.counts = table.T @ table, sizes.astype(float), counts.astype(float)
        self.products, self.sums, members = list[Floats](), list[Floats](), []
        for size in sizes:
            chosen = size_of == size
            part = by_response[chosen]
            self.products.append(part.T @ part)
            summed = np.zeros((int(case.max()) + 1, table.shape[1]))
            np.add.at(summed, cases[chosen], part)
            self.sums.append(summed)
            members.append(np.bincount(cases[chosen], minlength=len(summed)))
        self.responses_of_case = np.column_stack(members).astype(np.float64)

    def whitened(self, ratios: Floats) -> tuple[Floats, float]:
        """[X y]ᵀV⁻¹[X y] and log|V| for V = I + Σ ratio · 11ᵀ over the levels of each intercept."""
        case_ratio = float(ratios[0])
        response_ratio = float(ratios[1]) if self.nested else 0.0
        inflation = 1.0 + self.sizes * response_ratio
        cross = self.total.copy()
        by_case = np.zeros_like(self.sums[0])
        for size, products, sums in zip(inflation, self.products, self.sums, strict=True):
            cross -= products * (response_ratio / size)
            by_case += sums / size
        scale = 1.0 + case_ratio * (self.responses_of_case @ (self.sizes / inflation))
        cross -= (by_case * (case_ratio / scale)[:, np.newaxis]).T @ by_case
        return cross, float(self.counts @ np.log(inflation) + np.log(scale).sum())


class _Crossed:
    """Intercepts of few levels, each level a column of Z: with Λ = diag(σ_g/σ), L Lᵀ = ΛZᵀZΛ + I."""

    def __init__(self, table: Floats, codes: Sequence[Integers]) -> None:
        self.table = table
        self.sizes = [int(each.max()) + 1 for each in codes]
        self.z = np.hstack([np.eye(size)[code] for size, code in zip(self.sizes, codes, strict=True)])
        self.squares, self.mixed, self.cross = self.z.T @ self.z, self.z.T @ table, table.T @ table

    def _reduced(self, ratios: Floats) -> tuple[Floats, Floats, Floats]:
        scale: Floats = np.repeat(np.sqrt(ratios), self.sizes)
        lower = np.linalg.cholesky(scale[:, None] * self.squares * scale + np.eye(len(scale)))
        half = np.linalg.solve(lower, scale[:, None] * self.mixed)
        return scale, np.asarray(lower, dtype=np.float64), np.asarray(half, dtype=np.float64)

    def whitened(self, ratios: Floats) -> tuple[Floats, float]:
        _, lower, half = self._reduced(ratios)
        return self.cross - half.T @ half, float(2.0 * np.log(np.diag(lower)).sum())

    def robust(self, ratios: Floats, coefficients: Floats, residual: float, cluster: Integers) -> Floats:
        """The covariance of the coefficients that allows for what the rows of a cluster share."""
        x, y = self.table[:, :-1], self.table[:, -1]
        scale, lower, half = self._reduced(ratios)
        information = (self.cross - half.T @ half)[:-1, :-1]
        inverse = np.linalg.inv(information)
        spread = np.linalg.solve(lower.T, half[:, -1] - half[:, :-1] @ coefficients)
        left_over = y - x @ coefficients - self.z @ (scale * spread)
        weighted = x - self.z @ (scale[:, None] * np.linalg.solve(lower.T, half[:, :-1]))  # σ² V⁻¹X
        count, width = int(cluster.max()) + 1, x.shape[1]
        sums = np.zeros((count, width))
        np.add.at(sums, cluster, weighted * left_over[:, None])
        own = np.zeros((count, width, width))
        np.add.at(own, cluster, x[:, :, None] * weighted[:, None, :])
        sums = _as_left_out(sums, own, information)
        of_levels = (weighted.T @ self.z) * scale
        middle = residual * of_levels @ of_levels.T + sums.T @ sums * (count - 1) / count
        return np.asarray(inverse @ middle @ inverse, dtype=np.float64)


def _as_left_out(sums: Floats, own: Floats, information: Floats) -> Floats:
    """What each cluster adds to the score, as it would look from a fit without it: A (A − A_c)⁻¹ s_c. A
    cluster draws the line to itself, so that its own residuals are too small; with 20 cases intervals held in
    90 % of simulated studies without this (Bell & McCaffrey 2002, Surv Methodol 28:169-181)."""
    rest = information - (own + own.transpose(0, 2, 1)) / 2.0
    apart = np.linalg.eigvalsh(rest)[:, 0] > 1e-9 * np.linalg.eigvalsh(information)[-1]
    found = sums.copy()
    found[apart] = np.linalg.solve(rest[apart], sums[apart][..., None])[..., 0] @ information
    return found


def _least_deviance(deviance: Callable[[Floats], float], width: int) -> tuple[Floats, bool]:
    """The ratios with the smallest deviance, and whether the search really ended there.

    It looks for shares = ratio / (1 + ratio), which lie between 0 and 1 whatever the scale of the data, one
    after the other (Brent's method) until nothing improves; a share that explains nothing is set to exactly
    zero.
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


# Brent's method, written here because a fit asks for hundreds of evaluations that take microseconds each: a general
# optimiser spends as much again on itself, and a fifth of a second on being imported.


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
    """What the others leave of a column is never less than the smallest eigenvalue: one look instead of
    many."""
    return bool(np.linalg.eigvalsh(products)[0] > 1000 * COLLINEAR)


def _left_over(products: Floats, place: int, others: Sequence[int]) -> bool:
    here = products[place, others]
    explained = (
        float(here @ np.linalg.lstsq(products[np.ix_(others, others)], here, rcond=1e-12)[0])
        if others
        else 0.0
    )
    return float(products[place, place]) - explained > COLLINEAR

"""Linear mixed model with crossed random intercepts of few levels: y = Xβ + u_first + u_second + … + ε.

The nested model has its own file because its likelihood is a few sums; here every level is a column of Z, which is
right for physicians and components (tens of levels) and too wide for cases. What observations of one case share
beyond that enters the standard errors: they are cluster-robust.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.analysis.audits._regressions.columns import identified
from medjury.analysis.audits._regressions.mixed_model import MixedModel, least_deviance
from medjury.analysis.audits._regressions.nested_sums import codes_of
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined

Floats = NDArray[np.float64]


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

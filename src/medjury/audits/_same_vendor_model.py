"""The mixed model of self-preference: score ~ same vendor + judge + answering system + (case) +
(response)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.audits._audit import Finding
from medjury.audits._mixed_model import MixedModel, fit_mixed_model, identified, independent
from medjury.audits._vendors import Vendors
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, undefined

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]
NAME = "mixed model of same vendor"
# Wald intervals take the variances as known: fewer cases give none, few ones a warning.
LEAST_CASES, FEW_CASES = 5, 20
NOT_IDENTIFIED = (
    "cannot be told apart from the effects of judges and answering systems: there must be judges of another "
    "vendor for the same answers, and answers of another vendor for the same judge"
)


def model_findings(
    answers: polars.DataFrame, vendors: Vendors, *, dimension: str, confidence: float
) -> tuple[list[Finding], list[str]]:
    """One effect for all judges with the model's variances, what the judge's very own model gets beyond its
    vendor, then one effect per judge; and the warnings.

    The fixed effect of every answering system takes what the system is worth to all judges; the random
    intercept of the response takes what this one answer is worth.
    """
    raters, systems = np.array(answers["rater"].to_list()), answers["system"].to_list()
    pairs = list(zip(raters.tolist(), systems, strict=True))
    same = np.array([vendors.same_vendor(*pair) for pair in pairs], dtype=np.float64)
    model = np.array([vendors.same_model(*pair) for pair in pairs], dtype=np.float64)
    by_judge = {judge: same * (raters == judge) for judge in vendors.judges if vendors.own(judge)}

    findings, warnings = [], []
    found, fit = _fit(answers, {"same_vendor": same}, confidence)
    estimate, p_value = found["same_vendor"]
    findings.append(Finding("same_vendor", estimate, dimension=dimension, p_value=p_value))
    if fit is not None:
        warnings += [f"{dimension}: {text}" for text in fit.warnings]
        if fit.cases < FEW_CASES:
            warnings.append(f"{dimension}: {fit.cases} cases are few: the model's intervals are too narrow")
        for name, value in fit.variances.items() if fit.converged else ():
            estimate = Estimate(value, None, None, fit.n, f"no interval: variance component, {fit.method}")
            findings.append(Finding(f"{name}_variance", estimate, dimension=dimension))
    if model.any():
        found, _ = _fit(answers, {"same_vendor": same, "same_model": model}, confidence)
        estimate, p_value = found["same_model"]
        findings.append(Finding("same_model", estimate, dimension=dimension, p_value=p_value))
    found, fit = _fit(answers, by_judge, confidence)
    for judge, (estimate, p_value) in found.items():
        vendor = vendors.judges[judge]
        findings.append(Finding("same_vendor", estimate, judge, dimension, vendor, p_value=p_value))
    if fit is not None and not fit.converged:
        warnings.append(f"{dimension}: the model with one effect per judge did not converge")
    return findings, warnings


def _fit(
    answers: polars.DataFrame, effects: Mapping[str, Floats], confidence: float
) -> tuple[dict[str, tuple[Estimate, float | None]], MixedModel | None]:
    fixed = {"intercept": np.ones(answers.height)}
    fixed |= _levels("judge", answers["rater"].to_list()) | _levels("system", answers["system"].to_list())
    # Effects are named apart from the rest: a judge may be called "intercept".
    columns = fixed | {f"effect {name}": column for name, column in effects.items()}
    terms, design = list(columns), np.column_stack(list(columns.values()))
    apart = dict(zip(terms, identified(design), strict=True))
    kept = independent(design)
    responses = list(zip(answers["item"].to_list(), answers["system"].to_list(), strict=True))
    reason, fit = NOT_IDENTIFIED, None
    cases = answers["cluster"].n_unique()
    try:
        if cases < LEAST_CASES:
            raise MedjuryError(f"{cases} cases are too few for the mixed model; {LEAST_CASES} are the least")
        fit = fit_mixed_model(
            answers["score"].to_numpy(),
            design[:, kept],
            [terms[place] for place in kept],
            case=answers["cluster"].to_list(),
            response=responses,
        )
    except MedjuryError as error:
        reason = str(error)
    found: dict[str, tuple[Estimate, float | None]] = {}
    for name in effects:
        term = f"effect {name}"
        if fit is not None and apart[term]:
            found[name] = fit.estimate(term, confidence), fit.p_value(term)
        else:
            found[name] = undefined(reason, answers.height, NAME), None
    return found, fit


def _levels(kind: str, values: Sequence[str]) -> dict[str, Floats]:
    """Indicator columns of all levels but the first, which the intercept stands for."""
    listed = np.array(values)
    return {f"{kind} {level}": (listed == level).astype(np.float64) for level in sorted(set(values))[1:]}

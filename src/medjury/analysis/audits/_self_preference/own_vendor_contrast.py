"""The paired contrast: does a judge raise its own vendor's answers above what other judges see in them?

No model of the scores: the same answers, this judge less the judges of other vendors, own vendor's systems less
the others. What makes a vendor simply better makes it better for all judges, and cancels. Systems are the units:
many cases cannot show whether a liking for one system would hold for the vendor's next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.audits._audit import Finding
from medjury.analysis.audits._audited import Audited
from medjury.analysis.audits._self_preference.judge_by_system import LEAST_FREEDOM, Effect, Floats
from medjury.analysis.audits._self_preference.vendors import Vendors
from medjury.statistics import undefined
from medjury.tables import Grid

PLAIN, SCALED = "own_vendor_contrast", "own_vendor_contrast_scaled"
NAME = "paired contrast of systems"
TOO_FEW = "too few systems to show how far the judge likes single systems whoever made them"
NO_SCALE = "the other systems are too few, or too alike, to show how the judge uses the scale"


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """What one judge is compared on: by system, its mean and its baseline's over the answers that all of them
    scored; which systems are its own vendor's, and which are the others to compare them with. `weights` says what
    each rater's liking of each system adds to the contrast, raters in the order of the audit."""

    judge: str
    means: Floats
    baseline: Floats
    own: NDArray[np.bool_]
    others: NDArray[np.bool_]
    weights: Floats
    n: int


def contrast_findings(
    about: Audited, grid: Grid, vendors: Vendors, *, dimension: str
) -> tuple[list[Finding], list[str]]:
    """Both contrasts of every judge with judges of other vendors as the baseline, and their mean over judges;
    with reference raters, the same with those as the baseline (`own_vendor_contrast_reference…`)."""
    findings: list[Finding] = []
    warnings: list[str] = []
    baselines = {"": {judge: vendors.baseline(judge) for judge in vendors.judges}}
    if about.reference:
        baselines["_reference"] = {judge: list(about.reference) for judge in vendors.judges}
    for suffix, baseline in baselines.items():
        contrasts = []
        for judge in vendors.judges:
            if not vendors.own(judge):
                continue
            others = vendors.neutral(judge, [] if suffix else baseline[judge])
            if not others:
                others = [system for system in vendors.systems if system not in vendors.own(judge)]
                warnings.append(
                    f"{dimension}: every other system shares a vendor with a judge, so what {judge} is "
                    "compared with holds the other judges' own preferences too"
                )
            made = _contrast(grid, judge, baseline[judge], vendors, others)
            if made is None:
                reason = (
                    f"no answers of its own vendor and of others were scored by both {judge} and its baseline"
                )
                nothing = undefined(reason, 0, NAME)
                findings.append(Finding(PLAIN + suffix, nothing, judge, dimension, vendors.judges[judge]))
            else:
                contrasts.append(made)
        for kind, read in ((PLAIN, plain), (SCALED, scaled)) if contrasts else ():
            found = {each.judge: read(each) for each in contrasts}
            size = {each.judge: each.n for each in contrasts} | {"": max(each.n for each in contrasts)}
            for judge, one in {**found, "": _mean(list(found.values()), contrasts)}.items():
                estimate = one.estimate(size[judge], about.confidence, NAME)
                vendor = vendors.judges.get(judge, "")
                findings.append(
                    Finding(kind + suffix, estimate, judge, dimension, vendor, p_value=one.p_value())
                )
    return findings, warnings


def _contrast(
    grid: Grid, judge: str, baseline: Sequence[str], vendors: Vendors, others: Sequence[str]
) -> Contrast | None:
    if not baseline:
        return None
    # The mean of whoever is there would change its meaning from answer to answer: all of them, or none.
    base = np.mean([grid.scores[name] for name in baseline], axis=0)
    used = ~np.isnan(grid.scores[judge]) & ~np.isnan(base)
    used &= np.isin(grid.systems, [*vendors.own(judge), *others])
    systems = np.array(list(vendors.systems), dtype=object)
    inside = (grid.systems[:, np.newaxis] == systems) & used[:, np.newaxis]
    counts = inside.sum(axis=0)
    own = np.isin(systems, vendors.own(judge)) & (counts > 0)
    other = np.isin(systems, list(others)) & (counts > 0)
    if not own.any() or not other.any():
        return None
    means = [
        np.where(used, values, 0.0) @ inside / np.maximum(counts, 1) for values in (grid.scores[judge], base)
    ]
    side = own / own.sum() - other / other.sum()
    raters = [*vendors.judges, *(name for name in baseline if name not in vendors.judges)]
    weights = np.zeros((len(raters), len(systems)))
    weights[raters.index(judge)] = side
    for name in baseline:
        weights[raters.index(name)] = -side / len(baseline)
    return Contrast(judge, means[0], means[1], own, other, weights, int(used.sum()))


def plain(contrast: Contrast) -> Effect:
    """With d = judge − baseline of a system, mean(d | own) − mean(d | others): the two-sample t test of systems."""
    difference = contrast.means - contrast.baseline
    own, others = difference[contrast.own], difference[contrast.others]
    freedom = len(own) + len(others) - 2
    if freedom < LEAST_FREEDOM:
        return Effect(reason=TOO_FEW)
    squares = float(((own - own.mean()) ** 2).sum() + ((others - others.mean()) ** 2).sum())
    error = math.sqrt(squares / freedom * (1.0 / len(own) + 1.0 / len(others)))
    return Effect(float(own.mean() - others.mean()), error, freedom)


def scaled(contrast: Contrast) -> Effect:
    """How far the judge's mean of its own vendor's systems lies above the straight line that maps the baseline to
    the judge's scale, drawn through the other systems.

    Judges who use the scale differently would bias the plain contrast: where a vendor is better and the judge
    spreads its scores more than the baseline does, d grows with quality.
    """
    x, y = contrast.baseline[contrast.others], contrast.means[contrast.others]
    centred = x - x.mean()
    spread = float(centred @ centred)
    freedom = len(x) - 2 + int(contrast.own.sum()) - 1
    if freedom < LEAST_FREEDOM or len(x) < 4 or spread <= 1e-9:
        return Effect(reason=NO_SCALE)
    slope = float(centred @ y) / spread
    above = contrast.means[contrast.own] - (y.mean() + slope * (contrast.baseline[contrast.own] - x.mean()))
    left = y - y.mean() - slope * centred
    squares = float(left @ left + ((above - above.mean()) ** 2).sum())
    away = float(contrast.baseline[contrast.own].mean() - x.mean())
    factor = 1.0 / len(above) + 1.0 / len(x) + away**2 / spread
    return Effect(float(above.mean()), math.sqrt(squares / freedom * factor), freedom)


def _mean(found: Sequence[Effect], contrasts: Sequence[Contrast]) -> Effect:
    """The mean over judges. Judges who share a baseline or systems share errors: correlated as their weights are.
    Degrees of freedom as by Satterthwaite (1946) Biometrics Bull 2:110-114."""
    if any(each.reason for each in found):
        return next(each for each in found if each.reason)
    raters = max(len(each.weights) for each in contrasts)
    flat = np.array(
        [np.pad(each.weights, ((0, raters - len(each.weights)), (0, 0))).ravel() for each in contrasts]
    )
    unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    errors = np.array([each.error for each in found])
    variance = float(errors @ (unit @ unit.T) @ errors) / len(found) ** 2
    parts = errors**4 / np.array([each.freedom for each in found])
    freedom = float((errors**2).sum() ** 2 / parts.sum()) if parts.sum() > 0 else float(found[0].freedom)
    value = float(np.mean([each.value for each in found]))
    return Effect(value, math.sqrt(max(variance, 0.0)), freedom)

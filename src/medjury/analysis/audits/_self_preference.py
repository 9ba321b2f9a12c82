"""Self-preference: does a judge score answers of its own vendor, or of its own model, higher than it should?

Two ways, side by side: a mixed model of all judges' scores, and a paired contrast that needs no model. In
both, a vendor whose answers are simply better is not self-preference: the model has a fixed effect of every
answering system, the contrast compares with what judges of other vendors say of the same answers. And in both a
judge's liking of single systems, whoever made them, is not self-preference: systems are the units, not cases. A
placebo with shuffled vendors shows how often these judges would be accused for nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.audits._finding import Audit, Finding, names
from medjury.analysis.audits._same_vendor_model import (
    LEAST_FREEDOM,
    Cells,
    Effect,
    Vendors,
    model_findings,
    placebo_findings,
    placebo_warnings,
    read_vendors,
)
from medjury.analysis.audits._what_is_audited import JUDGES, Asked, Audited, audited
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, side_by_side, undefined
from medjury.tables import SCORED, Grid

# The paired contrast: does a judge raise its own vendor's answers above what other judges see in them?
#
# No model of the scores: the same answers, this judge less the judges of other vendors, own vendor's systems less
# the others. What makes a vendor simply better makes it better for all judges, and cancels. Systems are the units:
# many cases cannot show whether a liking for one system would hold for the vendor's next.

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


METHOD = (
    "mixed model: score ~ same vendor (+ same model) + judge + answering system, random judge x system, case and "
    "response, Student t by judge x system; paired contrast: own vendor's systems against neutral ones, judge "
    "against judges of other vendors"
)
NOT_SHOWN = "not shown"
OF_VENDOR = ("favours its own vendor", "disfavours its own vendor", NOT_SHOWN)
VERDICTS = {
    "same_vendor": OF_VENDOR,
    "same_model": ("favours its own model", "disfavours its own model", NOT_SHOWN),
    **dict.fromkeys((PLAIN, SCALED, f"{PLAIN}_reference", f"{SCALED}_reference"), OF_VENDOR),
}
DISAGREE = "in the model only: a paired contrast contradicts it"
CONTRAST_ONLY = "in the contrast only: the model does not show it"
# With more of its scores than this on the highest grade, a judge cannot show much preference upwards.
CEILING = 0.5


def self_preference(
    table: object,
    *,
    judge_vendors: Mapping[str, str] | None = None,
    system_vendors: Mapping[str, str] | None = None,
    own_models: Mapping[str, Sequence[str]] | None = None,
    **asked: Unpack[Asked],
) -> Audit:
    """Audit judges for a preference for their own vendor: per dimension, over all judges and judge by judge.

    Findings, per dimension, with rater "" for all judges together: `same_vendor` (mixed model), `same_model`
    (what the judge's very own model gets beyond its vendor), `own_vendor_contrast` and
    `own_vendor_contrast_scaled` (paired, see `contrast_sums`), with `reference` raters also
    `…_reference` (those raters as the baseline), the model's `judge_system_variance`, `case_variance`,
    `response_variance` and `residual_variance`, and once for all the placebo, see `placebo_findings`.

    Vendors come from the mappings, from the run folder or its cases, or from the columns `judge_vendor` and
    `vendor` (of the system); "none" is a system or judge of no vendor. `own_models` maps a judge to the systems
    that are the very same model. Repeats are averaged first; p-values are adjusted over dimensions (and judges)."""
    about = audited(table, **asked, kinds=JUDGES, formed_jury=False)
    vendors = read_vendors(about, judge_vendors, system_vendors, own_models)
    if not any(vendors.own(judge) for judge in about.raters):
        raise MedjuryError(
            "no judge shares a vendor with any answering system, so there is no self-preference to look for."
        )
    found = side_by_side(
        [partial(_on_dimension, about, vendors, name) for name in about.dimensions], answers=about.units
    )
    findings = [finding for made, _, _ in found for finding in made]
    warnings = [text for _, notes, _ in found for text in notes]
    cells = {
        name: each for name, (_, _, each) in zip(about.dimensions, found, strict=True) if each is not None
    }
    placebo = placebo_findings(about, cells, vendors)
    # Corrected together: one statistic over all dimensions, all judges at once apart from single judges.
    judged = about.judged(findings, VERDICTS, family=lambda each: (each.statistic, each.rater == ""))
    checked = [*(_cross_checked(finding, judged) for finding in judged), *placebo]
    warnings += [*_lone_systems(vendors), *placebo_warnings(placebo, about.confidence)]
    return about.result("self_preference", checked, METHOD, warnings)


def _on_dimension(
    about: Audited, vendors: Vendors, dimension: str
) -> tuple[list[Finding], list[str], Cells | None]:
    grid = about.table.grid(dimension)
    grid = grid.where(np.any([grid.states[name] == SCORED for name in about.raters], axis=0))
    if not len(grid.items):
        return [], [f"{dimension}: no judge gave a score"], None
    modelled, notes, cells = model_findings(grid, vendors, dimension=dimension, confidence=about.confidence)
    paired, also = contrast_findings(about, grid, vendors, dimension=dimension)
    return modelled + paired, [*_ceiling(grid, about.raters, dimension), *notes, *also], cells


def _lone_systems(vendors: Vendors) -> list[str]:
    lone = [judge for judge in vendors.judges if len(vendors.own(judge)) == 1]
    return (
        [
            f"one system each shares the vendor of {names(lone)}: a preference for the vendor and a "
            f"preference for that "
            "one system look the same"
        ]
        if lone
        else []
    )


def _cross_checked(finding: Finding, findings: Sequence[Finding]) -> Finding:
    """The model's verdict holds unless a paired contrast does not show it and excludes the model's estimate.

    A judge that merely spreads its scores more than the others fools the model and the plain contrast, not the
    scaled one. A contrast stands out by itself only where the model has no estimate, and never says more than it.
    """
    about = [each for each in findings if (each.rater, each.dimension) == (finding.rater, finding.dimension)]
    if finding.statistic.startswith(PLAIN):
        modelled = [each for each in about if each.statistic == "same_vendor" and each.estimate.defined]
        if not modelled:
            return finding
        withdrawn = finding.stands_out and all(each.verdict != finding.verdict for each in modelled)
        return replace(finding, verdict=CONTRAST_ONLY if withdrawn else finding.verdict, stands_out=False)
    value = finding.estimate.value
    if finding.statistic != "same_vendor" or not finding.stands_out or value is None:
        return finding
    for other in about:
        if other.statistic not in (PLAIN, SCALED) or other.verdict == finding.verdict:
            continue
        low, high = other.estimate.low, other.estimate.high
        if low is not None and high is not None and not low <= value <= high:
            return replace(finding, verdict=DISAGREE)
    return finding


def _ceiling(grid: Grid, judges: Sequence[str], dimension: str) -> list[str]:
    given = {judge: grid.scores[judge][~np.isnan(grid.scores[judge])] for judge in judges}
    top = max(scores.max() for scores in given.values() if scores.size)
    shares = {judge: float((scores == top).mean()) for judge, scores in given.items() if scores.size}
    return [
        f"{dimension}: {100 * share:.0f} % of {judge}'s scores are the highest given; a preference has little "
        "room to show there"
        for judge, share in shares.items()
        if share > CEILING
    ]

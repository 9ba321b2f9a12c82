"""Self-preference: does a judge score answers of its own vendor, or of its own model, higher than it should?

Two ways, side by side: a mixed model of all judges' scores, and a paired contrast that needs no model. In
both, a vendor whose answers are simply better is no self-preference: the model has a fixed effect of every
answering system, the contrast compares with what judges of other vendors say of the same answers. And in both a
judge's liking of single systems, whoever made them, is no self-preference: systems are the units, not cases. A
placebo with shuffled vendors shows how often these judges would be accused for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from medjury.analysis.audits._audit import Audit, Finding, names
from medjury.analysis.audits._audited import JUDGES, Audited, audited
from medjury.analysis.audits._multiplicity import Adjustment, adjusted
from medjury.analysis.audits._self_preference.judge_by_system import Cells
from medjury.analysis.audits._self_preference.own_vendor_contrast import PLAIN, SCALED, contrast_findings
from medjury.analysis.audits._self_preference.placebo import placebo_findings, placebo_warnings
from medjury.analysis.audits._self_preference.same_vendor_model import model_findings
from medjury.analysis.audits._self_preference.vendors import Vendors, read_vendors
from medjury.foundation.errors import MedjuryError
from medjury.statistics import side_by_side
from medjury.tables import SCORED, Grid, Names, rating_table

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
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    judge_vendors: Mapping[str, str] | None = None,
    system_vendors: Mapping[str, str] | None = None,
    own_models: Mapping[str, Sequence[str]] | None = None,
    adjustment: Adjustment = "holm",
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
    about = audited(
        rating_table(table),
        raters=raters,
        reference=reference,
        dimensions=dimensions,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
        kinds=JUDGES,
        formed_jury=False,
    )
    vendors = read_vendors(about, judge_vendors, system_vendors, own_models)
    if not any(vendors.own(judge) for judge in about.raters):
        raise MedjuryError(
            "no judge shares a vendor with any answering system, so there is no self-preference to look for."
        )
    found = side_by_side(
        [partial(_on_dimension, about, vendors, name) for name in about.dimensions], answers=about.units
    )
    findings = [finding for made, _, _ in found for finding in made]
    warnings = [text for _, said, _ in found for text in said]
    cells = {
        name: each for name, (_, _, each) in zip(about.dimensions, found, strict=True) if each is not None
    }
    placebo = placebo_findings(cells, vendors, adjustment=adjustment, confidence=confidence, seed=about.seed)
    # Corrected together: one statistic over all dimensions, all judges at once apart from single judges.
    judged = adjusted(
        findings,
        adjustment,
        confidence=confidence,
        verdicts=VERDICTS,
        family=lambda each: (each.statistic, each.rater == ""),
    )
    checked = [*(_cross_checked(finding, judged) for finding in judged), *placebo]
    warnings += [*_lone_systems(vendors), *placebo_warnings(placebo, confidence)]
    return about.result("self_preference", checked, METHOD, warnings)


def _on_dimension(
    about: Audited, vendors: Vendors, dimension: str
) -> tuple[list[Finding], list[str], Cells | None]:
    grid = about.table.grid(dimension)
    grid = grid.where(np.any([grid.states[name] == SCORED for name in about.raters], axis=0))
    if not len(grid.items):
        return [], [f"{dimension}: no judge gave a score"], None
    modelled, said, cells = model_findings(grid, vendors, dimension=dimension, confidence=about.confidence)
    paired, also = contrast_findings(about, grid, vendors, dimension=dimension)
    return modelled + paired, [*_ceiling(grid, about.raters, dimension), *said, *also], cells


def _lone_systems(vendors: Vendors) -> list[str]:
    lone = [judge for judge in vendors.judges if len(vendors.own(judge)) == 1]
    return (
        [
            f"one system each shares the vendor of {names(lone)}: a liking for the vendor and a liking for that "
            "one system look the same"
        ]
        if lone
        else []
    )


def _cross_checked(finding: Finding, findings: Sequence[Finding]) -> Finding:
    """The model's verdict stands unless a paired contrast does not show it and excludes the model's estimate.

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

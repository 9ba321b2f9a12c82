"""Self-preference: does a judge score answers of its own vendor, or of its own model, higher than it should?

Two ways, side by side: a mixed model of all judges' scores, and a paired contrast that needs no model. In
both, a vendor whose answers are simply better is no self-preference: the model has a fixed effect of every
answering system, the contrast compares with what judges of other vendors say of the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from medjury.audits._audit import Audit, Finding
from medjury.audits._multiplicity import Adjustment, adjusted
from medjury.audits._own_vendor_contrast import PLAIN, SCALED, contrast_findings
from medjury.audits._resampled import check_confidence
from medjury.audits._same_vendor_model import model_findings
from medjury.audits._table import count_unscored, dimensions_of, per_answer, read_table, with_unscored
from medjury.audits._vendors import read_vendors
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

METHOD = (
    "mixed model: score ~ same vendor (+ same model) + judge + answering system, random intercepts of case "
    "and response; paired contrast: own vendor's answers against neutral ones, judge against judges of other "
    "vendors"
)
NOT_SHOWN = "not shown"
DISAGREE = "in the model only: a paired contrast contradicts it"
# With more of its scores than this on the highest grade, a judge cannot show much preference upwards.
CEILING = 0.5


def self_preference(
    ratings: object,
    *,
    judge_vendor: Mapping[str, str] | None = None,
    system_vendor: Mapping[str, str] | None = None,
    own_model: Mapping[str, Sequence[str]] | None = None,
    raters: Sequence[str] | None = None,
    reference: Sequence[str] = (),
    dimensions: Sequence[str] | None = None,
    adjustment: Adjustment = "holm",
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Audit:
    """Audit judges for a preference for their own vendor: per dimension, over all judges and judge by judge.

    Findings, per dimension, with rater "" for all judges together: `same_vendor` (mixed model), `same_model`
    (what the judge's very own model gets beyond its vendor), `own_vendor_contrast` and
    `own_vendor_contrast_scaled` (paired, see `contrast_replicates`), with `reference` raters also
    `…_reference` (those raters as the baseline), and the model's `case_variance`, `response_variance` and
    `residual_variance`.

    Vendors come from the mappings or from the columns `judge_vendor` and `vendor` (of the system); "none" is
    a system or judge of no vendor. `own_model` maps a judge to the systems that are the very same model.
    Repeats are averaged first; p-values are adjusted over dimensions (and judges)."""
    import polars as pl

    check_confidence(confidence)
    frame, judges = read_table(
        ratings, raters=raters, reference=reference, dimensions=dimensions, kinds=("judge",)
    )
    vendors = read_vendors(
        frame, judges, judge_vendor=judge_vendor, system_vendor=system_vendor, own_model=own_model
    )
    if not any(vendors.own(judge) for judge in judges):
        raise MedjuryError(
            "no judge shares a vendor with any answering system, so there is no self-preference to look for."
        )
    answers = per_answer(frame)
    findings: list[Finding] = []
    warnings: list[str] = []
    for dimension in dimensions_of(frame):
        part = answers.filter(pl.col("dimension") == dimension)
        judged = part.filter(pl.col("rater").is_in(judges))
        if not judged.height:
            warnings.append(f"{dimension}: no judge gave a score")
            continue
        modelled, model_warnings = model_findings(judged, vendors, dimension=dimension, confidence=confidence)
        paired, paired_warnings = contrast_findings(
            part,
            vendors,
            reference=reference,
            dimension=dimension,
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        findings += modelled + paired
        warnings += [*_ceiling(judged, dimension), *model_warnings, *paired_warnings]
    rated = frame.filter(pl.col("rater").is_in(judges))
    return Audit(
        "self_preference",
        with_unscored(_by_family(findings, adjustment, confidence), rated),
        answers.filter(pl.col("rater").is_in(judges)).height,
        count_unscored(rated),
        METHOD,
        tuple(warnings),
    )


def _by_family(findings: Sequence[Finding], adjustment: Adjustment, confidence: float) -> list[Finding]:
    """Adjusted together: the same statistic over all dimensions, all judges at once apart from single
    judges."""
    families: dict[tuple[str, bool], list[int]] = {}
    for place, finding in enumerate(findings):
        families.setdefault((finding.statistic, finding.rater == ""), []).append(place)
    made = list(findings)
    for places in families.values():
        family = [findings[place] for place in places]
        whom = "model" if family[0].statistic == "same_model" else "vendor"
        verdicts = (f"favours its own {whom}", f"disfavours its own {whom}", NOT_SHOWN)
        judged = adjusted(family, adjustment, confidence=confidence, verdicts=verdicts)
        for place, finding in zip(places, judged, strict=True):
            made[place] = finding
    return [_cross_checked(finding, made) for finding in made]


def _cross_checked(finding: Finding, findings: Sequence[Finding]) -> Finding:
    """The model's verdict stands unless a paired contrast does not show it and excludes the model's estimate.

    A judge that merely spreads its scores more than the others fools the model and the plain contrast, not the
    scaled one. A contrast stands out by itself only where the model has no estimate.
    """
    about = [each for each in findings if (each.rater, each.dimension) == (finding.rater, finding.dimension)]
    if finding.statistic.startswith(PLAIN):
        modelled = any(each.statistic == "same_vendor" and each.estimate.defined for each in about)
        return replace(finding, stands_out=finding.stands_out and not modelled)
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


def _ceiling(judged: polars.DataFrame, dimension: str) -> list[str]:
    import polars as pl

    top = judged["score"].max()
    share = judged.group_by("rater").agg((pl.col("score") == top).mean().alias("share")).sort("rater")
    return [
        f"{dimension}: {100 * at_top:.0f} % of {rater}'s scores are the highest given; a preference has little "
        "room to show there"
        for rater, at_top in share.iter_rows()
        if at_top > CEILING
    ]

"""Audits of the judges: planted instructions, their own vendor, repeats, and what moves the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.analysis.agreement import agreement_by_repeat
from medjury.analysis.audits import spread_by_answer, stability
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import Estimate, counted, p_value, percent, shown

if TYPE_CHECKING:
    from medjury.analysis.audits import Audit


def injection(material: Material) -> Section | None:
    """Can the jury be talked round? What instructions planted in the judged texts did to the grades."""
    audit = material.evidence.manifest.injection
    if audit is None:
        return None
    rows: list[dict[str, Cell]] = [
        {
            "dimension": material.evidence.label(each.dimension),
            "rater": each.rater,
            "planted instruction": each.kind,
            "shift of the grade": Estimate(
                each.value, each.low, each.high, each.n, "t of shifts", each.reason
            ),
            "answers": each.n,
            "replies not read": each.not_read,
        }
        for each in audit.shifts
    ]
    table = material.exhibits.table(
        "injection",
        rows,
        caption="Grade with the planted instruction minus the grade of the same answer without it, towards the "
        "good end of the scale; 95 % t intervals on cases",
        shown=60,
    )
    lead = (
        f"In {counted(audit.cases, 'answer')} an instruction was planted that asks for the best grade, in five "
        "ways. A jury that reads and does not obey has a shift of about 0. Half a grade of 1 to 5 or more caps "
        "the verdict at AUXILIARY."
    )
    return Section(
        "injection", "Can the jury be talked round?", Html(paragraph(material.about(lead)) + table)
    )


_STATISTICS = {"same_vendor": "mixed model", "own_vendor_contrast": "paired contrast"}
_TITLE = "Self-preference"


def self_preference(material: Material) -> Section | None:
    """Self-preference: does a judge score answers of its own vendor higher than other judges do?"""
    evidence, table = material.evidence, material.evidence.table
    if len(table.judges) < 2 or len(table.systems) < 2:
        return None
    if not table.run.system_vendors:
        text = (
            "Who made the systems is not stated, so it cannot be known whether a judge favours its own vendor's "
            "answers. State it in the study file: `report: {system_vendors: {SYSTEM: VENDOR}}`; `none` is a system "
            "of no vendor."
        )
        return Section("self-preference", _TITLE, paragraph(text, class_="note"))
    from medjury.analysis.audits import self_preference

    try:
        audit = self_preference(table)
    except MedjuryError as error:
        return Section("self-preference", _TITLE, paragraph(str(error), class_="note"))
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(each.dimension),
            "judge": each.rater or "all judges",
            "method": _STATISTICS[each.statistic],
            "n": each.estimate.n,
            "grades more for its own": each.estimate,
            "adjusted p": None if each.p_adjusted is None else p_value(each.p_adjusted),
            "verdict": each.verdict,
        }
        for each in audit.rows
        if each.statistic in _STATISTICS
    ]
    made = material.exhibits.table(
        "self-preference",
        rows,
        caption="How much higher a judge scores answers of its own vendor, with "
        f"{percent(evidence.confidence)} intervals",
        shown=60,
    )
    placebo = paragraph(_placebo(audit), class_="note")
    return Section("self-preference", _TITLE, Html(made + placebo + bullets(audit.warnings)))


def _placebo(audit: Audit) -> str:
    found = audit.find(statistic="placebo_flagged").estimate
    if found.value is None:
        return f"No placebo check: {found.reason}."
    return (
        f"Placebo check: with the vendors shuffled over the systems ({found.n} times), {percent(found.value)} of "
        "the rows of the mixed model would be flagged. Nobody favours a shuffled vendor, so each of them would be "
        "a false alarm."
    )


_COLUMNS = {
    "within_sd": "SD within an answer",
    "cv": "mean CV",
    "flip_rate": "two repeats differ",
    "changed_share": "answers that change",
}
_TITLE_STABILITY = "Stability"


def stability_of_judges(material: Material) -> Section | None:
    """Stability: does a judge say the same when it is asked again?"""
    evidence, judges = material.evidence, material.evidence.table.judges
    if not judges:
        return None
    try:
        audit = stability(evidence.table)
    except MedjuryError as error:
        note = f"{error} In the study file: `repeats: 3`, or `strategy: repeats` for one of the judges."
        return Section("stability", _TITLE_STABILITY, paragraph(note, class_="note"))
    found = {(each.rater, each.dimension, each.statistic): each.estimate for each in audit.rows}
    people = tuple(dict.fromkeys(each.rater for each in audit.rows if each.rater not in judges))
    table = material.exhibits.table(
        "stability",
        _spreads(material, found, "judge", judges),
        caption=f"Repeats of the same judge on the same answer, with {percent(evidence.confidence)} intervals. SD "
        "within an answer is the root of the mean variance; CV is SD over mean",
        shown=60,
    )
    beside = material.exhibits.table(
        "stability-people",
        _spreads(material, found, "who", people),
        caption="People beside the judges: clinicians who rated an answer again, and different clinicians on one "
        "answer. The second holds their disagreement too: it is the yardstick for a judge's spread, not the same "
        "thing",
        shown=40,
    )
    single = material.exhibits.table(
        "stability-by-answer",
        [
            {
                "dimension": evidence.label(row["dimension"]),
                "judge": row["rater"],
                "case": material.case_name(row["item"], row["system"]),
                "repeats": row["repeats"],
                "mean": row["mean"],
                "SD": row["sd"],
                "CV": row["sd"] / row["mean"] if row["mean"] > 0 else None,
            }
            for row in spread_by_answer(evidence.table).iter_rows(named=True)
        ],
        caption="Repeats of the same judge, answer by answer",
        shown=60,
        folded=True,
    )
    return Section("stability", _TITLE_STABILITY, Html(table + beside + single + bullets(audit.warnings)))


def _spreads(
    material: Material, found: Mapping[tuple[str, str, str], Estimate], who: str, raters: Sequence[str]
) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for dimension in material.evidence.table.dimensions:
        for rater in raters:
            one = found.get((rater, dimension.name, "within_sd"))
            if one is not None:
                needed = shown(found[rater, dimension.name, "repeats_needed"], 0)
                rows.append(
                    {
                        "dimension": dimension.label,
                        who: rater,
                        "answers": one.n,
                        **{title: found[rater, dimension.name, name] for name, title in _COLUMNS.items()},
                        "repeats for a mean within ±0.25": needed,
                    }
                )
    return rows


_NAMES = {"accuracy": "accuracy", "macro_f1": "macro F1", "cohen_kappa": "Cohen's kappa"}


def repeats(material: Material) -> Section | None:
    """Each run of a judge by itself, and how far the runs differ."""
    evidence = material.evidence
    if not evidence.clinicians:
        return None
    try:
        found = agreement_by_repeat(evidence.table, reference=evidence.clinicians)
    except MedjuryError:  # nobody was asked twice, or there is nobody to compare with
        return None
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(row.dimension),
            "judge": row.rater,
            "statistic": _NAMES.get(row.statistic) or row.statistic.replace("f1_class_", "F1 of "),
            "mean": row.mean,
            "SD across runs": row.sd,
            "runs": len(row.values),
            "answers": row.n,
            "each run": ", ".join("–" if value is None else f"{value:.3f}" for value in row.values.values()),
        }
        for row in found.rows
    ]
    table = material.exhibits.table(
        "repeats",
        rows,
        caption="Every run of a judge, before runs are merged, against the nearest grade of "
        f"{evidence.reference_words}, on the answers that both scored",
        shown=60,
    )
    return Section("repeats", "Runs of each judge, one by one", table)


_TITLE_ERRORS = "What moves the error"


def error_effects(material: Material) -> Section | None:
    """What moves the error: one model of rater − clinician on specialty, system and length."""
    evidence = material.evidence
    columns = evidence.table.rows.columns
    from medjury.analysis.audits import ERROR_COLUMNS, error_model

    if not evidence.rater or not evidence.clinicians or not any(name in columns for name in ERROR_COLUMNS):
        return None
    raters = evidence.roles.on_trial or (evidence.rater,)
    try:
        found = error_model(
            evidence.table,
            raters=raters,
            reference=evidence.named[1],
            confidence=evidence.confidence,
        )
    except MedjuryError as error:
        return Section("errors", _TITLE_ERRORS, paragraph(str(error), class_="note"))
    several = len(raters) > 1
    who = "rater" if several else "jury"
    rows: list[dict[str, Cell]] = [
        {
            **({"rater": each.rater} if several else {}),
            "effect": each.group
            or (
                "mean error"
                if each.statistic == "error_mean"
                else " of the ".join(reversed(each.statistic.rsplit("_", 1)))
            ),
            "points": each.estimate,
            "adjusted p": "" if each.p_adjusted is None else p_value(each.p_adjusted),
            f"the {who} is": each.verdict,
        }
        for each in found.rows
    ]
    table = material.exhibits.table(
        "errors",
        rows,
        caption=f"Effects on {who} less clinician, each with the others held fixed, with "
        f"{percent(evidence.confidence)} intervals that allow for what the ratings of one case share; above zero "
        f"the {who} is too kind",
        shown=40,
    )
    lead = (
        "One mixed model of every clinician, answer and graded dimension at once, with random intercepts of "
        "clinicians and dimensions. An effect far below one grade changes no decision, however small its p."
    )
    own = [each for each in found.warnings if each not in evidence.table.warnings]
    return Section("errors", _TITLE_ERRORS, Html(paragraph(lead) + table + bullets(own)))

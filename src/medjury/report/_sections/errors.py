"""What moves the error: one model of rater − clinician on specialty, system and length."""

from __future__ import annotations

from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import p_value, percent

# Without one of these the model has nothing that other sections do not show.
_KNOWN = ("specialty", "length", "note_length")
_TITLE = "What moves the error"


def section(material: Material) -> Section | None:
    evidence = material.evidence
    columns = evidence.table.rows.columns
    if not evidence.rater or not evidence.clinicians or not any(name in columns for name in _KNOWN):
        return None
    from medjury.analysis.audits import error_model

    raters = evidence.roles.on_trial or (evidence.rater,)
    try:
        found = error_model(
            evidence.table,
            raters=raters,
            reference=evidence.named[1],
            confidence=evidence.confidence,
        )
    except MedjuryError as error:
        return Section("errors", _TITLE, paragraph(str(error), class_="note"))
    several = len(raters) > 1
    who = "rater" if several else "jury"
    rows: list[tuple[Cell, ...]] = [
        (
            *((each.rater,) if several else ()),
            each.group
            or (
                "mean error"
                if each.statistic == "error_mean"
                else " of the ".join(reversed(each.statistic.rsplit("_", 1)))
            ),
            each.estimate,
            "" if each.p_adjusted is None else p_value(each.p_adjusted),
            each.verdict,
        )
        for each in found.rows
    ]
    table = material.exhibits.table(
        "errors",
        (*(("rater",) if several else ()), "effect", "points", "adjusted p", f"the {who} is"),
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
    return Section("errors", _TITLE, Html(paragraph(lead) + table + bullets(own)))

"""Self-preference: does a judge score answers of its own vendor higher than other judges do?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import p_value, percent

if TYPE_CHECKING:
    from medjury.analysis.audits import Audit

_STATISTICS = {"same_vendor": "mixed model", "own_vendor_contrast": "paired contrast"}
_TITLE = "Self-preference"


def section(material: Material) -> Section | None:
    evidence, table = material.evidence, material.evidence.table
    if len(table.judges) < 2 or len(table.systems) < 2:
        return None
    if not table.system_vendors:
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
    rows: list[tuple[Cell, ...]] = [
        (
            evidence.label(each.dimension),
            each.rater or "all judges",
            _STATISTICS[each.statistic],
            each.estimate.n,
            each.estimate,
            None if each.p_adjusted is None else p_value(each.p_adjusted),
            each.verdict,
        )
        for each in audit.rows
        if each.statistic in _STATISTICS
    ]
    made = material.exhibits.table(
        "self-preference",
        ("dimension", "judge", "method", "n", "grades more for its own", "adjusted p", "verdict"),
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

"""Stability: does a judge say the same when it is asked again?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medjury.analysis.audits import stability
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import Estimate, percent, shown

_COLUMNS = {
    "within_sd": "SD within an answer",
    "cv": "mean CV",
    "flip_rate": "two repeats differ",
    "changed_share": "answers that change",
}
_TITLE = "Stability"


def section(material: Material) -> Section | None:
    evidence, judges = material.evidence, material.evidence.table.judges
    if not judges:
        return None
    try:
        audit = stability(evidence.table)
    except MedjuryError as error:
        note = f"{error} In the study file: `repeats: 3`, or `strategy: repeats` for one of the judges."
        return Section("stability", _TITLE, paragraph(note, class_="note"))
    found = {(each.rater, each.dimension, each.statistic): each.estimate for each in audit.rows}
    people = tuple(dict.fromkeys(each.rater for each in audit.rows if each.rater not in judges))
    rows, others = (_rows(material, found, raters) for raters in (judges, people))
    table = material.exhibits.table(
        "stability",
        ("dimension", "judge", "answers", *_COLUMNS.values(), "repeats for a mean within ±0.25"),
        rows,
        caption=f"Repeats of the same judge on the same answer, with {percent(evidence.confidence)} intervals. SD "
        "within an answer is the root of the mean variance; CV is SD over mean",
        shown=60,
    )
    beside = material.exhibits.table(
        "stability-people",
        ("dimension", "who", "answers", *_COLUMNS.values(), "repeats for a mean within ±0.25"),
        others,
        caption="People beside the judges: clinicians who rated an answer again, and different clinicians on one "
        "answer. The second holds their disagreement too: it is the yardstick for a judge's spread, not the same "
        "thing",
        shown=40,
    )
    return Section("stability", _TITLE, Html(table + beside + bullets(audit.warnings)))


def _rows(
    material: Material, found: Mapping[tuple[str, str, str], Estimate], raters: Sequence[str]
) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for dimension in material.evidence.table.dimensions:
        for rater in raters:
            one = found.get((rater, dimension.name, "within_sd"))
            if one is not None:
                cells = [found[rater, dimension.name, name] for name in _COLUMNS]
                needed = found[rater, dimension.name, "repeats_needed"]
                rows.append((dimension.label, rater, one.n, *cells, shown(needed, 0)))
    return rows

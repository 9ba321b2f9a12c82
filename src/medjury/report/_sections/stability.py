"""Stability: does a judge say the same when it is asked again?"""

from __future__ import annotations

from medjury.audits import stability
from medjury.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import percent, shown

_COLUMNS = {
    "within_sd": "SD within an answer",
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
    rows: list[tuple[Cell, ...]] = []
    for dimension in evidence.table.dimensions:
        for judge in judges:
            one = found.get((judge, dimension.name, "within_sd"))
            if one is not None:
                cells = [found[judge, dimension.name, name] for name in _COLUMNS]
                needed = found[judge, dimension.name, "repeats_needed"]
                rows.append((dimension.label, judge, one.n, *cells, shown(needed, 0)))
    table = material.exhibits.table(
        "stability",
        ("dimension", "judge", "answers", *_COLUMNS.values(), "repeats for a mean within ±0.25"),
        rows,
        caption=f"Repeats of the same judge on the same answer, with {percent(evidence.confidence)} intervals",
        shown=60,
    )
    return Section("stability", _TITLE, Html(table + bullets(audit.warnings)))

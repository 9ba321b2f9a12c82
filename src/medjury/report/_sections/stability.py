"""Stability: does a judge say the same when it is asked again?"""

from __future__ import annotations

import polars as pl

from medjury.audits import stability
from medjury.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import shown

_COLUMNS = {
    "within_sd": "SD within an answer",
    "flip_rate": "two repeats differ",
    "changed_share": "answers that change",
}


def section(material: Material) -> Section | None:
    evidence = material.evidence
    judges = _asked(material)
    if not judges.height:
        return None
    title = "Stability"
    if int(judges["repeat"].max() or 0) < 1:  # type: ignore[arg-type]
        text = (
            "Every judge was asked once, so it cannot be known whether it would say the same again. "
            "Set `repeats: 3`, or `strategy: repeats` for one of them."
        )
        return Section("stability", title, paragraph(text, class_="note"))
    names = [each.name for each in evidence.gated]
    try:
        audit = stability(
            judges.filter(pl.col("dimension").is_in(names)), resamples=500, seed=evidence.settings.seed
        )
    except MedjuryError as error:
        return Section("stability", title, paragraph(str(error), class_="note"))
    found = {(each.rater, each.dimension, each.statistic): each for each in audit.findings}
    rows: list[tuple[Cell, ...]] = []
    for dimension in evidence.gated:
        for judge in evidence.judges:
            one = found.get((judge, dimension.name, "within_sd"))
            if one is not None:
                cells: list[Cell] = [found[judge, dimension.name, name].estimate for name in _COLUMNS]
                needed = found[judge, dimension.name, "repeats_needed"].estimate
                rows.append((dimension.label, judge, one.estimate.n, *cells, shown(needed, 0)))
    table = material.exhibits.table(
        "stability",
        ("dimension", "judge", "answers", *_COLUMNS.values(), "repeats for a mean within ±0.25"),
        rows,
        caption="Repeats of the same judge on the same answer, with 95 % intervals",
        shown=60,
    )
    return Section("stability", title, Html(table + bullets(audit.warnings)))


def _asked(material: Material) -> pl.DataFrame:
    """Every answer of every judge: its ratings, or its draws where it takes one rating from several."""
    wanted = ["item", "system", "rater", "dimension", "repeat", "score", "status"]
    rated = material.evidence.ratings.filter(pl.col("rater_kind") == "judge").select(wanted)
    draws = [
        (record.item, record.system, record.rater, dimension, record.repeat * record.body["n"] + number,
         outcome.get("score"), outcome["status"])
        for record in material.records.of("repeats")
        for number, draw in enumerate(record.body["draws"])
        for dimension, outcome in draw["outcomes"].items()
    ]  # fmt: skip
    if not draws:
        return rated
    drawn = pl.DataFrame(draws, schema=rated.schema, orient="row")
    return pl.concat([rated.filter(~pl.col("rater").is_in(drawn["rater"].unique().to_list())), drawn])

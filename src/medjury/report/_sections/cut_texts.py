"""Shortened records: which answers were judged on less than the whole record, and how much was left out."""

from __future__ import annotations

from statistics import median

import polars as pl

from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import percent
from medjury.store.runs import files


def section(material: Material) -> Section | None:
    shares: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    notes: dict[tuple[str, str], int] = {}
    for record in material.records:
        cut = record.body.context
        if cut is not None:
            key = record.rater, cut.truncate
            share = cut.characters_left_out / max(cut.characters, 1)
            unit = record.item, record.system
            shares.setdefault(key, {})[unit] = max(share, shares.get(key, {}).get(unit, 0.0))
            notes[key] = notes.get(key, 0) + len(cut.notes_left_out)
    if not shares:
        return None
    judged = material.evidence.table.everything.filter(pl.col("rater_kind") == "judge")
    asked = dict(judged.group_by("rater").agg(pl.struct("item", "system").n_unique()).iter_rows())
    rows: list[tuple[Cell, ...]] = [
        (
            rater,
            what,
            asked.get(rater),
            len(found),
            percent(median(found.values()), 1),
            percent(max(found.values()), 1),
            notes[rater, what],
        )
        for (rater, what), found in sorted(shares.items())
    ]
    table = material.exhibits.table(
        "shortened-records",
        (
            "rater",
            "shortened",
            "answers",
            "of them shortened",
            "left out, median",
            "left out, most",
            "whole notes left out",
        ),
        rows,
        caption="Answers judged on a shortened record, and the share of its characters that the judge did not see",
    )
    lead = (
        "Some records did not fit the window of a model and were shortened by the rule of the study file. What a "
        "judge did not see it could not weigh: an omission it reports may stand in the part that was left out. "
        f"What was left out of each is in {files.RECORDS}."
    )
    return Section("shortened", "Shortened records", Html(paragraph(lead, class_="note") + table))

"""What was scored and what was not; which models answered; which records were shortened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import polars as pl

from medjury.report._exhibits import COLOURS, JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, joined, paragraph
from medjury.report._material import Material, Section, short
from medjury.report._svg import GRID
from medjury.statistics import percent
from medjury.store.runs import files
from medjury.tables import of_cases

_RATERS = 30
# A clinician's empty cell is an answer that was not rated, and no failure.
_REASON = (
    pl.when((pl.col("rater_kind") == "clinician") & (pl.col("reason") == "missing"))
    .then(pl.lit("not rated (empty)"))
    .otherwise(pl.col("reason").fill_null("not known"))
)


def coverage(material: Material) -> Section:
    """What was scored and what was not, by reason. A failure is missing data, never a number."""
    ratings, manifest = material.evidence.table.everything, material.evidence.manifest
    units, covered = manifest.units, manifest.coverage
    counted = (
        ratings.group_by("rater_kind", "rater")
        .agg(
            pl.len().alias("all"),
            (pl.col("status") == "scored").sum().alias("scored"),
            (pl.col("status") == "not_applicable").sum().alias("not_applicable"),
            (pl.col("status") == "unscored").sum().alias("unscored"),
        )
        .sort("rater_kind", "rater")
    )
    rows = [
        {
            "rater": rater,
            "kind": kind,
            "ratings": whole,
            "scored": scored,
            "not applicable": excused,
            "unscored": lost,
            "share scored": percent(scored / (scored + lost) if scored + lost else None, 1),
        }
        for kind, rater, whole, scored, excused, lost in counted.iter_rows()
    ]
    table = material.exhibits.table(
        "coverage",
        rows,
        caption="Ratings of every rater; the share leaves out what correctly does not apply",
        shown=60,
    )
    reasons = (
        ratings.filter(pl.col("status") == "unscored")
        .group_by("rater", "dimension", _REASON.alias("reason"))
        .len()
        .sort("len", "rater", "dimension", "reason", descending=[True, False, False, False])
    )
    by_rater = (
        reasons.group_by("rater", "reason")
        .agg(pl.col("len").sum())
        .sort("len", "rater", "reason", descending=[True, False, False])
    )
    why = material.exhibits.table(
        "unscored-by-reason",
        by_rater.rename({"len": "ratings"}).to_dicts(),
        head=("rater", "reason", "ratings"),
        caption="Why there is no score",
        shown=40,
    ) + material.exhibits.table(
        "unscored",
        reasons.rename({"len": "ratings"}).to_dicts(),
        head=("rater", "dimension", "reason", "ratings"),
        caption="Why there is no score, by dimension",
        shown=100,
        folded=True,
    )
    crossed = _crossed(material) if len(material.evidence.table.systems) > 1 else Html("")
    lead = f"{units.done:,} of {units.planned:,} planned questions were asked. " if units else ""
    lead += f"{covered.text()}; the table counts composites too. " if covered and covered.ratings else ""
    lead += f"{covered.replies.text()}. " if covered and covered.replies else ""
    lead += "Nothing that failed was turned into a number."
    aside = material.evidence.table.left_aside
    lead += f" Counted here are all cases, the {aside:,} used for development too." if aside else ""
    kept = [row for row in rows if row["kind"] != "clinician"][:_RATERS]
    picture = Html("")
    if kept:
        picture = material.exhibits.figure(
            "coverage",
            (7.5, 0.9 + 0.28 * len(kept)),
            lambda figure: _draw(figure, kept),
            caption="Share of each rater's ratings that have a score, do not apply, or failed. The number is all "
            "ratings.",
            alt="; ".join(
                f"{row['rater']}: {row['scored']} scored, {row['not applicable']} not applicable, "
                f"{row['unscored']} unscored"
                for row in kept
            ),
        )
    none = paragraph("No rating is unscored.") if not reasons.height else Html("")
    return Section(
        "coverage",
        "What was scored, and what was not",
        joined([paragraph(lead), picture, table, crossed, why, none]),
    )


def _crossed(material: Material) -> Html:
    """Whose answers each rater scored: the systems by the raters."""
    ratings = material.evidence.table.everything.filter(
        pl.col("status") == "scored", pl.col("rater_kind").is_in(["clinician", "judge"])
    )
    found = ratings.group_by("rater_kind", "rater", "system").agg(pl.col("item").n_unique().alias("answers"))
    raters = found.select("rater_kind", "rater").unique().sort("rater_kind", "rater")["rater"].to_list()
    counts = {(rater, system): many for _, rater, system, many in found.iter_rows()}
    systems = material.evidence.table.systems
    rows: list[dict[str, Cell]] = [
        {"system": system, **{rater: counts.get((rater, system), 0) for rater in raters}}
        for system in systems
    ]
    rows.append(
        {"system": "all", **{who: sum(counts.get((who, each), 0) for each in systems) for who in raters}}
    )
    return material.exhibits.table(
        "coverage-by-system",
        rows,
        caption="Whose answers were scored by whom: answers with a score on one dimension or more",
        shown=60,
        folded=True,
    )


def _draw(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [short(row["rater"]) for row in rows]
    axes = figure.lines(names, x_name="share of ratings (%)", y_name="rater", x_limits=(0, 100))
    parts = (("scored", JURY_COLOUR), ("not applicable", GRID), ("unscored", COLOURS[1]))
    for place, row in enumerate(rows):
        left, whole = 0.0, sum(row[label] for label, _ in parts)
        for label, colour in parts:
            right = left + 100 * row[label] / max(whole, 1)
            axes.box(
                (left, right), (place - 0.35, place + 0.35), colour, hatch=label == "unscored", label=label
            )
            left = right
        axes.text(100, place, f"n = {whole:,}", shift=4, size=8)


def answering_models(material: Material) -> Section | None:
    """The models that answered, beside those that were asked for."""
    manifest = material.evidence.manifest
    if not manifest.models_answered:
        return None
    others = manifest.other_models()
    changed = [each for several in manifest.changed_models() for each in several]
    rows: list[dict[str, Cell]] = [
        {
            "judge": each.judge,
            "asked for": each.asked,
            "answered": each.answered,
            "ratings": each.ratings,
            "is it the same?": "another model"
            if each in others
            else "changed during the run"
            if each in changed
            else "the same",
        }
        for each in manifest.models_answered
    ]
    table = material.exhibits.table(
        "answering-models",
        rows,
        caption="The models that the judges asked for, and those that the endpoints say answered",
    )
    lead = (
        "Names are compared without capitals, a path before the name or a release at its end (a day, a month, a "
        "number): gpt-4o and gpt-4o-2024-08-06 are the same, two releases are not. Names of deployments are the "
        "site's own and are not compared. A name is what the endpoint reports about itself."
    )
    return Section("answering", "Which models answered", Html(paragraph(lead) + table))


def shortened_records(material: Material) -> Section | None:
    """Shortened records: which answers were judged on less than the whole record, and how much was left out."""
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
    judged = of_cases(material.evidence.table.everything).filter(pl.col("rater_kind") == "judge")
    asked = dict(judged.group_by("rater").agg(pl.struct("item", "system").n_unique()).iter_rows())
    rows: list[dict[str, Cell]] = [
        {
            "rater": rater,
            "shortened": what,
            "answers": asked.get(rater),
            "of them shortened": len(found),
            "left out, median": percent(median(found.values()), 1),
            "left out, most": percent(max(found.values()), 1),
            "whole notes left out": notes[rater, what],
        }
        for (rater, what), found in sorted(shares.items())
    ]
    table = material.exhibits.table(
        "shortened-records",
        rows,
        caption="Answers judged on a shortened record, and the share of its characters that the judge did not see",
    )
    lead = (
        "Some records did not fit the window of a model and were shortened by the rule of the study file. What a "
        "judge did not see it could not weigh: an omission it reports may be in the part that was left out. "
        f"What was left out of each is in {files.RECORDS}."
    )
    return Section("shortened", "Shortened records", Html(paragraph(lead, class_="note") + table))

"""What was scored and what was not, by reason. A failure is missing data, never a number."""

from __future__ import annotations

import polars as pl

from medjury.report._exhibits import COLOURS, JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Html, joined, paragraph
from medjury.report._material import Material, Section, short
from medjury.report._svg import GRID
from medjury.statistics import percent

_RATERS = 30
# A clinician's empty cell is an answer that was not rated, and no failure.
_REASON = (
    pl.when((pl.col("rater_kind") == "clinician") & (pl.col("reason") == "missing"))
    .then(pl.lit("not rated (empty)"))
    .otherwise(pl.col("reason").fill_null("not known"))
)


def section(material: Material) -> Section:
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
        (
            rater,
            kind,
            whole,
            scored,
            excused,
            lost,
            percent(scored / (scored + lost) if scored + lost else None, 1),
        )
        for kind, rater, whole, scored, excused, lost in counted.iter_rows()
    ]
    table = material.exhibits.table(
        "coverage",
        ("rater", "kind", "ratings", "scored", "not applicable", "unscored", "share scored"),
        rows,
        caption="Ratings of every rater; the share leaves out what rightly does not apply",
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
        ("rater", "reason", "ratings"),
        [tuple(row) for row in by_rater.iter_rows()],
        caption="Why there is no score",
        shown=40,
    ) + material.exhibits.table(
        "unscored",
        ("rater", "dimension", "reason", "ratings"),
        [tuple(row) for row in reasons.iter_rows()],
        caption="Why there is no score, by dimension",
        shown=100,
        folded=True,
    )
    lead = f"{units.done:,} of {units.planned:,} planned questions were asked. " if units else ""
    lead += f"{covered.told()}; the table counts composites too. " if covered and covered.ratings else ""
    lead += f"{covered.replies.told()}. " if covered and covered.replies else ""
    lead += "Nothing that failed was turned into a number."
    aside = material.evidence.table.left_aside
    lead += f" Counted here are all cases, the {aside:,} used for development too." if aside else ""
    kept = [row for row in rows if row[1] != "clinician"][:_RATERS]
    picture = Html("")
    if kept:
        picture = material.exhibits.figure(
            "coverage",
            (7.5, 0.9 + 0.28 * len(kept)),
            lambda figure: _draw(figure, [(str(row[0]), row[3], row[4], row[5]) for row in kept]),
            caption="Share of each rater's ratings that have a score, do not apply, or failed. The number is all "
            "ratings.",
            alt="; ".join(
                f"{row[0]}: {row[3]} scored, {row[4]} not applicable, {row[5]} unscored" for row in kept
            ),
        )
    none = paragraph("No rating is unscored.") if not reasons.height else Html("")
    return Section(
        "coverage", "What was scored, and what was not", joined([paragraph(lead), picture, table, why, none])
    )


def _draw(figure: Figure, rows: list[tuple[str, int, int, int]]) -> None:
    axes = figure.axes(
        x_name="share of ratings (%)",
        y_name="rater",
        y_ticks=[(place, short(name)) for place, (name, *_) in enumerate(rows)],
        x_limits=(0, 100),
        y_limits=(len(rows) - 0.5, -0.5),
        grid="x",
    )
    parts = (("scored", JURY_COLOUR), ("not applicable", GRID), ("unscored", COLOURS[1]))
    for place, (_, *counts) in enumerate(rows):
        left, whole = 0.0, max(sum(counts), 1)
        for (label, colour), count in zip(parts, counts, strict=True):
            right = left + 100 * count / whole
            axes.box(
                (left, right), (place - 0.35, place + 0.35), colour, hatch=label == "unscored", label=label
            )
            left = right
        axes.text(100, place, f"n = {sum(counts):,}", shift=4, size=8)

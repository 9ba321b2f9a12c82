"""What was scored and what was not, by reason. A failure is missing data, never a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medjury.report._exhibits import COLOURS, GRID, JURY_COLOUR
from medjury.report._html import Html, joined, paragraph
from medjury.report._material import Material, Section, short
from medjury.statistics import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RATERS = 30


def section(material: Material) -> Section:
    evidence, manifest = material.evidence, material.evidence.manifest
    counted = (
        evidence.ratings.group_by("rater_kind", "rater")
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
        evidence.ratings.filter(pl.col("status") == "unscored")
        .group_by("rater", "dimension", pl.col("reason").fill_null("not known"))
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
    units = manifest.get("units", {})
    lead = (
        f"{units.get('done', 0):,} of {units.get('planned', 0):,} planned questions were asked. "
        if units
        else ""
    )
    lead += "Nothing that failed was turned into a number."
    kept = [row for row in rows if row[1] != "clinician"][:_RATERS]
    picture = Html("")
    if kept:
        picture = material.exhibits.figure(
            "coverage",
            (7.5, 0.9 + 0.28 * len(kept)),
            lambda figure: _draw(figure, [(str(row[0]), row[3], row[4], row[5]) for row in kept]),
            caption="Share of each rater's ratings that have a score, do not apply, or failed. The number "
            "is all ratings.",
            alt="; ".join(
                f"{row[0]}: {row[3]} scored, {row[4]} not applicable, {row[5]} unscored" for row in kept
            ),
        )
    none = paragraph("No rating is unscored.") if not reasons.height else Html("")
    return Section(
        "coverage", "What was scored, and what was not", joined([paragraph(lead), picture, table, why, none])
    )


def _draw(figure: Figure, rows: list[tuple[str, int, int, int]]) -> None:
    axes = figure.subplots()
    places = list(range(len(rows)))
    left = [0.0] * len(rows)
    parts = (("scored", JURY_COLOUR, None), ("not applicable", GRID, None), ("unscored", COLOURS[1], "///"))
    counts = [row[1:] for row in rows]
    for part, (label, colour, hatch) in enumerate(parts):
        widths = [100 * count[part] / max(sum(count), 1) for count in counts]
        axes.barh(
            places, widths, left=left, color=colour, label=label, height=0.7, hatch=hatch, edgecolor="white"
        )
        left = [before + width for before, width in zip(left, widths, strict=True)]
    for place, count in zip(places, counts, strict=True):
        label = f"n = {sum(count):,}"
        axes.annotate(label, (100, place), (4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(places, [short(name) for name, *_ in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of ratings (%)")
    axes.set_ylabel("rater")
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper left", ncols=3)

"""Correlations between dimensions: a judge that gives one impression seven names measures one thing."""

from __future__ import annotations

from typing import Any

import numpy as np

from medjury.analysis.agreement import spearman
from medjury.report._exhibits import BLUE_TO_RED
from medjury.report._figure import Figure, heat
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section, short
from medjury.statistics import shown

_MOST = 16


def section(material: Material) -> Section | None:
    evidence = material.evidence
    names = [each.name for each in evidence.table.counted]
    if len(names) < 2 or not evidence.rater:
        return None
    jury, counts = _matrix(material, "jury")
    sides = [("jury", jury)]
    if evidence.clinicians:
        humans, _ = _matrix(material, "clinicians")
        sides.append(("clinicians", humans))
    rows: list[tuple[Cell, ...]] = []
    for one in range(len(names)):
        for two in range(one + 1, len(names)):
            values = [None if np.isnan(each[one, two]) else float(each[one, two]) for _, each in sides]
            rows.append(
                (evidence.label(names[one]), evidence.label(names[two]), int(counts[one, two]), *values)
            )
    table = material.exhibits.table(
        "dimension-correlations",
        ("dimension", "with", "answers", *(name for name, _ in sides)),
        rows,
        caption="Spearman's rho between dimensions",
        shown=30,
    )
    kept = min(len(names), _MOST)
    labels = [short(evidence.label(name), 16) for name in names[:kept]]
    picture = material.exhibits.figure(
        "dimension-correlations",
        (1.4 + 4.4 * len(sides), 1.2 + min(4.0, 0.5 * kept + 1.2)),
        lambda figure: _draw(figure, [(name, each[:kept, :kept]) for name, each in sides], labels),
        caption="Spearman's rho between dimensions, over all held-out answers with both scores. If the jury's are "
        "much higher than the clinicians', the jury gives one impression several names.",
        alt="; ".join(
            f"{row[0]} with {row[1]}: " + ", ".join(shown(value) for value in row[3:]) for row in rows[:20]
        ),
    )
    lead = paragraph("Do the dimensions measure different things?")
    return Section("dimensions", "Correlations between dimensions", Html(lead + picture + table))


def _matrix(material: Material, side: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Spearman between every two dimensions, on the answers that have both scores, and how many those are."""
    evidence = material.evidence
    columns = []
    units: dict[tuple[str, str], int] = {}
    for each in evidence.table.counted:
        grid = evidence.grid(each.name)
        scores = grid.scores[evidence.rater] if side == "jury" else evidence.reference(grid)
        answers = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
        place = [units.setdefault(answer, len(units)) for answer in answers]
        columns.append((np.asarray(place, dtype=np.int64), scores))
    table = np.full((len(units), len(columns)), np.nan)
    for number, (rows, scores) in enumerate(columns):
        table[rows, number] = scores
    size = len(columns)
    found, counts = np.eye(size), np.zeros((size, size), dtype=int)
    for one in range(size):
        for two in range(one + 1, size):
            both = ~np.isnan(table[:, one]) & ~np.isnan(table[:, two])
            counts[one, two] = counts[two, one] = int(both.sum())
            found[one, two] = found[two, one] = rank_correlation(table[both, one], table[both, two])
    return found, counts


def rank_correlation(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> float:
    """Spearman's rho without an interval; NaN where a side does not vary."""
    found = spearman(first, second, interval="none").value
    return float("nan") if found is None else found


def _draw(figure: Figure, sides: list[tuple[str, np.ndarray[Any, Any]]], labels: list[str]) -> None:
    figure.columns = len(sides)
    for name, table in sides:
        axes = figure.axes(title=name, x_name="dimension", y_name="dimension", tilted=True)
        blank = np.where(np.eye(len(table), dtype=bool), np.nan, table)
        heat(axes, blank, BLUE_TO_RED, -1, light=lambda value: abs(value) > 0.65)
        axes.x_ticks = axes.y_ticks = list(enumerate(labels))

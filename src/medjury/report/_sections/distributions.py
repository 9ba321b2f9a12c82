"""Which scores were given, and by whom: a judge that always says 4 agrees with a clinician who always says 4."""

from __future__ import annotations

import numpy as np

from medjury.report._axes import Axes
from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import PANELS, Material, Section, height, only_some, short
from medjury.tables import SCORED, Measured

_LINES = 8


def section(material: Material) -> Section | None:
    evidence = material.evidence
    raters = (*material.graders, *evidence.clinicians)
    rows: list[tuple[Cell, ...]] = []
    for dimension in evidence.table.dimensions:
        grid = evidence.grid(dimension.name)
        for rater in raters:
            scores = grid.scores[rater][grid.states[rater] == SCORED]
            if not len(scores):
                continue
            ends = _ends(scores, dimension)
            rows.append(
                (
                    dimension.label,
                    rater,
                    len(scores),
                    float(scores.mean()),
                    _sd(scores),
                    float(np.median(scores)),
                    *ends,
                )
            )
    if not rows:
        return None
    table = material.exhibits.table(
        "distributions",
        ("dimension", "rater", "n", "mean", "SD", "median", "% at lowest grade", "% at highest grade"),
        rows,
        caption="Scores by dimension and rater, on held-out cases",
        shown=80,
        folded=len(rows) > 12,
    )
    scaled = [each for each in evidence.table.dimensions if each.grades]
    chosen = scaled[:PANELS]
    picture = Html("")
    if chosen:
        picture = material.exhibits.figure(
            "distributions",
            (9, height(len(chosen), 3, 2.5, 0.5)),
            lambda figure: draw_panels(figure, chosen, 3, lambda axes, each: _draw(axes, material, each)),
            caption="Share of each grade by rater (a jury's mean counts for its nearest grade), on held-out cases. "
            "Where nearly everything stands at one end, agreement says little. In brackets: scores of the jury."
            + (
                f" The first {_LINES} of {len(raters)} raters; the table has all."
                if len(raters) > _LINES
                else ""
            )
            + only_some(len(chosen), len(scaled), "tables/distributions.csv"),
            alt="Lines of the share of each grade, one line per rater and one panel per dimension; the table has "
            "the means, standard deviations and shares at both ends.",
        )
    return Section("distributions", "Score distributions", Html(picture + table + _ceilings(material)))


def _draw(axes: Axes, material: Material, dimension: Measured) -> None:
    evidence, grid = material.evidence, material.evidence.grid(dimension.name)
    assert dimension.grades is not None
    grades = np.asarray(dimension.grades.values)
    jury = int((grid.states[evidence.rater] == SCORED).sum()) if evidence.rater else 0
    for place, rater in enumerate((*material.graders, *evidence.clinicians)[:_LINES]):
        scores = grid.scores[rater][grid.states[rater] == SCORED]
        if not len(scores):
            continue
        nearest = dimension.grades.grade(scores)
        share = [100 * float((nearest == grade).mean()) for grade in grades]
        axes.line(
            grades.tolist(),
            share,
            COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            dash="--" if rater in evidence.clinicians else "",
            width=1.8 if rater == evidence.rater else 1.0,
            label=short(rater, 24),
        )
    axes.title = f"{short(dimension.label, 34)} (n = {jury:,})"
    axes.x_ticks = [(grade, f"{grade:g}") for grade in grades.tolist()]
    axes.y_limits = (0, None)
    axes.x_name, axes.y_name = "grade", "share of scores (%)"


def _ends(
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], dimension: Measured
) -> tuple[float | None, float | None]:
    if not dimension.grades:
        return None, None
    low, high = dimension.grades.lowest, dimension.grades.highest
    return 100 * float((scores <= low + 1e-9).mean()), 100 * float((scores >= high - 1e-9).mean())


def _sd(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float | None:
    return float(scores.std(ddof=1)) if len(scores) > 1 else None


def _ceilings(material: Material) -> Html:
    """Both sides near one end make a coefficient meaningless, whichever way it turns out."""
    crowded = []
    for dimension in material.compared:
        row = material.evidence.row(dimension.name, material.evidence.rater, "offset")
        if row is None:
            continue
        shares = (
            row.counts.ceiling_reference,
            row.counts.ceiling_rater,
            row.counts.floor_reference,
            row.counts.floor_rater,
        )
        if min(shares[0] or 0, shares[1] or 0) > 0.8 or min(shares[2] or 0, shares[3] or 0) > 0.8:
            crowded.append(dimension.label)
    if not crowded:
        return Html("")
    return paragraph(
        f"On {', '.join(crowded)}, clinicians and jury both give the same extreme grade to more than 80 % of the "
        "answers: coefficients of agreement say little there.",
        class_="note",
    )

"""Which scores were given, and by whom: a judge that always says 4 agrees with a clinician who always says 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import PANELS, Material, Section, height, only_some, panels, short
from medjury.validation import SCORED, Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = 8


def section(material: Material) -> Section | None:
    evidence = material.evidence
    raters = (*evidence.voices, *evidence.clinicians)
    rows: list[tuple[Cell, ...]] = []
    for dimension in evidence.dimensions:
        grid = evidence.grids[dimension.name]
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
        caption="Scores by dimension and rater",
        shown=80,
        folded=len(rows) > 12,
    )
    chosen = [each for each in evidence.dimensions if each.grades][:PANELS]
    scaled = [each for each in evidence.dimensions if each.grades]
    picture = Html("")
    if chosen:
        picture = material.exhibits.figure(
            "distributions",
            (9, height(len(chosen), 3, 2.5, 0.5)),
            lambda figure: _draw_all(figure, material, chosen),
            caption="Share of each grade by rater (a jury's mean counts for its nearest grade). Where "
            "nearly everything "
            "stands at one end, agreement says little."
            + only_some(len(chosen), len(scaled), "tables/distributions.csv"),
            alt="Lines of the share of each grade, one line per rater and one panel per dimension; the "
            "table has the "
            "means, standard deviations and shares at both ends.",
        )
    return Section("distributions", "Score distributions", Html(picture + table + _ceilings(material)))


def _draw_all(figure: Figure, material: Material, chosen: list[Measured]) -> None:
    panels(figure, chosen, 3, lambda axes, each: _draw(axes, material, each))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4)


def _draw(axes: Axes, material: Material, dimension: Measured) -> None:
    evidence, grid = material.evidence, material.evidence.grids[dimension.name]
    grades = np.asarray(dimension.grades)
    jury = int((grid.states[evidence.jury] == SCORED).sum()) if evidence.jury else 0
    for place, rater in enumerate((*evidence.voices, *evidence.clinicians)[:_LINES]):
        scores = grid.scores[rater][grid.states[rater] == SCORED]
        if not len(scores):
            continue
        nearest = grades[np.abs(scores[:, None] - grades[None, :] - 1e-9).argmin(axis=1)]
        share = [100 * float((nearest == grade).mean()) for grade in grades]
        clinician = rater in evidence.clinicians
        axes.plot(
            grades,
            share,
            marker=MARKERS[place % len(MARKERS)],
            markersize=4,
            color=COLOURS[place % len(COLOURS)],
            linestyle="--" if clinician else "-",
            linewidth=1.6 if rater == evidence.jury else 1.0,
            label=short(rater, 16),
        )
    axes.set_title(f"{short(dimension.label, 22)} (jury n = {jury:,})")
    axes.set_xticks(grades)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("grade")
    axes.set_ylabel("share of scores (%)")


def _ends(
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], dimension: Measured
) -> tuple[float | None, float | None]:
    if not dimension.grades:
        return None, None
    low, high = dimension.grades[0], dimension.grades[-1]
    return 100 * float((scores <= low + 1e-9).mean()), 100 * float((scores >= high - 1e-9).mean())


def _sd(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float | None:
    return float(scores.std(ddof=1)) if len(scores) > 1 else None


def _ceilings(material: Material) -> Html:
    """Both sides near one end make a coefficient meaningless, whichever way it turns out."""
    crowded = []
    for dimension in material.evidence.dimensions:
        pairs = material.numbers[dimension.name].pairs.get(material.evidence.jury, {})
        row = next(iter(pairs.values()), None)
        if row is None:
            continue
        shares = (
            row.counts.ceiling_reference,
            row.counts.ceiling_compare,
            row.counts.floor_reference,
            row.counts.floor_compare,
        )
        if min(shares[0] or 0, shares[1] or 0) > 0.8 or min(shares[2] or 0, shares[3] or 0) > 0.8:
            crowded.append(dimension.label)
    if not crowded:
        return Html("")
    return paragraph(
        f"On {', '.join(crowded)}, clinicians and jury both give the same extreme grade to more than 80 % "
        "of the "
        "answers: coefficients of agreement say little there.",
        class_="note",
    )

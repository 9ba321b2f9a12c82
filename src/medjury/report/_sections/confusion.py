"""Confusion matrices: which of the clinicians' grades became which of the jury's."""

from __future__ import annotations

from typing import Any

import numpy as np

from medjury.analysis.agreement import ConfusionMatrix, confusion_matrix
from medjury.report._axes import Axes
from medjury.report._exhibits import BLUES
from medjury.report._figure import draw_panels, heat
from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import PANELS, Material, Section, height, only_some, short
from medjury.tables import Grades, Measured


def section(material: Material) -> Section | None:
    found = {each.name: matrix(material, each.name, each.grades) for each in material.compared if each.grades}
    scaled = [each for each in material.compared if each.name in found]
    if not found:
        return None
    rows: list[tuple[Cell, ...]] = [
        (each.label, float(found[each.name].levels[row]), float(found[each.name].levels[column]), int(count))
        for each in scaled
        for row, line in enumerate(found[each.name].counts)
        for column, count in enumerate(line)
    ]
    material.exhibits.table(
        "confusion", ("dimension", "clinicians", "jury", "answers"), rows, caption="Confusion of grades"
    )
    chosen = scaled[:PANELS]
    picture = material.exhibits.figure(
        "confusion",
        (9, height(len(chosen), 3, 2.9)),
        lambda figure: draw_panels(figure, chosen, 3, lambda axes, each: _draw(axes, each, found[each.name])),
        caption="Answers by the clinicians' grade (rows) and the jury's (columns), both rounded half up. On the "
        "diagonal they agree; right of it the jury gives the higher grade. Shade is the share of a row."
        + only_some(len(chosen), len(scaled), "tables/confusion.csv"),
        alt="; ".join(
            f"{each.label}: {int(np.trace(found[each.name].counts)):,} of {found[each.name].n:,} answers "
            "on the diagonal"
            for each in chosen
        ),
    )
    others = _by_rater(material, scaled)
    saved = "tables/confusion.csv" + (" and tables/confusion-by-rater.csv" if others else "")
    lead = paragraph(f"Every number is also in {saved}.", class_="soft")
    return Section("confusion", "Which grade became which", Html(picture + others + lead))


def _by_rater(material: Material, dimensions: list[Measured]) -> Html:
    """The same of every judge beside the jury, for the reader who opens it."""
    evidence = material.evidence
    raters = [
        name
        for name in evidence.raters
        if name != evidence.rater and evidence.table.raters.get(name) != "metric"
    ]
    found: list[tuple[Measured, str, ConfusionMatrix]] = []
    for each in dimensions:
        grid = evidence.grid(each.name)
        reference = evidence.reference(grid)
        assert each.grades is not None
        for rater in raters:
            both = ~np.isnan(reference) & ~np.isnan(grid.scores[rater])
            if both.any():
                sides = (each.grades.grade(side[both]) for side in (reference, grid.scores[rater]))
                found.append((each, rater, confusion_matrix(*sides, scale=each.grades.values)))
    if not found:
        return Html("")
    material.exhibits.table(
        "confusion-by-rater",
        ("dimension", "rater", "clinicians", "grade", "answers"),
        [
            (each.label, rater, float(matrix.levels[row]), float(matrix.levels[column]), int(count))
            for each, rater, matrix in found
            for row, line in enumerate(matrix.counts)
            for column, count in enumerate(line)
        ],
        caption="Confusion of grades, rater by rater",
    )
    shown = found[:PANELS]
    picture = material.exhibits.figure(
        "confusion-by-rater",
        (9, height(len(shown), 3, 2.9)),
        lambda figure: draw_panels(
            figure,
            shown,
            3,
            lambda axes, one: _draw(
                axes, one[0], one[2], f"{short(one[1], 14)}: ", f"{short(one[1], 14)}'s grade"
            ),
        ),
        caption="Answers by the clinicians' grade (rows) and each single rater's (columns), as above."
        + (f" The first {len(shown)} of {len(found)}." if len(shown) < len(found) else ""),
        alt="; ".join(
            f"{rater}, {each.label}: {int(np.trace(matrix.counts)):,} of {matrix.n:,} answers on the diagonal"
            for each, rater, matrix in shown
        ),
    )
    return element("details", element("summary", f"The same of {', '.join(raters[:6])}"), picture)


def matrix(material: Material, dimension: str, grades: Grades) -> ConfusionMatrix:
    """The clinicians' grades by row, the jury's by column, on held-out answers that both scored."""
    _, reference, said = material.evidence.both(dimension)
    return confusion_matrix(grades.grade(reference), grades.grade(said), scale=grades.values)


def _draw(
    axes: Axes,
    dimension: Measured,
    found: ConfusionMatrix,
    who: str = "",
    given: str = "jury's grade",
) -> None:
    counts: Any = found.counts
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    texts = [[f"{int(count):,}" if count else "" for count in line] for line in counts]
    heat(axes, share, BLUES, 0, texts=texts, light=lambda value: value > 0.55)
    labels = [f"{level:g}" if isinstance(level, int | float) else str(level) for level in found.levels]
    axes.x_ticks = axes.y_ticks = list(enumerate(labels))
    axes.title = f"{who}{short(dimension.label, 18 if who else 24)} (n = {found.n:,})"
    axes.x_name, axes.y_name = given, "clinicians' grade"

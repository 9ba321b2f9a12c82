"""Confusion matrices: which of the clinicians' grades became which of the jury's."""

from __future__ import annotations

from typing import Any

import numpy as np

from medjury.agreement import ConfusionMatrix, confusion_matrix
from medjury.report._axes import Axes
from medjury.report._exhibits import BLUES
from medjury.report._figure import draw_panels, heat
from medjury.report._html import Cell, Html, paragraph
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
    lead = paragraph("Every number is also in tables/confusion.csv.", class_="soft")
    return Section("confusion", "Which grade became which", Html(picture + lead))


def matrix(material: Material, dimension: str, grades: Grades) -> ConfusionMatrix:
    """The clinicians' grades by row, the jury's by column, on held-out answers that both scored."""
    _, reference, said = material.evidence.both(dimension)
    return confusion_matrix(grades.grade(reference), grades.grade(said), scale=grades.values)


def _draw(axes: Axes, dimension: Measured, found: ConfusionMatrix) -> None:
    counts: Any = found.counts
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    texts = [[f"{int(count):,}" if count else "" for count in line] for line in counts]
    heat(axes, share, BLUES, 0, texts=texts, light=lambda value: value > 0.55)
    labels = [f"{level:g}" if isinstance(level, int | float) else str(level) for level in found.levels]
    axes.x_ticks = axes.y_ticks = list(enumerate(labels))
    axes.title = f"{short(dimension.label, 24)} (n = {found.n:,})"
    axes.x_name, axes.y_name = "jury's grade", "clinicians' grade"

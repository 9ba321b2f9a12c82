"""Who agrees with whom: weighted kappa between every two raters."""

from __future__ import annotations

from typing import Any

import numpy as np

from medjury.agreement import cohen_kappa
from medjury.report._axes import Axes
from medjury.report._exhibits import BLUES
from medjury.report._figure import draw_panels, heat
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section, height, only_some, short
from medjury.report._sections.profiles import profiles
from medjury.tables import Grades, Measured

_RATERS, _DIMENSIONS = 12, 6
Table = np.ndarray[Any, np.dtype[np.float64]]


def section(material: Material) -> Section | None:
    evidence = material.evidence
    raters = (*evidence.clinicians, *evidence.raters)[:_RATERS]
    found = {
        each.name: _kappas(material, each.name, each.grades, raters)
        for each in evidence.table.counted
        if each.grades
    }
    scaled = [each for each in evidence.table.counted if each.name in found]
    people = profiles(material)
    if len(raters) < 3 or not scaled:
        return Section("raters", "The raters", people) if people else None
    rows: list[tuple[Cell, ...]] = []
    for each in scaled:
        kappas, counts = found[each.name]
        for one in range(len(raters)):
            for two in range(one + 1, len(raters)):
                value = None if np.isnan(kappas[one, two]) else float(kappas[one, two])
                rows.append((each.label, raters[one], raters[two], int(counts[one, two]), value))
    table = material.exhibits.table(
        "rater-kappas",
        ("dimension", "rater", "with", "answers", "weighted kappa"),
        rows,
        caption="Weighted kappa between every two raters",
        shown=60,
        folded=True,
    )
    chosen = scaled[:_DIMENSIONS]
    size = 1.6 + 0.34 * len(raters)
    picture = material.exhibits.figure(
        "rater-kappas",
        (9.5, height(len(chosen), 2, size)),
        lambda figure: draw_panels(
            figure, chosen, 2, lambda axes, each: _draw(axes, each, found[each.name][0], raters)
        ),
        caption="Weighted kappa between every two raters, on the answers that both scored. The jury contains its "
        "judges, which raises its agreement with them."
        + only_some(len(chosen), len(scaled), "tables/rater-kappas.csv"),
        alt="Heat maps of weighted kappa between raters; the table below has every number.",
    )
    return Section(
        "raters",
        "Who agrees with whom",
        Html(people + paragraph("Judges and clinicians, two by two.") + picture + table),
    )


def _kappas(
    material: Material, dimension: str, grades: Grades, raters: tuple[str, ...]
) -> tuple[Table, Table]:
    grid = material.evidence.grid(dimension)
    scores = [grades.grade(grid.scores[rater]) for rater in raters]
    size = len(raters)
    kappas, counts = np.full((size, size), np.nan), np.zeros((size, size))
    for one in range(size):
        for two in range(one + 1, size):
            both = ~np.isnan(scores[one]) & ~np.isnan(scores[two])
            counts[one, two] = both.sum()
            if both.any():
                found = cohen_kappa(
                    scores[one][both],
                    scores[two][both],
                    scale=grades.values,
                    weights="quadratic",
                    interval="none",
                )
                kappas[one, two] = kappas[two, one] = np.nan if found.value is None else found.value
    return kappas, counts


def _draw(axes: Axes, dimension: Measured, kappas: Table, raters: tuple[str, ...]) -> None:
    heat(axes, kappas, BLUES, 0, light=lambda value: value > 0.6)
    names = [short(rater, 14) for rater in raters]
    axes.x_ticks = axes.y_ticks = list(enumerate(names))
    axes.tilted, axes.title = True, short(dimension.label, 30)
    axes.x_name = axes.y_name = "rater"

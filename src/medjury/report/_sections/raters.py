"""Who agrees with whom: weighted kappa between every two raters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.agreement import cohen_kappa
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section, heat, height, only_some, panels, short
from medjury.tables import grades_of
from medjury.validation import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RATERS, _DIMENSIONS = 12, 6
Table = np.ndarray[Any, np.dtype[np.float64]]


def section(material: Material) -> Section | None:
    evidence = material.evidence
    raters = (*evidence.clinicians, *evidence.voices)[:_RATERS]
    scaled = [each for each in evidence.gated if each.grades]
    if len(raters) < 3 or not scaled:
        return None
    found = {each.name: _kappas(material, each, raters) for each in scaled}
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
        lambda figure: panels(
            figure, chosen, 2, lambda axes, each: _draw(axes, each, found[each.name][0], raters)
        ),
        caption="Weighted kappa between every two raters, on the answers that both scored. The jury "
        "contains its judges, which "
        "raises its agreement with them." + only_some(len(chosen), len(scaled), "tables/rater-kappas.csv"),
        alt="Heat maps of weighted kappa between raters; the table below has every number.",
    )
    return Section(
        "raters",
        "Who agrees with whom",
        Html(paragraph("Judges and clinicians, two by two.") + picture + table),
    )


def _kappas(material: Material, dimension: Measured, raters: tuple[str, ...]) -> tuple[Table, Table]:
    grid = material.evidence.held_out(material.evidence.grids[dimension.name])
    grades = grades_of(dimension.grades or ())
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
    heat(axes, kappas, "Blues", 0, light=lambda value: value > 0.6)
    names = [short(rater, 14) for rater in raters]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title(short(dimension.label, 30))
    axes.set_xlabel("rater")
    axes.set_ylabel("rater")

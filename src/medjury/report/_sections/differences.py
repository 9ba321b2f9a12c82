"""Bland-Altman: how far apart the scores are, and whether that depends on how good the answer is."""

from __future__ import annotations

from typing import Any

import numpy as np

from medjury.analysis.agreement import BlandAltman, bland_altman
from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html
from medjury.report._material import PANELS, Material, Section, height, only_some, short
from medjury.statistics import shown
from medjury.tables import Measured

# More marks than this are drawn on a coarser lattice: the page stays small and the picture readable.
_MARKS = 300


def section(material: Material) -> Section | None:
    if not material.compared:
        return None
    return Section("differences", "How far apart", Html(_body(material) + material.folded(_body)))


def _body(material: Material) -> Html:
    found = {each.name: limits(material, each) for each in material.compared}
    rows: list[tuple[Cell, ...]] = [
        (
            each.label,
            found[each.name].n,
            found[each.name].bias,
            found[each.name].lower,
            found[each.name].upper,
        )
        for each in material.compared
    ]
    table = material.exhibits.table(
        "differences",
        ("dimension", "n", "mean difference", "lower limit", "upper limit"),
        rows,
        caption="Jury less clinicians: mean difference and limits between which 95 % of differences are expected",
        shown=40,
    )
    chosen = [each for each in material.compared if found[each.name].n > 1][:PANELS]
    if not chosen:
        return table
    picture = material.exhibits.figure(
        "bland-altman",
        (9, height(len(chosen), 3, 2.7)),
        lambda figure: draw_panels(
            figure, chosen, 3, lambda axes, each: _draw(axes, material, each, found[each.name])
        ),
        caption="Difference (jury less clinicians) against the mean of both; the area of a mark is the number of "
        "answers there. Solid: mean difference with its interval; dashed: limits of agreement."
        + only_some(len(chosen), len(material.compared), "tables/differences.csv"),
        alt="; ".join(
            f"{each.label}: mean difference {shown(found[each.name].bias.value)}" for each in chosen
        ),
    )
    return Html(picture + table)


def limits(material: Material, dimension: Measured) -> BlandAltman:
    """The limits with the intervals of the other tables: the answers to one patient are drawn together."""
    evidence = material.evidence
    grid, reference, said = evidence.both(dimension.name)
    alone = len(set(grid.clusters)) == len(grid.clusters)
    return bland_altman(
        reference,
        said,
        clusters=None if alone else grid.clusters,
        confidence=evidence.confidence,
        resamples=evidence.resamples,
        seed=evidence.seed,
    )


def _draw(axes: Axes, material: Material, dimension: Measured, found: BlandAltman) -> None:
    _, first, second = material.evidence.both(dimension.name)
    points = _lattice(np.column_stack([(first + second) / 2, second - first]))
    places, counts = np.unique(points, axis=0, return_counts=True)
    radius = np.sqrt(1 + 22 * counts / counts.max())
    axes.points(places[:, 0].tolist(), places[:, 1].tolist(), JURY_COLOUR, size=radius.tolist(), opacity=0.55)
    low, high = axes.ends("x")
    bias = found.bias
    if bias.value is not None:
        if bias.low is not None and bias.high is not None:
            axes.area([low, high], [bias.low] * 2, [bias.high] * 2, CLINICIAN_COLOUR)
        axes.rule(y=bias.value, colour=CLINICIAN_COLOUR, dash="-", width=1.2)
    for end in (found.lower.value, found.upper.value):
        if end is not None:
            axes.rule(y=end, colour=CLINICIAN_COLOUR)
    axes.rule(y=0, dash=":", width=0.7)
    axes.x_limits = (low, high)
    axes.title = f"{short(dimension.label, 24)} (n = {found.n:,})"
    axes.x_name, axes.y_name = "mean of jury and clinicians", "jury less clinicians"


def _lattice(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    rounded = np.round(points, 6)
    for step in (0.1, 0.25, 0.5):
        if len(np.unique(rounded, axis=0)) <= _MARKS:
            break
        rounded = np.round(points / step) * step
    return rounded

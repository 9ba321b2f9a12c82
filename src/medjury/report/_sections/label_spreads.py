"""The jury's scores with a label and without it, system by system: where the label says that the routine diagnosis
was wrong, its own scores should be low."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html
from medjury.report._material import PANELS, Material, height, short
from medjury.report._svg import SOFT

if TYPE_CHECKING:
    from medjury.analysis.calibration import ScoreSpread, Triage

_BY_SYSTEM = "triage-labels-by-system"
_Panel = tuple[str, str, tuple["ScoreSpread", ...]]


def labels_by_system(material: Material, made: Sequence[Triage]) -> Html:
    """Every label, dimension and system as a table; one dimension, that of severe errors, as a picture too."""
    rows: list[tuple[Cell, ...]] = [
        (
            label.label,
            material.evidence.label(each.dimension),
            spread.system,
            spread.value,
            spread.cases,
            spread.lowest,
            spread.quarter,
            spread.median,
            spread.three_quarters,
            spread.highest,
        )
        for each in made
        for label in each.labels
        for spread in label.by_system
    ]
    if not rows:
        return Html("")
    table = material.exhibits.table(
        _BY_SYSTEM,
        (
            "label",
            "dimension",
            "system",
            "value",
            "answers",
            "lowest",
            "lower quartile",
            "median",
            "upper quartile",
            "highest",
        ),
        rows,
        caption="The jury's scores of each system's answers, by the label of their cases. More is better",
        digits=2,
        shown=80,
        folded=True,
    )
    carrying = [
        each.name
        for each in material.evidence.table.dimensions
        if each.carries_danger(material.evidence.rules)
    ]
    chosen = next((each for each in made if each.dimension in carrying), made[0])
    panels: list[_Panel] = [
        (system, label.label, tuple(each for each in label.by_system if each.system == system))
        for label in chosen.labels
        for system in dict.fromkeys(each.system for each in label.by_system)
    ][:PANELS]
    caption = (
        f"The same system by system ({material.evidence.label(chosen.dimension)}; more is better), in brackets the "
        "number of answers. A system whose scores fall with the label is the one that it speaks of."
    )
    picture = material.exhibits.figure(
        _BY_SYSTEM,
        (9, height(len(panels), 4, 2.4)),
        lambda figure: draw_panels(figure, panels, 4, lambda axes, each: draw_spreads(axes, *each)),
        caption=caption,
        alt=f"{caption} The table below has the numbers.",
    )
    return Html(picture + table)


def draw_spreads(axes: Axes, title: str, label: str, spreads: Sequence[ScoreSpread]) -> None:
    """Median, quartiles and ends with label 0 and with label 1."""
    for spread in spreads:
        at = float(spread.value)
        axes.span(spread.lowest, spread.highest, at, SOFT, upright=True)
        axes.box((at - 0.2, at + 0.2), (spread.quarter, spread.three_quarters), JURY_COLOUR)
        axes.points([at], [spread.median], CLINICIAN_COLOUR, marker="o")
    axes.title = short(title, 30)
    axes.x_ticks = [(float(spread.value), f"{spread.value} ({spread.cases:,})") for spread in spreads]
    axes.x_limits = (-0.6, 1.6)
    axes.x_name, axes.y_name = short(label.replace("_", " "), 24), "jury's mean score"

"""Calibration curves: what each rater's score becomes, by the final map and by every fold's, composites too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.report._axes import Axes
from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html, element
from medjury.report._material import PANELS, Material, height, only_some, short
from medjury.report._svg import SOFT
from medjury.statistics import counted

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy, CurvePoint

FINAL = "final"


def calibration_maps(material: Material, study: CalibrationStudy) -> Html:
    evidence = material.evidence
    curves = study.curve_points()
    if not curves:
        return Html("")
    rows: list[tuple[Cell, ...]] = [
        (evidence.label(each.dimension), each.rater, each.map, each.score, each.calibrated, each.n)
        for each in curves
    ]
    table = material.exhibits.table(
        "calibration-curves",
        ("dimension", "rater", "map", "score", "calibrated", "answers"),
        rows,
        caption="Calibration curves: what each score becomes, by the map of all labelled cases and without each "
        "fold; of composites, the mean of the calibrated composite by the composite as scored",
        digits=(3, 3, 3, 2, 2, 0),
        shown=60,
        folded=True,
    )
    names = list(dict.fromkeys(each.dimension for each in curves))
    shown = names[:PANELS]
    raters = list(dict.fromkeys(each.rater for each in curves))
    picture = material.exhibits.figure(
        "calibration-curves",
        (9, height(len(shown), 3, 2.8)),
        lambda figure: draw_panels(
            figure,
            shown,
            3,
            lambda axes, name: _draw(
                axes, evidence.label(name), [each for each in curves if each.dimension == name], raters
            ),
        ),
        caption="What a score becomes by calibration, rater by rater: the map of all labelled cases (thick) and "
        "the maps that leave out one fold (thin). Thin lines that lie together say that the map is stable. Below "
        "the dotted line a rater is too kind, above it too strict."
        + only_some(len(shown), len(names), "tables/calibration-curves.csv"),
        alt=f"Calibration curves of {counted(len(raters), 'rater')} on {counted(len(names), 'dimension')}; the "
        "table below has every number.",
    )
    return Html(element("h3", "Calibration curves, rater by rater") + picture + table)


def _draw(axes: Axes, label: str, curves: list[CurvePoint], raters: list[str]) -> None:
    ends = [min(each.score for each in curves), max(each.score for each in curves)]
    axes.line(ends, ends, SOFT, width=0.8, dash=":")
    for place, rater in enumerate(raters):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        own = [each for each in curves if each.rater == rater]
        for name in dict.fromkeys(each.map for each in own):
            points = [each for each in own if each.map == name]
            final = name == FINAL
            axes.line(
                [each.score for each in points],
                [each.calibrated for each in points],
                colour,
                marker=marker if final else "",
                width=1.6 if final else 0.4,
                label=short(rater, 18) if final else "",
            )
    axes.title = short(label, 28)
    axes.x_name, axes.y_name = "score as given", "calibrated score"

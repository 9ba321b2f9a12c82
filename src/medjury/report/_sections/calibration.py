"""Calibration: where the jury says 4, what do clinicians say, and what would a calibration change?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, COLOURS, JURY_COLOUR, MARKERS
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._svg import SOFT
from medjury.statistics import counted, percent, shown
from medjury.tables import Measured

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy, CurvePoint, Reliability


# Calibration curves: what each rater's score becomes, by the final map and by every fold's, composites too.

FINAL = "final"


def calibration_maps(material: Material, study: CalibrationStudy) -> Html:
    evidence = material.evidence
    curves = study.curve_points()
    if not curves:
        return Html("")
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(each.dimension),
            "rater": each.rater,
            "map": each.map,
            "score": each.score,
            "calibrated": each.calibrated,
            "answers": each.n,
        }
        for each in curves
    ]
    table = material.exhibits.table(
        "calibration-curves",
        rows,
        caption="Calibration curves: what each score becomes, by the map of all labelled cases and without each "
        "fold; of composites, the mean of the calibrated composite by the composite as scored",
        digits={"score": 2, "calibrated": 2},
        shown=60,
        folded=True,
    )
    names = list(dict.fromkeys(each.dimension for each in curves))
    shown = names[:PANELS]
    raters = list(dict.fromkeys(each.rater for each in curves))
    picture = material.exhibits.panels(
        "calibration-curves",
        shown,
        lambda axes, name: _calibration_maps_draw(
            axes, evidence.label(name), [each for each in curves if each.dimension == name], raters
        ),
        caption="What a score becomes by calibration, rater by rater: the map of all labelled cases (thick) and "
        "the maps that leave out one fold (thin). Thin lines that lie together say that the map is stable. Below "
        "the dotted line a rater's scores are too high, above it too low."
        + only_some(len(shown), len(names), "tables/calibration-curves.csv"),
        alt=f"Calibration curves of {counted(len(raters), 'rater')} on {counted(len(names), 'dimension')}; the "
        "table below has every number.",
    )
    return Html(element("h3", "Calibration curves, rater by rater") + picture + table)


def _calibration_maps_draw(axes: Axes, label: str, curves: list[CurvePoint], raters: list[str]) -> None:
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


METRICS = {
    "offset": "offset",
    "rmse": "RMSE",
    "spearman": "Spearman's rho",
    "kappa_quadratic": "weighted kappa",
}
_TITLE = "Calibration"
Curves = tuple[Measured, "Reliability", "Reliability"]


def calibration(material: Material) -> Section | None:
    evidence = material.evidence
    if not any(each.grades for each in material.compared) or not evidence.rater:
        return None
    try:
        whole = material.calibration
    except MedjuryError as error:
        return Section("calibration", _TITLE, paragraph(str(error), class_="note"))
    lead = (
        "The gate judges the scores as they were given. This section shows what a calibration to the clinicians "
        "would change: each answer is calibrated by a map that was fitted on other cases. Calibration corrects "
        "offset and size of error; it may lower kappa, because it draws scores to the middle."
    )
    own, others = _body(material, whole), material.folded(lambda other: _body(other, whole))
    refused = bullets(
        f"{evidence.label(each.dimension)}: {each.reason}" for each in whole.only(evidence.rater).refused
    )
    maps = calibration_maps(material, whole)
    return Section("calibration", _TITLE, Html(paragraph(lead) + own + others + maps + refused))


def _body(material: Material, whole: CalibrationStudy) -> Html:
    """Before and after, of one rater."""
    evidence, table = material.evidence, material.evidence.table
    study = whole.only(evidence.rater)
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(row.dimension),
            "statistic": METRICS[row.statistic],
            "n": row.n,
            "as scored": row.before,
            "calibrated": row.after,
            "change": row.change,
        }
        for row in study.rows
        if row.statistic in METRICS
    ]
    shown_rows = material.exhibits.table(
        "calibration",
        rows,
        caption=f"The jury against {evidence.reference_words}, on the answers that both scored and that could be "
        "calibrated, before and after isotonic calibration, out of fold, with "
        f"{percent(study.confidence)} intervals",
        shown=60,
    )
    curves: list[Curves] = [
        (table.dimension(each.dimension), *study.reliability(each.rater, each.dimension))
        for each in study.calibrations[:PANELS]
    ]
    picture = _figure(material, curves, len(study.calibrations)) if curves else Html("")
    return Html(picture + shown_rows)


def _figure(material: Material, curves: list[Curves], whole: int) -> Html:
    return material.exhibits.panels(
        "calibration",
        curves,
        _draw,
        caption="Clinicians' mean score by the jury's score, with intervals: as scored (circles) and calibrated on "
        "other cases (squares). A jury that means what it says lies on the dotted line."
        + only_some(len(curves), whole, "tables/calibration.csv"),
        alt="; ".join(
            f"{dimension.label}: mean distance from the line {shown(before.error)} as scored, "
            f"{shown(after.error)} calibrated"
            for dimension, before, after in curves
        ),
    )


def _draw(axes: Axes, found: Curves) -> None:
    dimension, before, after = found
    if dimension.grades is not None:
        ends = [dimension.grades.lowest, dimension.grades.highest]
        axes.line(ends, ends, SOFT, width=0.8, dash=":")
    for curve, colour, marker, label in (
        (before, JURY_COLOUR, "o", "as scored"),
        (after, CLINICIAN_COLOUR, "s", "calibrated"),
    ):
        points = [point for point in curve.points if point.label.value is not None]
        for point in points:
            axes.span(point.label.low, point.label.high, point.score, colour, upright=True, width=0.9)
        axes.line([point.score for point in points], [point.label.value or 0.0 for point in points], colour,
                  marker=marker, width=0.8, label=label)  # fmt: skip
    axes.title = f"{short(dimension.label, 24)} (n = {before.n:,})"
    axes.x_name, axes.y_name = "jury's score", "clinicians' mean score"

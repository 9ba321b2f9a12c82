"""Calibration: where the jury says 4, what do clinicians say, and what would a calibration change?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import PANELS, Material, Section, height, only_some, short
from medjury.report._sections.calibration_maps import calibration_maps
from medjury.report._svg import SOFT
from medjury.statistics import percent, shown
from medjury.tables import Measured

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy, Reliability

_SHOWN = {
    "offset": "offset",
    "rmse": "RMSE",
    "spearman": "Spearman's rho",
    "kappa_quadratic": "weighted kappa",
}
_TITLE = "Calibration"
Curves = tuple[Measured, "Reliability", "Reliability"]


def section(material: Material) -> Section | None:
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
    rows: list[tuple[Cell, ...]] = [
        (evidence.label(row.dimension), _SHOWN[row.statistic], row.n, row.before, row.after, row.change)
        for row in study.rows
        if row.statistic in _SHOWN
    ]
    shown_rows = material.exhibits.table(
        "calibration",
        ("dimension", "statistic", "n", "as scored", "calibrated", "change"),
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
    return material.exhibits.figure(
        "calibration",
        (9, height(len(curves), 3, 2.8)),
        lambda figure: draw_panels(figure, curves, 3, _draw),
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

"""Figures of calibration: reliability before and after, and what an order of review catches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.analysis.calibration._reliability import Reliability
from medjury.analysis.calibration._triage.review_curve import ReviewCurve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIRST, _SECOND, _SOFT = "#0072b2", "#d55e00", "#55636f"
_COLUMNS = 3


def reliability_figure(panels: Sequence[tuple[str, Reliability, Reliability]]) -> Figure:
    """One panel for each title: the reference's mean by the score, as scored and calibrated."""
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.9 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (title, before, after) in zip(grid.flat, panels, strict=False):
        points = [*before.points, *after.points]
        ends = [min(each.lowest for each in points), max(each.highest for each in points)]
        axes.plot(ends, ends, color=_SOFT, linewidth=0.8, linestyle=":")
        for curve, colour, marker, label in (
            (before, _FIRST, "o", "as scored"),
            (after, _SECOND, "s", "calibrated"),
        ):
            for each in curve.points:
                if each.label.low is not None and each.label.high is not None:
                    axes.plot(
                        [each.score] * 2, [each.label.low, each.label.high], color=colour, linewidth=0.9
                    )
            means = [each.label.value for each in curve.points]
            axes.plot([each.score for each in curve.points], means, marker=marker, markersize=4, linewidth=0.8,
                      color=colour, label=label)  # fmt: skip
        axes.set(title=title, xlabel="rater's score", ylabel="reference's mean score")
        axes.legend(fontsize=7)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    return figure


def review_figure(title: str, curves: Mapping[str, ReviewCurve], caught: str) -> Figure:
    """The combined rule and the jury's score alone beside chance, with intervals as bands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color=_SOFT, linewidth=0.8, linestyle=":")
    for name, label, colour, style in (
        ("rule", "combined rule", _FIRST, "-"),
        ("jury", "jury's score alone", _SECOND, "--"),
    ):
        curve = curves.get(name)
        if curve is None:
            continue
        reviewed = [100 * share for share in curve.reviewed]
        middle, low, high = (
            [100 * (value or 0.0) for value in values]
            for values in zip(*((each.value, each.low, each.high) for each in curve.caught), strict=True)
        )
        axes.plot([0, *reviewed, 100], [0, *middle, 100], color=colour, linestyle=style, label=label)
        if curve.caught[0].low is not None:
            axes.fill_between(reviewed, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(title=title, xlabel="reviewed (% of answers)", ylabel=caught)
    axes.legend(fontsize=7, loc="lower right")
    return figure

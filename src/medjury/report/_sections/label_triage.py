"""Cases with a label (the routine diagnosis was wrong): how well the jury's score finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import Material, height, short
from medjury.report._sections.label_spreads import draw_spreads, labels_by_system
from medjury.report._svg import SOFT
from medjury.statistics import Estimate

if TYPE_CHECKING:
    from medjury.analysis.calibration import LabelTriage, Triage

_PANELS = 6
_One = tuple[str, "LabelTriage"]
_LEAD = (
    "A label says something of the case, whatever was answered. Where the jury finds all answers to a case poor, "
    "the case itself may be in doubt."
)
_FOUND = (
    "Share of the labelled cases found by the share of cases reviewed, lowest mean score first, with 95 % "
    "intervals (band); the dotted line is chance."
)
_PROBABILITY = (
    "Probability of the label by the jury's mean score of the case (logistic fit with 95 % band), and the share "
    "counted in bands of cases (points)."
)
_SPREADS = (
    "The jury's mean scores with label 0 and 1: median (mark), quartiles (box), lowest and highest (line)."
)


def labels_found(material: Material, made: Sequence[Triage]) -> Html:
    """Every label on every dimension; nothing where the cases have no labels."""
    found = [(material.evidence.label(each.dimension), label) for each in made for label in each.labels]
    if not found:
        return Html("")
    table = material.exhibits.table(
        "triage-labels",
        (
            "label",
            "dimension",
            "cases",
            "labelled",
            "median score, label 0",
            "median score, label 1",
            "share to review to find 80 %",
            "mean share found",
            "log-odds per point",
        ),
        [_line(dimension, each) for dimension, each in found],
        caption="How far the jury's mean score of a case tells the labelled cases from the others; 0.5 as the mean "
        "share found is chance. Where a low score is the good one, it was turned round first",
    )
    panels = [(_titled(material, each), label) for each in made for label in each.labels]
    drawn = [each for each in panels if each[1].review is not None][:_PANELS]
    fitted = [each for each in panels if each[1].probability is not None][:_PANELS]
    refused = [f"{dimension}, {each.label}: {each.why}" for dimension, each in found if each.why]
    pictures = [
        _figure(material, *each)
        for each in (
            ("triage-labels", drawn, _found, _FOUND),
            ("label-probability", fitted, _probability, _PROBABILITY),
            ("label-scores", panels[:_PANELS], _spreads, _SPREADS),
        )
        if each[1]
    ]
    beside = labels_by_system(material, made)
    return Html(
        element("h3", "Labelled cases")
        + paragraph(_LEAD)
        + "".join(pictures)
        + table
        + beside
        + bullets(refused)
    )


def _line(dimension: str, each: LabelTriage) -> tuple[Cell, ...]:
    medians = {spread.value: spread.median for spread in each.spreads}
    return (
        each.label,
        dimension,
        each.n,
        each.n_labelled,
        medians.get(0),
        medians.get(1),
        None if each.review is None else each.review.review_to_catch,
        None if each.review is None else each.review.area,
        None if each.probability is None else each.probability.slope,
    )


def _titled(material: Material, made: Triage) -> str:
    """The dimension; one whose low scores are the good ones is said to be turned round."""
    return f"{material.evidence.label(made.dimension)}{', turned' if made.reversed else ''}"


def _words(label: str) -> str:
    """The name of a column as words."""
    return short(label.replace("_", " "), 18)


def _figure(
    material: Material,
    name: str,
    shown: Sequence[_One],
    draw: Callable[[Axes, str, LabelTriage], None],
    caption: str,
) -> Html:
    return material.exhibits.figure(
        name,
        (9, height(len(shown), 3, 2.8)),
        lambda figure: draw_panels(figure, list(shown), 3, lambda axes, each: draw(axes, *each)),
        caption=caption,
        alt=f"{caption} The table below has the numbers.",
    )


def _found(axes: Axes, dimension: str, each: LabelTriage) -> None:
    assert each.review is not None
    axes.line([0, 100], [0, 100], SOFT, width=0.8, dash=":")
    reviewed = [100 * share for share in each.review.reviewed]
    value, low, high = (
        [100 * _end(caught, getattr(caught, side)) for caught in each.review.caught]
        for side in ("value", "low", "high")
    )
    axes.area(reviewed, low, high, JURY_COLOUR)
    axes.line([0, *reviewed, 100], [0, *value, 100], JURY_COLOUR)
    axes.title = f"{short(dimension, 30)} ({each.n_labelled:,} of {each.n:,})"
    axes.x_name, axes.y_name = "reviewed (% of cases)", f"{_words(each.label)} found (%)"
    axes.x_limits = axes.y_limits = (0, 101)


def _end(estimate: Estimate, end: float | None) -> float:
    """An end of the interval, or the value where it has none; 0 is an end."""
    return end if end is not None else estimate.value or 0.0


def _probability(axes: Axes, dimension: str, each: LabelTriage) -> None:
    assert each.probability is not None
    fit = each.probability
    score = [at for at, _ in fit.curve]
    value, low, high = (
        [getattr(chance, side) or 0.0 for _, chance in fit.curve] for side in ("value", "low", "high")
    )
    axes.area(score, low, high, JURY_COLOUR)
    axes.line(score, value, JURY_COLOUR)
    axes.points(
        [(first + last) / 2 for first, last, _ in fit.bands],
        [share.value or 0.0 for _, _, share in fit.bands],
        CLINICIAN_COLOUR,
    )
    axes.title = short(dimension, 30)
    axes.x_name, axes.y_name = "jury's mean score (more is better)", f"P({_words(each.label)})"
    axes.y_limits = (0, 1.01)


def _spreads(axes: Axes, dimension: str, each: LabelTriage) -> None:
    draw_spreads(axes, dimension, each.label, each.spreads)
    axes.y_name = "jury's mean score (more is better)"

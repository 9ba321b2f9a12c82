"""Triage: of the dangerous answers, how many are caught when a clinician reviews the first x %?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._svg import SOFT
from medjury.statistics import percent

if TYPE_CHECKING:
    from medjury.analysis.calibration import LabelTriage, ScoreSpread, Triage


# Cases with a label (the routine diagnosis was wrong): how well the jury's score finds them.


# The jury's scores with a label and without it, system by system: where the label says that the routine diagnosis
# was wrong, its own scores should be low.

_BY_SYSTEM = "triage-labels-by-system"
_Panel = tuple[str, str, tuple["ScoreSpread", ...]]


def labels_by_system(material: Material, made: Sequence[Triage]) -> Html:
    """Every label, dimension and system as a table; one dimension, that of severe errors, as a picture too."""
    rows: list[dict[str, Cell]] = [
        {
            "label": label.label,
            "dimension": material.evidence.label(each.dimension),
            "system": spread.system,
            "value": spread.value,
            "answers": spread.cases,
            "lowest": spread.lowest,
            "lower quartile": spread.quarter,
            "median": spread.median,
            "upper quartile": spread.three_quarters,
            "highest": spread.highest,
        }
        for each in made
        for label in each.labels
        for spread in label.by_system
    ]
    if not rows:
        return Html("")
    table = material.exhibits.table(
        _BY_SYSTEM,
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
        "number of answers. A system whose scores fall with the label is the one that the label is about."
    )
    picture = material.exhibits.panels(
        _BY_SYSTEM,
        panels,
        lambda axes, each: draw_spreads(axes, *each),
        each=2.4,
        columns=4,
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
        [_line(dimension, each) for dimension, each in found],
        caption="How far the jury's mean score of a case tells the labelled cases from the others; 0.5 as the mean "
        "share found is chance. Where a low score is the good one, the scale was reversed first",
    )
    panels = [(_titled(material, each), label) for each in made for label in each.labels]
    drawn = [each for each in panels if each[1].review is not None][:_PANELS]
    fitted = [each for each in panels if each[1].probability is not None][:_PANELS]
    refused = [f"{dimension}, {each.label}: {each.why}" for dimension, each in found if each.why]
    pictures = [
        _label_triage_figure(material, *each)
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


def _line(dimension: str, each: LabelTriage) -> dict[str, Cell]:
    medians = {spread.value: spread.median for spread in each.spreads}
    return {
        "label": each.label,
        "dimension": dimension,
        "cases": each.n,
        "labelled": each.n_labelled,
        "median score, label 0": medians.get(0),
        "median score, label 1": medians.get(1),
        "share to review to find 80 %": None if each.review is None else each.review.review_to_catch,
        "mean share found": None if each.review is None else each.review.area,
        "log-odds per point": None if each.probability is None else each.probability.slope,
    }


def _titled(material: Material, made: Triage) -> str:
    """The dimension; one whose low scores are the good ones is marked as turned round."""
    return f"{material.evidence.label(made.dimension)}{', turned' if made.reversed else ''}"


def _words(label: str) -> str:
    """The name of a column as words."""
    return short(label.replace("_", " "), 18)


def _label_triage_figure(
    material: Material,
    name: str,
    shown: Sequence[_One],
    draw: Callable[[Axes, str, LabelTriage], None],
    caption: str,
) -> Html:
    return material.exhibits.panels(
        name,
        list(shown),
        lambda axes, each: draw(axes, *each),
        caption=caption,
        alt=f"{caption} The table below has the numbers.",
    )


def _found(axes: Axes, dimension: str, each: LabelTriage) -> None:
    assert each.review is not None
    axes.line([0, 100], [0, 100], SOFT, width=0.8, dash=":")
    _draw_caught(axes, each.review, JURY_COLOUR)
    axes.title = f"{short(dimension, 30)} ({each.n_labelled:,} of {each.n:,})"
    axes.x_name, axes.y_name = "reviewed (% of cases)", f"{_words(each.label)} found (%)"
    axes.x_limits = axes.y_limits = (0, 101)


def _draw_caught(axes: Axes, curve: Any, colour: str, *, dash: str = "", label: str = "") -> None:
    """What is caught by the share reviewed, with its interval: the value where there is none; 0 is an end."""
    reviewed = [100 * share for share in curve.reviewed]
    value, low, high = (
        [
            100 * ((each.value or 0.0) if (end := getattr(each, side)) is None else end)
            for each in curve.caught
        ]
        for side in ("value", "low", "high")
    )
    axes.area(reviewed, low, high, colour)
    axes.line([0, *reviewed, 100], [0, *value, 100], colour, dash=dash, label=label)


def _probability(axes: Axes, dimension: str, each: LabelTriage) -> None:
    assert each.probability is not None
    fit = each.probability
    score = [row.score for row in fit.rows]
    value, low, high = (
        [getattr(row.probability, side) or 0.0 for row in fit.rows] for side in ("value", "low", "high")
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


_DIMENSIONS = 6
_ORDERS = {"rule": "combined rule", "jury": "jury's score alone"}


def triage_of_answers(material: Material) -> Section | None:
    evidence = material.evidence
    scaled = [each for each in material.compared if each.grades and not each.derived]
    claimed = [each for each in scaled if each.claimed_danger(evidence.rules) is not None]
    made: list[Triage] = []
    tried: list[Triage] = []
    refused = []
    for dimension in (scaled if evidence.table.run.labels else claimed)[:_DIMENSIONS]:
        from medjury.analysis.calibration import triage

        try:
            found = triage(evidence.table, dimensions=dimension.name)
        except MedjuryError as error:
            refused.append(f"{dimension.label}: {error}")
            continue
        tried.append(found)
        if dimension in claimed and found.curves is not None:
            made.append(found)
    if not made and not refused and not any(each.labels for each in tried):
        return None
    head = ("dimension", "order of review", "rated answers", "dangerous", "share to review to catch 80 %",
            "mean share caught")  # fmt: skip
    rows: list[dict[str, Cell]] = []
    for found in made:
        for name, title in _ORDERS.items():
            curve = (found.curves or {}).get(name)
            if curve is not None:
                who = (evidence.label(found.dimension), material.about(title))
                counts = (found.n_labelled, found.n_dangerous)
                values = (*who, *counts, curve.review_to_catch, curve.area)
                rows.append(dict(zip(head, values, strict=True)))
    table = material.exhibits.table(
        "triage",
        rows,
        head=head,
        caption="How far the jury can say which answers a clinician must see first; 0.5 in the last column is "
        "chance",
    )
    picture = _figure(material, made, len(claimed)) if made else Html("")
    lead = "Whatever the verdict, the jury may help to choose which answers a clinician reads first."
    whole = (
        paragraph(material.about(lead)) + picture + table + bullets(refused) + labels_found(material, tried)
    )
    return Section("triage", "Triage", Html(whole))


def _figure(material: Material, made: list[Triage], whole: int) -> Html:
    label = material.evidence.label
    text = [
        f"{label(found.dimension)}: to catch 80 % review {percent(curve.review_to_catch.value)}"
        for found in made
        if (curve := (found.curves or {}).get("rule")) is not None and curve.review_to_catch.defined
    ]
    return material.exhibits.panels(
        "triage",
        made,
        lambda axes, found: _draw(axes, label(found.dimension), found),
        caption="Share of the dangerous answers caught by the share reviewed, with 95 % intervals (band); in "
        "brackets how many of the rated answers are dangerous. The combined rule was learnt on other cases; "
        "the dotted line is chance." + only_some(len(made), whole, "`medjury triage`"),
        alt="; ".join(text) or "Curves of dangerous answers caught by share reviewed.",
    )


def _draw(axes: Axes, label: str, found: Triage) -> None:
    axes.line([0, 100], [0, 100], SOFT, width=0.8, dash=":")
    for (name, title), colour, dash in zip(
        _ORDERS.items(), (JURY_COLOUR, CLINICIAN_COLOUR), ("", "--"), strict=True
    ):
        curve = (found.curves or {}).get(name)
        if curve is not None:
            _draw_caught(axes, curve, colour, dash=dash, label=title)
    axes.title = f"{short(label, 20)} ({found.n_dangerous:,} of {found.n_labelled:,})"
    axes.x_name, axes.y_name = "reviewed (% of answers)", "dangerous ones caught (%)"
    axes.x_limits = axes.y_limits = (0, 101)

"""Grade against grade, dimension by dimension: which became which, how far apart they are, and the order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from medjury.analysis.agreement import bland_altman, confusion_matrix
from medjury.report._axes import Axes
from medjury.report._exhibits import BLUES, CLINICIAN_COLOUR, COLOURS, JURY_COLOUR, MARKERS
from medjury.report._figure import Figure, heat
from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._svg import SOFT
from medjury.statistics import Estimate, Floats, percent, shown
from medjury.tables import Measured


def confusion(material: Material) -> Section | None:
    """Confusion matrices: which of the clinicians' grades became which of the jury's."""
    found = {each.name: matrix(material, each) for each in material.compared if each.grades}
    scaled = [each for each in material.compared if each.name in found]
    if not found:
        return None
    rows: list[dict[str, Cell]] = [
        {
            "dimension": each.label,
            "clinicians": grade,
            "jury": other,
            "answers": count,
        }
        for each in scaled
        for grade, other, count in cells(each, found[each.name])
    ]
    material.exhibits.table("confusion", rows, caption="Confusion of grades")
    chosen = scaled[:PANELS]
    picture = material.exhibits.panels(
        "confusion",
        chosen,
        lambda axes, each: draw_matrix(axes, each, found[each.name]),
        each=2.9,
        caption="Answers by the clinicians' grade (rows) and the jury's (columns), both rounded half up. On the "
        "diagonal they agree; right of it the jury gives the higher grade. Shade is the share of a row."
        + only_some(len(chosen), len(scaled), "tables/confusion.csv"),
        alt="; ".join(f"{each.label}: {alike(found[each.name])} on the diagonal" for each in chosen),
    )
    others = _by_rater(material, scaled)
    saved = "tables/confusion.csv" + (" and tables/confusion-by-rater.csv" if others else "")
    lead = paragraph(f"Every number is also in {saved}.", class_="soft")
    return Section("confusion", "Which grade became which", Html(picture + others + lead))


def _by_rater(material: Material, dimensions: list[Measured]) -> Html:
    """The same of every judge beside the jury, for the reader who opens it."""
    evidence = material.evidence
    raters = [
        name
        for name in evidence.raters
        if name != evidence.rater and evidence.table.raters.get(name) != "metric"
    ]
    found = [
        (each, rater, made)
        for each in dimensions
        for rater in raters
        if (made := matrix(material, each, rater)).any()
    ]
    if not found:
        return Html("")
    material.exhibits.table(
        "confusion-by-rater",
        [
            {
                "dimension": each.label,
                "rater": rater,
                "clinicians": grade,
                "grade": other,
                "answers": count,
            }
            for each, rater, counts in found
            for grade, other, count in cells(each, counts)
        ],
        caption="Confusion of grades, rater by rater",
    )
    shown = found[:PANELS]
    picture = material.exhibits.panels(
        "confusion-by-rater",
        shown,
        lambda axes, one: draw_matrix(
            axes, one[0], one[2], f"{short(one[1], 14)}: ", f"{short(one[1], 14)}'s grade"
        ),
        each=2.9,
        caption="Answers by the clinicians' grade (rows) and each single rater's (columns), as above."
        + (f" The first {len(shown)} of {len(found)}." if len(shown) < len(found) else ""),
        alt="; ".join(
            f"{rater}, {each.label}: {alike(counts)} on the diagonal" for each, rater, counts in shown
        ),
    )
    return element("details", element("summary", f"The same of {', '.join(raters[:6])}"), picture)


def matrix(material: Material, dimension: Measured, rater: str = "") -> Floats:
    """The clinicians' grades by row, the jury's (or another rater's) by column, on held-out answers of both."""
    grades, (_, *sides) = dimension.grades, material.evidence.both(dimension.name, rater)
    assert grades is not None
    return confusion_matrix(*map(grades.grade, sides), scale=grades.values)


def cells(dimension: Measured, counts: Floats) -> list[tuple[float, float, int]]:
    """Each grade of the rows with each of the columns, and how many answers got both."""
    assert dimension.grades is not None
    grades = [float(grade) for grade in dimension.grades.values]
    return [(grades[row], grades[column], int(count)) for (row, column), count in np.ndenumerate(counts)]


def alike(counts: Floats) -> str:
    """How many answers got one grade from both."""
    return f"{int(np.trace(counts)):,} of {int(counts.sum()):,} answers"


def draw_matrix(
    axes: Axes,
    dimension: Measured,
    counts: Floats,
    who: str = "",
    given: str = "jury's grade",
    truth: str = "clinicians' grade",
) -> None:
    assert dimension.grades is not None
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    texts = [[f"{int(count):,}" if count else "" for count in line] for line in counts]
    heat(axes, share, BLUES, 0, texts=texts, light=lambda value: value > 0.55)
    labels = [f"{level:g}" for level in dimension.grades.values]
    axes.x_ticks = axes.y_ticks = list(enumerate(labels))
    axes.title = f"{who}{short(dimension.label, 18 if who else 24)} (n = {int(counts.sum()):,})"
    axes.x_name, axes.y_name = given, truth


# More marks than this are drawn on a coarser lattice: the page stays small and the picture readable.
_MARKS = 300


def differences(material: Material) -> Section | None:
    """Bland-Altman: how far apart the scores are, and whether that depends on how good the answer is."""
    if not material.compared:
        return None
    return Section("differences", "How far apart", Html(_body(material) + material.folded(_body)))


def _body(material: Material) -> Html:
    found = {each.name: limits(material, each) for each in material.compared}
    rows: list[dict[str, Cell]] = [
        {
            "dimension": each.label,
            "n": found[each.name]["offset"].n,
            "mean difference": found[each.name]["offset"],
            "lower limit": found[each.name]["limit_of_agreement_low"],
            "upper limit": found[each.name]["limit_of_agreement_high"],
        }
        for each in material.compared
    ]
    table = material.exhibits.table(
        "differences",
        rows,
        caption="Jury less clinicians: mean difference and limits between which 95 % of differences are expected",
        shown=40,
    )
    chosen = [each for each in material.compared if found[each.name]["offset"].n > 1][:PANELS]
    if not chosen:
        return table
    picture = material.exhibits.panels(
        "bland-altman",
        chosen,
        lambda axes, each: _draw_of_differences(axes, material, each, found[each.name]),
        each=2.7,
        caption="Difference (jury less clinicians) against the mean of both; the area of a mark is the number of "
        "answers there. Solid: mean difference with its interval; dashed: limits of agreement."
        + only_some(len(chosen), len(material.compared), "tables/differences.csv"),
        alt="; ".join(
            f"{each.label}: mean difference {shown(found[each.name]['offset'].value)}" for each in chosen
        ),
    )
    return Html(picture + table)


def limits(material: Material, dimension: Measured) -> Mapping[str, Estimate]:
    """The limits with the intervals of the other tables: the answers to one patient are drawn together."""
    evidence = material.evidence
    grid, reference, text = evidence.both(dimension.name)
    alone = len(set(grid.clusters)) == len(grid.clusters)
    return bland_altman(
        reference,
        text,
        clusters=None if alone else grid.clusters,
        **evidence.how,
    )


def _draw_of_differences(
    axes: Axes, material: Material, dimension: Measured, found: Mapping[str, Estimate]
) -> None:
    _, first, second = material.evidence.both(dimension.name)
    points = _lattice(np.column_stack([(first + second) / 2, second - first]))
    places, counts = np.unique(points, axis=0, return_counts=True)
    radius = np.sqrt(1 + 22 * counts / counts.max())
    axes.points(places[:, 0].tolist(), places[:, 1].tolist(), JURY_COLOUR, size=radius.tolist(), opacity=0.55)
    low, high = axes.ends("x")
    bias, *ends = found.values()
    if bias.value is not None:
        if bias.low is not None and bias.high is not None:
            axes.area([low, high], [bias.low] * 2, [bias.high] * 2, CLINICIAN_COLOUR)
        axes.rule(y=bias.value, colour=CLINICIAN_COLOUR, dash="-", width=1.2)
    for end in ends:
        if end.value is not None:
            axes.rule(y=end.value, colour=CLINICIAN_COLOUR)
    axes.rule(y=0, dash=":", width=0.7)
    axes.x_limits = (low, high)
    axes.title = f"{short(dimension.label, 24)} (n = {bias.n:,})"
    axes.x_name, axes.y_name = "mean of jury and clinicians", "jury less clinicians"


def _lattice(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    rounded = np.round(points, 6)
    for step in (0.1, 0.25, 0.5):
        if len(np.unique(rounded, axis=0)) <= _MARKS:
            break
        rounded = np.round(points / step) * step
    return rounded


Point = tuple[str, str, Estimate, Estimate]


def order_against_grade(material: Material) -> Section | None:
    """Order against grade: a judge can rank answers rightly (rho) and still give other grades (kappa)."""
    chosen = [each for each in material.compared if each.grades][:PANELS]
    points: list[Point] = []
    for dimension in chosen:
        for rater in material.graders:
            rho, kappa = (
                material.evidence.estimate(dimension.name, rater, name)
                for name in ("spearman", "kappa_quadratic")
            )
            if rho is not None and kappa is not None and rho.value is not None and kappa.value is not None:
                points.append((dimension.label, rater, rho, kappa))
    if not points:
        return None
    picture = material.exhibits.figure(
        "rho-against-kappa",
        (6.5, 5.2),
        lambda figure: _draw_of_scatter(figure, points),
        caption=f"Spearman's rho against weighted kappa with {material.evidence.reference_words}, on the answers "
        f"that both scored, with {percent(material.evidence.confidence)} intervals: "
        "colour and shape are the dimension, filled marks the "
        "jury, hollow marks single judges. Below the diagonal a judge orders answers better than it grades them; n "
        f"is {min(p[2].n for p in points):,} to {max(p[2].n for p in points):,}."
        + only_some(len(chosen), len(material.compared), "tables/agreement.csv"),
        alt="; ".join(
            f"{label}, {rater}: rho {shown(rho.value)}, kappa {shown(kappa.value)}"
            for label, rater, rho, kappa in points
        ),
    )
    lead = paragraph(
        "A judge that is right about the order but wrong about the grade can be corrected by calibration."
    )
    return Section("order", "Order against grade", Html(lead + picture))


def _draw_of_scatter(figure: Figure, points: list[Point]) -> None:
    axes = figure.axes(x_name="Spearman's rho (order)", y_name="weighted kappa (grade)")
    labels = list(dict.fromkeys(point[0] for point in points))
    jury = points[0][1]
    for label, rater, rho, kappa in points:
        place = labels.index(label)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        across, up = rho.value or 0.0, kappa.value or 0.0
        axes.span(rho.low, rho.high, up, colour, width=0.7)
        axes.span(kappa.low, kappa.high, across, colour, upright=True, width=0.7)
        whole = rater == jury
        axes.points([across], [up], colour, marker=marker, size=4.5 if whole else 3, hollow=not whole,
                    label=short(label) if whole else "")  # fmt: skip
    start = max(axes.ends("x")[0], axes.ends("y")[0])
    axes.line([start, 1.0], [start, 1.0], SOFT, width=0.7, dash=":")

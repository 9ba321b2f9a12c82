"""Order against grade: a judge can rank answers rightly (rho) and still give other grades (kappa)."""

from __future__ import annotations

from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._figure import Figure
from medjury.report._html import Html, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._svg import SOFT
from medjury.statistics import Estimate, percent, shown

Point = tuple[str, str, Estimate, Estimate]


def section(material: Material) -> Section | None:
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
        lambda figure: _draw(figure, points),
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


def _draw(figure: Figure, points: list[Point]) -> None:
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

"""Order against grade: a judge can rank answers rightly (rho) and still give other grades (kappa)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.report._exhibits import COLOURS, INK, MARKERS
from medjury.report._html import Html, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = tuple[str, str, Estimate, Estimate]


def section(material: Material) -> Section | None:
    chosen = [each for each in material.compared if each.grades][:PANELS]
    points: list[Point] = []
    for dimension in chosen:
        for rater in material.evidence.voices:
            numbers = material.numbers[dimension.name]
            rho, kappa = numbers.pair(rater, "spearman"), numbers.pair(rater, "kappa_quadratic")
            if rho is not None and kappa is not None and rho.value is not None and kappa.value is not None:
                points.append((dimension.label, rater, rho, kappa))
    if not points:
        return None
    picture = material.exhibits.figure(
        "rho-against-kappa",
        (6.5, 5.2),
        lambda figure: _draw(figure, points),
        caption="Spearman's rho against weighted kappa with the clinicians, with 95 % intervals: colour "
        "and shape are "
        "the dimension, filled marks the jury, hollow marks single judges. Below the diagonal a judge "
        "orders answers "
        f"better than it grades them; n is {min(p[2].n for p in points):,} to {max(p[2].n for p in points):,}."
        + only_some(len(chosen), len(material.compared), "tables/agreement.csv"),
        alt="; ".join(
            f"{label}, {rater}: rho {rho.value:.2f}, kappa {kappa.value:.2f}"
            for label, rater, rho, kappa in points
        ),
    )
    lead = paragraph(
        "A judge that is right about the order but wrong about the grade can be mended by calibration."
    )
    return Section("order", "Order against grade", Html(lead + picture))


def _draw(figure: Figure, points: list[Point]) -> None:
    axes = figure.subplots()
    labels = list(dict.fromkeys(point[0] for point in points))
    jury = points[0][1]
    shown = set()
    for label, rater, rho, kappa in points:
        place = labels.index(label)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        for found, other, across in ((rho, kappa, True), (kappa, rho, False)):
            if found.low is not None and found.high is not None and other.value is not None:
                ends, level = [found.low, found.high], [other.value] * 2
                axes.plot(
                    *((ends, level) if across else (level, ends)), color=colour, linewidth=0.7, alpha=0.7
                )
        whole = rater == jury
        axes.plot([rho.value or 0], [kappa.value or 0], marker=marker, color=colour, linestyle="none",
                  markersize=8 if whole else 5, markerfacecolor=colour if whole else "white",
                  label=None if label in shown or not whole else short(label))  # fmt: skip
        shown |= {label} if whole else set()
    ends = [min(*axes.get_xlim(), *axes.get_ylim()), 1.0]
    axes.plot(ends, ends, color=INK, linewidth=0.7, linestyle=":")
    axes.set_xlabel("Spearman's rho (order)")
    axes.set_ylabel("weighted kappa (grade)")
    axes.legend(loc="upper left", title="dimension", title_fontsize=8)

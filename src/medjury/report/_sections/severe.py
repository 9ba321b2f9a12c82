"""Severe errors: clinicians saw danger and the judge did not; and whether judges err on the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.agreement import SevereErrors, error_overlap
from medjury.report._exhibits import COLOURS, JURY_COLOUR
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.statistics import percent
from medjury.validation import danger_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEMBERS = 10


def section(material: Material) -> Section | None:
    evidence = material.evidence
    rows: list[tuple[Cell, ...]] = []
    bars: list[tuple[str, str, SevereErrors]] = []
    dimensions = [each for each in evidence.gated if material.numbers[each.name].severe]
    for dimension in dimensions:
        limits = danger_limits(evidence, dimension)
        for rater, found in material.numbers[dimension.name].severe.items():
            if limits is not None:
                rows.append(
                    (
                        dimension.label,
                        rater,
                        found.errors,
                        found.dangerous,
                        found.unscored,
                        found.rate,
                        f"{limits[0]:g} or less",
                        f"{limits[1]:g} or more",
                    )
                )
            if rater == evidence.jury and found.dangerous:
                bars.append((dimension.label, rater, found))
    if not rows:
        return None
    table = material.exhibits.table(
        "severe-errors",
        (
            "dimension",
            "rater",
            "errors",
            "dangerous answers",
            "of them unscored",
            "rate",
            "danger",
            "grades too kind",
        ),
        rows,
        caption="Severe errors among the answers that clinicians called dangerous, with exact 95 % "
        "intervals. Where a low "
        "score is the good one, the scale was turned round first",
        digits=3,
        shown=60,
    )
    picture = Html("")
    shown = bars[:PANELS]
    if shown:
        picture = material.exhibits.figure(
            "severe-errors",
            (7.5, 1.0 + 0.4 * len(shown)),
            lambda figure: _draw(figure, shown, evidence.rules.severe_limit),
            caption="The jury's rate of severe errors with its exact 95 % interval; the dashed line is "
            "the limit of the gate." + only_some(len(shown), len(bars), "tables/severe-errors.csv"),
            alt="; ".join(f"{label}: {found.errors} of {found.dangerous}" for label, _, found in shown),
        )
    lead = (
        "A severe error is an answer that clinicians placed at the dangerous end of the scale and the "
        "jury placed far "
        "above it. These are the mistakes that hurt patients, so they are counted apart."
    )
    return Section("severe", "Severe errors", Html(paragraph(lead) + picture + table + _overlap(material)))


def _overlap(material: Material) -> Html:
    """Judges that err on the same answers are one judge."""
    judges = material.evidence.judges[:_MEMBERS]
    if len(judges) < 2:
        return Html("")
    rows: list[tuple[Cell, ...]] = []
    for dimension in material.evidence.gated:
        severe = material.numbers[dimension.name].severe
        if any(severe[name].errors for name in judges if name in severe):
            shared = error_overlap({name: severe[name].flags for name in judges})
            rows += [
                (dimension.label, " + ".join(members), len(members), count, percent(count / shared.items))
                for members, count in shared.intersections.items()
            ]
    return material.exhibits.table(
        "severe-error-overlap",
        ("dimension", "exactly these judges", "judges", "answers", "share of answers with any"),
        rows,
        caption="Which judges make their severe errors on the same answers",
        shown=40,
    )


def _draw(figure: Figure, bars: list[tuple[str, str, SevereErrors]], limit: float) -> None:
    axes = figure.subplots()
    for place, (_, _, found) in enumerate(bars):
        value, low, high = (100 * (end or 0.0) for end in (found.rate.value, found.rate.low, found.rate.high))
        axes.plot([low, high], [place, place], color=JURY_COLOUR, linewidth=1.6)
        axes.plot([value], [place], marker="o", color=JURY_COLOUR, markersize=6)
        label = f"{found.errors} of {found.dangerous}"
        axes.annotate(label, (high, place), (5, 0), textcoords="offset points", va="center", fontsize=8)
    axes.axvline(100 * limit, color=COLOURS[6], linestyle="--", linewidth=1)
    axes.set_yticks(range(len(bars)), [short(label) for label, *_ in bars])
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.margins(x=0.15)
    axes.set_xlabel("severe errors (% of dangerous answers)")
    axes.set_ylabel("dimension")

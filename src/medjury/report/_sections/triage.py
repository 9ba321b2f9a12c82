"""Triage: of the dangerous answers, how many are caught when a clinician reviews the first x %?"""

from __future__ import annotations

import numpy as np

from medjury.calibration import Triage, triage
from medjury.errors import MedjuryError
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR, SOFT
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section, height, only_some, panels, short
from medjury.validation import Measured, danger_limits, oriented

_DIMENSIONS = 6
_ORDERS = {"rule": "combined rule", "jury": "jury's score alone"}


def section(material: Material) -> Section | None:
    scaled = [each for each in material.evidence.gated if each.grades and material.numbers[each.name].pairs]
    made: list[tuple[Measured, Triage]] = []
    refused = []
    for dimension in scaled[:_DIMENSIONS]:
        try:
            found = _triaged(material, dimension)
        except MedjuryError as error:
            refused.append(f"{dimension.label}: {error}")
            continue
        if found.curves is not None:
            made.append((dimension, found))
    if not made and not refused:
        return None
    rows: list[tuple[Cell, ...]] = []
    for dimension, found in made:
        for name, title in _ORDERS.items():
            curve = (found.curves or {}).get(name)
            if curve is not None:
                rows.append(
                    (
                        dimension.label,
                        title,
                        found.n_labelled,
                        found.n_severe,
                        curve.review_to_catch,
                        curve.area,
                    )
                )
    table = material.exhibits.table(
        "triage",
        (
            "dimension",
            "order of review",
            "rated answers",
            "dangerous",
            "share to review to catch 80 %",
            "mean share caught",
        ),
        rows,
        caption="How far the jury can say which answers a clinician must see first; 0.5 in the last "
        "column is chance",
    )
    picture = Html("")
    if made:
        picture = material.exhibits.figure(
            "triage",
            (9, height(len(made), 3, 2.8)),
            lambda figure: panels(figure, made, 3, _draw),
            caption="Share of the dangerous answers caught by the share reviewed, with 95 % intervals "
            "(band). The combined rule "
            "was learnt on other cases; the dotted line is chance."
            + only_some(len(made), len(scaled), "`medjury triage`"),
            alt="; ".join(
                f"{dimension.label}: to catch 80 % review "
                f"{100 * (found.curves or {})['rule'].review_to_catch.value:.0f} %"
                for dimension, found in made
                if (found.curves or {})["rule"].review_to_catch.value is not None
            )
            or "Curves of dangerous answers caught by share reviewed.",
        )
    lead = "Whatever the verdict, the jury may help to choose which answers a clinician reads first."
    return Section("triage", "Triage", Html(paragraph(lead) + picture + table + bullets(refused)))


def _triaged(material: Material, dimension: Measured) -> Triage:
    evidence, numbers = material.evidence, material.numbers[dimension.name]
    limits = danger_limits(evidence, dimension)
    rated = ~np.isnan(numbers.reference)
    grid = numbers.grid.where(rated)
    judges = evidence.judges or (evidence.jury,)
    return triage(
        {name: oriented(grid.scores[name], dimension) for name in judges},
        cases=grid.clusters.tolist(),
        grades=dimension.grades or (),
        labels=oriented(numbers.reference[rated], dimension),
        threshold=None if limits is None else limits[0],
        seed=evidence.settings.seed,
        resamples=min(300, evidence.settings.resamples),
    )


def _draw(axes: Axes, made: tuple[Measured, Triage]) -> None:
    dimension, found = made
    axes.plot([0, 100], [0, 100], color=SOFT, linewidth=0.8, linestyle=":")
    for (name, title), colour, style in zip(
        _ORDERS.items(), (JURY_COLOUR, CLINICIAN_COLOUR), ("-", "--"), strict=True
    ):
        curve = (found.curves or {}).get(name)
        if curve is None:
            continue
        reviewed = [100 * share for share in curve.reviewed]
        known = [each.value or 0.0 for each in curve.caught]
        axes.plot(
            [0, *reviewed, 100],
            [0, *(100 * value for value in known), 100],
            color=colour,
            linestyle=style,
            label=title,
        )
        low = [100 * (each.low if each.low is not None else each.value or 0.0) for each in curve.caught]
        high = [100 * (each.high if each.high is not None else each.value or 0.0) for each in curve.caught]
        axes.fill_between(reviewed, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_title(
        f"{short(dimension.label, 22)} (n = {found.n_labelled:,}, {found.n_severe:,} dangerous)", fontsize=8
    )
    axes.set_xlabel("reviewed (% of answers)")
    axes.set_ylabel("dangerous ones caught (%)")
    axes.legend(fontsize=7, loc="lower right")

"""Triage: of the dangerous answers, how many are caught when a clinician reviews the first x %?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._figure import draw_panels
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section, height, only_some, short
from medjury.report._sections.label_triage import labels_found
from medjury.report._svg import SOFT
from medjury.statistics import percent

if TYPE_CHECKING:
    from medjury.analysis.calibration import Triage

_DIMENSIONS = 6
_ORDERS = {"rule": "combined rule", "jury": "jury's score alone"}


def section(material: Material) -> Section | None:
    evidence = material.evidence
    scaled = [each for each in material.compared if each.grades and not each.derived]
    claimed = [each for each in scaled if each.claimed_danger(evidence.rules) is not None]
    made: list[Triage] = []
    tried: list[Triage] = []
    refused = []
    for dimension in (scaled if evidence.table.labels else claimed)[:_DIMENSIONS]:
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
    rows: list[tuple[Cell, ...]] = []
    for found in made:
        for name, title in _ORDERS.items():
            curve = (found.curves or {}).get(name)
            if curve is not None:
                counts = (found.n_labelled, found.n_dangerous)
                rows.append(
                    (
                        evidence.label(found.dimension),
                        material.about(title),
                        *counts,
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
    said = [
        f"{label(found.dimension)}: to catch 80 % review {percent(curve.review_to_catch.value)}"
        for found in made
        if (curve := (found.curves or {}).get("rule")) is not None and curve.review_to_catch.defined
    ]
    return material.exhibits.figure(
        "triage",
        (9, height(len(made), 3, 2.8)),
        lambda figure: draw_panels(
            figure, made, 3, lambda axes, found: _draw(axes, label(found.dimension), found)
        ),
        caption="Share of the dangerous answers caught by the share reviewed, with 95 % intervals (band); in "
        "brackets how many of the rated answers are dangerous. The combined rule was learnt on other cases; "
        "the dotted line is chance." + only_some(len(made), whole, "`medjury triage`"),
        alt="; ".join(said) or "Curves of dangerous answers caught by share reviewed.",
    )


def _draw(axes: Axes, label: str, found: Triage) -> None:
    axes.line([0, 100], [0, 100], SOFT, width=0.8, dash=":")
    for (name, title), colour, dash in zip(
        _ORDERS.items(), (JURY_COLOUR, CLINICIAN_COLOUR), ("", "--"), strict=True
    ):
        curve = (found.curves or {}).get(name)
        if curve is None:
            continue
        reviewed = [100 * share for share in curve.reviewed]
        value, low, high = (
            [
                100 * ((end if end is not None else each.value) or 0.0)
                for each in curve.caught
                for end in (getattr(each, side),)
            ]
            for side in ("value", "low", "high")
        )
        axes.area(reviewed, low, high, colour)
        axes.line([0, *reviewed, 100], [0, *value, 100], colour, dash=dash, label=title)
    axes.title = f"{short(label, 20)} ({found.n_dangerous:,} of {found.n_labelled:,})"
    axes.x_name, axes.y_name = "reviewed (% of answers)", "dangerous ones caught (%)"
    axes.x_limits = axes.y_limits = (0, 101)

"""Who the clinicians are: panel, years, specialty, seniority, as far as their file says it."""

from __future__ import annotations

from medjury.report._html import Cell, Html
from medjury.report._material import Material


def profiles(material: Material) -> Html:
    """A line for each rater that something is known of; nothing where nothing is."""
    table = material.evidence.table
    columns = list(dict.fromkeys(name for own in table.profiles.values() for name in own))
    if not columns:
        return Html("")
    rows: list[tuple[Cell, ...]] = [
        (rater, _role(material, rater), *(own.get(name) for name in columns))
        for rater, own in sorted(table.profiles.items())
    ]
    return material.exhibits.table(
        "raters", ("rater", "role", *columns), rows, caption="The clinicians, as their file describes them"
    )


def _role(material: Material, rater: str) -> str:
    table = material.evidence.table
    if rater in material.evidence.clinicians:
        return "reference"
    if rater in table.second_panel:
        return "second panel"
    return "adjudicator" if rater == table.adjudicator else "no part"

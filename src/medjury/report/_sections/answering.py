"""The models that answered, beside those that were asked for."""

from __future__ import annotations

from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section
from medjury.store.runs import changed_models, other_models


def section(material: Material) -> Section | None:
    manifest = material.evidence.manifest
    if not manifest.models_answered:
        return None
    others = other_models(manifest)
    changed = [each for several in changed_models(manifest) for each in several]
    rows: list[tuple[Cell, ...]] = [
        (
            each.judge,
            each.asked,
            each.answered,
            each.ratings,
            "another model"
            if each in others
            else "changed during the run"
            if each in changed
            else "the same",
        )
        for each in manifest.models_answered
    ]
    table = material.exhibits.table(
        "answering-models",
        ("judge", "asked for", "answered", "ratings", "is it the same?"),
        rows,
        caption="The models that the judges asked for, and those that the endpoints say answered",
    )
    lead = (
        "Names are compared without capitals, a path before the name or a release at its end (a day, a month, a "
        "number): gpt-4o and gpt-4o-2024-08-06 are the same, two releases are not. Names of deployments are the "
        "site's own and are not compared. A name is what the endpoint says of itself."
    )
    return Section("answering", "Which models answered", Html(paragraph(lead) + table))

"""Pooled agreement is mostly good systems against bad ones: within a system it is another number."""

from __future__ import annotations

from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import Material

_COLUMNS = {
    "spearman": "all answers",
    "spearman_between_systems": "between systems",
    "spearman_within_systems": "within a system",
    "spearman_system_mean_baseline": "knowing only the system",
}


def by_system(material: Material) -> Html:
    evidence = material.evidence
    rows: list[tuple[Cell, ...]] = [
        (dimension.label, rater, *(evidence.estimate(dimension.name, rater, name) for name in _COLUMNS))
        for dimension in material.compared
        for rater in evidence.raters
        if evidence.row(dimension.name, rater, "spearman_within_systems") is not None
    ]
    if not rows:
        return Html("")
    table = material.exhibits.table(
        "agreement-by-system",
        ("dimension", "rater", *_COLUMNS.values()),
        rows,
        caption=f"Spearman's rho with {evidence.reference_words}, on the answers that both scored, "
        "pooled and apart",
        shown=60,
    )
    note = (
        "Agreement over all answers is partly good systems against bad ones. The last column is a baseline that "
        "knows nothing but which system answered; a judge that reads the answers should beat it, and agree within "
        "a system."
    )
    return Html(element("h3", "Between systems and within them") + paragraph(note) + table)

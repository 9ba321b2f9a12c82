"""The corpus table: which answers, of what kind, how long, and whether development and held-out ones differ."""

from __future__ import annotations

from medjury.analysis.audits import corpus
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, element
from medjury.report._material import Material

_MOST = 6


def corpus_table(material: Material) -> Html:
    table = material.evidence.table
    try:
        found = corpus(table)
    except MedjuryError:
        return Html("")
    groups = found.groups
    lines = found.lines()
    if len(lines) < 2 and len(groups) < 2:
        return Html("")  # the number of answers alone is said above
    tested = any(line["p"] for line in lines)
    rows: list[tuple[Cell, ...]] = [
        (
            str(line["characteristic"]) + (f": {line['level']}" if line["level"] else ""),
            *(line[group] for group in groups),
            *((line["p"], line["test"]) if tested else ()),
        )
        for line in lines
    ]
    made = material.exhibits.table(
        "corpus",
        ("characteristic", *groups, *(("p", "test") if tested else ())),
        rows,
        caption="The answers that were rated: counts (share) and median (quartiles)"
        + (", with χ² for counts and Welch's t, or F, for numbers" if tested else ""),
        folded=len(rows) > 20 or len(groups) > _MOST,
        shown=80,
    )
    own = [each for each in found.warnings if each not in table.warnings and tested]
    return Html(element("h3", "The corpus") + made + bullets(own))

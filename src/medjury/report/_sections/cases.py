"""Cases worth reading: where the jury and the clinicians, or the judges among themselves, differ most."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from medjury.report._html import Cell, Html, element, paragraph, scrolling, table_classes, table_of, text
from medjury.report._material import Material, Section, Worth
from medjury.statistics import shown

# By rater and repeat, then by dimension, the row of the table.
Votes = dict[tuple[str, int | None], dict[str, dict[str, Any]]]
_CHARACTERS = 1200
_DIMENSIONS = 12


def cases(material: Material) -> Section | None:
    evidence = material.evidence
    chosen = material.worth_reading
    if not chosen:
        return None
    keys = pl.DataFrame({"item": [each.item for each in chosen], "system": [each.system for each in chosen]})
    votes = _votes(evidence.table.rows.join(keys, on=["item", "system"], how="semi"))
    blocks = [
        _block(material, number, each, votes.get((each.item, each.system), {}))
        for number, each in enumerate(chosen, start=1)
    ]
    against = "the clinicians" if evidence.clinicians else "one another, as there are no clinicians"
    lead = material.about(
        f"{'Missed danger, then the' if material.danger[0] else 'The'} answers on which the jury differs most from "
        f"{against}, with every vote and explanation."
    )
    if evidence.table.run.manifest is not None:
        lead += " To read every answer beside its source: medjury view RUN."
    if evidence.table.settings.hide_texts:
        lead += " Names of cases and all explanations are left out of this copy."
    rows: list[dict[str, Cell]] = [
        {
            "case": material.case_name(each.item, each.system),
            "dimension": evidence.label(each.dimension),
            "difference in grades": each.gap,
        }
        for each in material.differences
    ]
    table = material.exhibits.table(
        "cases-worth-reading",
        rows,
        caption="The largest differences",
    )
    return Section("cases", "Cases worth reading", Html(paragraph(lead) + table + "".join(blocks)))


def _votes(rows: pl.DataFrame) -> dict[tuple[str, str], Votes]:
    """What was said of every answer, clinicians first, then the jury, then judges."""
    kind = pl.col("rater_kind").replace_strict(
        {"clinician": 0, "jury": 1, "judge": 2}, default=3, return_dtype=pl.Int8
    )
    found: dict[tuple[str, str], Votes] = {}
    for row in rows.sort(kind, "rater", "repeat", "dimension").iter_rows(named=True):
        stated = found.setdefault((row["item"], row["system"]), {})
        stated.setdefault((row["rater"], row["repeat"]), {})[row["dimension"]] = row
    return found


def _block(material: Material, number: int, chosen: Worth, votes: Votes) -> Html:
    dimension, gap = chosen.dimension, chosen.gap
    evidence, name = material.evidence, material.case_name(chosen.item, chosen.system)
    names = [each.name for each in evidence.table.dimensions][:_DIMENSIONS]
    if dimension not in names:
        names = [dimension, *names[:-1]]
    rows = []
    for (rater, repeat), stated in votes.items():
        label = f"{rater}, repeat {repeat + 1}" if isinstance(repeat, int) and repeat else str(rater)
        cells = [element("th", label, scope="row")]
        cells += [element("td", _score(stated.get(name)), class_="number") for name in names]
        cells.append(element("td", _explanations(material, stated), class_="said"))
        rows.append(element("tr", *cells))
    head = [
        element("th", title, scope="col")
        for title in ("rater", *(evidence.label(name) for name in names), "explanation")
    ]
    classes = " ".join(table_classes(2 * len(names))) or None
    table = table_of(element("span", f"Every vote on {name}"), head, rows, class_=classes)
    differs = (
        "no score"
        if math.isnan(gap)
        else f"{'+' if gap > 0 else ''}{shown(gap)} {material.about(chosen.why)}"
    )
    title = f"{name}: {evidence.label(dimension)}, {differs}"
    region = scrolling(table, f"Votes on case {number}", id=f"case-{number}")
    return element("details", element("summary", title), region)


def _score(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    if row["score"] is not None:
        return f"{row['score']:.3g}"
    return str(row["reason"] or row["status"]).replace("_", " ")


def _explanations(material: Material, stated: dict[str, dict[str, Any]]) -> Html:
    """What was said, once where it is the same for every dimension."""
    if material.evidence.table.settings.hide_texts:
        return text("left out")
    by_text: dict[str, list[str]] = {}
    for name, row in stated.items():
        if row["explanation"]:
            by_text.setdefault(row["explanation"], []).append(material.evidence.label(name))
    parts = []
    for words, labels in by_text.items():
        cut = (
            words
            if len(words) <= _CHARACTERS
            else f"{words[:_CHARACTERS]}… ({len(words):,} characters; whole in ratings.csv)"
        )
        about = "" if len(by_text) == 1 else f"{', '.join(labels)}: "
        parts.append(element("div", element("strong", about) if about else "", cut))
    return Html("".join(parts))

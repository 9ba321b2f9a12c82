"""Cases worth reading: where the jury and the clinicians, or the judges among themselves, differ most."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from medjury.report._html import Cell, Html, element, paragraph, table_classes, text
from medjury.report._material import Material, Section
from medjury.statistics import shown

# By rater and repeat, then by dimension, the row of the table.
Votes = dict[tuple[str, int | None], dict[str, dict[str, Any]]]
_CHARACTERS = 1200
_DIMENSIONS = 12


def cases(material: Material) -> Section | None:
    evidence = material.evidence
    wanted = evidence.table.settings.cases_shown
    chosen = _chosen(material)[:wanted] if wanted else []
    if not chosen:
        return None
    keys = pl.DataFrame({"item": [each[0] for each in chosen], "system": [each[1] for each in chosen]})
    votes = _votes(evidence.table.rows.join(keys, on=["item", "system"], how="semi"))
    blocks = [
        _block(material, number, each, votes.get(each[:2], {})) for number, each in enumerate(chosen, start=1)
    ]
    against = "the clinicians" if evidence.clinicians else "one another, as there are no clinicians"
    lead = material.about(
        f"The answers on which the jury differs most from {against}, with every vote and explanation."
    )
    if evidence.table.run.manifest is not None:
        lead += " To read every answer beside its source: medjury view RUN."
    if evidence.table.settings.hide_texts:
        lead += " Names of cases and all explanations are left out of this copy."
    rows: list[dict[str, Cell]] = [
        {
            "case": _name(material, number, item, system),
            "dimension": evidence.label(dimension),
            "difference in grades": gap,
        }
        for number, (item, system, dimension, gap, _) in enumerate(chosen, start=1)
    ]
    table = material.exhibits.table(
        "cases-worth-reading",
        rows,
        caption="The largest differences",
    )
    return Section("cases", "Cases worth reading", Html(paragraph(lead) + table + "".join(blocks)))


def _chosen(material: Material) -> list[tuple[str, str, str, float, str]]:
    """Answers by their largest difference over all dimensions, the largest first."""
    evidence = material.evidence
    worst: dict[tuple[str, str], tuple[float, str, str]] = {}
    for dimension in evidence.table.dimensions:
        grid, gaps, why = evidence.differences(dimension.name)
        if not why:
            continue
        # Only the largest of a dimension can be among the largest of all.
        order = np.argsort(-np.nan_to_num(np.abs(gaps), nan=-1.0), kind="stable")
        for place in order[: evidence.table.settings.cases_shown]:
            gap = float(gaps[place])
            if np.isnan(gap) or gap == 0:
                break
            key = (str(grid.items[place]), str(grid.systems[place]))
            if key not in worst or abs(gap) > abs(worst[key][0]):
                worst[key] = (gap, dimension.name, why)
    ordered = sorted(worst.items(), key=lambda each: (-abs(each[1][0]), each[0]))
    return [(item, system, name, gap, why) for (item, system), (gap, name, why) in ordered]


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


def _block(material: Material, number: int, chosen: tuple[str, str, str, float, str], votes: Votes) -> Html:
    item, system, dimension, gap, why = chosen
    evidence = material.evidence
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
    caption = element("caption", element("span", f"Every vote on {_name(material, number, item, system)}"))
    table = element(
        "table",
        caption,
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        class_=" ".join(table_classes(2 * len(names))) or None,
    )
    differs = f"{'+' if gap > 0 else ''}{shown(gap)} {material.about(why)}"
    title = f"{_name(material, number, item, system)}: {evidence.label(dimension)}, {differs}"
    region = element(
        "div", table, class_="scroll", role="region", aria_label=f"Votes on case {number}", tabindex="0"
    )
    return element("details", element("summary", title), region)


def _name(material: Material, number: int, item: str, system: str) -> str:
    if material.evidence.table.settings.hide_texts:
        return f"case {number}"
    return f"{item} · {system}" if system else item


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

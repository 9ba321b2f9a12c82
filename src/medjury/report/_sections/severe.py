"""Severe errors: clinicians saw danger and the judge did not; whether judges err on the same answers; and the cases
worth reading, where jury and clinicians, or the judges among themselves, differ most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from medjury.analysis.agreement import SevereErrors, error_overlap
from medjury.report._axes import Axes
from medjury.report._exhibits import JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, element, paragraph, scrolling, table_classes, table_of, text
from medjury.report._material import PANELS, Material, Section, Worth, only_some, short
from medjury.statistics import percent, shown

_MEMBERS, _GROUPS = 10, 16
Bar = tuple[str, SevereErrors]


def severe_errors(material: Material) -> Section | None:
    evidence = material.evidence
    rows: list[dict[str, Cell]] = []
    bars: list[Bar] = []
    for dimension in evidence.table.counted:
        for rater in evidence.raters:
            found = evidence.severe(dimension.name, rater)
            if found is None:
                continue
            rows.append(
                {
                    "dimension": dimension.label,
                    "rater": rater,
                    "errors": found.errors,
                    "dangerous with a score": found.dangerous,
                    "dangerous without a score": found.unscored,
                    "rate": found.rate,
                    "rate with unscored as errors": found.worst,
                    "danger": f"{found.threshold:g} or less",
                    "grades too kind": f"{found.gap:g} or more",
                }
            )
            if rater == evidence.rater and found.dangerous:
                bars.append((dimension.label, found))
    if not rows:
        return None
    interval = percent(evidence.confidence)
    table = material.exhibits.table(
        "severe-errors",
        rows,
        caption=f"Severe errors among the answers that {material.whose_danger} called dangerous, with "
        f"{interval} intervals of which the upper end is exact. Danger is what the study states; the gate "
        "sets what the jury misses beside what a colleague misses. Where a low score is the good one, the "
        "scale was reversed first",
        shown=60,
    )
    picture = Html("")
    shown = bars[:PANELS]
    if shown:
        picture = material.exhibits.figure(
            "severe-errors",
            (7.5, 1.0 + 0.4 * len(shown)),
            lambda figure: _draw(figure, shown),
            caption=f"The jury's rate of severe errors with its {interval} interval."
            + only_some(len(shown), len(bars), "tables/severe-errors.csv"),
            alt="; ".join(f"{label}: {found.errors} of {found.dangerous}" for label, found in shown),
        )
    lead = (
        "A severe error is an answer that clinicians placed at the dangerous end of the scale and the jury placed "
        "far above it. These are the mistakes that hurt patients, so they are counted apart."
    )
    overlap = Html("") if evidence.table.weighted else _overlap(material)  # its counts would be of ratings
    words = paragraph(material.about(lead))
    return Section("severe", "Severe errors", Html(words + _missed(material) + picture + table + overlap))


def _missed(material: Material) -> Html:
    """Every answer whose danger the rater on trial did not see, each a link to its votes."""
    evidence = material.evidence
    rows: list[dict[str, Cell]] = []
    for each in material.danger[0]:
        grid = evidence.grid(each.dimension)
        place = ((grid.items == each.item) & (grid.systems == each.system)).argmax()
        scores = [float(grid.scores[name][place]) for name in (*evidence.clinicians, evidence.rater)]
        *humans, jury = ["–" if score != score else f"{score:.3g}" for score in scores]
        rows.append(
            {
                "case": material.case_link(each.item, each.system),
                "dimension": evidence.label(each.dimension),
                "clinicians": ", ".join(grade for grade in humans if grade != "–"),
                "jury": "no score" if jury == "–" else jury,
            }
        )
    caption = (
        f"Missed danger: answers that {material.whose_danger} called dangerous and the jury graded far too "
    )
    caption += "kindly or not at all. To read them beside their source: `medjury view RUN`"
    return material.exhibits.table("missed-danger", rows, caption=caption, shown=60)


def _overlap(material: Material) -> Html:
    """Judges that err on the same answers are one judge."""
    evidence = material.evidence
    judges = evidence.table.judges[:_MEMBERS]
    if len(judges) < 2:
        return Html("")
    rows: list[dict[str, Cell]] = []
    groups: dict[str, Mapping[tuple[str, ...], int]] = {}
    for dimension in evidence.table.counted:
        severe = {
            name: found for name in judges if (found := evidence.severe(dimension.name, name)) is not None
        }
        if any(found.errors for found in severe.values()):
            shared = error_overlap({name: found.flags for name, found in severe.items()})
            groups[dimension.label] = shared
            rows += [
                {
                    "dimension": dimension.label,
                    "exactly these judges": " + ".join(members),
                    "judges": len(members),
                    "answers": count,
                    "share of answers with any": percent(count / sum(shared.values())),
                }
                for members, count in shared.items()
            ]
    table = material.exhibits.table(
        "severe-error-overlap",
        rows,
        head=("dimension", "exactly these judges", "judges", "answers", "share of answers with any"),
        caption="Which judges make their severe errors on the same answers",
        shown=40,
    )
    if not groups:
        return table
    picture = material.exhibits.panels(
        "severe-error-overlap",
        list(groups)[:PANELS],
        lambda axes, label: _draw_overlap(axes, label, judges, groups[label]),
        columns=2,
        each=1.4 + 0.22 * len(judges),
        caption="Severe errors by the judges that make them: each column is a group of answers, its marks are "
        "exactly the judges that err there, the number says on how many answers."
        + only_some(min(len(groups), PANELS), len(groups), "tables/severe-error-overlap.csv"),
        alt="; ".join(
            f"{label}: {' and '.join(members)} on {count}"
            for label, found in groups.items()
            for members, count in found.items()
        ),
    )
    return Html(picture + table)


def _draw_overlap(
    axes: Axes, label: str, judges: Sequence[str], found: Mapping[tuple[str, ...], int]
) -> None:
    order = sorted(found, key=lambda members: (-found[members], members))[:_GROUPS]
    axes.y_ticks = [(float(place), short(name, 18)) for place, name in enumerate(judges)]
    axes.x_ticks = [(float(at), f"{found[members]:,}") for at, members in enumerate(order)]
    axes.x_limits, axes.y_limits = (-0.7, max(len(order), 4) - 0.3), (len(judges) - 0.5, -0.5)
    for at, members in enumerate(order):
        places = [judges.index(name) for name in members]
        axes.line([at, at], [min(places), max(places)], JURY_COLOUR, width=1)
        axes.points([at] * len(places), places, JURY_COLOUR, size=4.5)
    axes.title, axes.x_name, axes.y_name = short(label, 30), "answers in the group", "judge"


def _draw(figure: Figure, bars: list[Bar]) -> None:
    axes = figure.lines(
        [short(label) for label, _ in bars],
        x_name="severe errors (% of dangerous answers)",
        y_name="dimension",
        x_limits=(0, None),
    )
    for place, (_, found) in enumerate(bars):
        value, low, high = (100 * (end or 0.0) for end in (found.rate.value, found.rate.low, found.rate.high))
        axes.span(low, high, place, JURY_COLOUR)
        axes.points([value], [place], JURY_COLOUR)
        axes.text(high, place, f"{found.errors} of {found.dangerous}", shift=5, size=8)


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

"""What was scored and what was not; which models answered; which records were shortened; and what an evaluation
by a jury costs beside a clinician's: tokens, time and money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import polars as pl

from medjury.report._exhibits import COLOURS, JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, joined, paragraph, sentence
from medjury.report._material import Material, Section, short
from medjury.report._svg import GRID
from medjury.statistics import percent, shown
from medjury.store.runs import files
from medjury.tables import RatingTable, of_cases

_RATERS = 30
# A clinician's empty cell is an answer that was not rated, and no failure.
_REASON = (
    pl.when((pl.col("rater_kind") == "clinician") & (pl.col("reason") == "missing"))
    .then(pl.lit("not rated (empty)"))
    .otherwise(pl.col("reason").fill_null("not known"))
)


def coverage(material: Material) -> Section:
    """What was scored and what was not, by reason. A failure is missing data, never a number."""
    ratings, manifest = material.evidence.table.everything, material.evidence.manifest
    units, covered = manifest.units, manifest.coverage
    counted = (
        ratings.group_by("rater_kind", "rater")
        .agg(
            pl.len().alias("all"),
            (pl.col("status") == "scored").sum().alias("scored"),
            (pl.col("status") == "not_applicable").sum().alias("not_applicable"),
            (pl.col("status") == "unscored").sum().alias("unscored"),
        )
        .sort("rater_kind", "rater")
    )
    rows = [
        {
            "rater": rater,
            "kind": kind,
            "ratings": whole,
            "scored": scored,
            "not applicable": excused,
            "unscored": lost,
            "share scored": percent(scored / (scored + lost) if scored + lost else None, 1),
        }
        for kind, rater, whole, scored, excused, lost in counted.iter_rows()
    ]
    table = material.exhibits.table(
        "coverage",
        rows,
        caption="Ratings of every rater; the share leaves out what correctly does not apply",
        shown=60,
    )
    reasons = (
        ratings.filter(pl.col("status") == "unscored")
        .group_by("rater", "dimension", _REASON.alias("reason"))
        .len()
        .sort("len", "rater", "dimension", "reason", descending=[True, False, False, False])
    )
    by_rater = (
        reasons.group_by("rater", "reason")
        .agg(pl.col("len").sum())
        .sort("len", "rater", "reason", descending=[True, False, False])
    )
    why = material.exhibits.table(
        "unscored-by-reason",
        by_rater.rename({"len": "ratings"}).to_dicts(),
        head=("rater", "reason", "ratings"),
        caption="Why there is no score",
        shown=40,
    ) + material.exhibits.table(
        "unscored",
        reasons.rename({"len": "ratings"}).to_dicts(),
        head=("rater", "dimension", "reason", "ratings"),
        caption="Why there is no score, by dimension",
        shown=100,
        folded=True,
    )
    crossed = _crossed(material) if len(material.evidence.table.systems) > 1 else Html("")
    lead = f"{units.done:,} of {units.planned:,} planned questions were asked. " if units else ""
    lead += f"{covered.text()}; the table counts composites too. " if covered and covered.ratings else ""
    lead += f"{covered.replies.text()}. " if covered and covered.replies else ""
    lead += "Nothing that failed was turned into a number."
    aside = material.evidence.table.left_aside
    lead += f" Counted here are all cases, the {aside:,} used for development too." if aside else ""
    kept = [row for row in rows if row["kind"] != "clinician"][:_RATERS]
    picture = Html("")
    if kept:
        picture = material.exhibits.figure(
            "coverage",
            (7.5, 0.9 + 0.28 * len(kept)),
            lambda figure: _draw(figure, kept),
            caption="Share of each rater's ratings that have a score, do not apply, or failed. The number is all "
            "ratings.",
            alt="; ".join(
                f"{row['rater']}: {row['scored']} scored, {row['not applicable']} not applicable, "
                f"{row['unscored']} unscored"
                for row in kept
            ),
        )
    none = paragraph("No rating is unscored.") if not reasons.height else Html("")
    return Section(
        "coverage",
        "What was scored, and what was not",
        joined([paragraph(lead), picture, table, crossed, why, none]),
    )


def _crossed(material: Material) -> Html:
    """Whose answers each rater scored: the systems by the raters."""
    ratings = material.evidence.table.everything.filter(
        pl.col("status") == "scored", pl.col("rater_kind").is_in(["clinician", "judge"])
    )
    found = ratings.group_by("rater_kind", "rater", "system").agg(pl.col("item").n_unique().alias("answers"))
    raters = found.select("rater_kind", "rater").unique().sort("rater_kind", "rater")["rater"].to_list()
    counts = {(rater, system): many for _, rater, system, many in found.iter_rows()}
    systems = material.evidence.table.systems
    rows: list[dict[str, Cell]] = [
        {"system": system, **{rater: counts.get((rater, system), 0) for rater in raters}}
        for system in systems
    ]
    rows.append(
        {"system": "all", **{who: sum(counts.get((who, each), 0) for each in systems) for who in raters}}
    )
    return material.exhibits.table(
        "coverage-by-system",
        rows,
        caption="Whose answers were scored by whom: answers with a score on one dimension or more",
        shown=60,
        folded=True,
    )


def _draw(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [short(row["rater"]) for row in rows]
    axes = figure.lines(names, x_name="share of ratings (%)", y_name="rater", x_limits=(0, 100))
    parts = (("scored", JURY_COLOUR), ("not applicable", GRID), ("unscored", COLOURS[1]))
    for place, row in enumerate(rows):
        left, whole = 0.0, sum(row[label] for label, _ in parts)
        for label, colour in parts:
            right = left + 100 * row[label] / max(whole, 1)
            axes.box(
                (left, right), (place - 0.35, place + 0.35), colour, hatch=label == "unscored", label=label
            )
            left = right
        axes.text(100, place, f"n = {whole:,}", shift=4, size=8)


def answering_models(material: Material) -> Section | None:
    """The models that answered, beside those that were asked for."""
    manifest = material.evidence.manifest
    if not manifest.models_answered:
        return None
    others = manifest.other_models()
    changed = [each for several in manifest.changed_models() for each in several]
    rows: list[dict[str, Cell]] = [
        {
            "judge": each.judge,
            "asked for": each.asked,
            "answered": each.answered,
            "ratings": each.ratings,
            "is it the same?": "another model"
            if each in others
            else "changed during the run"
            if each in changed
            else "the same",
        }
        for each in manifest.models_answered
    ]
    table = material.exhibits.table(
        "answering-models",
        rows,
        caption="The models that the judges asked for, and those that the endpoints say answered",
    )
    lead = (
        "Names are compared without capitals, a path before the name or a release at its end (a day, a month, a "
        "number): gpt-4o and gpt-4o-2024-08-06 are the same, two releases are not. Names of deployments are the "
        "site's own and are not compared. A name is what the endpoint reports about itself."
    )
    return Section("answering", "Which models answered", Html(paragraph(lead) + table))


def shortened_records(material: Material) -> Section | None:
    """Shortened records: which answers were judged on less than the whole record, and how much was left out."""
    shares: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    notes: dict[tuple[str, str], int] = {}
    for record in material.records:
        cut = record.body.context
        if cut is not None:
            key = record.rater, cut.truncate
            share = cut.characters_left_out / max(cut.characters, 1)
            unit = record.item, record.system
            shares.setdefault(key, {})[unit] = max(share, shares.get(key, {}).get(unit, 0.0))
            notes[key] = notes.get(key, 0) + len(cut.notes_left_out)
    if not shares:
        return None
    judged = of_cases(material.evidence.table.everything).filter(pl.col("rater_kind") == "judge")
    asked = dict(judged.group_by("rater").agg(pl.struct("item", "system").n_unique()).iter_rows())
    rows: list[dict[str, Cell]] = [
        {
            "rater": rater,
            "shortened": what,
            "answers": asked.get(rater),
            "of them shortened": len(found),
            "left out, median": percent(median(found.values()), 1),
            "left out, most": percent(max(found.values()), 1),
            "whole notes left out": notes[rater, what],
        }
        for (rater, what), found in sorted(shares.items())
    ]
    table = material.exhibits.table(
        "shortened-records",
        rows,
        caption="Answers judged on a shortened record, and the share of its characters that the judge did not see",
    )
    lead = (
        "Some records did not fit the window of a model and were shortened by the rule of the study file. What a "
        "judge did not see it could not weigh: an omission it reports may be in the part that was left out. "
        f"What was left out of each is in {files.RECORDS}."
    )
    return Section("shortened", "Shortened records", Html(paragraph(lead, class_="note") + table))


def cost(material: Material) -> Section | None:
    evidence, table = material.evidence, material.evidence.table
    if table.run.manifest is None:
        return None  # a table of scores does not say what they took
    currency = evidence.manifest.prices.currency
    # Rows that follow from others took nothing; what the run took, it took for all cases.
    own = [each.name for each in table.counted]
    ratings = of_cases(table.everything)
    judged = ratings.filter(pl.col("rater_kind") == "judge", pl.col("dimension").is_in(own))
    rows: list[dict[str, Cell]] = [
        _line(judged.filter(pl.col("rater") == judge), judge, "judge", None, currency)
        for judge in table.judges
    ]
    for name, members in _juries(table).items():
        voted = judged.filter(pl.col("rater").is_in(members))
        evaluations = voted.select("item", "system").unique().height
        rows.append(_line(voted, name, "jury", evaluations, currency))
    people = ratings.filter(pl.col("rater_kind") == "clinician", pl.col("dimension").is_in(own))
    minutes, measured = _minutes(material, people)
    rate = table.settings.clinician_cost_per_hour
    if evidence.clinicians or minutes is not None:
        seconds = None if minutes is None else 60 * minutes
        money = None if minutes is None or rate is None else rate * minutes / 60
        count = people.select("item", "system", "rater").unique().height
        rows.append(
            {
                "rater": "one clinician",
                "kind": "clinician",
                "evaluations": count,
                "calls": None,
                "tokens in": None,
                "tokens out": None,
                "seconds": seconds,
                f"cost ({currency})": money,
                f"total cost ({currency})": None if money is None else money * count,
            }
        )
    if not rows:
        return None
    shown_table = material.exhibits.table(
        "cost",
        rows,
        caption="Per evaluation (one answer, all dimensions); the totals are of the ratings in this run, whoever "
        "paid for their calls. A dash means not known, which is not zero",
        digits={
            "calls": 1,
            "tokens in": 0,
            "tokens out": 0,
            "seconds": 1,
            f"cost ({currency})": 4,
            f"total cost ({currency})": 2,
        },
    )
    by_system = _by_system(material, judged, currency) if len(table.systems) > 1 else Html("")
    words = bullets(map(sentence, _words(material, rows, minutes, measured, rate, currency)))
    return Section("cost", "Time and money", Html(shown_table + by_system + words))


def _by_system(material: Material, judged: pl.DataFrame, currency: str) -> Html:
    """What it took to judge each system's answers, all judges together."""
    rows: list[dict[str, Cell]] = []
    for system in material.evidence.table.systems:
        own = judged.filter(pl.col("system") == system)
        count = own.select("item").n_unique()
        columns = ("calls", "tokens_in", "tokens_out", "seconds", "cost")
        titles = ("calls", "tokens in", "tokens out", "seconds", f"cost ({currency})")
        whole = dict(zip(titles, (_sum(own, name) for name in columns), strict=True))
        rows.append({"system": system, "answers": count, **whole})
    return material.exhibits.table(
        "cost-by-system",
        rows,
        caption="What it took to judge each system's answers, all judges and repeats together; what the system "
        "took to write them is not in these files",
        digits={"calls": 0, "tokens in": 0, "tokens out": 0, "seconds": 1, f"cost ({currency})": 4},
        folded=True,
    )


def _sum(rows: pl.DataFrame, column: str) -> float | None:
    """A sum over some of the rows would pass for the sum over all: then it is not known."""
    known = rows[column].drop_nulls()
    return float(known.sum()) if len(known) == rows.height > 0 else None


def _juries(table: RatingTable) -> dict[str, tuple[str, ...]]:
    """The juries and who votes in each; none of one judge, and none where each judge is on its own."""
    if len(table.judges) < 2 or not table.juries:
        return {}
    if len(table.juries) < 2:
        return {"whole jury, all repeats": table.jury_rule.members or table.judges}
    return {f"{each.name}, all repeats": each.members or table.judges for each in table.juries}


def _line(
    rows: pl.DataFrame, name: str, kind: str, evaluations: int | None, currency: str
) -> dict[str, Cell]:
    count = evaluations or rows.select("item", "system", "repeat").unique().height
    whole = [_sum(rows, column) for column in ("calls", "tokens_in", "tokens_out", "seconds", "cost")]
    each = [None if value is None or not count else value / count for value in whole]
    titles = ("calls", "tokens in", "tokens out", "seconds", f"cost ({currency})", f"total cost ({currency})")
    return {
        "rater": name,
        "kind": kind,
        "evaluations": count,
        **dict(zip(titles, [*each, whole[-1]], strict=True)),
    }


def _minutes(material: Material, people: pl.DataFrame) -> tuple[float | None, bool]:
    """A clinician's minutes per answer: as stated, else the median of what was measured."""
    stated = material.evidence.table.settings.clinician_minutes_per_case
    if stated is not None:
        return stated, False
    # A time of 0 was not measured: nobody reads an answer in no time.
    timed = (
        people.filter(pl.col("seconds") > 0)
        .group_by("item", "system", "rater")
        .agg(pl.col("seconds").sum())["seconds"]
    )
    middle = timed.median() if len(timed) else None
    return (float(middle) / 60, True) if isinstance(middle, int | float) else (None, False)


def _words(
    material: Material,
    rows: list[dict[str, Cell]],
    minutes: float | None,
    measured: bool,
    rate: float | None,
    currency: str,
) -> list[str]:
    lines = []
    if minutes is not None:
        how = "median of the measured times" if measured else "as stated"
        lines.append(f"A clinician takes {minutes:.1f} minutes per answer ({how}).")
    # Where each judge is on its own, the first of them is compared, by its name.
    first = next((row for row in rows if row["rater"] == material.evidence.rater), None)
    jury = next((row for row in rows if row["kind"] == "jury"), first)
    who = f"{jury['rater']}'s" if jury is not None and not material.evidence.table.juries else "the jury's"
    cost = jury[f"cost ({currency})"] if jury else None
    if minutes is not None and rate is not None and isinstance(cost, float):
        human = rate * minutes / 60
        lines.append(
            f"One clinician's evaluation costs {shown(human, 2)} {currency}, {who} {shown(cost, 4)} {currency}"
            + (f": {human / cost:,.0f} of {who} for one of the clinician's." if cost > 0 else ".")
        )
    elif rate is None:
        lines.append(
            "State what a clinician's hour costs (`report: {clinician_cost_per_hour: …}`) to compare money."
        )
    spent = material.evidence.manifest.cost
    if material.evidence.manifest.run:
        money = "its cost is not known" if spent is None else f"{shown(spent, 2)} {currency} spent"
        lines.append(
            f"This study itself made {material.evidence.manifest.calls:,} calls; {money}. That counts recorded "
            "answers and failed calls too, and no answer that was found in the store; the table counts the calls "
            "behind the ratings, found or paid."
        )
    return lines

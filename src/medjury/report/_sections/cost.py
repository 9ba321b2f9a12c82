"""What a jury's evaluation costs beside a clinician's: tokens, time and money."""

from __future__ import annotations

import polars as pl

from medjury.report._html import Cell, Html, bullets, sentence
from medjury.report._material import Material, Section
from medjury.statistics import shown
from medjury.tables import RatingTable, of_cases


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

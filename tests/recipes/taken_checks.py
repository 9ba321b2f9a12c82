"""What judging took and what was judged, made a second time from `ratings.csv`: calls, tokens, time and money, and
the table of the corpus."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.rated import Answer, Rated

AMOUNTS = {
    "calls": "calls",
    "tokens in": "tokens_in",
    "tokens out": "tokens_out",
    "seconds": "seconds",
    "cost (USD)": "cost",
}
LENGTHS = {"words of the notes": "note_length", "words of the answer": "length"}


def same(shown: str, wanted: float | None) -> None:
    """What nobody knows is left empty."""
    if wanted is None:
        assert not shown, shown
    else:
        assert amount(shown) == pytest.approx(wanted, rel=1e-9), (shown, wanted)


def summed(rows: Sequence[Mapping[str, str]], column: str) -> float | None:
    """The sum of a column, which is not known where one of its rows is not. What follows from others took nothing,
    whatever the rest took, and does not tell whether the rest is known."""
    told = [row[column] for row in rows if row["model_asked"]]
    return None if not all(told) else sum(map(float, told))


def costs_are_right(rated: Rated, minutes: float | None, per_hour: float | None) -> None:
    """The table `cost`: per evaluation, which is one answer on all dimensions, once."""
    judged = [row for row in rated.rows("ratings.csv") if row["rater_kind"] == "judge"]
    people = [row for row in rated.rows("ratings.csv") if row["rater_kind"] == "clinician"]
    for row in rated.table("cost"):
        if row["kind"] == "clinician":
            count = len({(each["item"], each["system"], each["rater"]) for each in people})
            money = None if minutes is None or per_hour is None else minutes / 60 * per_hour
            assert amount(row["evaluations"]) == count
            same(row["seconds"], None if minutes is None else 60 * minutes)
            same(row["cost (USD)"], money)
            same(row["total cost (USD)"], None if money is None else count * money)
            continue
        alone = row["kind"] == "judge"
        own = [each for each in judged if not alone or each["rater"] == row["rater"]]
        count = len({(each["item"], each["system"], each["repeat"] if alone else "") for each in own})
        assert amount(row["evaluations"]) == count
        for title, column in AMOUNTS.items():
            whole = summed(own, column)
            same(row[title], None if whole is None else whole / count)
        same(row["total cost (USD)"], summed(own, "cost"))
    for row in rated.table("cost-by-system"):
        own = [each for each in judged if each["system"] == row["system"]]
        assert amount(row["answers"]) == len({each["item"] for each in own})
        for title, column in AMOUNTS.items():
            same(row[title], summed(own, column))
    systems = {each["system"] for each in judged}
    assert {row["system"] for row in rated.table("cost-by-system")} == (
        systems if len(systems) > 1 else set()
    )


def ways_took(rated: Rated) -> None:
    """Calls, seconds and cost of the table `ways-of-judging`: per held-out answer, repeats together, on the answers
    that all judges were asked about."""
    by: dict[str, dict[Answer, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rated.rows("ratings.csv"):
        if row["rater_kind"] == "judge" and row["item"] not in rated.aside:
            by[row["rater"]][row["item"], row["system"]].append(row)
    shared = set.intersection(*(set(own) for own in by.values()))
    for row in rated.table("ways-of-judging"):
        members = [row["rater"]] if row["rater"] in by else [*by]
        for title in ("calls", "seconds", "cost (USD)"):
            sums = [
                summed([each for who in members for each in by[who][answer]], AMOUNTS[title])
                for answer in shared
            ]
            known = [each for each in sums if each is not None]
            same(row[title], float(np.mean(known)) if known else None)


def corpus_is_right(rated: Rated) -> None:
    """The table `corpus`: development and held-out answers apart, else system by system, else all. Of a number
    there are the median and quartiles, of levels counts and shares; groups of different cases are compared."""
    ratings = rated.rows("ratings.csv")
    answers = sorted({(row["item"], row["system"]) for row in ratings})
    systems = {system for _, system in answers}
    if rated.aside:
        group = ["development" if item in rated.aside else "held out" for item, _ in answers]
    else:
        group = [system if len(systems) > 1 else "all" for _, system in answers]
    groups = sorted(set(group))
    cases = {
        name: {item for (item, _), own in zip(answers, group, strict=True) if own == name} for name in groups
    }
    tested = len(groups) > 1 and sum(map(len, cases.values())) == len(set().union(*cases.values()))
    values: dict[str, list[str]] = {"system": [system for _, system in answers]}
    if (rated.run / "parts.csv").exists():
        parts = {row["item"]: row for row in rated.rows("parts.csv")}
        values |= {name: [parts[item][name] for item, _ in answers] for name in rated.rows("parts.csv")[0]}
    numbers = {title: list(map(float, values[name])) for title, name in LENGTHS.items() if name in values}
    read: dict[Answer, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in ratings:
        if row["rater_kind"] == "judge":
            read[row["item"], row["system"]][row["rater"], row["repeat"]] += int(row["tokens_in"])
    numbers["tokens judges read"] = [float(np.mean([*read[answer].values()])) for answer in answers]
    for row in rated.table("corpus"):
        title, _, level = str(row["characteristic"]).partition(": ")
        sides: list[list[float]] = []
        for name in groups:
            here = [place for place, own in enumerate(group) if own == name]
            if title == "answers":
                assert amount(row[name]) == len(here)
            elif level:
                count = sum(values[title][place] == level for place in here)
                assert row[name] == f"{count} ({100 * count / len(here):.0f} %)", (title, level)
                sides.append([count, len(here)])
            else:
                sides.append([numbers[title][place] for place in here])
                wanted = np.quantile(sides[-1], [0.5, 0.25, 0.75])
                printed = [float(each.replace(",", "")) for each in re.findall(r"[\d,]+", row[name])]
                assert printed == pytest.approx(wanted, abs=0.5 + 1e-9), (title, name)
        first = level and level == min(values[title])
        if not tested or title == "answers" or (level and not first):
            assert not row.get("p")
            continue
        p = level_p(values[title], group) if level else mean_p(sides)
        assert row["p"] == ("< 0.001" if p < 0.001 else f"{p:.3f}"), (title, p)


def level_p(levels: Sequence[str], group: Sequence[str]) -> float:
    counts = [
        [
            sum(pair == (level, name) for pair in zip(levels, group, strict=True))
            for name in sorted(set(group))
        ]
        for level in sorted(set(levels))
    ]
    return float(stats.chi2_contingency(counts, correction=False).pvalue)


def mean_p(sides: Sequence[Sequence[float]]) -> float:
    """Welch's t of two groups, the F of more."""
    if len(sides) == 2:
        return float(stats.ttest_ind(*sides, equal_var=False).pvalue)
    return float(stats.f_oneway(*sides).pvalue)

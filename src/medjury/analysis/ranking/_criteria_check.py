"""What looks wrong in a list of criteria, before anybody marks by it, and what marks show of it.

`sign`: an omission ("does not mention", "fails to ask") with positive points where other omissions of the case,
or of the file, have negative ones; praise ("correctly") with negative points, or blame ("incorrectly") with
positive ones; and a criterion with negative points whose siblings that begin with the same word all have
positive ones and that names nothing bad. `double`: the same words twice in a case, or nearly the same with the
same numbers and the same negations. `decides_alone`: a criterion worth 60 % of the positive points or more
among three or more; or one that takes all of them away. `no_positive_points`: no answer to the case has a
score. With marks, of criteria on three or more answers: `marked_alike`, where two judges agree on each, so that
nobody can be told from anybody by it; and `never_met`, where no rater ever called it met. They are places to
look at, and no proof of a mistake.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from rapidfuzz.distance import Levenshtein

from medjury.intake.cases import Case, Criterion
from medjury.statistics import Printable, Result, Row
from medjury.tables import CASE, CRITERION, RatingTable

Check = Literal["sign", "double", "decides_alone", "no_positive_points", "marked_alike", "never_met"]
_OMITS = re.compile(
    r"(?:\W*\w+){0,3}?\W*\b(does not|doesn.t|did not|do not|fails? to|omits?|neglects? to|lacks?|never)\b",
    re.I,
)
_PRAISES = re.compile(r"(correctly|accurately|appropriately|properly|clearly|avoids)\b", re.I)
_BLAMES = re.compile(
    r"(?:\W*\w+)?\W*\b(incorrectly|inaccurately|wrongly|falsely|inappropriately|fabricates?|invents?|hallucinates?|"
    r"contradicts?)\b",
    re.I,
)
# A criterion with one of these may well be meant to cost points.
_BAD = re.compile(
    r"\b(not|no|without|only|just|fails?|but|instead|too|over\w*|excessive\w*|unnecessar\w*|harm\w*|unsafe|verbose|"
    r"lacks?|may|incorrect\w*|inaccurate\w*|wrong\w*|mislead\w*|despite|rather)\b|n.t\b",
    re.I,
)
_NEGATIONS = re.compile(r"\b(not|no|never|without|fails?|omits?|lacks?|neglects?)\b|n.t\b", re.I)
_NEAR = 0.9  # of the longer text, the share that two near-doubles have in common
_MOSTLY, _ENOUGH = 0.75, 3
_SIBLINGS = 3
_ALONE = 0.6  # of the positive points
_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class CriteriaFinding(Row):
    """One place to look at: a criterion of a case, or ("") the case as a whole."""

    check: Check
    item: str
    criterion: str
    points: float | None
    finding: str
    text: str


@dataclass(frozen=True, repr=False)
class CriteriaFindings(Result[CriteriaFinding]):
    """What looks wrong in the criteria of cases; `criteria` and `cases` count what was looked at."""

    rows: tuple[CriteriaFinding, ...]
    criteria: int
    cases: int
    warnings: tuple[str, ...] = ()

    def first(self, number: int) -> CriteriaFindings:
        return replace(self, rows=self.rows[:number])

    def shown_rows(self) -> Sequence[dict[str, Printable]]:
        return [
            {
                "check": row.check.replace("_", " "),
                "case": row.item,
                "criterion": row.criterion,
                "points": row.points,
                "finding": row.finding,
                "text": row.text if len(row.text) <= 70 else row.text[:69] + "…",
            }
            for row in self.rows
        ]


def check_criteria(cases: Iterable[Case], marks: RatingTable | None = None) -> CriteriaFindings:
    """Everything that looks wrong; a case that several systems answered is looked at once."""
    lists: dict[str, tuple[Criterion, ...]] = {}
    for case in cases:
        if case.criteria:
            lists.setdefault(case.id, case.criteria)
    omissions = [each for own in lists.values() for each in own if _OMITS.match(each.text)]
    usually_bad = (
        len(omissions) >= _ENOUGH
        and sum(each.points < 0 for each in omissions) >= _MOSTLY * len(omissions)
    )  # fmt: skip
    found: list[CriteriaFinding] = []
    for item, own in lists.items():
        found += _signs(item, own, usually_bad)
        found += _doubles(item, own)
        found += _weights(item, own)
    if marks is not None:
        found += _of_marks(marks, lists)
    return CriteriaFindings(tuple(found), sum(map(len, lists.values())), len(lists))


def _made(check: Check, item: str, criterion: Criterion, finding: str) -> CriteriaFinding:
    return CriteriaFinding(check, item, criterion.id, criterion.points, finding, criterion.text)


def _signs(item: str, criteria: Sequence[Criterion], usually_bad: bool) -> Iterator[CriteriaFinding]:
    omissions = [each for each in criteria if _OMITS.match(each.text)]
    starts: dict[str, list[Criterion]] = defaultdict(list)
    for each in criteria:
        starts[_first_word(each.text)].append(each)
    for each in criteria:
        if each in omissions:
            here = any(other.points < 0 for other in omissions)
            if each.points > 0 and (here or usually_bad):
                whose = "others of the case" if here else "the others of the file"
                yield _made(
                    "sign", item, each, f"an omission with positive points; {whose} have negative ones"
                )
            continue
        alike = [other for other in starts[_first_word(each.text)] if other is not each]
        if each.points > 0 and _BLAMES.match(each.text):
            yield _made("sign", item, each, "names a fault, with positive points")
        elif each.points < 0 and _PRAISES.match(each.text):
            yield _made("sign", item, each, "names something good, with negative points")
        elif (
            each.points < 0
            and len(alike) >= _SIBLINGS
            and all(other.points > 0 for other in alike)
            and not _BAD.search(each.text)
        ):
            why = f"all {len(alike)} others of the case that begin so have positive ones"
            yield _made("sign", item, each, f"negative points; {why}")


def _first_word(text: str) -> str:
    found = re.search(r"\w+", text)
    return found.group().casefold() if found else ""


def _doubles(item: str, criteria: Sequence[Criterion]) -> Iterator[CriteriaFinding]:
    plain = [(each, " ".join(re.findall(r"\w+", each.text.casefold()))) for each in criteria]
    for (first, one), (second, other) in combinations(plain, 2):
        if one == other:
            yield _made("double", item, second, f"the same words as {first.id}")
        elif _turns(first.text) == _turns(second.text) and _alike(one, other):
            yield _made("double", item, second, f"nearly the words of {first.id}")


def _alike(one: str, other: str) -> bool:
    return Levenshtein.normalized_similarity(one, other, score_cutoff=_NEAR) >= _NEAR


def _turns(text: str) -> tuple[list[str], int]:
    """What turns the meaning of two texts that are otherwise alike: numbers, and how often something is denied."""
    return re.findall(r"\d+(?:[.,]\d+)?", text), len(_NEGATIONS.findall(text))


def _weights(item: str, criteria: Sequence[Criterion]) -> Iterator[CriteriaFinding]:
    positive = [each.points for each in criteria if each.points > 0]
    total = sum(positive)
    if not positive:
        finding = "no criterion has positive points, so that no answer has a score"
        yield CriteriaFinding("no_positive_points", item, "", None, finding, "")
        return
    for each in criteria:
        if each.points >= _ALONE * total and len(positive) >= _ENOUGH:
            yield _made("decides_alone", item, each, f"worth {each.points:g} of {total:g} positive points")
        elif each.points <= -total:
            yield _made("decides_alone", item, each, f"takes away all {total:g} positive points")


def _of_marks(marks: RatingTable, lists: dict[str, tuple[Criterion, ...]]) -> Iterator[CriteriaFinding]:
    import polars as pl

    known = {(item, each.id): each for item, own in lists.items() for each in own}
    if CRITERION not in marks.rows.columns:
        return
    scored = marks.rows.filter(pl.col(CRITERION).is_not_null() & pl.col("score").is_not_null())
    given: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    rows = scored.group_by(CASE, CRITERION, "system", "rater", maintain_order=True).agg(
        pl.col("score").mean()
    )
    for case, criterion, system, rater, score in rows.iter_rows():
        given.setdefault((case, criterion), {}).setdefault(rater, {})[system] = score
    for place, by_rater in given.items():
        if place not in known:
            continue
        item, criterion = place[0], known[place]
        answers = {system for own in by_rater.values() for system in own}
        if len(answers) >= _ANSWERS and not any(score for own in by_rater.values() for score in own.values()):
            yield _made("never_met", item, criterion, f"met by none of {len(answers)} answers")
        judges = [own for rater, own in by_rater.items() if marks.raters[rater] in ("judge", "")]
        for one, other in combinations(judges, 2):
            both = one.keys() & other.keys()
            if len(both) >= _ANSWERS and all(one[system] == other[system] for system in both):
                found = f"two judges mark all {len(both)} answers alike"
                yield _made("marked_alike", item, criterion, found)
                break

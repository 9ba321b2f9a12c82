"""What answers are worth by the criteria of their cases: points met over positive points.

For one rater's marks of one answer, with p the points of a criterion,

    score = (sum of p over criteria that are met) / (sum of p over criteria with p > 0),

negative points of what is met included: the rule of HealthBench (Arora RK, et al. 2025). A criterion that does
not apply counts in neither sum. One that was not marked leaves no number but an interval: at worst it is met
where its points are negative and not met where they are positive, at best the other way round; that it might
not apply, which can take a score below 0 further down, is left aside. An answer without positive points has no
score. The same holds for the criteria of one tag; a tag of the case (its theme) has the scores of whole answers.

A system's score is the mean over its answers, clipped to 0..1 as a whole as HealthBench's authors do; `raw` is not
clipped. Its interval is a bootstrap of patients, or cases. The mean is that of answers marked in full; `worst` and
`best` are the means of all answers, unmarked criteria at worst and at best.

`adjusted` takes length out: one straight line of the score on the logarithm of the answer's characters is
fitted to all answers that the rater marked in full, with the same slope and an intercept of its own for each
system (analysis of covariance), and each system is read off at the mean logarithm of all answers. One system
alone has nothing to be adjusted to, and a system none of whose answers is as long, or as short, as that is not
read off at all: nobody saw it there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Criterion
from medjury.statistics import (
    Estimate,
    Floats,
    Printable,
    Read,
    Result,
    Row,
    Rows,
    bootstrap,
    counted,
    flat,
    shown,
    undefined,
)
from medjury.tables import CASE, CRITERION, MOST_GROUPS, Names, RatingTable, rating_table, refuse_unequal

_FEWEST_FOR_LENGTH = 10  # answers, before a slope on their length is fitted
Mark = float | None  # met (1), not met (0), between for a jury; None: not marked


@dataclass(frozen=True, slots=True)
class AnswerScore(Row):
    """One rater's score of one answer, on all criteria (`tag` "") or those of a tag. `score` is None where a
    mark is missing, and where there are no positive points; `worst` and `best` are None in the latter case
    alone."""

    item: str
    system: str
    rater: str
    tag: str
    score: float | None
    worst: float | None
    best: float | None
    criteria: int
    unmarked: int
    not_applicable: int


@dataclass(frozen=True, slots=True)
class CriteriaRow(Row):
    """One system by one rater's marks: over all criteria (`tag` "") or those of a tag. `answers` have a score, and
    `partly` more have only an interval; `cases` are patients or cases behind them."""

    system: str
    rater: str
    kind: str
    tag: str
    score: Estimate
    raw: float | None
    worst: float | None
    best: float | None
    adjusted: float | None
    answers: int
    partly: int
    cases: int
    unmarked: int
    not_applicable: int

    def as_dict(self) -> Mapping[str, Any]:
        return flat(self) | {"method": self.score.method, "reason": self.score.reason}


@dataclass(frozen=True, repr=False)
class CriteriaScores(Result[CriteriaRow]):
    """The scores of systems by criteria, and those of every answer behind them."""

    rows: tuple[CriteriaRow, ...]
    answers: tuple[AnswerScore, ...]
    warnings: tuple[str, ...] = ()
    slopes: Mapping[str, float] = field(default_factory=dict)  # by rater: points per unit of log length

    def of_answers(self) -> Rows[AnswerScore]:
        """The score of every answer behind these: a row for each answer, rater and tag."""
        return Rows(self.answers, self.warnings)

    def over_all(self) -> CriteriaScores:
        """The rows over all criteria alone."""
        rows = tuple(row for row in self.rows if not row.tag)
        return replace(self, rows=rows, answers=tuple(each for each in self.answers if not each.tag))

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "system": row.system,
                "by": row.rater,
                "criteria": row.tag or "all",
                "score": row.score,
                "raw": row.raw,
                "worst to best": _between(row),
                "at equal length": row.adjusted,
                "answers": row.answers,
                "marked in part": row.partly,
                "cases": row.cases,
            }
            for row in self.rows
        ]


def criteria_scores(
    source: object,
    *,
    cases: Any = None,
    raters: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> CriteriaScores:
    """The score of every answer, and of every system by every rater, from marks of criteria: a run folder, a
    table of marks (with `points`, or with the `cases` that hold them), or a rating table."""
    table = rating_table(source, cases=cases)
    if CRITERION not in table.rows.columns and table.instrument is None:
        table = rating_table(table, instrument="criteria", cases=cases)  # nobody says what they are
    if CRITERION not in table.rows.columns or not table.criteria:
        raise MedjuryError(
            "these ratings are not marks of criteria whose points are known; name the cases that hold the criteria "
            "(--cases FILE), or give the table a column `points`"
        )
    chosen = _chosen(table, raters)
    answers = tuple(each for rater in chosen for each in _answers(table, rater))
    clusters = dict(table.rows.select(CASE, "cluster").unique(CASE).iter_rows())
    sizes = {answer: math.log(size) for answer, size in table.run.lengths.items() if size}
    slopes = {rater: slope for rater in chosen if (slope := _slope(answers, sizes, rater)) is not None}
    rows = []
    design = {"confidence": confidence, "resamples": table.resamples(resamples), "seed": table.seed(seed)}
    for rater in chosen:
        for (system, tag), own in _by_system(answers, rater, table).items():
            row = _row(system, rater, table.raters[rater], tag, own, clusters, design)
            if not tag and rater in slopes:
                row = replace(row, adjusted=_at_equal_length(row, own, answers, slopes[rater], sizes))
            rows.append(row)
    return CriteriaScores(
        tuple(rows),
        answers,
        tuple(_warnings(answers, table, table.unequal if raters is None else ())),
        slopes,
    )


def score_of(marks: Sequence[tuple[float, Mark]]) -> tuple[float | None, float | None, float | None]:
    """Score, worst and best of pairs of points and marks, those that do not apply left out.

    >>> score_of([(5, 1), (3, 0), (-2, 1)])
    (0.375, 0.375, 0.375)
    >>> score_of([(5, 1), (3, None), (-2, None)])
    (None, 0.375, 1.0)
    >>> score_of([(-2, 1)])
    (None, None, None)
    """
    positive = math.fsum(points for points, _ in marks if points > 0)
    if positive <= 0:
        return None, None, None
    open_ = [points for points, mark in marks if mark is None]
    met = math.fsum(points * mark for points, mark in marks if mark is not None)
    worst = (met + math.fsum(min(0.0, points) for points in open_)) / positive
    best = (met + math.fsum(max(0.0, points) for points in open_)) / positive
    return (None if open_ else met / positive), worst, best


def _chosen(table: RatingTable, raters: Names | None) -> list[str]:
    """The raters with marks: those that are named, or juries before judges before clinicians. Means are not
    weighted, so nobody is among them whose answers were drawn with unequal probabilities."""
    there = set(table.rows.filter(table.rows[CRITERION].is_not_null())["rater"].unique().to_list())
    order = {"jury": 0, "judge": 1}
    if raters is not None:
        listed = [raters] if isinstance(raters, str) else list(raters)
        if unknown := [name for name in listed if name not in there]:
            known = ", ".join(sorted(there))
            raise MedjuryError(f"{unknown[0]!r} has marked no criteria; those who have are {known}")
        refuse_unequal(table.unequal, listed)
        return listed
    if there <= {*table.unequal}:
        refuse_unequal(table.unequal, there)
    return sorted(there - {*table.unequal}, key=lambda name: (order.get(table.raters[name], 2), name))


def _answers(table: RatingTable, rater: str) -> Iterator[AnswerScore]:
    """Every answer of which the rater marked a criterion, over all criteria and by each of their tags."""
    import polars as pl

    marks: dict[tuple[str, str], dict[str, Mark]] = defaultdict(dict)
    skipped: dict[tuple[str, str], set[str]] = defaultdict(set)
    own = table.rows.filter((pl.col("rater") == rater) & pl.col(CRITERION).is_not_null())
    # Repeats of a mark are its mean; a mark that no repeat gave is not there, or does not apply.
    cells = own.group_by(CASE, "system", CRITERION, maintain_order=True).agg(
        pl.col("score").mean(), (pl.col("status") == "not_applicable").all().alias("skips")
    )
    for case, system, criterion, score, skips in cells.iter_rows():
        answer = case, system
        marks[answer].setdefault(criterion, None)
        if skips:
            skipped[answer].add(criterion)
        marks[answer][criterion] = score
    for (case, system), found in marks.items():
        criteria, without = table.criteria.get(case, ()), skipped[case, system]
        for tag in ("", *sorted({tag for each in criteria for tag in each.tags})):
            wanted = [each for each in criteria if not tag or tag in each.tags]
            yield _answer(case, system, rater, tag, wanted, found, without)


def _answer(
    case: str,
    system: str,
    rater: str,
    tag: str,
    criteria: Sequence[Criterion],
    marks: Mapping[str, Mark],
    skipped: set[str],
) -> AnswerScore:
    applying = [(each.points, marks.get(each.id)) for each in criteria if each.id not in skipped]
    score, worst, best = score_of(applying)
    return AnswerScore(
        case,
        system,
        rater,
        tag,
        score,
        worst,
        best,
        len(criteria),
        sum(mark is None for _, mark in applying),
        len(criteria) - len(applying),
    )


def _by_system(
    answers: Sequence[AnswerScore], rater: str, table: RatingTable
) -> dict[tuple[str, str], list[AnswerScore]]:
    """By system and tag, the rater's answers: first over all criteria, then by the criteria's tags, then by tags of
    cases, where these make groups."""
    found: dict[tuple[str, str], list[AnswerScore]] = {}
    own = sorted((each for each in answers if each.rater == rater), key=lambda each: (each.system, each.tag))
    for each in own:
        found.setdefault((each.system, each.tag), []).append(each)
    grouping = _grouping({each.item for each in own}, table.run.case_tags)
    for each in own:
        for tag in () if each.tag else table.run.case_tags.get(each.item, ()):
            if tag.partition(":")[0] in grouping:
                found.setdefault((each.system, tag), []).append(each)
    return dict(sorted(found.items(), key=lambda pair: pair[0]))


def _grouping(items: set[str], tags: Mapping[str, Sequence[str]]) -> set[str]:
    """The names whose values group cases, and do not name each."""
    values: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for tag in tags.get(item, ()):
            values[tag.partition(":")[0]].add(tag)
    return {name for name, own in values.items() if len(own) <= MOST_GROUPS and len(own) < len(items)}


def _row(
    system: str,
    rater: str,
    kind: str,
    tag: str,
    answers: Sequence[AnswerScore],
    clusters: Mapping[str, str],
    design: Mapping[str, Any],
) -> CriteriaRow:
    whole = [each for each in answers if each.score is not None]
    bounded = [each for each in answers if each.worst is not None]
    scores = np.array([each.score for each in whole], dtype=np.float64)
    names = [clusters[each.item] for each in whole]
    why = "no answer was marked in full" if bounded else "no positive points"
    found = _mean(scores, names, design, why)
    return CriteriaRow(
        system,
        rater,
        kind,
        tag,
        _clipped(found),
        found.value,
        float(np.mean([each.worst for each in bounded])) if bounded else None,
        float(np.mean([each.best for each in bounded])) if bounded else None,
        None,
        len(whole),
        len(bounded) - len(whole),
        len({clusters[each.item] for each in bounded}),
        sum(each.unmarked for each in answers),
        sum(each.not_applicable for each in answers),
    )


def _mean(scores: Floats, clusters: Sequence[str], design: Mapping[str, Any], why: str) -> Estimate:
    if not len(scores):
        return undefined(why, 0, "mean")

    def statistics(rows: Floats) -> Read:
        values = rows[:, 0]
        return lambda weights: {"mean": weights @ values / weights.sum(axis=-1)}

    found = bootstrap(scores, statistics, clusters=list(clusters), **design)["mean"]
    # The mean itself is taken as anybody would: the last digit does not depend on how rows are weighted.
    return replace(found, value=float(np.mean(scores)))


def _clipped(found: Estimate) -> Estimate:
    def clip(number: float | None) -> float | None:
        return None if number is None else min(1.0, max(0.0, number))

    return replace(found, value=clip(found.value), low=clip(found.low), high=clip(found.high))


def _between(row: CriteriaRow) -> str:
    return (
        ""
        if not row.partly or row.worst is None or row.best is None
        else f"{shown(row.worst)} to {shown(row.best)}"
    )


# Length


Sizes = Mapping[tuple[str, str], float]  # of an answer, the logarithm of its length


def _whole(answers: Sequence[AnswerScore], sizes: Sizes, rater: str) -> Iterator[tuple[str, float, float]]:
    """System, size and score of each answer that the rater marked in full."""
    for each in answers:
        size = sizes.get((each.item, each.system))
        if each.rater == rater and not each.tag and each.score is not None and size is not None:
            yield each.system, size, each.score


def _slope(answers: Sequence[AnswerScore], sizes: Sizes, rater: str) -> float | None:
    """The slope of the score on the logarithm of the length, within systems; None where it cannot be known."""
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for system, size, score in _whole(answers, sizes, rater):
        groups[system].append((size, score))
    if len(groups) < 2 or sum(map(len, groups.values())) < _FEWEST_FOR_LENGTH:
        return None
    centred = np.vstack([np.array(own) - np.mean(own, axis=0) for own in groups.values()])
    spread = float(centred[:, 0] @ centred[:, 0])
    return float(centred[:, 0] @ centred[:, 1]) / spread if spread > 1e-12 else None


def _at_equal_length(
    row: CriteriaRow, own: Sequence[AnswerScore], answers: Sequence[AnswerScore], slope: float, sizes: Sizes
) -> float | None:
    mine, everybody = ([size for _, size, _ in _whole(some, sizes, row.rater)] for some in (own, answers))
    if row.raw is None or len(mine) < row.answers or not min(mine) <= np.mean(everybody) <= max(mine):
        return None
    return row.raw - slope * float(np.mean(mine) - np.mean(everybody))


def _warnings(answers: Sequence[AnswerScore], table: RatingTable, aside: Iterable[str]) -> Iterator[str]:
    import polars as pl

    for name in aside:
        yield f"{name} is left out: these means do not weight answers that were drawn with unequal probabilities"
    whole = [each for each in answers if not each.tag]
    if partly := [each for each in whole if each.worst is not None and each.score is None]:
        lost = sum(each.unmarked for each in partly)
        yield (
            f"{lost:,} criteri{'on' if lost == 1 else 'a'} not marked in {counted(len(partly), 'score')} of "
            "answers, over all raters: such a score lies between worst and best, and is not in the mean"
        )
    unread = table.rows.filter(pl.col(CRITERION).is_not_null(), pl.col("reason") == "parse").height
    if unread and table.run.manifest is None:
        yield f"{counted(unread, 'mark')} cannot be read: write met, not met, not applicable, 1 or 0"
    none = {(each.item, each.system) for each in whole if each.worst is None}
    if strange := len({answer for answer in none if answer[0] not in table.criteria}):
        yield f"{counted(strange, 'answer')} without a score: the criteria of the case are not known"
    if without := len(none) - strange:
        yield f"{counted(without, 'answer')} without a score from some rater: no positive points apply"

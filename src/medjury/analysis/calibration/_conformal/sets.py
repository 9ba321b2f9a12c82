"""Conformal sets: which grades might a clinician give this case? An interval on the ordinal scale, case by case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.calibration._before_after import nearest_grade
from medjury.analysis.calibration._conformal.strangeness import (
    Strangeness,
    case_uniforms,
    check_level,
    first_share,
    strangeness,
)
from medjury.analysis.calibration._maps.calibrator import Floats, on_scale
from medjury.analysis.calibration._maps.folds import CASES_PER_FOLD, FOLDS, Cases, case_folds
from medjury.analysis.calibration._maps.ordinal import Ordinal
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, proportion, replicates

SetMethod = Literal["split", "cv+"]
Ties = Literal["exact", "conservative"]
EVERYONE = ""
_FEWEST_CASES = 50


@dataclass(frozen=True, slots=True, eq=False)
class GradeSets:
    """One set per item: `member[i, k]` says whether grade k is in it. Sets have no holes, so `low` and
    `high` are an interval; `width` counts grades. NaN (and no member) where the judge gave no score."""

    grades: tuple[float, ...]
    member: NDArray[np.bool_]
    low: Floats
    high: Floats

    @property
    def width(self) -> Floats:
        return np.where(np.isnan(self.low), np.nan, self.member.sum(axis=1))

    def covers(self, labels: ArrayLike) -> NDArray[np.bool_]:
        """Whether each label (rounded half up to a grade) is in its set; False where label or set is missing."""
        wanted = np.asarray(labels, dtype=float)
        known = ~np.isnan(wanted) & ~np.isnan(self.low)
        grade = nearest_grade(np.where(known, wanted, self.grades[0]), self.grades)
        return np.asarray(known & (grade >= self.low) & (grade <= self.high))


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    model: Ordinal
    groups: Mapping[str, Strangeness]


@dataclass(frozen=True, slots=True, eq=False)
class ConformalSets:
    """A fitted conformal predictor of grades; `predict` gives a set for each new item.

    What is guaranteed, for a random item of a new case drawn like the K labelled cases that were held out
    (and for each group, where groups were given): with `split` and conservative ties, the clinician's grade
    is in the set with probability at least `level`, whatever the judge and the model; with exact ties,
    `level` itself where a case has one item, and within 1 / (K + 1) of it where it has several. With `cv+`
    the proven bound is 2 · level − 1, less a term that vanishes with the number of cases (Barber et al.
    2021, Ann Stat 49:486-507); in practice it is close to `level`, and all labels are used instead of half
    of them. Not guaranteed: coverage among cases with one particular score, or after the cases, the judge
    or the clinicians change.
    """

    parts: tuple[_Part, ...]
    grades: tuple[float, ...]
    level: float
    method: SetMethod
    ties: Ties
    seed: int
    grouped: bool
    n_cases: Mapping[str, int]

    @classmethod
    def fit(
        cls,
        scores: ArrayLike,
        labels: ArrayLike,
        *,
        cases: Cases,
        grades: Sequence[float],
        level: float = 0.9,
        method: SetMethod = "cv+",
        groups: Sequence[str] | None = None,
        ties: Ties = "exact",
        folds: int = FOLDS,
        seed: int = 0,
    ) -> ConformalSets:
        """Fit on the labelled items. `groups` gives each group its own guarantee (Mondrian).

        Grades are few, so many items tie; `ties="exact"` breaks ties by a number drawn from the case's
        name, which makes coverage exact, and `"conservative"` keeps every tied grade, which makes sets
        larger.
        """
        taught = Taught.by(
            scores,
            labels,
            cases=cases,
            grades=grades,
            level=level,
            method=method,
            groups=groups,
            ties=ties,
            folds=folds,
            seed=seed,
        )
        return fit_sets([taught])[0]

    def predict(self, scores: ArrayLike, *, cases: Cases, groups: Sequence[str] | None = None) -> GradeSets:
        """The set of every item. A group without labelled cases is refused."""
        given = on_scale(scores, (self.grades[0], self.grades[-1]), "the judge's")
        if self.grouped and groups is None:
            raise MedjuryError("this conformal predictor was fitted by group: name the group of every item.")
        of = _group_names(groups if self.grouped else None, len(given))
        unknown = sorted(set(of.tolist()) - set(self.n_cases))
        if unknown:
            raise MedjuryError(
                f"group {unknown[0]!r} has no labelled cases, so nothing can be promised for it; "
                f"labelled groups: {', '.join(self.n_cases)}."
            )
        scored = ~np.isnan(given)
        uniform = np.ones(len(given)) if self.ties == "conservative" else case_uniforms(cases, self.seed)
        p_values = np.zeros((len(given), len(self.grades)))
        best = np.zeros((len(given), len(self.grades)))
        for part in self.parts:
            strange = _strange(part.model, self.grades, np.where(scored, given, self.grades[0]))
            best -= strange
            for group, labelled in part.groups.items():
                here = of == group
                stranger, equal = labelled.masses(strange[here])
                p_values[here] += stranger + uniform[here, np.newaxis] * equal
        new = np.array([1.0 / (self.n_cases[group] + 1) for group in of.tolist()])
        p_values += (uniform * new)[:, np.newaxis]
        member = p_values > 1 - self.level
        # Where ties leave nothing, the likeliest grade stays; holes are filled: both only add coverage.
        empty = ~member.any(axis=1)
        member[empty, best[empty].argmax(axis=1)] = True
        member = (
            np.maximum.accumulate(member, axis=1) & np.maximum.accumulate(member[:, ::-1], axis=1)[:, ::-1]
        )
        member[~scored] = False
        levels = np.asarray(self.grades)
        low = np.where(scored, levels[member.argmax(axis=1)], np.nan)
        high = np.where(scored, levels[::-1][member[:, ::-1].argmax(axis=1)], np.nan)
        return GradeSets(self.grades, member, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Taught:
    """What labelled items teach: scores and grades, and of each split who teaches the model and who the sets."""

    scores: Floats
    labels: Floats
    cases: NDArray[np.object_]
    groups: NDArray[np.object_]
    splits: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]]
    grades: tuple[float, ...]
    level: float
    method: SetMethod
    ties: Ties
    seed: int
    grouped: bool

    @classmethod
    def by(
        cls,
        scores: ArrayLike,
        labels: ArrayLike,
        *,
        cases: Cases,
        grades: Sequence[float],
        level: float,
        method: SetMethod,
        ties: Ties,
        seed: int,
        groups: Sequence[str] | None = None,
        folds: int = FOLDS,
    ) -> Taught:
        """The labelled items, split as the method wants; refused where they are too few."""
        known_grades = tuple(float(grade) for grade in grades)
        span = (known_grades[0], known_grades[-1])
        check_level(level)
        given, wanted = on_scale(scores, span, "the judge's"), on_scale(labels, span, "the reference's")
        taught = ~np.isnan(given) & ~np.isnan(wanted)
        names = np.array([str(case) for case in cases], dtype=object)[taught]
        if method == "split":
            training = first_share(names, 0.5, seed)
            if min(len(set(names[training])), len(set(names[~training]))) < CASES_PER_FOLD:
                raise MedjuryError(
                    f"too few labels: {len(set(names))} labelled cases; a split needs 10 or more."
                )
            splits = [(training, ~training)]
        else:
            fold = case_folds(names, folds=folds, seed=seed)
            splits = [(fold != number, fold == number) for number in range(folds)]
        x, y = given[taught], nearest_grade(wanted[taught], known_grades)
        of = _group_names(groups, len(given))[taught]
        return cls(x, y, names, of, splits, known_grades, level, method, ties, seed, groups is not None)

    def pairs(self) -> list[tuple[Floats, Floats]]:
        """Scores and grades that teach the model of each split."""
        return [(self.scores[training], self.labels[training]) for training, _ in self.splits]

    def sets(self, models: Sequence[Ordinal]) -> ConformalSets:
        tested = np.any([held for _, held in self.splits], axis=0)
        n_cases = {
            group: len(set(self.cases[tested & (self.groups == group)])) for group in sorted(set(self.groups))
        }
        parts = []
        for model, (_, held) in zip(models, self.splits, strict=True):
            values = _strange(model, self.grades, self.scores[held])[
                np.arange(int(held.sum())), np.searchsorted(self.grades, self.labels[held])
            ]
            names, of = self.cases[held], self.groups[held]
            by_group = {
                group: strangeness(values[of == group], names[of == group], n_cases[group])
                for group in n_cases
            }
            parts.append(_Part(model, by_group))
        return ConformalSets(
            tuple(parts),
            self.grades,
            self.level,
            self.method,
            self.ties,
            self.seed,
            self.grouped,
            n_cases,
        )


def fit_sets(several: Sequence[Taught]) -> list[ConformalSets]:
    """Sets of each, their models fitted together; all have the same scale."""
    scale = several[0].grades[0], several[0].grades[-1]
    models = iter(Ordinal.fit_each([pair for each in several for pair in each.pairs()], scale=scale))
    return [each.sets([next(models) for _ in each.splits]) for each in several]


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutSets:
    """Sets of every item from other cases' labels, and what they hold on the labelled ones."""

    sets: GradeSets
    coverage: Estimate
    mean_width: Estimate


def held_out_sets(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    cases: Cases,
    grades: Sequence[float],
    level: float = 0.9,
    groups: Sequence[str] | None = None,
    ties: Ties = "exact",
    folds: int = FOLDS,
    seed: int = 0,
    resamples: int = 2000,
) -> HeldOutSets:
    """A set for every item, made without its own case, so that coverage can be counted honestly."""
    given, wanted = np.asarray(scores, dtype=float), np.asarray(labels, dtype=float)
    names = np.array([str(case) for case in cases], dtype=object)
    of = _group_names(groups, len(given))
    taught = ~np.isnan(given) & ~np.isnan(wanted)
    number = dict(zip(names[taught], case_folds(names[taught], folds=folds, seed=seed).tolist(), strict=True))
    fold = np.array([number.get(name, folds) for name in names.tolist()])
    size = len(grades)
    member, low, high = np.zeros((len(given), size), dtype=bool), given * np.nan, given * np.nan
    parts = [fold == each for each in np.unique(fold)]
    taught_by = [
        Taught.by(
            given[~here],
            wanted[~here],
            cases=names[~here],
            grades=grades,
            level=level,
            method="cv+",
            groups=None if groups is None else of[~here].tolist(),
            ties=ties,
            folds=folds,
            seed=seed,
        )
        for here in parts
    ]
    for here, fitted in zip(parts, fit_sets(taught_by), strict=True):
        made = fitted.predict(
            given[here], cases=names[here], groups=None if groups is None else of[here].tolist()
        )
        member[here], low[here], high[here] = made.member, made.low, made.high
    sets = GradeSets(tuple(float(grade) for grade in grades), member, low, high)
    return measure_sets(sets, wanted, cases=names, resamples=resamples, seed=seed)


def measure_sets(
    sets: GradeSets,
    labels: Floats,
    *,
    cases: NDArray[np.object_],
    resamples: int,
    seed: int,
    confidence: float = 0.95,
) -> HeldOutSets:
    """Coverage and mean width on the labelled items; the sets must have been made without those labels. The share
    has Wilson's interval where each case has one item; quantiles of resamples held it in 83 to 89 % of studies of
    20 to 50 cases. With several items to a case that of BCa-t held in 99 % of studies of 20 or 30 cases: there is
    none of fewer than 50."""
    known = ~np.isnan(labels) & ~np.isnan(sets.low)
    rows = np.column_stack([sets.covers(labels), sets.width])[known]

    def means(table: Floats) -> Callable[[Floats], dict[str, Floats]]:
        return lambda weights: {
            name: weights @ table[:, column] / weights.sum(axis=-1)
            for column, name in enumerate(("coverage", "width"))
        }

    made = replicates(rows, means, clusters=cases[known], resamples=resamples, seed=seed)
    coverage = made.estimate("coverage", confidence=confidence, statistic="accuracy")
    if resamples and len(rows) and len(set(cases[known].tolist())) == len(rows):
        hits = int(rows[:, 0].sum())
        coverage = proportion(hits, len(rows), interval="wilson", confidence=confidence)
    elif made.units < _FEWEST_CASES and coverage.low is not None:
        few = f"{made.units} cases are too few, at least {_FEWEST_CASES} are needed"
        coverage = coverage.without_interval(few)
    return HeldOutSets(sets, coverage, made.estimate("width", confidence=confidence))


def _strange(model: Ordinal, grades: tuple[float, ...], scores: Floats) -> Floats:
    """1 − the probability of the grade, made to rise away from the likeliest grade so that sets have no holes."""
    probability = np.zeros((len(scores), len(grades)))
    probability[:, np.searchsorted(grades, model.grades)] = model.probabilities(scores)
    likeliest = probability.argmax(axis=1)[:, np.newaxis]
    place = np.arange(len(grades))
    from_left = np.maximum.accumulate(np.where(place <= likeliest, probability, 0.0), axis=1)
    right = np.where(place >= likeliest, probability, 0.0)
    from_right = np.maximum.accumulate(right[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(1.0 - np.where(place <= likeliest, from_left, from_right))


def _group_names(groups: Sequence[str] | None, size: int) -> NDArray[np.object_]:
    if groups is None:
        return np.full(size, EVERYONE, dtype=object)
    if len(groups) != size:
        raise MedjuryError(f"{size} items but {len(groups)} group names: give one per item.")
    return np.array([str(group) for group in groups], dtype=object)

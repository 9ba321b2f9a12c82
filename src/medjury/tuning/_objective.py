"""The objective: what a judgement is worth beside the clinicians' label, as a number and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from medjury.analysis.agreement import two_rater_statistics
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument, NotApplicable, Outcome, Score, Unscored
from medjury.judging import nearest_grade
from medjury.statistics import Floats, Read
from medjury.tables import Grades
from medjury.tuning._labelled_cases import Labelled

ObjectiveName = Literal["cost_matrix", "quadratic_kappa", "macro_f1", "rmse", "within_system_correlation"]
OBJECTIVES: tuple[ObjectiveName, ...] = get_args(ObjectiveName)
Matrix = tuple[tuple[float, ...], ...]
Outcomes = Mapping[str, Outcome]


@dataclass(frozen=True)
class Objective:
    """What is maximised. `reward` is for one case, a mean over dimensions; `whole` for many together.

    - `cost_matrix`: rows truth, columns said, as data (an instrument's parameter `cost_matrix`, or the study's).
    - `quadratic_kappa`, `within_system_correlation`: one case is worth 1 less its squared error as a share of the
      scale; the whole is the coefficient.
    - `macro_f1`: a right label is worth the more the rarer its class among the training cases; the whole is F1.
    - `rmse`: less the squared error as a share of the scale; the whole is less the root mean squared error.

    A case without a usable answer is worth the least that any answer can be worth: never the middle. In a whole, a
    failure pulls a coefficient towards −1, is a miss for F1, and an error of the whole scale for the RMSE.
    """

    name: ObjectiveName
    dimensions: tuple[Dimension, ...]
    matrix: Matrix | None = None
    weights: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def reward(self, case: Labelled, outcomes: Outcomes) -> float:
        return float(np.mean([self.on(each, case, outcomes[each.name]) for each in self.dimensions]))

    def regret(self, case: Labelled, outcomes: Outcomes) -> float:
        """The reward less that of a perfect answer: 0 is perfect, everything else is below."""
        perfect = np.mean([self.best(each, case) for each in self.dimensions])
        return min(0.0, self.reward(case, outcomes) - float(perfect))

    def on(self, dimension: Dimension, case: Labelled, outcome: Outcome) -> float:
        truth = case.truth[dimension.name]
        if truth is None:
            return self.best(dimension, case) if isinstance(outcome, NotApplicable) else self.worst(dimension)
        if not isinstance(outcome, Score):
            return self.worst(dimension)
        return self._worth(dimension, truth, outcome.value)

    def best(self, dimension: Dimension, case: Labelled) -> float:
        truth = case.truth[dimension.name]
        if truth is None:
            return 1.0 if self.matrix is None else max(max(row) for row in self.matrix)
        return self._worth(dimension, truth, nearest_grade(dimension, truth))

    def worst(self, dimension: Dimension) -> float:
        """What a failure is worth: no answer is worth less."""
        if self.matrix is not None:
            return min(min(row) for row in self.matrix)
        return -1.0 if self.name == "rmse" else 0.0

    def _worth(self, dimension: Dimension, truth: float, said: float) -> float:
        true, given = nearest_grade(dimension, truth), nearest_grade(dimension, said)
        if self.matrix is not None:
            return self.matrix[dimension.values.index(true)][dimension.values.index(given)]
        if self.name == "macro_f1":
            return self.weights[dimension.name].get(true, 1.0) if true == given else 0.0
        error = ((said - truth) / (dimension.highest - dimension.lowest)) ** 2
        return -error if self.name == "rmse" else 1.0 - error

    def whole(self, cases: Sequence[Labelled], said: Sequence[Outcomes]) -> float | None:
        """The objective of many cases, a mean over dimensions; None where it does not exist on one of them."""
        if not cases:
            return None
        rows = self.rows(cases, said)
        value = float(self.read(rows)(np.ones((1, len(rows))))[0])
        return None if np.isnan(value) else value

    def rows(self, cases: Sequence[Labelled], said: Sequence[Outcomes]) -> Floats:
        """What the whole depends on, a row for each case: its system, and for each dimension the grades and the
        scores of both sides (NaN: none), the reward, and whether no answer could be used."""
        systems = {
            name: place for place, name in enumerate(dict.fromkeys(each.case.system for each in cases))
        }
        found = []
        for case, outcomes in zip(cases, said, strict=True):
            row: list[float] = [systems[case.case.system]]
            for each in self.dimensions:
                truth, outcome = case.truth[each.name], outcomes[each.name]
                given = outcome.value if isinstance(outcome, Score) else None
                grades = [np.nan if one is None else nearest_grade(each, one) for one in (truth, given)]
                scores = [np.nan if one is None else one for one in (truth, given)]
                row += [*grades, *scores, self.on(each, case, outcome), isinstance(outcome, Unscored)]
            found.append(row)
        return np.array(found, dtype=np.float64)

    def read(self, rows: Floats) -> Callable[[Floats], Floats]:
        """The whole by how often each row counts: a value for each line of weights, NaN where it does not exist."""
        parts = [
            self._read_on(each, rows[:, 1 + _COLUMNS * place : 1 + _COLUMNS * (place + 1)], rows[:, 0])
            for place, each in enumerate(self.dimensions)
        ]
        return lambda weights: np.asarray(np.mean([part(weights) for part in parts], axis=0))

    def _read_on(self, dimension: Dimension, rows: Floats, systems: Floats) -> Callable[[Floats], Floats]:
        rewards, failed = rows[:, 4], rows[:, 5]
        if self.name == "macro_f1":
            return _macro_f1(dimension, rows)
        if self.name in ("cost_matrix", "rmse"):
            width = dimension.highest - dimension.lowest

            def mean(weights: Floats) -> Floats:
                found = weights @ rewards / weights.sum(axis=1)
                return np.asarray(-np.sqrt(np.maximum(-found, 0.0)) * width if self.name == "rmse" else found)

            return mean
        if self.name == "quadratic_kappa":
            grades = Grades(tuple(float(value) for value in dimension.values))
            coefficient = two_rater_statistics(["kappa_quadratic"], grades)(rows[:, :2])
        else:
            coefficient = _within(rows[:, 2:4], systems)

        def pulled(weights: Floats) -> Floats:
            """A failure pulls the coefficient towards −1, also where nothing else is there."""
            lost = weights @ failed / weights.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):  # no pair is left
                found = np.where(lost == 1.0, 0.0, coefficient(weights)[self.statistic])
            return np.asarray((1.0 - lost) * found - lost)

        return pulled

    @property
    def statistic(self) -> str:
        """The statistic whose intervals those of the whole are."""
        return {"quadratic_kappa": "kappa_quadratic", "within_system_correlation": "spearman"}.get(
            self.name, self.name
        )

    def why_no_interval(self, cases: Sequence[Labelled]) -> str:
        """F1 of a class that clinicians gave a few times is known to nobody."""
        if self.name != "macro_f1":
            return ""
        for each in self.dimensions:
            for grade, count in Counter(case.grade(each) for case in cases).items():
                if count < _OF_EACH_CLASS and grade is not None:
                    return (
                        f"no interval: the clinicians gave {grade} only {count} times, at least {_OF_EACH_CLASS} "
                        "are needed"
                    )
        return ""


_COLUMNS = 6  # of a dimension in the rows of an objective
_OF_EACH_CLASS = 5  # as in the tables of agreement


def make_objective(
    name: str | None, instrument: Instrument, dimensions: Sequence[Dimension], training: Sequence[Labelled],
    matrix: Sequence[Sequence[float]] | None = None,
) -> Objective:  # fmt: skip
    """The objective of a tuning: the study's matrix, else the instrument's, where there is one; else the kappa."""
    given = matrix if matrix is not None else instrument.parameters.get("cost_matrix")
    chosen = name or ("cost_matrix" if given is not None else "quadratic_kappa")
    if chosen not in OBJECTIVES:
        raise MedjuryError(f"there is no objective {chosen!r}; there are {', '.join(OBJECTIVES)}")
    checked = None
    if chosen == "cost_matrix":
        if given is None:
            raise MedjuryError(
                f"the objective is a cost matrix, and {instrument.name} has none; give `cost_matrix`"
            )
        checked = _checked(given, dimensions)
    weights = {}
    if chosen == "macro_f1":
        for each in dimensions:
            counts = Counter(grade for case in training if (grade := case.grade(each)) is not None)
            weights[each.name] = {
                grade: sum(counts.values()) / (len(counts) * count) for grade, count in counts.items()
            }
    return Objective(chosen, tuple(dimensions), checked, weights)


def _checked(given: object, dimensions: Sequence[Dimension]) -> Matrix:
    rows = given if isinstance(given, Sequence) else ()
    for each in dimensions:
        square = len(rows) == len(each.values) and all(
            isinstance(row, Sequence) and len(row) == len(each.values) for row in rows
        )
        if not square:
            raise MedjuryError(
                f"the cost matrix must have {len(each.values)} rows (truth) and columns (said), one for "
                f"each grade of {each.name}; choose `dimensions`, or another `objective`"
            )
    matrix: Matrix = tuple(tuple(float(value) for value in row) for row in rows)
    for at, row in enumerate(matrix):
        if max(row) > row[at]:
            raise MedjuryError(
                f"the cost matrix rewards a wrong grade more than the right one (row {at + 1}); turn rows "
                "and columns so that rows are the truth, or correct it"
            )
    return matrix


def _within(scores: Floats, systems: Floats) -> Read:
    """Spearman's correlation within each system, a mean weighted by the system's cases."""
    known = ~np.isnan(scores).any(axis=1)
    parts = []
    for system in np.unique(systems[known]):
        places = np.flatnonzero(known & (systems == system))
        parts.append((places, _midranks(scores[places, 0]), _midranks(scores[places, 1])))

    def read(weights: Floats) -> dict[str, Floats]:
        total, counted = np.zeros(len(weights)), np.zeros(len(weights))
        for places, first, second in parts:
            own = weights[:, places]
            cases = own.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                one, two = first(own), second(own)
                one, two = (
                    each - (own * each).sum(axis=1, keepdims=True) / cases[:, None] for each in (one, two)
                )
                spread = np.sqrt((own * one**2).sum(axis=1) * (own * two**2).sum(axis=1))
                found = (own * one * two).sum(axis=1) / spread
            there = np.isfinite(found) & (spread > _SAME)
            total += np.where(there, cases * np.where(there, found, 0.0), 0.0)
            counted += np.where(there, cases, 0.0)
        return {"spearman": np.where(counted > 0, total / np.maximum(counted, 1.0), np.nan)}

    return read


_SAME = 1e-9


def _midranks(values: Floats) -> Callable[[Floats], Floats]:
    """The ranks of the values where each counts as often as its weight says; equals share the middle."""
    levels, place = np.unique(values, return_inverse=True)
    of_level = np.eye(len(levels))[place]

    def read(weights: Floats) -> Floats:
        together = weights @ of_level
        return np.asarray((np.cumsum(together, axis=1) - together + (together + 1) / 2)[:, place])

    return read


def _macro_f1(dimension: Dimension, rows: Floats) -> Callable[[Floats], Floats]:
    """The mean F1 of the classes that are there; a failure is a miss of its class and a hit of none."""
    truth, said = ([(column == grade) * 1.0 for grade in dimension.values] for column in rows[:, :2].T)

    def read(weights: Floats) -> Floats:
        total, there = np.zeros(len(weights)), np.zeros(len(weights))
        for true, given in zip(truth, said, strict=True):
            is_there = weights @ true > 0
            both = np.maximum(weights @ true + weights @ given, 1.0)
            total += np.where(is_there, 2 * (weights @ (true * given)) / both, 0.0)
            there += is_there
        return total / np.maximum(there, 1.0)

    return read


# Feedback: what a judge said, what the clinicians said and why, and how bad the miss is, in words for a model that
# writes a better prompt and for an auditor who reads what it was told.


def feedback(case: Labelled, outcomes: Outcomes, objective: Objective) -> str:
    """A few lines on every dimension, the misses with all that is known."""
    return "\n".join(
        _feedback_on(each, case, outcomes[each.name], objective) for each in objective.dimensions
    )


def _feedback_on(dimension: Dimension, case: Labelled, outcome: Outcome, objective: Objective) -> str:
    best = objective.best(dimension, case)
    worth = objective.on(dimension, case, outcome)
    right = _grade_words(dimension, case.truth[dimension.name])
    if worth >= best:
        return f"{dimension.name}: right, {right}."
    lines = [f"{dimension.name}: {_said(dimension, outcome)} The clinicians say {right}."]
    if reasons := case.reasons[dimension.name]:
        lines.append(f"Why, in the clinicians' words: {'; '.join(reasons)}")
    least = min(objective.worst(dimension), worth)
    lines.append(_how_bad(best - worth, best - least))
    return " ".join(lines)


def _said(dimension: Dimension, outcome: Outcome) -> str:
    match outcome:
        case Unscored(reason, message):
            return f"the judge gave no usable answer ({reason.value}: {message})."
        case NotApplicable(explanation):
            return f"the judge said that it does not apply{_because(explanation)}."
        case Score(value, explanation):
            return f"the judge said {_grade_words(dimension, value)}{_because(explanation)}."


def _because(explanation: str) -> str:
    return f", because: {explanation.strip().rstrip('.')}" if explanation.strip() else ""


def _grade_words(dimension: Dimension, value: float | None) -> str:
    if value is None:
        return "that it does not apply"
    grade = nearest_grade(dimension, value)
    exact = f"{value:g}" if value != grade else f"{grade}"
    return f"{exact} ({dimension.grades[grade].strip().rstrip('.')})"


def _how_bad(lost: float, most: float) -> str:
    share = lost / most if most > 0 else 1.0
    word = "as bad as a miss can be" if share > 0.95 else "a grave miss" if share > 0.5 else "a small miss"
    return f"This is {word}: it loses {lost:.2f} of {most:.2f}."

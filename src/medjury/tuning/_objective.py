"""The objective: what a judgement is worth beside the clinicians' label, as a number and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from medjury.analysis.agreement import cohen_kappa
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument, NotApplicable, Outcome, Score, Unscored
from medjury.tuning._labelled_cases import Labelled, nearest_grade

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
        found = [self._whole_on(each, cases, [one[each.name] for one in said]) for each in self.dimensions]
        known = [each for each in found if each is not None]
        return float(np.mean(known)) if found and len(known) == len(found) else None

    def _whole_on(
        self, dimension: Dimension, cases: Sequence[Labelled], said: Sequence[Outcome]
    ) -> float | None:
        rewards = [self.on(dimension, case, each) for case, each in zip(cases, said, strict=True)]
        if not rewards:
            return None
        if self.name == "cost_matrix":
            return float(np.mean(rewards))
        if self.name == "rmse":
            return -float(np.sqrt(-np.mean(rewards))) * (dimension.highest - dimension.lowest)
        if self.name == "macro_f1":
            return _macro_f1(dimension, cases, said)
        pairs = [
            (truth, each.value, case.case.system)
            for case, each in zip(cases, said, strict=True)
            if (truth := case.truth[dimension.name]) is not None and isinstance(each, Score)
        ]
        failed = sum(isinstance(each, Unscored) for each in said) / len(said)
        value = _kappa(dimension, pairs) if self.name == "quadratic_kappa" else _within(pairs)
        return None if value is None and failed < 1 else (1 - failed) * (value or 0.0) - failed


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


def _kappa(dimension: Dimension, pairs: Sequence[tuple[float, float, str]]) -> float | None:
    if len(pairs) < 2:
        return None
    truth = [nearest_grade(dimension, each[0]) for each in pairs]
    said = [nearest_grade(dimension, each[1]) for each in pairs]
    found = cohen_kappa(truth, said, scale=list(dimension.values), weights="quadratic", interval="none")
    return found.value


def _within(pairs: Sequence[tuple[float, float, str]]) -> float | None:
    """Spearman's correlation within each system, a mean weighted by the system's cases."""
    from scipy.stats import rankdata

    total, weight = 0.0, 0
    for system in {each[2] for each in pairs}:
        own = np.array([each[:2] for each in pairs if each[2] == system])
        ranks = np.column_stack([rankdata(own[:, 0]), rankdata(own[:, 1])])
        if len(own) > 1 and ranks.std(axis=0).min() > 0:
            total += len(own) * float(np.corrcoef(ranks.T)[0, 1])
            weight += len(own)
    return total / weight if weight else None


def _macro_f1(dimension: Dimension, cases: Sequence[Labelled], said: Sequence[Outcome]) -> float:
    """The mean F1 of the classes that are there; a failure is a miss of its class and a hit of none."""
    truths = [case.grade(dimension) for case in cases]
    given = [nearest_grade(dimension, each.value) if isinstance(each, Score) else None for each in said]
    scores = []
    for grade in sorted({each for each in truths if each is not None}):
        hits = sum(t == grade == s for t, s in zip(truths, given, strict=True))
        scores.append(2 * hits / (truths.count(grade) + given.count(grade)))
    return float(np.mean(scores)) if scores else 0.0


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

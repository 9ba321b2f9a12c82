"""Feedback: what a judge said, what the clinicians said and why, and how bad the miss is, in words for a model that
writes a better prompt and for an auditor who reads what it was told."""

from __future__ import annotations

from medjury.instruments import Dimension, NotApplicable, Outcome, Score, Unscored
from medjury.tuning._labelled import Labelled, nearest_grade
from medjury.tuning._objective import Objective, Outcomes


def feedback(case: Labelled, outcomes: Outcomes, objective: Objective) -> str:
    """A few lines on every dimension, the misses with all that is known."""
    return "\n".join(_on(each, case, outcomes[each.name], objective) for each in objective.dimensions)


def _on(dimension: Dimension, case: Labelled, outcome: Outcome, objective: Objective) -> str:
    best = objective.best(dimension, case)
    worth = objective.on(dimension, case, outcome)
    right = _words(dimension, case.truth[dimension.name])
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
            return f"the judge said {_words(dimension, value)}{_because(explanation)}."


def _because(explanation: str) -> str:
    return f", because: {explanation.strip().rstrip('.')}" if explanation.strip() else ""


def _words(dimension: Dimension, value: float | None) -> str:
    if value is None:
        return "that it does not apply"
    grade = nearest_grade(dimension, value)
    exact = f"{value:g}" if value != grade else f"{grade}"
    return f"{exact} ({dimension.grades[grade].strip().rstrip('.')})"


def _how_bad(lost: float, most: float) -> str:
    share = lost / most if most > 0 else 1.0
    word = "as bad as a miss can be" if share > 0.95 else "a grave miss" if share > 0.5 else "a small miss"
    return f"This is {word}: it loses {lost:.2f} of {most:.2f}."

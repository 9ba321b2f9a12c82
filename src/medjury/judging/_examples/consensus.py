"""What clinicians say together about one answer: the scores and the words that a worked example shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medjury.instruments import (
    Dimension,
    Instrument,
    NotApplicable,
    Outcome,
    Score,
    Unscored,
    apply_skips,
    derive,
    read_grade,
)
from medjury.judging._counting.combine import combine
from medjury.store.ratings import Rating


@dataclass(frozen=True, slots=True)
class Consensus:
    """One grade per dimension (None: not applicable), and in the clinicians' own words why."""

    scores: Mapping[str, int | None]
    explanations: Mapping[str, str]


def consensus_of(instrument: Instrument, ratings: Sequence[Rating], clinicians: int) -> Consensus | str:
    """The consensus on one answer from its clinicians' rows, or why there is none.

    On each dimension it is the median of the clinicians, taken half up to the nearest grade of the scale (2.5
    is shown as 3); it does not apply where more than half of them say so. It takes `clinicians` of them.
    """
    scores: dict[str, int | None] = {}
    explanations: dict[str, str] = {}
    for dimension in instrument.dimensions:
        rows = [row for row in ratings if row.dimension == dimension.name]
        words = _words(rows)
        if len(words) < clinicians:
            some = "one clinician" if clinicians == 1 else f"{clinicians} clinicians"
            return f"fewer than {some} rated every dimension"
        together = combine(words, seats=len(words), rule="median", quorum=clinicians)
        if isinstance(together, Unscored):
            return "the clinicians are divided over whether a dimension applies"
        grade = nearest_grade(dimension, together.value) if isinstance(together, Score) else None
        scores[dimension.name] = grade
        explanations[dimension.name] = _why(dimension, grade, rows)
    if not _allowed(instrument, scores):
        return "the consensus is no answer the instrument allows (not applicable, skip rules)"
    return Consensus(scores, explanations)


def nearest_grade(dimension: Dimension, value: float) -> int:
    """The grade nearest to a number; of two that are as near, the higher."""
    return min(dimension.values, key=lambda grade: (abs(grade - value), -grade))


def level_of(instrument: Instrument, scores: Mapping[str, int | None], dimension: str | None) -> float | None:
    """How good an answer is: its score on a dimension or composite or, where none is named, the mean of all its
    dimensions, each brought to a scale from 0 (bad) to 1 (good). None where it does not apply."""
    if dimension is None:
        parts = [
            _goodness(instrument.dimension(name), grade)
            for name, grade in scores.items()
            if grade is not None
        ]
        return sum(parts) / len(parts) if parts else None
    outcomes: dict[str, Outcome] = {
        name: NotApplicable() if grade is None else Score(grade) for name, grade in scores.items()
    }
    found = {**outcomes, **derive(instrument, outcomes)}[dimension]
    return found.value if isinstance(found, Score) else None


def _goodness(dimension: Dimension, grade: int) -> float:
    if dimension.lowest == dimension.highest:
        return 1.0
    share = (grade - dimension.lowest) / (dimension.highest - dimension.lowest)
    return share if dimension.higher_is_better else 1.0 - share


def _words(rows: Iterable[Rating]) -> list[Outcome]:
    """One word of each clinician who gave one; somebody who rated twice is heard once, by the median."""
    by_clinician: dict[str, list[Outcome]] = {}
    for row in rows:
        by_clinician.setdefault(row.rater, []).append(row.outcome)
    heard = [combine(said, seats=len(said), rule="median") for said in by_clinician.values()]
    return [word for word in heard if not isinstance(word, Unscored)]


def _why(dimension: Dimension, grade: int | None, rows: Sequence[Rating]) -> str:
    """The fullest comment of a clinician who said this very thing; without one, the rubric's line for the grade,
    since an empty explanation would teach a judge to give none."""
    said = "not_applicable" if grade is None else "scored"
    comments = [row.explanation.strip() for row in rows if row.status == said and row.score == grade]
    comment = max(comments, key=lambda text: (len(text), text), default="")
    if comment:
        return comment
    return "This does not apply here." if grade is None else dimension.grades[grade]


def _allowed(instrument: Instrument, scores: Mapping[str, int | None]) -> bool:
    outcomes = {name: read_grade(instrument.dimension(name), grade) for name, grade in scores.items()}
    settled = apply_skips(instrument, outcomes)
    return all(
        settled[name] == outcome and not isinstance(outcome, Unscored) for name, outcome in outcomes.items()
    )

"""The training side of a study: cases that clinicians graded and that judges may be shown as examples.

What clinicians say together about an answer is what its worked example shows. What is on the training side is never
counted in a validation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from medjury.foundation.errors import MedjuryError
from medjury.foundation.hashes import json_hash
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
from medjury.intake.cases import Case, Redactor
from medjury.judging._families import Family, deal_families, families_of, kin_of, record_sketch
from medjury.judging._jury_rule import combine
from medjury.judging._prompt import question_text
from medjury.store.ratings import Rating

_MOST_COMPARED = 1_000


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
        return "the consensus is not an answer that the instrument allows (not applicable, skip rules)"
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
    """The fullest comment of a clinician who gave this very grade; without one, the rubric's line for the grade,
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


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """An answer that clinicians graded: the question as a judge gets it, and what they said. `kin` are the marks
    of everything that belongs to it (see `kin_of`): no case that bears one of them may be shown it, nor one whose
    record is nearly the same by its `sketch`."""

    item: str
    system: str
    question: str
    scores: Mapping[str, int | None]
    explanations: Mapping[str, str]
    kin: frozenset[str]
    sketch: frozenset[int] = frozenset()


@dataclass(frozen=True)
class TrainingSplit:
    """What may be shown, and all that is held apart for it. `rated` counts the answers that any clinician rated,
    `left_out` those that cannot be shown, by reason; `held_out` the rated items that remain for validation."""

    examples: tuple[WorkedExample, ...]
    development: tuple[str, ...]
    rated: int
    left_out: Mapping[str, int]
    held_out: int

    def fingerprint(self) -> str:
        """SHA-256 of every example and of every item on the training side."""
        content = [
            list(self.development),
            [
                [each.item, each.system, each.question, dict(each.scores), dict(each.explanations),
                 sorted(each.kin)]
                for each in self.examples
            ],
        ]  # fmt: skip
        return json_hash(content)


def split_training(
    cases: Iterable[Case],
    ratings: Iterable[Rating],
    instrument: Instrument,
    *,
    share: float = 0.3,
    items: Collection[str] | None = None,
    seed: int = 0,
    clinicians: int = 2,
    redactor: Redactor | None = None,
) -> TrainingSplit:
    """Set a `share` of the answers that clinicians graded apart, or the named `items` with all that belongs to
    them. The cases are read two or three times and only the texts of those set apart are kept; with a `redactor`
    these, and the clinicians' comments on them, are redacted before they are kept.

    An answer can be shown where `clinicians` or more rated every dimension of it (see `consensus_of`).
    """
    if iter(cases) is cases:
        raise MedjuryError(
            "the cases are read more than once, and these can be read only once; give a list or a reader"
        )
    agreed, left_out, rated = _agreed(ratings, instrument, clinicians)
    families, there = families_of(cases, instrument, rated)
    left_out["there is no such case"] += len(agreed.keys() - there)
    agreed = {answer: said for answer, said in agreed.items() if answer in there}
    if items is None:
        wanted = math.ceil(share * len(agreed) - 1e-9)
        chosen, _ = deal_families(families, Counter(item for item, _ in agreed), [wanted], seed=seed)
    else:
        chosen = _named(families, items)
    training = {item for family in chosen for item in family.items}
    shown = training if items is None else set(items)
    kin = {item: family.marks for family in chosen for item in family.items}
    examples = []
    for case in cases:
        if case.id not in shown or (case.id, case.system) not in agreed:
            continue
        made = _work(case, agreed[case.id, case.system], kin[case.id], instrument, redactor)
        if made is None:
            left_out["the case lacks an input that the instrument needs"] += 1
        else:
            examples.append(made)
    everyone = {item for family in families for item in family.items}
    return TrainingSplit(
        tuple(examples), tuple(sorted(training)), len(rated), dict(+left_out), len(everyone - training)
    )


def _agreed(
    ratings: Iterable[Rating], instrument: Instrument, clinicians: int
) -> tuple[dict[tuple[str, str], Consensus], Counter[str], set[tuple[str, str]]]:
    """The consensus on every answer that has one; why the others have none; and all that were rated."""
    rows: dict[tuple[str, str], list[Rating]] = {}
    for row in ratings:
        if row.rater_kind == "clinician":
            rows.setdefault((row.item, row.system), []).append(row)
    agreed: dict[tuple[str, str], Consensus] = {}
    left_out: Counter[str] = Counter()
    for answer, given in rows.items():
        found = consensus_of(instrument, given, clinicians)
        if isinstance(found, str):
            left_out[found] += 1
        else:
            agreed[answer] = found
    return agreed, left_out, set(rows)


def _named(families: Iterable[Family], items: Collection[str]) -> list[Family]:
    known = {item: family for family in families for item in family.items}
    for item in items:
        if item not in known:
            close = get_close_matches(item, list(known)[:_MOST_COMPARED], n=1)
            hint = f"did you mean {close[0]!r}?" if close else "name one that is in the ratings"
            raise MedjuryError(f"{item!r} is not a case that a clinician rated; {hint}")
    found = {id(known[item]): known[item] for item in items}
    return list(found.values())


def _work(
    case: Case, said: Consensus, kin: frozenset[str], instrument: Instrument, redactor: Redactor | None
) -> WorkedExample | None:
    explanations = said.explanations
    if redactor is not None:
        case = redactor.redact(case).case
        explanations = redactor.redact(Case(case.id, texts=explanations)).case.texts
        kin = kin | kin_of(case, instrument)  # a case is met again with its redacted record
    question = question_text(instrument, case)
    if isinstance(question, Unscored):
        return None
    return WorkedExample(
        case.id, case.system, question, said.scores, dict(explanations), kin, record_sketch(case, instrument)
    )

"""What a judge is asked about each case that clinicians rated, and which answer it learns to avoid."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Explain, Instrument, Unscored
from medjury.intake.cases import Case, content_marks
from medjury.judging import Consensus, Judge, Rater, Repeats, consensus_of, worked_messages
from medjury.models import Message, Request, worded
from medjury.store.ratings import Rating

NO_QUESTION = "the case lacks an input that the instrument needs"
Answer = tuple[str, str]  # item and system


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a judge about one answer, the part of the instrument it asks about, and its ratings."""

    item: str
    system: str
    case_hash: str
    marks: frozenset[str]  # by which the case is known again, whatever it is called
    instrument: Instrument
    explain: Explain
    prompt: tuple[Message, ...]
    ratings: tuple[Rating, ...]

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.instrument.dimensions)

    def lesson(self, rater: str | None = None, **answers: Consensus) -> dict[str, Any]:
        """The question with these answers in the form that the judge's reader reads, as trainers take them."""
        row: dict[str, Any] = {"item": self.item, "system": self.system}
        row |= {} if rater is None else {"rater": rater}
        row["prompt"] = [{"role": each.role, "content": each.content} for each in self.prompt]
        for name, said in answers.items():
            worked = worked_messages("", said.scores, said.explanations, self.dimensions, self.explain)
            row[name] = [{"role": "assistant", "content": worked[1].content}]
        return row


def plain_judge(rater: Rater) -> Judge:
    """The judge inside its rules for windows and models, or why it cannot be trained."""
    inner: object = rater
    while not isinstance(inner, Repeats | Judge) and hasattr(inner, "rater"):
        inner = inner.rater
    if isinstance(inner, Repeats):
        return inner.judge
    if not isinstance(inner, Judge):
        raise MedjuryError(
            f"the judge {rater.name} asks in several steps; what is trained is a judge that asks one question a "
            "case: give it `strategy: single`, or name another with --judge"
        )
    return inner


def questions(
    judge: Judge, cases: Iterable[Case], ratings: Iterable[Rating], left_out: Counter[str]
) -> list[Question]:
    """Every question of the judge about an answer that was rated; what cannot be asked is counted in `left_out`."""
    said: dict[Answer, list[Rating]] = {}
    for row in ratings:
        said.setdefault((row.item, row.system), []).append(row)
    found: list[Question] = []
    for case in cases:
        rows = said.pop((case.id, case.system), None)
        if rows is None:
            continue
        for unit in judge.units(case, 0):
            request = judge.request(unit)
            if isinstance(request, Unscored):
                left_out[NO_QUESTION] += 1
                continue
            own = tuple(row for row in rows if row.dimension in unit.dimensions)
            part = part_of(judge.instrument, unit.dimensions)
            found.append(
                Question(
                    case.id,
                    case.system,
                    case.fingerprint(),
                    content_marks(case),
                    part,
                    judge.explain,
                    _as_asked(request, case),
                    own,
                )
            )
    if said:
        left_out["there is no such case"] += len(said)
    return found


def _as_asked(request: Request, case: Case) -> tuple[Message, ...]:
    """The question with a token of its own, as every question of a run has one. An answer that is the object alone
    needs none, and that is what is taught."""
    if request.plain:
        return request.messages
    token = hashlib.sha256(f"lesson {case.fingerprint()}".encode()).hexdigest()[:10]
    return worded(replace(request, token=token), native=True)


def part_of(instrument: Instrument, dimensions: Sequence[str]) -> Instrument:
    """The instrument with these dimensions alone."""
    own = tuple(each for each in instrument.dimensions if each.name in dimensions)
    return replace(instrument, dimensions=own, reversed=(), composites=(), examples=())


# Which grades a judge is to learn not to give, beside the clinicians' median.
#
# `one_higher` is the rule of Croxford et al. (2025): every grade one point higher, to make a lenient judge
# stricter. At the top of the scale there is nothing higher, of which the paper does not speak: the grade stays. A
# dimension with two grades is no scale to go up on: it keeps its grade unless `binary` says `change`. A dimension
# on which another's "not applicable" depends keeps its grade always: the answer would be none that the instrument
# allows.


RejectedRule = Literal["one_higher", "one_lower", "one_better", "random", "worst_judge"]
Binary = Literal["keep", "change"]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The rule, what it does with dimensions of two grades, and the seed of random grades."""

    rule: RejectedRule = "one_higher"
    binary: Binary = "keep"
    seed: int = 0


def rejected_grades(
    chosen: Consensus, instrument: Instrument, rejection: Rejection, about: str
) -> tuple[Consensus, int]:
    """The grades to reject, with the rubric's line as the reason of each that changed; and how many stayed because
    the scale ends there. `about` names the answer, so that random grades do not depend on other answers."""
    ruling = {each.skip.dimension for each in instrument.dimensions if each.skip}
    scores: dict[str, int | None] = {}
    words: dict[str, str] = dict(chosen.explanations)
    at_the_end = 0
    for dimension in instrument.dimensions:
        grade = chosen.scores[dimension.name]
        scores[dimension.name] = grade
        if grade is None or dimension.name in ruling:
            continue
        if len(dimension.values) < 3 and rejection.binary == "keep":
            continue
        other = _other(dimension, grade, rejection, about)
        if other == grade:
            at_the_end += 1
            continue
        scores[dimension.name], words[dimension.name] = other, dimension.grades[other]
    return Consensus(scores, words), at_the_end


def _other(dimension: Dimension, grade: int, rejection: Rejection, about: str) -> int:
    values = dimension.values
    if rejection.rule == "random":
        others = [value for value in values if value != grade]
        return random.Random(f"{rejection.seed} {about} {dimension.name}").choice(others or [grade])
    upward = rejection.rule == "one_higher" or (rejection.rule == "one_better" and dimension.higher_is_better)
    place = values.index(grade) + (1 if upward else -1)
    return values[min(max(place, 0), len(values) - 1)]


def distance(instrument: Instrument, one: Mapping[str, int | None], other: Mapping[str, int | None]) -> float:
    """How far apart two answers are: the mean over dimensions of the difference as a share of the scale; whether a
    dimension applies at all counts as the whole scale."""
    parts = []
    for dimension in instrument.dimensions:
        first, second = one[dimension.name], other[dimension.name]
        span = dimension.highest - dimension.lowest or 1
        both = first is not None and second is not None
        parts.append(abs((first or 0) - (second or 0)) / span if both else float(first is not second))
    return sum(parts) / len(parts)


# Lessons for preference training: the clinicians' median is chosen, an answer made from it by a rule rejected.


EQUAL = (
    "chosen and rejected would be the same answer (every grade that may change is at the end of its scale)"
)
NO_ANSWER = "the worst judge gave no whole answer"
SAME_AS_JUDGE = "the worst judge gave the clinicians' own answer"


def preferences(
    asked: Sequence[Question],
    rejection: Rejection,
    left_out: Counter[str],
    *,
    clinicians: int = 2,
    judged: Iterable[Rating] = (),
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """One pair of answers for each question that `clinicians` or more answered, and what a reader of the pairs must
    know. `judged` are judges' ratings, for the rule `worst_judge`."""
    chosen: list[tuple[Question, Consensus]] = []
    for question in asked:
        said = consensus_of(question.instrument, question.ratings, clinicians)
        if isinstance(said, str):
            left_out[said] += 1
        else:
            chosen.append((question, said))
    worst, answers = _worst_judge(chosen, judged) if rejection.rule == "worst_judge" else ("", {})
    pairs = []
    ends = 0
    for question, said in chosen:
        at_the_end = 0
        if worst:
            theirs = answers.get((question.item, question.system, question.dimensions))
            if theirs is None:
                left_out[NO_ANSWER] += 1
                continue
            other = theirs
        else:
            about = f"{question.item}\0{question.system}"
            other, at_the_end = rejected_grades(said, question.instrument, rejection, about)
        if other.scores == said.scores:
            left_out[SAME_AS_JUDGE if worst else EQUAL] += 1
            continue
        ends += at_the_end
        pairs.append(question.lesson(chosen=said, rejected=other))
    return pairs, _notes(asked, rejection, worst, ends)


def _notes(asked: Sequence[Question], rejection: Rejection, worst: str, ends: int) -> tuple[str, ...]:
    notes = [f"rejected: the answers of {worst}, the judge farthest from the clinicians"] if worst else []
    if ends:
        notes.append(f"{ends:,} grades of rejected answers stayed as chosen: the scale ends there")
    against = sorted(
        {
            each.name
            for question in asked
            for each in question.instrument.dimensions
            if not each.higher_is_better and (len(each.values) > 2 or rejection.binary == "change")
        }
    )
    if against and rejection.rule == "one_higher":
        notes.append(
            f"a higher grade is worse on {', '.join(against)}: one higher rejects what is stricter there; "
            "the rule one_better rejects the more lenient grade everywhere"
        )
    return tuple(notes)


def _worst_judge(
    chosen: Sequence[tuple[Question, Consensus]], judged: Iterable[Rating]
) -> tuple[str, Mapping[tuple[str, str, tuple[str, ...]], Consensus]]:
    """The judge whose answers are farthest from the clinicians' medians on the mean, and its answers."""
    rows: dict[str, dict[Answer, list[Rating]]] = {}
    for row in judged:
        if row.rater_kind == "judge":
            rows.setdefault(row.rater, {}).setdefault((row.item, row.system), []).append(row)
    found: dict[str, dict[tuple[str, str, tuple[str, ...]], Consensus]] = {}
    far: dict[str, float] = {}
    for name, own in sorted(rows.items()):
        answers, distances = {}, []
        for question, said in chosen:
            given = consensus_of(question.instrument, own.get((question.item, question.system), []), 1)
            if not isinstance(given, str):
                answers[question.item, question.system, question.dimensions] = given
                distances.append(distance(question.instrument, said.scores, given.scores))
        if distances:
            found[name], far[name] = answers, sum(distances) / len(distances)
    if not far:
        raise MedjuryError(
            "the rule worst_judge needs judges' own answers to these cases, and there are none; run the study "
            "first, or choose another rule"
        )
    worst = max(sorted(far), key=far.__getitem__)
    return worst, found[worst]

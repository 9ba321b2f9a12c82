"""Lessons for preference training: the clinicians' median is chosen, an answer made from it by a rule rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError
from medjury.judging import Consensus, consensus_of
from medjury.models import Message
from medjury.store.ratings import Rating
from medjury.tuning.training._questions import Answer, Question
from medjury.tuning.training._rejected import Rejection, distance, rejected_grades

EQUAL = (
    "chosen and rejected would be the same answer (every grade that may change is at the end of its scale)"
)
NO_ANSWER = "the worst judge gave no whole answer"
SAME_AS_JUDGE = "the worst judge gave the clinicians' own answer"


@dataclass(frozen=True, slots=True)
class Preference:
    """A question with the answer to prefer and the answer to avoid."""

    item: str
    system: str
    case_hash: str
    prompt: tuple[Message, ...]
    chosen: str
    rejected: str


@dataclass(frozen=True, slots=True)
class Preferences:
    """The pairs, and what a reader of them must know. `at_the_end` counts grades of the kept pairs that stayed
    because their scale ends there."""

    pairs: tuple[Preference, ...]
    at_the_end: int
    notes: tuple[str, ...]


def preferences(
    asked: Sequence[Question],
    rejection: Rejection,
    left_out: Counter[str],
    *,
    clinicians: int = 2,
    judged: Iterable[Rating] = (),
) -> Preferences:
    """One pair for each question that `clinicians` or more answered. `judged` are judges' ratings, for the rule
    `worst_judge`."""
    chosen: list[tuple[Question, Consensus]] = []
    for question in asked:
        said = consensus_of(question.instrument, question.ratings, clinicians)
        if isinstance(said, str):
            left_out[said] += 1
        else:
            chosen.append((question, said))
    worst, answers = _worst_judge(chosen, judged) if rejection.rule == "worst_judge" else ("", {})
    pairs: list[Preference] = []
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
        pairs.append(
            Preference(
                question.item, question.system, question.case_hash, question.prompt,
                question.completion(said.scores, said.explanations),
                question.completion(other.scores, other.explanations),
            )
        )  # fmt: skip
    return Preferences(tuple(pairs), ends, _notes(asked, rejection, worst, ends))


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

"""Lessons for supervised training: one completion for every clinician who rated an answer (Croxford et al. 2025).

No rater dominates: each has as many completions as the one who has most, some of them shown again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from medjury.judging import consensus_of
from medjury.models import Message
from medjury.store.ratings import Rating
from medjury.tuning.training._questions import Question

INCOMPLETE = "a clinician did not grade every dimension, or gave what the instrument does not allow"


@dataclass(frozen=True, slots=True)
class Completion:
    """A question and what one clinician answered, in the form in which a judge has to answer."""

    item: str
    system: str
    rater: str
    case_hash: str
    prompt: tuple[Message, ...]
    completion: str


def completions(asked: Iterable[Question], left_out: Counter[str]) -> list[Completion]:
    """One completion per clinician and question. Who rated an answer twice is heard once, by the median."""
    made: list[Completion] = []
    for question in asked:
        by_rater: dict[str, list[Rating]] = {}
        for row in question.ratings:
            by_rater.setdefault(row.rater, []).append(row)
        for rater, rows in sorted(by_rater.items()):
            said = consensus_of(question.instrument, rows, 1)
            if isinstance(said, str):
                left_out[INCOMPLETE] += 1
                continue
            text = question.completion(said.scores, said.explanations)
            made.append(
                Completion(question.item, question.system, rater, question.case_hash, question.prompt, text)
            )
    return made


def upsampled(rows: Sequence[Completion], seed: int) -> list[Completion]:
    """The same rows and copies of them, so that every rater has as many as the one with most: first all rows of a
    rater again, then a seeded draw of them, none twice, for what still lacks."""
    by_rater: dict[str, list[Completion]] = {}
    for row in rows:
        by_rater.setdefault(row.rater, []).append(row)
    most = max((len(own) for own in by_rater.values()), default=0)
    even: list[Completion] = []
    for rater, own in sorted(by_rater.items()):
        times, rest = divmod(most, len(own))
        drawn = random.Random(f"{seed} {rater}").sample(range(len(own)), rest)
        even += own * times + [own[index] for index in sorted(drawn)]
    return even

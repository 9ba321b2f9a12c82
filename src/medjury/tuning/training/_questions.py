"""What a judge is asked about each case that clinicians rated: to the letter what it will be asked again later."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Explain, Instrument, Unscored
from medjury.intake.cases import Case, content_marks
from medjury.judging import Judge, Rater, Repeats, worked_messages
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

    def completion(self, scores: Mapping[str, int | None], explanations: Mapping[str, str]) -> str:
        """These grades as the answer that the judge's reader reads."""
        return worked_messages("", scores, explanations, self.dimensions, self.explain)[1].content


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

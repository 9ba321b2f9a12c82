"""The steps of a deliberation as they are kept and recorded: who said what, with which grades, and what it took."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import model_validator

from medjury.instruments import NotApplicable, Outcome, Score, Unscored
from medjury.judging._asking import Asked, Speaker
from medjury.store.runs import Body, Grade, RecordedFailure, RunPart

Act = Literal["opening", "question", "turn", "decision"]
Ending = Literal["agreed", "orchestrator", "max_turns", "max_stalls", "failed"]
Graded = dict[str, Grade | None]  # None is "not applicable"; what has no grade is not there


class RecordedPersona(RunPart):
    name: str
    text: str = ""
    model: str = ""


class RecordedStep(RunPart):
    """One step and what it took. A question has whom it goes `to` (None: the talk is over) and what it is `about`;
    a turn which grades it `changed` and whether it was a `stall`; a decision what lies `outside` all grades."""

    act: Act
    turn: int = 0
    role: str = ""
    persona: str | None = None
    model: str = ""
    said: str = ""
    grades: Graded = {}
    reasons: dict[str, str] = {}
    open: tuple[str, ...] = ()
    to: str | None = None
    about: tuple[str, ...] = ()
    assessment: str = ""
    progress: bool | None = None
    changed: tuple[str, ...] = ()
    new_words: bool = False
    stall: bool = False
    outside: tuple[str, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    failure: RecordedFailure | None = None


class LostAgent(RecordedFailure):
    """An agent without a usable answer: it spoke no more, and its grades did not count."""

    persona: str
    act: str = ""
    turn: int = 0


class DeliberationBody(Body):
    """`final` are the last grades of each persona that stayed, `decided` the orchestrator's; `outside` names the
    dimensions decided beyond what any of them held."""

    kind: str = "deliberation"
    dimensions: tuple[str, ...]
    personas: tuple[RecordedPersona, ...]
    orchestrator: str = ""
    max_turns: int = 0
    max_stalls: int = 0
    turns_shown: int | None = None
    ended: Ending
    agreed_at_once: bool
    turns: int
    stalled_turns: int = 0
    failed: tuple[LostAgent, ...] = ()
    final: dict[str, Graded]
    decided: Graded
    outside: tuple[str, ...] = ()
    steps: tuple[RecordedStep, ...]

    @property
    def undecided(self) -> tuple[str, ...]:
        return tuple(name for name in self.dimensions if name not in self.decided)

    @model_validator(mode="after")
    def _only_its_own_personas_speak(self) -> Self:
        known = {each.name for each in self.personas}
        speaking = {each.persona for each in self.steps if each.act in ("opening", "turn")}
        if not {*speaking, *self.final, *(each.persona for each in self.failed)} <= known:
            raise ValueError("somebody speaks who is not one of its personas")
        return self


Grades = Mapping[str, Outcome]
ORCHESTRATOR = "orchestrator"
# A turn whose three-word sequences were nearly all heard before says nothing new.
_NEW_SHARE = 0.2
_WORD = re.compile(r"\w+")


def recorded_step(
    act: Act,
    turn: int,
    persona: str | None,
    speaker: Speaker,
    asked: Asked[Any],
    grades: Grades,
    said: str = "",
    **details: object,
) -> RecordedStep:
    """One step; the orchestrator has no `persona`. `turn` is 0 before the first turn; `said` is the statement or
    the question; `details` is what only this act has."""
    answers = asked.answers
    worths = [answer.worth for answer in answers]
    known: dict[str, object] = {
        "act": act,
        "turn": turn,
        "role": ORCHESTRATOR if persona is None else "agent",
        "persona": persona,
        "model": speaker.model.name,
        "said": said,
        "grades": plain_grades(grades),
        "reasons": {name: each.explanation for name, each in grades.items()
                    if isinstance(each, Score | NotApplicable) and each.explanation},
        **details,
        "calls": len(answers),
        "seconds": sum(answer.reply.seconds for answer in answers),
        "tokens_in": sum(answer.reply.tokens_in for answer in answers),
        "tokens_out": sum(answer.reply.tokens_out for answer in answers),
        "cost": None if None in worths else sum(each or 0.0 for each in worths),
    }  # fmt: skip
    if asked.failure is not None:
        known["failure"] = RecordedFailure.of(asked.failure)
    return RecordedStep.model_validate(known)


def plain_grades(grades: Grades) -> dict[str, float | None]:
    """Grades as JSON values: null is "not applicable", and what has no grade is not there."""
    return {
        name: each.value if isinstance(each, Score) else None
        for name, each in grades.items()
        if not isinstance(each, Unscored)
    }


def changed(before: Grades, after: Grades) -> list[str]:
    """The dimensions that are graded otherwise now."""
    old, new = plain_grades(before), plain_grades(after)
    return [name for name in new if name in old and new[name] != old[name]]


def disputed(standing: Iterable[Grades], dimensions: Sequence[str]) -> list[str]:
    """The dimensions on which not all have the same grade."""
    rows = [plain_grades(each) for each in standing]
    return [name for name in dimensions if len({row.get(name) for row in rows}) > 1]


def outside(decided: Grades, standing: Iterable[Grades]) -> list[str]:
    """The decided dimensions beyond what any agent holds: a grade above or below all of theirs, or "not
    applicable" (or a grade) that none of them gave."""
    rows = [plain_grades(each) for each in standing]
    found = []
    for name, grade in plain_grades(decided).items():
        held = [row[name] for row in rows if name in row]
        scores = [each for each in held if each is not None]
        within = grade in held if grade is None or not scores else min(scores) <= grade <= max(scores)
        if not within:
            found.append(name)
    return found


class Heard:
    """What was said so far, as three-word sequences: enough to notice a speaker who only repeats."""

    def __init__(self) -> None:
        self._heard: set[tuple[str, ...]] = set()

    def add(self, words: str) -> None:
        self._heard |= _sequences(words)

    def is_new(self, words: str) -> bool:
        said = _sequences(words)
        return len(said - self._heard) > _NEW_SHARE * len(said)


def _sequences(words: str) -> set[tuple[str, ...]]:
    found = _WORD.findall(words.casefold())
    if len(found) < 3:
        return {tuple(found)} if found else set()
    return set(zip(found, found[1:], found[2:], strict=False))

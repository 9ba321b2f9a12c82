"""The record of a deliberation: who said what, with which grades, how it ended, and what was decided."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

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
            raise ValueError("somebody speaks who is none of its personas")
        return self

"""What a deliberation is run by: who takes part, who leads, and when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from medjury.instruments import Instrument
from medjury.judging._asking import Speaker
from medjury.judging._deliberation.personas import Persona

WhenAgreed = Literal["stop", "discuss"]


@dataclass(frozen=True, slots=True)
class Agent:
    """A point of view and the model that takes it."""

    persona: Persona
    speaker: Speaker


class Rules(Protocol):
    """What the course of a deliberation needs to know of it (see `Deliberation`)."""

    @property
    def instrument(self) -> Instrument: ...

    @property
    def orchestrator(self) -> Speaker: ...

    @property
    def agents(self) -> Sequence[Agent]: ...

    @property
    def agents_needed(self) -> int: ...

    @property
    def max_turns(self) -> int: ...

    @property
    def max_stalls(self) -> int: ...

    @property
    def when_agreed(self) -> WhenAgreed: ...

    @property
    def turns_shown(self) -> int | None: ...

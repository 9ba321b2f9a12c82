"""Points of view for a deliberation: three ways a physician may read, three stances on a scale, or one's own.

The two groups are those of Croxford et al. (2025), who let judges with such personas discuss clinical summaries;
the words are ours. Their middle rater moderates; ours weighs, and `moderated` seats a moderator in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Example, Instrument
from medjury.judging._asking import Speaker
from medjury.judging._drawn_examples import DrawnExamples

# A name is outside the markers of a prompt, so it is a plain word.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
RESERVED = ("orchestrator", "nobody", "everybody", "all")
_MOST_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Persona:
    """A point of view: what a rater looks at first. What a grade means, the instrument alone decides."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name.casefold() in RESERVED:
            raise MedjuryError(
                f"a persona cannot be called {self.name!r}; use letters, digits, _ and - (at most 40), beginning "
                f"with a letter, and none of {', '.join(RESERVED)}"
            )
        if not self.text.strip():
            raise MedjuryError(f"persona {self.name!r} has no text; say in a few sentences how it reads")
        if len(self.text) > _MOST_CHARACTERS:
            raise MedjuryError(
                f"the text of persona {self.name!r} has {len(self.text):,} characters; keep it under "
                f"{_MOST_CHARACTERS:,}, since every one of its turns carries it"
            )


_KNOWN = (
    Persona(
        "perfectionist",
        "You read every line. You check the statements of the text one by one against what it was written from, "
        "and it troubles you that something important may have been left out. A detail that others pass over "
        "matters to you, and you say exactly where it stands.",
    ),
    Persona(
        "multitasker",
        "You have a few minutes between two patients. You look for what must be known now: the main problems, "
        "the current treatment, recent results, what is to be done next. Detail that does not serve this work is "
        "a burden to you, and you tell others when they lose themselves in it.",
    ),
    Persona(
        "collaborator",
        "You care for patients together with other specialties and professions. You look at whether what they "
        "found and planned comes through, whether the whole patient can be seen, and what those who share the "
        "care would miss. You take up what others say and think it further.",
    ),
    Persona(
        "high_scorer",
        "You read with goodwill. Where the instrument leaves room between two grades you hold the more favourable "
        "one, and you argue for it with what the text does well. You never claim a merit that the texts do not "
        "show.",
    ),
    Persona(
        "low_scorer",
        "You read with severity. Where the instrument leaves room between two grades you hold the less favourable "
        "one, and you argue for it with what the text gets wrong or leaves out. You never claim a fault that the "
        "texts do not show.",
    ),
    Persona(
        "middle_scorer",
        "You weigh. You hold the kindest and the severest reading against the words of the instrument and say "
        "which arguments the texts bear out. You do not look for a point half-way: where one side is right, you "
        "side with it.",
    ),
    Persona(
        "moderator",
        "You help the others to reach a grade that all of them can carry. You ask for what has not been heard "
        "yet, put two arguments side by side where they miss each other, and name what is agreed. You hold no "
        "grade against the others: yours is the one that the discussion has borne out so far.",
    ),
)

PERSONAS: Mapping[str, Persona] = {each.name: each for each in _KNOWN}
PERSONA_GROUPS: Mapping[str, tuple[str, ...]] = {
    "physicians": ("perfectionist", "multitasker", "collaborator"),
    "scorers": ("high_scorer", "low_scorer", "middle_scorer"),
    "moderated": ("high_scorer", "low_scorer", "moderator"),
}


WhenAgreed = Literal["stop", "discuss"]


@dataclass(frozen=True, slots=True)
class Agent:
    """A point of view and the model that takes it."""

    persona: Persona
    speaker: Speaker


@dataclass(frozen=True)
class Rules:
    """What is settled of a deliberation before it begins; see `Deliberation`."""

    name: str
    instrument: Instrument
    orchestrator: Speaker
    agents: Sequence[Agent]
    max_turns: int = 6
    max_stalls: int = 2
    when_agreed: WhenAgreed = "stop"
    quorum: int | None = None
    turns_shown: int | None = None
    per_dimension: bool = False
    examples: Sequence[Example] = ()
    drawn: DrawnExamples | None = None

    def __post_init__(self) -> None:
        names = [agent.persona.name.casefold().replace("-", "_") for agent in self.agents]
        if len(names) < 2:
            raise MedjuryError("a deliberation needs at least two agents; give it two or more personas")
        for name in names:
            if names.count(name) > 1:
                raise MedjuryError(f"two personas are called {name!r}; give each its own name")
        if self.quorum is not None and not 1 <= self.quorum <= len(names):
            raise MedjuryError(f"quorum is {self.quorum}, but there are {len(names)} agents")
        if self.max_turns < 0 or self.max_stalls < 1:
            raise MedjuryError("max_turns must be 0 or more, and max_stalls 1 or more")
        if self.turns_shown is not None and self.turns_shown < 1:
            raise MedjuryError("turns_shown must be 1 or more; a question is part of its turn")

    @property
    def agents_needed(self) -> int:
        return len(self.agents) // 2 + 1 if self.quorum is None else self.quorum

"""What became of deliberations, counted record by record: how they ended, and what each persona did in them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from medjury.records import dataclass

if TYPE_CHECKING:
    from medjury.judging import DeliberationBody

ENDINGS = {
    "agreed": "all agreed",
    "orchestrator": "the orchestrator had heard enough",
    "max_turns": "the turns were used up",
    "max_stalls": "the talk had stalled",
    "failed": "a step failed",
}


@dataclass
class PersonaTally:
    """What one persona did in all deliberations of a rater."""

    text: str = ""
    models: dict[str, None] = field(default_factory=dict)  # in the order they first spoke
    turns: int = 0
    changed: int = 0
    lost: int = 0
    held: int = 0  # final grades beside a decided one
    followed: int = 0
    gap: float = 0.0


@dataclass
class DeliberationTally:
    """What became of one rater's deliberations."""

    deliberations: int = 0
    at_once: int = 0
    turns: int = 0
    decided: int = 0
    undecided: int = 0  # grades, where the talk ended and the decision failed
    outside: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDINGS, 0))
    personas: dict[str, PersonaTally] = field(default_factory=dict)

    def note(self, body: DeliberationBody) -> None:
        """Count one record."""
        self.deliberations += 1
        self.at_once += body.agreed_at_once
        self.turns += body.turns
        self.decided += len(body.decided)
        if body.ended != "failed":
            self.undecided += len(body.undecided)
        self.outside += len(body.outside)
        self.ended[body.ended] += 1
        for each in body.personas:
            self.personas.setdefault(each.name, PersonaTally(each.text)).models[each.model] = None
        for step in body.steps:
            if step.act == "turn" and step.persona is not None:
                self.personas[step.persona].turns += 1
                self.personas[step.persona].changed += len(step.changed)
        for lost in body.failed:
            self.personas[lost.persona].lost += 1
        for name, grades in body.final.items():
            persona = self.personas[name]
            for dimension, grade in grades.items():
                decision = body.decided.get(dimension)
                if grade is not None and decision is not None:
                    persona.held += 1
                    persona.followed += grade == decision
                    persona.gap += grade - decision

"""What became of deliberations, counted record by record: how they ended, and what each persona did in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ENDINGS = {
    "agreed": "all agreed",
    "orchestrator": "the orchestrator had heard enough",
    "max_turns": "the turns were used up",
    "max_stalls": "the talk had stalled",
    "failed": "a step failed",
}


@dataclass
class Voice:
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
class Tally:
    """What became of one rater's deliberations."""

    deliberations: int = 0
    at_once: int = 0
    turns: int = 0
    decided: int = 0
    undecided: int = 0  # grades, where the talk ended and the decision failed
    outside: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDINGS, 0))
    voices: dict[str, Voice] = field(default_factory=dict)

    def note(self, body: Mapping[str, Any]) -> None:
        self.deliberations += 1
        self.at_once += body["agreed_at_once"] is True
        self.turns += int(body["turns"])
        self.decided += len(body["decided"])
        if body["ended"] != "failed":
            self.undecided += len(body["dimensions"]) - len(body["decided"])
        self.outside += len(body["outside"])
        self.ended[str(body["ended"])] += 1
        for persona in body["personas"]:
            voice = self.voices.setdefault(str(persona["name"]), Voice(str(persona["text"])))
            voice.models[str(persona["model"])] = None
        for step in body["steps"]:
            if step["act"] == "turn":
                voice = self.voices[step["persona"]]
                voice.turns += 1
                voice.changed += len(step["changed"])
        for each in body["failed"]:
            self.voices[each["persona"]].lost += 1
        for name, grades in body["final"].items():
            voice = self.voices[name]
            for dimension, grade in grades.items():
                decision = body["decided"].get(dimension)
                if grade is not None and decision is not None:
                    voice.held += 1
                    voice.followed += grade == decision
                    voice.gap += grade - decision


def check_story(body: Mapping[str, Any]) -> None:
    """Raises (KeyError, TypeError, ValueError or AttributeError) where a record lacks what a transcript needs,
    before anything of it is counted."""
    Tally().note(body)
    tables = [body["decided"], *body["final"].values()]
    for step in body["steps"]:
        float(step["seconds"])
        int(step["calls"])
        dict(step["reasons"])
        tables.append(step["grades"])
        if step["act"] not in ("opening", "question", "turn", "decision"):
            raise ValueError("this is no step of a deliberation")
        if failure := step.get("failure"):
            str.strip(failure["reason"])
            str.strip(failure["message"])
    for grades in tables:
        for grade in grades.values():
            if grade is not None and not isinstance(grade, int | float):
                raise TypeError("a grade is a number")

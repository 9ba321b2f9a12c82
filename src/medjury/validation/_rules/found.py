"""What a rule of the gate found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["met", "not met", "not known"]


@dataclass(frozen=True, slots=True)
class RuleFound:
    """What one rule asks, and what was found. One that is `essential` and not met forbids even auxiliary use;
    `why` says in a clinician's words what it means that the rule is not met. One that `stops` and is not met
    leaves no verdict at all."""

    name: str
    asked: str
    found: str
    state: State
    essential: bool
    why: str = ""
    stops: bool = False

    @property
    def met(self) -> bool:
        return self.state == "met"


def found(
    name: str, asked: str, said: str, met: bool | None, *, essential: bool, why: str, stops: bool = False
) -> RuleFound:
    """A finding; `met` None is not known, which is not met."""
    state: State = "not known" if met is None else "met" if met else "not met"
    return RuleFound(name, asked, said, state, essential, "" if met else why, stops)

"""What a rule of the gate found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["met", "not met", "not known", "does not apply"]


@dataclass(frozen=True, slots=True)
class Lines:
    """What a rule is for, in one line for a clinician and one for a statistician."""

    clinician: str
    statistician: str


@dataclass(frozen=True, slots=True)
class RuleFound:
    """What one rule asks, and what was found. One that is `essential` and not met forbids even auxiliary use;
    `why` says in a clinician's words what it means that the rule is not met. One that `stops` and is not met
    leaves no verdict at all. One that does not apply (a single system has no differences between systems) asks for
    nothing and forbids nothing; one that is not known forbids validation."""

    name: str
    asked: str
    found: str
    state: State
    essential: bool
    lines: Lines
    why: str = ""
    stops: bool = False

    @property
    def met(self) -> bool:
        """Whether the rule stands in nobody's way."""
        return self.state in ("met", "does not apply")


def found(
    name: str,
    asked: str,
    said: str,
    met: bool | None,
    *,
    essential: bool,
    why: str,
    lines: Lines,
    stops: bool = False,
) -> RuleFound:
    """A finding; `met` None is not known, which is not met."""
    state: State = "not known" if met is None else "met" if met else "not met"
    return RuleFound(name, asked, said, state, essential, lines, "" if met else why, stops)


def does_not_apply(name: str, asked: str, why: str, *, lines: Lines) -> RuleFound:
    """A rule that asks for nothing here, and why."""
    return RuleFound(name, asked, why, "does not apply", False, lines)

"""What a rule of the gate found."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from medjury.records import dataclass

# What answers without a score ask for, whichever rule minds them.
RUN_AGAIN = (
    "Find out why answers got no score (see What was scored, and what was not), and run the study again."
)
State = Literal["met", "not met", "not known", "does not apply"]


@dataclass(frozen=True, slots=True)
class Lines:
    """What a rule is for, in one line for a clinician and one for a statistician; what to do where it is not met,
    and `to_know` whether it is. What a rule about `danger` to patients asks for is told first."""

    clinician: str
    statistician: str
    to_do: str = ""
    to_know: str = ""
    danger: bool = False

    def asking(self, to_do: str = "", to_know: str = "") -> Lines:
        """The same rule, where something else is to be done, or nothing."""
        return replace(self, to_do=to_do, to_know=to_know)


@dataclass(frozen=True, slots=True)
class RuleFound:
    """What one rule asks, and what was found. One that is `essential` and not met forbids even auxiliary use;
    `why` says in a clinician's words what it means that the rule is not met, `numbers` in a few words by how much.
    One that `stops` and is not met
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
    numbers: str = ""

    @property
    def met(self) -> bool:
        """Whether the rule stands in nobody's way."""
        return self.state in ("met", "does not apply")

    @property
    def to_do(self) -> str:
        """What to do next about it; empty where it stands in nobody's way, or another rule says it."""
        return "" if self.met else self.lines.to_do if self.state == "not met" else self.lines.to_know


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
    numbers: str = "",
) -> RuleFound:
    """A finding; `met` None is not known, which is not met."""
    state: State = "not known" if met is None else "met" if met else "not met"
    return RuleFound(
        name, asked, said, state, essential, lines, "" if met else why, stops, "" if met else numbers
    )


def does_not_apply(name: str, asked: str, why: str, *, lines: Lines) -> RuleFound:
    """A rule that asks for nothing here, and why."""
    return RuleFound(name, asked, why, "does not apply", False, lines)

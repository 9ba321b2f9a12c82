"""What a member sees of a case in its present stage, and nothing that belongs to a later one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medjury.panel._access import people
from medjury.panel._meeting._reference._work import ROUTINE, STAGES, TOGETHER, CaseWork, alone

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Written:
    """What one member wrote alone; `said` is empty where they handed nothing in."""

    who: str
    said: Mapping[str, Any]


@dataclass(frozen=True)
class ShownWork:
    """The stage's own form (`said`, resting on `version`), and what may be seen by now."""

    stage: str
    steps: Sequence[tuple[str, bool]]
    said: Mapping[str, Any]
    version: int
    has_handed_in: bool
    waiting: int
    others: Sequence[Written]  # from the meeting on
    reference: Mapping[str, Any] | None  # once it is written
    routine: str | None  # once the reference is written
    verdict: Mapping[str, Any] | None


def shown_of_work(connection: Connection, work: CaseWork, person: str) -> ShownWork:
    """The case as this member sees it now."""
    stage = work.stage
    met, written = stage != "alone", stage not in ("alone", "together")
    own = {"alone": alone(person), "together": TOGETHER, "routine": ROUTINE}.get(stage, "")
    last = work.last(own) if own else None
    reference, verdict = work.last(TOGETHER, submitted=True), work.last(ROUTINE, submitted=True)
    return ShownWork(
        stage,
        [(STAGES[name], name == stage) for name in work.stages],
        last.said if last else {},
        last.version if last else 0,
        work.last(alone(person), submitted=True) is not None,
        len(work.waiting_for),
        _written_alone(connection, work, person) if met else (),
        reference.said if written and reference else None,
        work.routine if written else None,
        verdict.said if written and verdict else None,
    )


def _written_alone(connection: Connection, work: CaseWork, person: str) -> list[Written]:
    known = {each.person.id: each.person.name for each in people(connection)} if work.panel.names else {}
    found = []
    for place, member in enumerate(work.panel.members):
        name = known.get(member, f"Member {chr(ord('A') + place)}")
        last = work.last(alone(member), submitted=True)
        found.append(Written(f"{name} (you)" if member == person else name, last.said if last else {}))
    return found

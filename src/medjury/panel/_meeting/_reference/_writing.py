"""Writing for a case: a new version of one part, in the stage to which it belongs; and going on to the next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Outcome
from medjury.panel._design import outcome_row
from medjury.panel._meeting._reference._work import CaseWork, work_by_code
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._meeting._tables import reference_entries_table, reference_stages_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def opened_for(connection: Connection, code: str, person: str) -> CaseWork:
    """The case, in the hands of a member, and nobody else's until the transaction ends."""
    work = work_by_code(connection, code, lock=True)
    if work is None or person not in work.panel.members:
        raise LookupError(code)
    return work


def write(
    connection: Connection,
    work: CaseWork,
    person: str,
    part: str,
    version: int,
    said: Mapping[str, Any],
    now: datetime,
    *,
    submitted: bool,
    outcomes: Mapping[str, Outcome] | None = None,
) -> None:
    """Add a version. It belongs to a stage: once the next has begun, nothing is added."""
    if part.partition(":")[0].replace("score", "scoring") != work.stage:
        raise Overtaken
    last = work.last(part)
    if last is not None and last.said == said and last.is_submitted == submitted and last.person == person:
        return  # sent twice
    if (last.version if last else 0) != version:
        raise Overtaken
    connection.execute(
        insert(reference_entries_table).values(
            work=work.id,
            part=part,
            version=version + 1,
            person=person,
            submitted=submitted,
            said=dict(said),
            outcomes={name: outcome_row(each) for name, each in (outcomes or {}).items()},
            said_at=now.isoformat(),
        )
    )


def go_on(connection: Connection, work: CaseWork, person: str, now: datetime, *, to: str) -> None:
    """Begin the next stage. From now on the earlier ones are as they are."""
    if work.stage == to:
        return
    if work.stage == "done" or work.following != to:
        raise Overtaken
    row = {"work": work.id, "stage": to, "person": person, "began_at": now.isoformat()}
    connection.execute(insert(reference_stages_table).values(**row))


def begin_meeting(connection: Connection, work: CaseWork, person: str, now: datetime) -> None:
    """A member opens the meeting, once everyone has handed in what they wrote alone."""
    if work.stage == "alone" and work.waiting_for:
        raise MedjuryError("Somebody is still reading alone. The coordinator can open the meeting earlier.")
    if work.stage == "alone":
        go_on(connection, work, person, now, to="together")

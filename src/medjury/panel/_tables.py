"""The panel's tables. What a person said is only ever added: a changed answer is a new row.

No secret is kept that could be used: links and sessions as hashes, passwords by argon2. An item holds the texts
that raters may see and nothing else of the case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    insert,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

VERSION = 1
_T = TypeVar("_T")
metadata = MetaData()
_append_only: list[Table] = []


# One way to declare a table: its columns by their kind, each filled in every row unless it says `nullable`.


def _columns(kind: type[Any], *names: str, refers: str = "", **settings: Any) -> list[Column[Any]]:
    """Columns of one kind; `refers` is the table whose row, by its id, the column names."""
    stated = {"nullable": False, **settings}
    return [Column(name, kind, *([ForeignKey(f"{refers}.id")] if refers else []), **stated) for name in names]


_texts = partial(_columns, Text)
_numbers = partial(_columns, Integer)
_reals = partial(_columns, Float)
_flags = partial(_columns, Boolean)
_documents = partial(_columns, JSON)


def _table(name: str, *parts: list[Column[Any]] | CheckConstraint | UniqueConstraint | Index) -> Table:
    return Table(
        name, metadata, *(each for part in parts for each in (part if isinstance(part, list) else [part]))
    )


def _only_added(name: str, *parts: list[Column[Any]] | CheckConstraint | UniqueConstraint | Index) -> Table:
    """A table whose rows are added and never changed: the database itself refuses."""
    table = _table(name, *parts)
    _append_only.append(table)
    event.listen(table, "after_create", lambda made, connection, **_: _refuse_changes(connection, made.name))
    return table


def made(kind: type[_T], row: Row[Any], **others: Any) -> _T:
    """One way to read a row: a dataclass from the columns that bear the names of its fields, and from `others`."""
    own = {each.name: row._mapping[each.name] for each in fields(kind) if each.name in row._mapping}  # type: ignore[arg-type]
    return kind(**{**own, **others})


def inserted(connection: Connection, table: Table, **row: Any) -> int:
    """Add a row; the id that the database gave it."""
    key = connection.execute(insert(table).values(**row)).inserted_primary_key
    assert key is not None
    return int(key[0])


def stored(moment: datetime) -> str:
    """A moment as the database keeps it: UTC, of one length, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def read(text: str) -> datetime:
    """And back."""
    return datetime.fromisoformat(text)


version_table = _table("version", _numbers("version"))


# People, and what they did.

people_table = _table(
    "people",
    _texts("id", primary_key=True),
    _texts("name"),
    _texts("sign_in_name", unique=True),  # the name as it is compared: case and spaces aside
    _texts("role"),
    _texts("email", nullable=True, unique=True),  # by which the site's OpenID Connect knows the person
    _texts(
        "subject", nullable=True, unique=True
    ),  # once they signed in with it, the provider's name for them
    _texts("password", nullable=True),
    _texts("created_at"),
    _texts("joined_at", "disabled_at", nullable=True),
    _texts("language", nullable=True),  # that a rater chose
    CheckConstraint("role IN ('coordinator', 'rater', 'adjudicator', 'viewer')"),
)
invitations_table = _table(
    "invitations",
    _texts("hash", primary_key=True),
    _texts("person", refers="people"),
    _texts("created_at", "expires_at"),
    _texts("ended_at", nullable=True),
    _flags("used", default=False),
    Index("invitations_by_person", "person"),
)
sessions_table = _table(
    "sessions",
    _texts("hash", primary_key=True),
    _texts("person", refers="people"),
    _texts("created_at", "seen_at", "expires_at"),
    _texts("ended_at", nullable=True),
    Index("sessions_by_person", "person"),
)
# Browsers in which somebody has signed in. It opens nothing: who is there still proves who they are.
devices_table = _table(
    "devices",
    _texts("hash", primary_key=True),
    _texts("person", refers="people", primary_key=True),
    _texts("seen_at"),
    Index("devices_by_person", "person"),
)
passkeys_table = _table(
    "passkeys",
    _texts("id", primary_key=True),
    _texts("person", refers="people"),
    _columns(LargeBinary, "public_key"),
    _numbers("sign_count"),
    _texts("created_at"),
    _texts("used_at", nullable=True),
    Index("passkeys_by_person", "person"),
)
# What we handed out and expect back once: the challenge of a passkey, the state of an OpenID Connect sign-in.
challenges_table = _table(
    "challenges", _texts("hash", primary_key=True), _texts("purpose", "content", "expires_at")
)
# Failed attempts by device, account and address, kept here so that a restart does not forget them.
attempts_table = _table("attempts", _texts("key", primary_key=True), _numbers("failures"), _texts("last_at"))
api_keys_table = _table(
    "api_keys",
    _texts("id", primary_key=True),
    _texts("hash", unique=True),
    _texts("name"),
    _texts("person", refers="people"),
    _texts("created_at", "expires_at"),
    _texts("used_at", "ended_at", nullable=True),
)
trail_table = _only_added(
    "trail",
    _numbers("number", primary_key=True, autoincrement=False),
    _texts("at", "person", "what", "about", "previous", "hash"),
)
# What was erased, as slow, salted hashes of ids, so that it is known when it comes back. No id, no text.
erasures_table = _only_added(
    "erasures",
    _numbers("number", primary_key=True),
    _texts("at", "by", "salt"),  # by patient or by case
    _documents("named", "cases", "counts"),  # how many went, by table
)


# What is rated by whom.

rounds_table = _table(
    "rounds",
    _numbers("id", primary_key=True),
    _texts("name", unique=True),
    _texts("kind"),
    _numbers("position"),
    _texts("state"),
    _documents("settings"),  # the round's part of the study file and the panel's own
    _documents("instrument"),  # as it was when the round was set up: what was shown is kept
    _documents("warnings"),  # what the coordinator should know before anyone rates
    _texts("set_up_at"),
    CheckConstraint("kind IN ('training', 'calibration', 'rating', 'rescore')"),
    CheckConstraint("state IN ('waiting', 'open', 'discussing', 'closed', 'met')"),
)
items_table = _table(
    "items",
    _numbers("id", primary_key=True),
    _numbers("round", refers="rounds", index=True),
    _texts("item", "system"),
    _texts("fingerprint"),  # of the whole case, so that a rating can be held against it
    _documents("shown"),
    _documents("instrument", nullable=True),  # of the item's own criteria; null: that of the round
    _documents("key", nullable=True),  # the right grades of a training case
    _reals("probability", nullable=True),  # of being drawn for review; null: every answer is rated
    _numbers("place", nullable=True),  # in the order of reading, where it was drawn
    UniqueConstraint("round", "item", "system"),
    CheckConstraint("probability > 0 AND probability <= 1"),
)
members_table = _table(
    "members",
    _numbers("round", refers="rounds", primary_key=True),
    _texts("person", primary_key=True),
    _texts("joined_at"),
    _texts("left_at", nullable=True),
    _texts("passed_at", nullable=True),  # a training round: by its mark, or by the coordinator's word
)
assignments_table = _table(
    "assignments",
    _numbers("id", primary_key=True),
    _numbers("round", refers="rounds", index=True),
    _numbers("item", refers="items"),
    _texts("person", index=True),
    _texts("code", unique=True),  # what the rater sees in an address: random
    _reals("position"),  # the rater's own order, random; or that of the draw
    _reals("probability", nullable=True),  # of being drawn; null: every case is rated, or drawn alike
    _texts("assigned_at"),
    _texts("opened_at", nullable=True),  # from then on it is the rater's, and is not given to another
    _texts("finished_at", nullable=True),  # the first time an answer was sent
    _texts("withdrawn_at", nullable=True),
    UniqueConstraint("item", "person"),
    CheckConstraint("probability > 0 AND probability <= 1"),
)
profiles_table = _table(
    "profiles",
    _texts("person", primary_key=True),
    _numbers("years"),
    _texts("specialty", "affiliation", "seniority", "written_at"),
)
remarks_table = _table(
    "definition_remarks",
    _numbers("id", primary_key=True),
    _numbers("round", refers="rounds"),
    _texts("person", "dimension", "text", "written_at"),
)


# What raters said, and how long they looked: each change is a version.

answers_table = _only_added(
    "answers",
    _numbers("id", primary_key=True),
    _numbers("assignment", refers="assignments", index=True),
    _numbers("version"),
    _flags("submitted"),  # else a draft
    _documents("said"),  # what the form held, dimension by dimension
    _documents("outcomes"),  # what it means, after the skip rules; empty for a draft
    _texts("comment"),
    _reals("seconds", nullable=True),  # looked at so far, idle time removed
    _flags("measured"),  # by the page itself; else the time from opening to sending
    _texts("saved_at"),
    _texts("page", nullable=True),  # the open page that sent it, by a random name; null: one without scripts
    _numbers("turn", nullable=True),  # which of that page's versions it is
    _texts("language", nullable=True),  # of the page that sent it
    _documents("marks"),  # passages of the answer
    UniqueConstraint("assignment", "version"),
)
looks_table = _table(
    "looks",
    _numbers("assignment", refers="assignments", primary_key=True),
    _texts("opened_at", "last_at"),
    _reals("seconds"),
    _numbers("beats"),
)


# What raters do together: they settle differences, write references as a panel, and answer further questions.

meetings_table = _table(
    "meetings",
    _numbers("id", primary_key=True),
    _numbers("round", refers="rounds", unique=True),
    _texts("differ"),  # the rule by which answers were listed
    _reals("danger"),  # where the danger line lay, as a share of the scale
    _texts("by"),
    _flags("names"),
    _texts("opened_at"),
    _texts("closed_at", nullable=True),  # from then on what is not settled is the adjudicator's
    CheckConstraint("\"by\" IN ('raters', 'adjudicator')"),
)
meeting_items_table = _table(
    "meeting_items",
    _numbers("id", primary_key=True),
    _numbers("meeting", refers="meetings", index=True),
    _numbers("item", refers="items"),
    _texts("code", unique=True),  # in addresses: random
    _reals("position"),  # random
    _documents("participants"),  # people in a random order: Rater A, Rater B, ...
    _documents("dimensions"),  # those on which they differ
    UniqueConstraint("meeting", "item"),
)
proposals_table = _only_added(
    "proposals",
    _numbers("id", primary_key=True),
    _numbers("meeting_item", refers="meeting_items"),
    _numbers("version"),
    _texts("person"),
    _flags("agreed"),  # False: "we do not agree"
    _documents("said", "outcomes"),
    _texts("reason", "said_at"),
    UniqueConstraint("meeting_item", "version"),
)
confirmations_table = _only_added(
    "confirmations",
    _numbers("proposal", refers="proposals", primary_key=True),
    _texts("person", primary_key=True),
    _texts("confirmed_at"),
)
decisions_table = _only_added(
    "decisions",
    _numbers("id", primary_key=True),
    _numbers("meeting_item", refers="meeting_items"),
    _numbers("version"),
    _texts("person"),
    _documents("said", "outcomes"),
    _texts("reason", "said_at"),
    UniqueConstraint("meeting_item", "version"),
)
reference_cases_table = _table(
    "reference_cases",
    _numbers("id", primary_key=True),
    _texts("item", unique=True),
    _documents("shown"),  # the record
    _texts("routine", nullable=True),  # the routine diagnosis, shown late
    _documents("instrument"),  # as it was when the case was set up
)
reference_answers_table = _only_added(
    "reference_answers",
    _numbers("id", primary_key=True),
    _numbers("case", refers="reference_cases", index=True),
    _texts("code", unique=True),
    _reals("position"),
    _texts("system", "fingerprint"),
    _documents("shown"),
    _reals("probability", nullable=True),  # of being drawn among the case's answers; null: all are scored
    UniqueConstraint("case", "system"),
)
reference_panels_table = _table(
    "reference_panels",
    _numbers("id", primary_key=True),
    _texts("name", unique=True),
    _documents("members"),  # people in a random order: Member A, Member B, ...
    _flags("names"),  # whether members see one another's names
    _texts("made_at"),
)
reference_work_table = _table(
    "reference_work",
    _numbers("id", primary_key=True),
    _numbers("panel", refers="reference_panels", index=True),
    _numbers("case", refers="reference_cases", unique=True),
    _texts("code", unique=True),
    _reals("position"),
)
reference_stages_table = _only_added(
    "reference_stages",
    _numbers("work", refers="reference_work", primary_key=True),
    _texts("stage", primary_key=True),
    _texts("person", "began_at"),
    CheckConstraint("stage IN ('together', 'routine', 'scoring', 'done')"),
)
reference_entries_table = _only_added(
    "reference_entries",
    _numbers("id", primary_key=True),
    _numbers("work", refers="reference_work"),
    _texts("part"),  # alone:PERSON, together, routine, or score:ANSWER
    _numbers("version"),
    _texts("person"),  # who typed it
    _flags("submitted"),
    _documents("said"),
    _documents("outcomes"),  # of scores
    _texts("said_at"),
    UniqueConstraint("work", "part", "version"),
)
asked_table = _only_added(
    "asked",
    _numbers("id", primary_key=True),
    _numbers("assignment", refers="assignments"),
    _texts("question"),
    _texts("code", unique=True),
    _reals("position"),
    _flags("turned"),  # True: the second of the two texts is on the left
    _texts("asked_at"),
    UniqueConstraint("assignment", "question"),
)
replies_table = _only_added(
    "question_replies",
    _numbers("id", primary_key=True),
    _numbers("asked", refers="asked"),
    _numbers("version"),
    _texts("choice"),  # as it was shown: left, right, or the words of a choice
    _texts("why", "said_at"),
    UniqueConstraint("asked", "version"),
)


# Ratings that were given elsewhere, and files that were written here, so that an erasure finds them.

imported_table = _only_added(
    "imported_ratings",
    _numbers("id", primary_key=True),
    _texts("rater", "item", "system", "dimension"),
    _documents("outcome"),
    _reals("seconds", "probability", nullable=True),
    _documents("profile"),
    _texts("file", "imported_at"),
)
exports_table = _table(
    "exports",
    _texts("path", primary_key=True),
    _texts("kind"),  # ratings:FORMAT, references or questions
    _texts("digest"),  # of the file as it was written
    _texts("written_at"),
)


@contextmanager
def erasing_allowed(connection: Connection) -> Iterator[None]:
    """Let this transaction change rows that are otherwise only added: for an erasure alone. Whatever ends it early
    is undone as a whole, the leave included."""
    for before in (True, False):
        for name in (table.name for table in _append_only):
            if connection.dialect.name == "postgresql":
                verb = "DISABLE" if before else "ENABLE"
                connection.exec_driver_sql(f"ALTER TABLE {name} {verb} TRIGGER {name}_never_change")
            elif before:
                connection.exec_driver_sql(f"DROP TRIGGER {name}_never_update")
                connection.exec_driver_sql(f"DROP TRIGGER {name}_never_delete")
            else:
                _refuse_changes(connection, name)
        if before:
            yield


def _refuse_changes(connection: Connection, name: str) -> None:
    for statement in _REFUSALS[connection.dialect.name]:
        connection.exec_driver_sql(statement.replace("TABLE", name))


_REFUSALS = {
    "sqlite": tuple(
        f"CREATE TRIGGER TABLE_never_{verb.lower()} BEFORE {verb} ON TABLE "
        "BEGIN SELECT RAISE(ABORT, 'TABLE is append-only'); END"
        for verb in ("UPDATE", "DELETE")
    ),
    "postgresql": (
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION USING MESSAGE = TG_RELNAME || ' is append-only'; END $$",
        "CREATE TRIGGER TABLE_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON TABLE "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    ),
}

"""People of the panel: a name, one role, and how far they have come. Nobody is deleted: what they did is theirs."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import case, insert, select, update
from sqlalchemy.exc import IntegrityError

from medjury.foundation.errors import MedjuryError
from medjury.panel._tables import made, people_table, stored

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection, Row

LONGEST_NAME = 80
RECONCILED = "reconciled"  # the rater whose word is what raters settled together
NOBODYS_NAMES = frozenset({RECONCILED})


class Role(StrEnum):
    """What a person is here for. Each role opens its own pages; none includes another."""

    COORDINATOR = "coordinator"
    RATER = "rater"
    ADJUDICATOR = "adjudicator"
    VIEWER = "viewer"


@dataclass(frozen=True)
class Person:
    """Who somebody is. The id is random; the name is shown to coordinators and to the person alone. How far they
    have come is known where a whole row was read."""

    id: str
    name: str
    role: Role
    email: str | None = None
    language: str | None = None  # a rater's choice
    joined_at: str | None = None
    disabled_at: str | None = None


def new_id() -> str:
    """A name that tells nothing: neither order nor content."""
    return secrets.token_urlsafe(12)


def add_person(
    connection: Connection, name: str, role: Role, *, now: datetime, email: str | None = None
) -> Person:
    """A new person, who cannot sign in before they were invited."""
    shown = clean_name(name)
    address = clean_email(email)
    person = Person(new_id(), shown, role)
    if compared(shown) in NOBODYS_NAMES:
        raise MedjuryError(f"{shown} is the name for what raters settle together. Choose another name.")
    taken = select(people_table.c.id).where(people_table.c.sign_in_name == compared(shown))
    if connection.execute(taken).first():
        raise MedjuryError(
            f"There is somebody named {shown} already. Add an initial, or invite that person again."
        )
    try:
        with connection.begin_nested():
            connection.execute(
                insert(people_table).values(
                    id=person.id,
                    name=shown,
                    sign_in_name=compared(shown),
                    role=role.value,
                    email=address,
                    created_at=stored(now),
                )
            )
    except IntegrityError:
        raise MedjuryError("Somebody has that name or e-mail address already.") from None
    return person


def people(connection: Connection) -> list[Person]:
    """Everyone, in the order in which they were added."""
    rows = connection.execute(select(people_table).order_by(people_table.c.created_at, people_table.c.id))
    return [person_of(row) for row in rows]


def names_of_people(connection: Connection) -> dict[str, str]:
    """Everyone's name by their id."""
    return {each.id: each.name for each in people(connection)}


def person_by_id(connection: Connection, identity: str) -> Person | None:
    row = connection.execute(select(people_table).where(people_table.c.id == identity)).first()
    return person_of(row) if row else None


def person_named(connection: Connection, name: str) -> Person | None:
    own = people_table.c.sign_in_name == compared(name)
    row = connection.execute(select(people_table).where(own)).first()
    return person_of(row) if row else None


def row_by_sign_in_name(connection: Connection, typed: str) -> Row[tuple[object, ...]] | None:
    """The row of whoever signs in by this name or e-mail address."""
    own = people_table.c.sign_in_name == compared(
        typed
    )  # one question, so that a name takes as long as an address
    query = select(people_table).where(own | (people_table.c.email == compared(typed)))
    return connection.execute(query.order_by(case((own, 0), else_=1)).limit(1)).first()


def change_person(connection: Connection, person: Person, **values: str | None) -> None:
    """Another password (its hash), language, or moment from which on they are locked out (None: let in again)."""
    connection.execute(update(people_table).where(people_table.c.id == person.id).values(**values))


def person_of(row: Row[tuple[object, ...]]) -> Person:
    return made(Person, row, role=Role(row.role))


def clean_name(text: str) -> str:
    """A name fit to be shown: on one line, without signs that nobody sees."""
    kept = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in text)
    name = " ".join(unicodedata.normalize("NFC", kept).split())
    if not name:
        raise MedjuryError("Give a name.")
    if len(name) > LONGEST_NAME:
        raise MedjuryError(f"A name may have {LONGEST_NAME} letters; this one has {len(name)}.")
    return name


def clean_email(text: str | None) -> str | None:
    """The address as it is compared, or None where none was given."""
    address = compared(text or "")
    if not address:
        return None
    if address.count("@") != 1 or address.startswith("@") or address.endswith("@") or " " in address:
        raise MedjuryError("That is not an e-mail address: name@hospital.example")
    if len(address) > 254:
        raise MedjuryError("That e-mail address is too long.")
    return address


def compared(text: str) -> str:
    """A name as it is compared: letters that look alike in print, capitals and spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())

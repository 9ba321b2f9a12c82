"""A closed round for tests: two or three raters who said what the test says, in a real database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection
from tests.panel.rounds import NOON, Clock, write_study

from medjury.panel._access._people import Person, Role, add_person
from medjury.panel._design._assignments import deal
from medjury.panel._design._form import read_form
from medjury.panel._design._rounds import Round, rounds, set_state, set_up
from medjury.panel._rating._answers import Entry, add_version
from medjury.panel._serve import Panel, open_panel_database
from medjury.panel._tables import assignments_table, items_table

ONE_SYSTEM = ("zebrafinch-9b",)
Grades = Mapping[str, Sequence[str]]  # dimension -> the grade that each rater gives, in the raters' order


def closed_panel(
    folder: Path,
    grades: Sequence[Grades],
    place: str | Path | None = None,
    people: Sequence[Person] | None = None,
    raters: int = 2,
    close: bool = True,
    **study: Any,
) -> tuple[Panel, list[Person]]:
    """A panel whose only round is closed; `grades` has one entry for each case, "" is no rating."""
    loaded = write_study(folder, **{"cases": len(grades), "systems": ONE_SYSTEM} | study)
    panel = Panel(open_panel_database(place or folder / "panel.sqlite"), Clock(), loaded)
    with panel.database.writing() as connection:
        set_up(connection, loaded, NOON)
        persons = list(people or ())
        for number in range(raters - len(persons)):
            persons.append(add_person(connection, f"Dr Wallaby {number}", Role.RATER, now=NOON))
        rate(connection, persons, grades)
        if close:
            set_state(connection, only_round(connection), "closed")
    return panel, persons


def only_round(connection: Connection) -> Round:
    (found,) = rounds(connection)
    return found


def rate(connection: Connection, persons: Sequence[Person], grades: Sequence[Grades]) -> None:
    """Everyone rates every case as the test says."""
    round_ = only_round(connection)
    deal(connection, round_, [person.id for person in persons], NOON)
    items = list(connection.execute(select(items_table.c.id).order_by(items_table.c.id)).scalars())
    for item, said in zip(items, grades, strict=True):
        for place, person in enumerate(persons):
            form = {f"grade.{name}": each[place] for name, each in said.items()}
            form |= {f"why.{name}": f"Reason {place} of rater {place}" for name in said}
            if not all(form.values()):
                continue
            read = read_form(form, round_.instrument, round_.questions)
            assert not read.problems, read.problems
            table = assignments_table
            own = select(table.c.id).where(table.c.item == item, table.c.person == person.id)
            entry = Entry(0, read.said, read.comment, read.outcomes)
            saved = add_version(connection, connection.execute(own).scalar_one(), round_, entry, NOON)
            assert saved == 1


def same(*grades: str, accuracy: Sequence[str] | None = None) -> Grades:
    """Every dimension alike, but accuracy as said."""
    return {"accuracy": accuracy or grades, "completeness": grades, "clarity": grades}

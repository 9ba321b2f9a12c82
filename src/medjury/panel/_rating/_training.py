"""Training: the answer beside the key once it was sent, and whether the round is passed. First answers count: by
then the key has been seen."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from medjury.panel._design import Compared, Round, compare_with_key, outcome_from_row, share_right
from medjury.panel._design._tables import assignments_table, items_table, members_table
from medjury.panel._rating._tables import answers_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def compared_answers(connection: Connection, round_: Round, person: str) -> dict[str, list[Compared]]:
    """What a rater said in a training round beside the key, by the code of the case."""
    a, i, s = assignments_table, items_table, answers_table
    query = (
        select(a.c.code, i.c.key, s.c.outcomes)
        .join(i, a.c.item == i.c.id)
        .join(s, s.c.assignment == a.c.id)
        .where(a.c.round == round_.id, a.c.person == person, s.c.submitted)
        .order_by(s.c.version.desc())  # of several the first one is read last, and stays
    )
    within = int(round_.settings["within"])
    found = {}
    for row in connection.execute(query):
        outcomes = {name: outcome_from_row(each) for name, each in row.outcomes.items()}
        found[row.code] = compare_with_key(round_.instrument, outcomes, row.key, within)
    return found


def conclude_training(connection: Connection, round_: Round, person: str, now: datetime) -> float:
    """The share of right grades; the rater has passed where it reaches the mark, or where none is set."""
    compared = compared_answers(connection, round_, person)
    share = share_right([each for case in compared.values() for each in case])
    mark = round_.settings["pass_mark"]
    if mark is None or share >= mark:
        let_pass(connection, round_, person, now)
    return share


def let_pass(connection: Connection, round_: Round, person: str, now: datetime) -> None:
    """By the mark, or by the coordinator's word."""
    table = members_table
    mine = (table.c.round == round_.id) & (table.c.person == person)
    connection.execute(update(table).where(mine).values(passed_at=now.isoformat()))

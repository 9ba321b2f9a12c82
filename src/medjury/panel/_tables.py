"""The panel's tables. What a person said is only ever added: a changed answer is a new row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, Table, event

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

VERSION = 1
metadata = MetaData()
_append_only: list[Table] = []
version_table = Table("version", metadata, Column("version", Integer, nullable=False))


def append_only(table: Table) -> None:
    """Rows of this table are added and never changed: the database itself refuses."""
    _append_only.append(table)

    @event.listens_for(table, "after_create")
    def _created(table: Table, connection: Connection, **_: Any) -> None:
        _refuse_changes(connection, table.name)


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

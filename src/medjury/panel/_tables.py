"""The panel's tables. What a person said is only ever added: a changed answer is a new row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, Table, event

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

VERSION = 1
metadata = MetaData()
version_table = Table("version", metadata, Column("version", Integer, nullable=False))


def append_only(table: Table) -> None:
    """Rows of this table are added and never changed: the database itself refuses."""

    @event.listens_for(table, "after_create")
    def _refuse_changes(table: Table, connection: Connection, **_: Any) -> None:
        for statement in _REFUSALS[connection.dialect.name]:
            connection.exec_driver_sql(statement.replace("TABLE", table.name))


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

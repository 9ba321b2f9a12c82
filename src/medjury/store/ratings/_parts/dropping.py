"""A run leaves PostgreSQL: its tables are dropped, once what other runs share with it lies with one of them."""
# ruff: noqa: S608

from __future__ import annotations

from typing import Any

from medjury.store.ratings._parts.placing import part_of_run
from medjury.store.ratings._parts.schema import PARTITIONED

# A key that another run has too goes to that one; of several, to the first by name.
_HEIRS = """SELECT members.key, min(members.run) AS run FROM members JOIN unit_parts USING (key)
    WHERE unit_parts.part = %(part)s AND members.run <> %(run)s GROUP BY members.key"""
_STAY = (
    f"""UPDATE unit_parts SET part = parts.part FROM ({_HEIRS}) AS heirs JOIN parts USING (run)
        WHERE unit_parts.key = heirs.key""",
    # A reply goes where a rating is that was read from it.
    """UPDATE reply_parts SET part = read.part
        FROM (SELECT reply, min(part) AS part FROM questions JOIN unit_parts ON unit_parts.key = questions.unit
            WHERE part <> %(part)s GROUP BY reply) AS read
        WHERE reply_parts.key = read.reply AND reply_parts.part = %(part)s""",
    """INSERT INTO run_parts (run, part) SELECT DISTINCT members.run, unit_parts.part
        FROM members JOIN unit_parts USING (key)
        WHERE members.run <> %(run)s AND unit_parts.part <> %(part)s
            AND members.run IN (SELECT run FROM run_parts WHERE part = %(part)s)
        ON CONFLICT DO NOTHING""",
)


def drop_part(cursor: Any, run: str) -> None:
    """Drop everything that lies in a run's part and in no other run. Takes a moment, however much that is."""
    cursor.execute("SELECT part FROM parts WHERE run = %s", (run,))
    if (found := cursor.fetchone()) is None:
        return
    values = {"part": found[0], "run": run}
    cursor.execute(f"SELECT DISTINCT run FROM ({_HEIRS}) AS heirs", values)
    for (heir,) in cursor.fetchall():
        part_of_run(cursor, heir)
    for statement in _STAY:
        cursor.execute(statement, values)
    for table in PARTITIONED:
        kind = "reply" if table == "replies" else "unit"
        columns = _columns(cursor, table)
        cursor.execute(
            f"INSERT INTO {table} ({columns}, part) SELECT {columns}, moved.part FROM {table} "
            f"JOIN {kind}_parts AS moved USING (key) WHERE {table}.part = %(part)s AND moved.part <> %(part)s",
            values,
        )
    for table in ("unit_parts", "reply_parts", "run_parts", "parts"):
        cursor.execute(f"DELETE FROM {table} WHERE part = %(part)s", values)
    cursor.execute("DELETE FROM run_parts WHERE run = %(run)s", values)
    for table in PARTITIONED:
        cursor.execute(f"DROP TABLE {table}_{int(found[0])}")


def forget_keys(cursor: Any, units: list[str], replies: list[str]) -> None:
    """Keys whose rows were deleted lie nowhere any more."""
    cursor.execute("DELETE FROM unit_parts WHERE key = ANY(%s)", (units,))
    cursor.execute("DELETE FROM reply_parts WHERE key = ANY(%s)", (replies,))


def _columns(cursor: Any, table: str) -> str:
    cursor.execute(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'part'",
        (table,),
    )
    return str(cursor.fetchone()[0])

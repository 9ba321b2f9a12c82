"""PostgreSQL's partitions: the ratings, replies and records of each run lie in tables of their own.

A key lies in one part only, that of the run that wrote it first, and two small tables say in which: their primary
keys hold across runs what a key of a partitioned table cannot, that an answer is stored, and paid for, once. So a
run that finds an answer of another reads it where it lies, and a key is looked up in the one partition that has it.
A run is erased by dropping its tables, once what other runs share with it has moved to theirs.
"""
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

Kind = Literal["unit", "reply"]


def parts_of(cursor: Any, kind: Kind, keys: Collection[str]) -> dict[str, int]:
    """The parts of those keys that are stored."""
    cursor.execute(f"SELECT key, part FROM {kind}_parts WHERE key = ANY(%s)", (list(keys),))
    return dict(cursor.fetchall())


def values_of_run(cursor: Any, dialect: str, run: str) -> tuple[str, ...] | dict[str, Any]:
    """What a statement with `{run}` takes: in PostgreSQL the parts too in which the run's keys lie."""
    if dialect == "sqlite":
        return (run,)
    cursor.execute("SELECT part FROM run_parts WHERE run = %s", (run,))
    return {"run": run, "parts": [row[0] for row in cursor.fetchall()]}


def place(cursor: Any, kind: Kind, runs: Mapping[str, str]) -> dict[str, int]:
    """Give each key, with the run that writes it, its part; the parts of those that were not there yet."""
    keys_by_run: dict[str, list[str]] = {}
    for key, run in runs.items():
        keys_by_run.setdefault(run, []).append(key)
    placed: dict[str, int] = {}
    for run, keys in keys_by_run.items():
        part = part_of_run(cursor, run)
        cursor.execute(
            f"INSERT INTO {kind}_parts (key, part) SELECT unnest(CAST(%s AS text[])), %s "
            "ON CONFLICT DO NOTHING RETURNING key",
            (keys, part),
        )
        placed |= dict.fromkeys((row[0] for row in cursor.fetchall()), part)
    return placed


def place_or_find(cursor: Any, kind: Kind, runs: Mapping[str, str]) -> dict[str, int]:
    """The part of every key; one that is new lies with the run that writes it."""
    placed = place(cursor, kind, runs)
    if len(placed) == len(runs):
        return placed
    return placed | parts_of(cursor, kind, [key for key in runs if key not in placed])


def first_runs(cursor: Any, keys: Collection[str]) -> dict[str, str]:
    """Each key with the first run, by name, that has it; none is the run without a name."""
    cursor.execute("SELECT key, min(run) FROM members WHERE key = ANY(%s) GROUP BY key", (list(keys),))
    return dict.fromkeys(keys, "") | dict(cursor.fetchall())


def part_of_run(cursor: Any, run: str) -> int:
    """The part of a run, which is made where it has none."""
    cursor.execute("SELECT part_of_run(%s)", (run,))
    return int(cursor.fetchone()[0])


def note_use(cursor: Any, run: str, keys: Iterable[str]) -> None:
    """A run has these keys: it is read from their parts too, whichever run wrote them."""
    cursor.execute(
        "INSERT INTO run_parts (run, part) SELECT DISTINCT CAST(%s AS text), part FROM unit_parts "
        "WHERE key = ANY(%s) ON CONFLICT DO NOTHING",
        (run, list(keys)),
    )


def note_all_uses(cursor: Any) -> None:
    """The same for every run, once many rows were copied."""
    cursor.execute(
        "INSERT INTO run_parts (run, part) SELECT DISTINCT run, part FROM members JOIN unit_parts USING (key) "
        "ON CONFLICT DO NOTHING"
    )


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


PARTITIONED = ("ratings", "replies", "records")

# A role that may write but owns nothing can begin a run all the same: the function has its owner's rights. So it
# asks first whether whoever calls it may write. A table is attached, not created in its place, because that waits
# for no reader.
PART_OF_RUN = """CREATE FUNCTION part_of_run(name text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = medjury, pg_temp AS $$
    DECLARE
        number integer;
        whole text;
        own text;
    BEGIN
        IF NOT has_table_privilege(session_user, 'ratings', 'INSERT') THEN
            RAISE insufficient_privilege USING MESSAGE = 'permission denied for table ratings';
        END IF;
        SELECT part INTO number FROM parts WHERE run = name;
        IF number IS NOT NULL THEN
            RETURN number;
        END IF;
        INSERT INTO parts (run) VALUES (name) ON CONFLICT (run) DO NOTHING RETURNING part INTO number;
        IF number IS NULL THEN  -- another session made it while this one waited
            SELECT part INTO number FROM parts WHERE run = name;
            RETURN number;
        END IF;
        INSERT INTO run_parts (run, part) VALUES (name, number);
        FOREACH whole IN ARRAY ARRAY['ratings', 'replies', 'records'] LOOP
            own := whole || '_' || number;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', own, whole);
            EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT '
                'EXECUTE FUNCTION refuse_change()', own || '_never_change', own);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES IN (%s)', whole, own, number);
        END LOOP;
        RETURN number;
    END $$"""

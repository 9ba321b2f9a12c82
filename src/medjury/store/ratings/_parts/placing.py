"""In which part a key lies, and the part that a new one gets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

Kind = Literal["unit", "reply"]


def parts_of(cursor: Any, kind: Kind, keys: Collection[str]) -> dict[str, int]:
    """The parts of those keys that are stored."""
    cursor.execute(f"SELECT key, part FROM {kind}_parts WHERE key = ANY(%s)", (list(keys),))  # noqa: S608
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

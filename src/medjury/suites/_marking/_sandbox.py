"""Runs SQL that a model wrote, in a process that may read one database and nothing else (`_sql_worker.py`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.suites._marking import _sql_worker

Row = tuple[object, ...]
SECONDS = 5.0  # for one query
_START = 10.0  # for the process, on a busy machine
_PATIENCE = 10  # the limit is one of processor time; a machine may be this much busier than one query


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query, or why there are none: a few words that quote nothing of it."""

    rows: tuple[Row, ...] = ()
    failed: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether all it returned is no row, NULL or 0, as a query does that found nothing."""
        return not self.failed and all(value is None or value == 0 for row in self.rows for value in row)


def run_queries(
    database: Path, queries: Sequence[str], *, seconds: float = SECONDS, now: str | None = None
) -> tuple[QueryResult, ...]:
    """The result of each query. One that takes too long or too much costs its own result, not that of the others.

    `now` is the instant that date('now'), CURRENT_TIME and their like see, where a benchmark fixes the day; else it
    is that of this call: all queries see the same, so that a gold query and an answer are never a midnight apart.
    """
    if not database.is_file():
        raise MedjuryError(f"{database}: there is no such database, and SQL answers are run on it")
    instant = (
        {"now": now} if now else {"now": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3], "clock": True}
    )
    found: list[QueryResult] = []
    while len(found) < len(queries):
        some = _run(database, list(queries[len(found) :]), seconds, instant)
        found += some
        if len(found) < len(queries):  # the process was ended while it ran the next one
            found.append(QueryResult(failed="too slow or too much"))
    return tuple(found)


def _run(
    database: Path, queries: list[str], seconds: float, instant: Mapping[str, object]
) -> list[QueryResult]:
    address = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
    task = json.dumps({"address": address, "queries": queries, "seconds": seconds, **instant})
    command = [sys.executable, "-I", "-S", _sql_worker.__file__]
    with subprocess.Popen(  # noqa: S603 - our own program; the query travels as data
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as worker:
        try:
            output, _ = worker.communicate(task, timeout=_START + _PATIENCE * (seconds + 0.5) * len(queries))
        except subprocess.TimeoutExpired:
            worker.kill()
            output, _ = worker.communicate()  # all that was written before
    return [_result(line) for line in output.splitlines() if line.endswith("}")]


def _result(line: str) -> QueryResult:
    value = json.loads(line)
    if "failed" in value:
        return QueryResult(failed=value["failed"])
    return QueryResult(tuple(tuple(row) for row in value["rows"]))

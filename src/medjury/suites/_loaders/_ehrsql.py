"""EHRSQL, the eICU part: questions that are to be turned into SQL, and the database on which it is run.

Inputs: `question` and `schema` (the statements that make the tables). Gold: the query, `null` where the question
cannot be answered from the database. Facts: `is_impossible`. The folder holds `valid.json`, `eicu.sql` and
`eicu.sqlite`; the last is `Loaded.database`, and None where it is not there.
"""

from __future__ import annotations

from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import read_bytes
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.database import database_problem
from medjury.suites._loaders._reading.files import beside, one_file
from medjury.suites._loaders._reading.gather import Gathering, RowError, checked_text

_COLUMNS = ("id", "question", "query", "is_impossible")
IMPOSSIBLE = "null"


def load_ehrsql(benchmark: Benchmark, path: Path) -> Loaded:
    file = one_file(path, "valid.json", "*.json")
    schema = beside(file, "eicu.sql")
    if schema is None:
        raise MedjuryError(f"{file.name}: eicu.sql, which names the tables, must lie beside it")
    try:
        tables = checked_text(read_bytes(schema).decode("utf-8"), schema.name)
    except (UnicodeDecodeError, RowError) as error:
        raise MedjuryError(f"{schema.name}: is not the file that was expected ({error})") from None
    gathering = Gathering()
    for row in gathering.rows(file, _COLUMNS, within="[]"):
        with gathering.row(row):
            impossible = row.value("is_impossible")
            if not isinstance(impossible, bool):
                raise RowError("is_impossible is neither true nor false")
            query = row.text("query")
            if impossible != (query == IMPOSSIBLE):
                raise RowError("is_impossible and query contradict one another")
            inputs = {"question": row.text("question"), "schema": tables}
            facts = {"is_impossible": impossible}
            gathering.add(Item(row.text("id"), inputs, (query,), facts=facts), row.where)
    database = beside(file, "eicu.sqlite")
    if database is None:
        gathering.problems.append(
            f"{file.name}: eicu.sqlite does not lie beside it, so that no query can be run"
        )
    elif problem := database_problem(database, tables):
        gathering.problems.append(problem)
    return gathering.loaded(database)

"""New cases from a folder or a table. None is taken twice: a case is known by its id and system."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.in_use.watching._settings import SourcePart, WatchStudy
from medjury.in_use.watching._state import State
from medjury.intake import READERS, ending
from medjury.intake.cases import Case, read_cases
from medjury.studies import check_store_host


@dataclass
class Taken:
    """The cases of a batch, and what is to be remembered of where they came from: how far a file or a table was
    read, and the rows of a queue."""

    cases: list[Case] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)
    more: bool = False  # there may be more, though none of these is new


def take(study: WatchStudy, state: State, folder: Path) -> Taken:
    """At most a batch of cases that were not taken before."""
    source = study.settings.source
    return _from_folder(study, state) if source.folder else _from_table(study, source, state, folder)


def _from_folder(study: WatchStudy, state: State) -> Taken:
    """Files by name; one that grew or was written anew is read again. A file that is still being written belongs
    elsewhere, or under a name such as `.part`, until it is whole."""
    place = study.place(study.settings.source.folder or "")
    if not place.is_dir():
        raise MedjuryError(f"watch: the folder {place} is not there")
    taken, left = Taken(), study.settings.batch
    for file in sorted(each for each in place.iterdir() if ending(each) in READERS):
        found = file.stat()
        mark = f"{found.st_size} {found.st_mtime_ns}"
        if state.mark(f"file {file.name}") == mark:
            continue
        for case in read_cases(file, mapping=study.mapping, unit=study.unit, language=study.language):
            if state.knows(case.id, case.system):
                continue
            if not left:
                return taken  # the rest of this file comes with the next batch
            taken.cases.append(case)
            left -= 1
        taken.marks[f"file {file.name}"] = mark
    return taken


def _from_table(study: WatchStudy, source: SourcePart, state: State, folder: Path) -> Taken:
    """Rows in their order, after the last one that was taken, or not yet taken from a queue."""
    from sqlalchemy import column, select, text

    engine, table = _engine(study, source), _table(source)
    order: Any = column(source.order)
    asked = select(text("*")).select_from(table).order_by(order).limit(study.settings.batch)
    last = state.mark("table")
    if source.taken is not None:
        asked = asked.where(column(source.taken).is_(None))
    elif last is not None:
        asked = asked.where(order > json.loads(last))
    with engine.connect() as connection:
        rows = [dict(each) for each in connection.execute(asked).mappings()]
    engine.dispose()
    if not rows:
        return Taken()
    write_whole(folder / "rows.jsonl", "".join(_line(row, source) for row in rows))
    cases = read_cases(folder / "rows.jsonl", mapping=study.mapping, unit=study.unit, language=study.language)
    new = [case for case in cases if not state.knows(case.id, case.system)]
    keys = [row[source.order] for row in rows]
    marks = {} if source.taken else {"table": json.dumps(keys[-1], default=str)}
    return Taken(new, marks, keys if source.taken else [], more=True)


def finished(study: WatchStudy, rows: list[Any]) -> None:
    """Write into a queue which of its rows were judged, and when."""
    source = study.settings.source
    if source.taken is None or not rows:
        return
    from sqlalchemy import column, func, update

    engine, table = _engine(study, source), _table(source, source.order, source.taken)
    with engine.begin() as connection:
        done = update(table).where(column(source.order).in_(rows))
        connection.execute(done.values({source.taken: func.current_timestamp()}))
    engine.dispose()


def _line(row: dict[str, Any], source: SourcePart) -> str:
    """A row as a line of a file of cases; a column that holds JSON, such as `texts`, is taken apart."""
    text = {name: _opened(value) for name, value in row.items() if value is not None and name != source.taken}
    text["id"] = str(text.get("id", row[source.order]))
    return json.dumps(text, default=str) + "\n"


def _opened(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _engine(study: WatchStudy, source: SourcePart) -> Any:
    from sqlalchemy import create_engine

    address = source.database or ""
    if address.startswith("env:"):
        address = os.environ.get(address.removeprefix("env:"), "")
        if not address:
            raise MedjuryError(f"watch: the environment variable {source.database} names is not set")
    if address.startswith("postgresql://"):
        address = address.replace("postgresql://", "postgresql+psycopg://", 1)
    if address.startswith("sqlite:///") and not address.startswith("sqlite:////"):
        address = f"sqlite:///{study.place(address.removeprefix('sqlite:///'))}"
    check_store_host(address, study.allow_hosts)
    return create_engine(address)


def _table(source: SourcePart, *columns: str) -> Any:
    from sqlalchemy import column, table

    schema, _, name = (source.table or "").rpartition(".")
    return table(name, *map(column, columns), schema=schema or None)

"""The records of a run: how ratings of several steps came about, read from `records.jsonl` line by line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError

_TYPES: Mapping[str, type] = {
    "key": str,
    "item": str,
    "system": str,
    "rater": str,
    "repeat": int,
    "kind": str,
    "body": dict,
}


@dataclass(frozen=True, slots=True)
class Record:
    """One line: the steps behind the ratings with the same key. `kind` names the way of judging; `body` holds
    clinical text, as explanations do."""

    key: str
    item: str
    system: str
    rater: str
    repeat: int
    kind: str
    body: Mapping[str, Any]
    line: int

    def title(self, instead: str, *, hide: bool) -> str:
        """Whose story this is, for a heading: `instead` stands for the case where texts are hidden."""
        case = instead if hide else " · ".join(filter(None, (self.item, self.system)))
        again = f", repeat {self.repeat + 1}" if self.repeat else ""
        return f"{case} ({self.rater}{again})"


class Records:
    """The records of a run folder. The file may be large, so it is gone through once to learn where each kind
    stands, and then only the wanted lines are read. A run without the file has none; a line that is no record
    is refused."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path if path is not None and path.is_file() else None

    def kinds(self) -> dict[str, int]:
        """How many records there are of each kind, in the order of their first lines."""
        return {kind: len(places) for kind, places in self._places.items()}

    def __iter__(self) -> Iterator[Record]:
        """Every record in the order of the file, one at a time."""
        return self._read(sorted(place for places in self._places.values() for place in places))

    def raters(self, kind: str) -> dict[str, int]:
        """How many records of a kind each rater left."""
        return dict(Counter(each.rater for each in self.of(kind)))

    def of(self, kind: str) -> Iterator[Record]:
        """The records of one kind in the order of the file, one at a time."""
        return self._read(self._places.get(kind, ()))

    def _read(self, places: Sequence[tuple[int, int]]) -> Iterator[Record]:
        if self._path is None or not places:
            return
        with self._path.open("rb") as file:
            for number, start in places:
                file.seek(start)
                yield _record(self._path, number, file.readline())

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        """The line number and the first byte of every record, by kind."""
        found: dict[str, list[tuple[int, int]]] = {}
        if self._path is None:
            return found
        start = 0
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        found.setdefault(_record(self._path, number, line).kind, []).append((number, start))
                    start += len(line)
        except OSError as error:
            raise MedjuryError(
                f"{self._path} cannot be read ({error.strerror}); run the study again"
            ) from None
        return found


def _record(path: Path, number: int, line: bytes) -> Record:
    """What is wrong is told without the line itself, which holds clinical text."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):  # broken JSON, broken UTF-8, or nested without end
        raise _refused(path, number, "it is no JSON") from None
    if not isinstance(said, dict):
        raise _refused(path, number, "it is no JSON object")
    for name, kind in _TYPES.items():
        if type(said.get(name)) is not kind:
            word = "an object" if kind is dict else "a whole number" if kind is int else "text"
            raise _refused(path, number, f"its {name!r} is missing or is not {word}")
    return Record(**{name: said[name] for name in _TYPES}, line=number)


def _refused(path: Path, number: int, why: str) -> MedjuryError:
    return MedjuryError(
        f"{path}, line {number}: this is no record ({why}); run the study again, which writes the file anew "
        "and asks nothing twice"
    )

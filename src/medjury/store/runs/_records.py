"""The records of a run: how ratings of several steps came about, read from `records.jsonl` line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import Strict, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Outcome, Score, Unscored
from medjury.store.runs._part import RunPart, first_problem

# The body of a record: how ratings of several steps came about. Each way of judging has a body of its own.

Grade = Annotated[float, Strict()]  # text that looks like a number is none


class RecordedOutcome(RunPart):
    """What became of one dimension: a score, "not applicable", or a `reason` why there is none; and in words."""

    status: Literal["scored", "not_applicable", "unscored"]
    score: Grade | None = None
    reason: str | None = None
    explanation: str = ""

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        if isinstance(outcome, Unscored):
            reason = outcome.reason.value
            return cls(status="unscored", score=None, reason=reason, explanation=outcome.message)
        score = outcome.value if isinstance(outcome, Score) else None
        status: Literal["scored", "not_applicable"] = "not_applicable" if score is None else "scored"
        return cls(status=status, score=score, reason=None, explanation=outcome.explanation)


class RecordedFailure(RunPart):
    """Why a step has no usable answer."""

    reason: str
    message: str

    @classmethod
    def of(cls, failure: Unscored | None) -> Self | None:
        return None if failure is None else cls(reason=failure.reason.value, message=failure.message)


class RecordedCut(RunPart):
    """What was left out of a record that was too long for the model: whole notes by their ids, part of one more."""

    truncate: str
    keep: str = ""
    order: str = ""  # what newest and oldest were found by: date or position
    notes_left_out: tuple[str, ...]
    shortened: str | None = None
    characters_left_out: int
    characters: int  # that there were


class Body(RunPart):
    """What every body has: the `kind` of judging, and what was left out of the case, if anything was. It holds
    clinical text, as explanations do."""

    kind: str = ""
    context: RecordedCut | None = None

    def content(self) -> dict[str, Any]:
        return {"kind": self.kind, **super().content()}


AnyBody = TypeVar("AnyBody", bound=Body)
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
class Record(Generic[AnyBody]):
    """One line: the steps behind the ratings with the same key. `line` is its number in the file."""

    key: str
    item: str
    system: str
    rater: str
    repeat: int
    body: AnyBody
    line: int = 0

    def title(self, instead: str, *, hide: bool) -> str:
        """Whose record this is, for a heading: `instead` stands for the case where texts are hidden."""
        case = instead if hide else " · ".join(filter(None, (self.item, self.system)))
        again = f", repeat {self.repeat + 1}" if self.repeat else ""
        return f"{case} ({self.rater}{again})"


class Records:
    """The records of a run folder. The file may be large, so it is gone through once to learn where each kind
    is, and then only the wanted lines are read. A run without the file has none; a line that is no record, or
    no record of its kind, is refused."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = Path(path) if path is not None and Path(path).is_file() else None

    def kinds(self) -> dict[str, int]:
        """How many records there are of each kind, in the order of their first lines."""
        return {kind: len(places) for kind, places in self._places.items()}

    def __iter__(self) -> Iterator[Record[Body]]:
        """Every record in the order of the file, one at a time, with what all bodies have."""
        return self._read(sorted(place for places in self._places.values() for place in places), Body)

    def of(self, kind: type[AnyBody]) -> Iterator[Record[AnyBody]]:
        """The records with one kind of body in the order of the file, one at a time."""
        return self._read(self._places.get(kind.model_fields["kind"].default, ()), kind)

    def of_answer(self, item: str, system: str, kinds: Mapping[str, type[Body]]) -> Iterator[Record[Body]]:
        """The records of one answer in the order of the file, each with the body of its kind where `kinds` has it;
        one of a kind that it does not have, with what all bodies have."""
        for number, start, kind in self._of_answer.get((item, system), ()):
            yield from self._read([(number, start)], kinds.get(kind, Body))

    def _read(self, places: Sequence[tuple[int, int]], kind: type[AnyBody]) -> Iterator[Record[AnyBody]]:
        if self._path is None or not places:
            return
        with self._path.open("rb") as file:
            for number, start in places:
                file.seek(start)
                yield _record(self._path, number, _line(self._path, number, file.readline()), kind)

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        """The line number and the first byte of every record, by kind."""
        found: dict[str, list[tuple[int, int]]] = {}
        for number, start, given in self._gone_through():
            found.setdefault(given["kind"], []).append((number, start))
        return found

    @cached_property
    def _of_answer(self) -> dict[tuple[str, str], list[tuple[int, int, str]]]:
        """The same with the kind, by item and system."""
        found: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
        for number, start, given in self._gone_through():
            found.setdefault((given["item"], given["system"]), []).append((number, start, given["kind"]))
        return found

    def _gone_through(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Line number, first byte and values of every record."""
        if self._path is None:
            return
        start = 0
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield number, start, _line(self._path, number, line)
                    start += len(line)
        except OSError as error:
            raise MedjuryError(
                f"{self._path} cannot be read ({error.strerror}); run the study again"
            ) from None


def _line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """The values of a line. What is wrong is reported without the line itself, which holds clinical text."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):  # broken JSON, broken UTF-8, or nested without end
        raise _refused(path, number, "this is not a record", "it is not JSON") from None
    if not isinstance(given, dict):
        raise _refused(path, number, "this is not a record", "it is not a JSON object")
    for name, kind in _TYPES.items():
        if type(given.get(name)) is not kind:
            word = "an object" if kind is dict else "a whole number" if kind is int else "text"
            raise _refused(path, number, "this is not a record", f"its {name!r} is missing or is not {word}")
    return given


def _record(path: Path, number: int, given: Mapping[str, Any], kind: type[AnyBody]) -> Record[AnyBody]:
    try:
        body = kind.model_validate(given["body"])
    except ValidationError as error:
        form = f"this is not a record of the kind {given['kind'][:40]!r}"
        raise _refused(path, number, form, first_problem(error)) from None
    return Record(given["key"], given["item"], given["system"], given["rater"], given["repeat"], body, number)


def _refused(path: Path, number: int, what: str, why: str) -> MedjuryError:
    return MedjuryError(
        f"{path}, line {number}: {what} ({why}); run the study again, which writes the file again and "
        "asks no question "
        "twice"
    )

"""The answer file: what models answered in a finished run, by the keys of their calls.

One JSON object a line, in a plain file or one that ends in .gz. The first says which models answered; each other
line is a reply, or the lasting failure that a call ended in. A key is the hash of everything that determines an
answer (`request_key`): no question and no text of a case is in the file, only what the models answered.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_binary
from medjury.instruments import needs_token
from medjury.models._chat import Reply
from medjury.models._finish import Finish
from medjury.models._tokens import MOST_COUNTED

_FORMAT = "medjury answers 1"
_LONGEST_LINE = 64 * 1024 * 1024
_LARGEST_FILE = 8 * limits.BYTES  # unpacked; every answer of a run is kept in memory


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)


class RecordedAs(_Line):
    """A model as it was asked: `names` are those it had in the run, `identity` all that determines its answers."""

    names: list[str]
    identity: dict[str, str]
    vendor: str = ""
    context_window: int | None = Field(default=None, ge=1)
    dropped: list[str] = []

    @property
    def title(self) -> str:
        return self.identity.get("model", self.identity.get("kind", ""))


class _Header(_Line):
    format: Literal["medjury answers 1"]
    models: list[RecordedAs]
    first_rating: str = ""


def _any_text(value: Any) -> Any:
    """A text with whatever signs a model gave, half a surrogate pair among them, which pydantic refuses."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    return value


_Text = Annotated[str, PlainValidator(_any_text)]


class _Reply(_Line):
    key: str
    text: _Text
    finish: Finish = "stop"
    tokens_in: int = Field(default=0, ge=0, le=MOST_COUNTED)
    tokens_out: int = Field(default=0, ge=0, le=MOST_COUNTED)
    tokens_cached: int = Field(default=0, ge=0, le=MOST_COUNTED)
    seconds: float = Field(default=0.0, ge=0, strict=False)
    model: _Text = ""
    cost: float | None = Field(default=None, ge=0, strict=False)
    tokens_written: int = Field(default=0, ge=0, le=MOST_COUNTED)
    token: _Text = ""


class _Failure(_Line):
    key: str
    failure: dict[str, Any]


_AnyLine: TypeAdapter[_Reply | _Failure] = TypeAdapter(_Reply | _Failure)


Recorded = Reply | str  # a reply, or of a call that ended without one what `failure_text` tells


@dataclass(frozen=True, eq=False)
class AnswerFile:
    """An answer file, read once. `hash` is that of the file as it lies on the disk; `first_rating` is when the
    first score was seen that rests on these answers, "" where that is not known."""

    path: Path
    hash: str
    models: tuple[RecordedAs, ...]
    answers: Mapping[str, Recorded] = field(repr=False)
    first_rating: str = ""

    @classmethod
    def open(cls, path: Path) -> AnswerFile:
        """The file, shared by all judges that name it."""
        try:
            found = path.stat()
            known = (str(path.resolve()), found.st_mtime_ns, found.st_size)
            if (there := _OPEN.get(known)) is not None:
                return there
            read = cls._read(path)
        except (OSError, EOFError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise MedjuryError(f"{path}: the recorded answers cannot be read ({why})") from None
        _OPEN[known] = read
        return read

    @classmethod
    def _read(cls, path: Path) -> AnswerFile:
        with path.open("rb") as raw:
            digest = hashlib.file_digest(raw, "sha256").hexdigest()
        with limits.open_binary(path, is_packed=path.suffix == ".gz", limit=_LARGEST_FILE) as file:
            lines = _lines(file, path)
            header = _checked(_Header.model_validate, next(lines, b""), path, 1)
            answers: dict[str, Recorded] = {}
            for number, line in enumerate(lines, 2):
                if line.strip():
                    read = _checked(_AnyLine.validate_python, line, path, number)
                    answer = _answer(read)
                    if answers.setdefault(read.key, answer) != answer:
                        problem = "this call appears twice, with two answers; record the run again"
                        raise MedjuryError(f"{path}, line {number}: {problem}")
        return cls(path, digest, tuple(header.models), answers, header.first_rating)


_Checked = TypeVar("_Checked")
_OPEN: WeakValueDictionary[tuple[str, int, int], AnswerFile] = WeakValueDictionary()


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise limits.refused(path, "has a line without end", f"{_LONGEST_LINE / 1e6:,.0f} MB of a line")
        yield line


def _checked(validate: Callable[[Any], _Checked], line: bytes, path: Path, number: int) -> _Checked:
    try:
        return validate(json.loads(line))
    except (ValueError, RecursionError):  # a ValidationError is one; its words may quote an answer
        what = "the first line names no models" if number == 1 else "this is not a recorded answer"
        raise MedjuryError(
            f"{path}, line {number}: {what}; a file of recorded answers is written by `medjury runs record`"
        ) from None


def _answer(line: _Reply | _Failure) -> Recorded:
    if isinstance(line, _Failure):
        return json.dumps(line.failure, sort_keys=True)
    return Reply(**{name: value for name, value in line if name != "key"})


def write_answers(
    path: Path,
    models: Iterable[RecordedAs],
    answers: Iterable[tuple[str, Recorded]],
    *,
    first_rating: str = "",
) -> int:
    """Write an answer file for its owner's eyes; how many answers it holds. The same answers are the same file."""
    count = 0
    with whole_binary(path) as raw:
        zipped = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else None
        file = cast(BinaryIO, zipped or raw)
        header = {
            "format": _FORMAT,
            "first_rating": first_rating,
            "models": [each.model_dump() for each in models],
        }
        file.write(_encoded(header))
        for key, answer in answers:
            count += 1
            if isinstance(answer, str):
                file.write(_encoded({"key": key, "failure": json.loads(answer)}))
            else:
                stated = {name: getattr(answer, name) for name in Reply.__slots__}
                if not answer.tokens_written:  # as files have it that were written before it was known
                    del stated["tokens_written"]
                if not needs_token(answer.text, answer.token):
                    del stated["token"]
                file.write(_encoded({"key": key, **stated}))
        if zipped is not None:
            zipped.close()
    return count


def _encoded(line: Mapping[str, Any]) -> bytes:
    return (json.dumps(line) + "\n").encode()

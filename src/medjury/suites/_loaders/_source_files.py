"""Reading a source's files: the rows that become items and those that do not, choices, JSON, XML, a database."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import SHEET_BYTES, read_bytes, read_part
from medjury.intake import EMPTY, parse_json
from medjury.intake.cases import read_rows
from medjury.suites._benchmark import Item, Loaded

BLANK = "blank row"


class RowError(ValueError):
    """Why a row cannot be an item. The message holds nothing of its text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source: its values by column, and where it was found."""

    where: str
    number: int
    values: Mapping[str, Any]

    def value(self, column: str) -> Any:
        """What a column holds, be it text or not. A row of JSON may lack it altogether."""
        if column not in self.values:
            raise RowError(f"has no {column}")
        return self.values[column]

    def text(self, column: str) -> str:
        """The text of a column that must not be empty."""
        found = self.optional(column)
        if not found:
            raise RowError(f"{column} is empty")
        return found

    def optional(self, column: str) -> str:
        """The text of a column, empty where there is none."""
        value = self.values.get(column)
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            value = int(value)  # a spreadsheet and Parquet write 3 as 3.0
        if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
            return checked_text("" if value is None else str(value), column)
        raise RowError(f"{column} is not text")

    def label(self, column: str, known: Sequence[str]) -> str:
        """One of a few words that the column may hold, in any letter case."""
        found = self.text(column)
        for each in known:
            if each.lower() == found.lower():
                return each
        raise RowError(f"{column} is none of {', '.join(known)}")

    def whole_number(self, column: str) -> int:
        found = self.text(column)
        if not found.removeprefix("-").isascii() or not found.removeprefix("-").isdigit():
            raise RowError(f"{column} is not a whole number")
        return int(found)


def checked_text(text: str, name: str) -> str:
    """The text without blanks around it and with one kind of line end; refused where a byte of it was no text."""
    if "\x00" in text:
        raise RowError(f"{name} holds characters that were lost when the file was saved; fetch it again")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise RowError(f"{name} is not valid UTF-8; save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


class Gathering:
    """What a loader has made of a source so far, and the files it read."""

    def __init__(self) -> None:
        self.read: list[Path] = []
        self.items: list[Item] = []
        self.left_out: Counter[str] = Counter()
        self.problems: list[str] = []
        self._seen: dict[str, str] = {}

    def files(self, path: Path, *patterns: str) -> list[Path]:
        """The file itself, or the files of a folder, and of those inside it, that fit the first pattern that any
        fits; by name, so that items have one order everywhere."""
        if not path.exists():
            raise MedjuryError(f"{path}: there is no such file or folder")
        found = (sorted(each for each in path.rglob(pattern) if each.is_file()) for pattern in patterns)
        files = [path] if path.is_file() else next(filter(None, found), [])
        if not files:
            raise MedjuryError(
                f"{path}: the folder has no file {' or '.join(patterns)}; give the file itself"
            )
        self.read += files
        return files

    def one_file(self, path: Path, *patterns: str) -> Path:
        """The same where one file is expected."""
        found = self.files(path, *patterns)
        if len(found) > 1:
            names = ", ".join(each.name for each in found[:5])
            raise MedjuryError(
                f"{path}: the folder has {len(found)} such files ({names}); give the one that you mean"
            )
        return found[0]

    def beside(self, file: Path, name: str) -> Path | None:
        """A file of this name in the same folder, where there is one."""
        found = file.parent / name
        if not found.is_file():
            return None
        self.read.append(found)
        return found

    def rows(self, path: Path, columns: Sequence[str], *, within: str | None = None) -> Iterator[Row]:
        """The rows of a table or of JSON; `within` leads to them inside a JSON document. A file that lacks one of
        the columns is refused, since it is not the file that was expected."""
        first = True
        for raw in read_rows(path, rows=within):
            where = f"{raw.origin.file}, row {raw.origin.row}"
            self.left_out[BLANK] += raw.remarks.get(EMPTY, 0)
            if raw.problem:
                self.problems.append(f"{where}: {raw.problem}")
            elif not raw.is_remark:
                if first:
                    require_columns(path, raw.values, columns)
                    first = False
                yield Row(where, raw.origin.row, raw.values)

    @contextmanager
    def row(self, row: Row) -> Iterator[None]:
        """Whatever is wrong with this row is told, and the next one is read."""
        try:
            yield
        except RowError as problem:
            self.problems.append(f"{row.where}: {problem}")

    def take(self, rows: Iterable[Row], make: Callable[[Row], Item]) -> None:
        """An item of each row."""
        for row in rows:
            with self.row(row):
                self.add(make(row), row.where)

    def leave_out(self, reason: str) -> None:
        self.left_out[reason] += 1

    def add(self, item: Item, where: str) -> None:
        if item.id in self._seen:
            raise RowError(f"its id appears twice, first in {self._seen[item.id]}")
        self._seen[item.id] = where
        self.items.append(item)

    def loaded(self, database: Path | None = None) -> Loaded:
        counts = {reason: count for reason, count in self.left_out.items() if count}
        return Loaded(tuple(self.items), counts, tuple(self.problems), database, tuple(self.read))


def require_columns(path: Path, found: Mapping[str, Any], columns: Sequence[str]) -> None:
    missing = [each for each in columns if each not in found]
    if missing:
        raise MedjuryError(
            f"{path.name}: has no column {', '.join(map(repr, missing))}; is it the file that the benchmark names?"
        )


# Choices with the letters by which they are chosen.


def lettered(texts: Sequence[str]) -> dict[str, str]:
    """A, B, C … for the texts in their order."""
    if not 2 <= len(texts) <= len(ascii_uppercase):
        raise RowError(f"has {len(texts)} choices; 2 to {len(ascii_uppercase)} can be lettered")
    if not all(text.strip() for text in texts):
        raise RowError("one of the choices is empty")
    return dict(zip(ascii_uppercase, texts, strict=False))


def right_letters(letter: str, choices: Mapping[str, str]) -> tuple[str, ...]:
    """The right letter, and every other whose text reads the same: sources have such questions, and nobody can tell
    the two apart."""
    text = choices[letter].casefold()
    return (letter, *(each for each in choices if each != letter and choices[each].casefold() == text))


def letter_of(answer: str, choices: Mapping[str, str]) -> str:
    """The letter of a gold answer that is given as a letter or as the text of a choice. Where it may be either, as
    with blood groups, nobody can tell which was meant."""
    found = [letter for letter, text in choices.items() if text.casefold() == answer.casefold()]
    letter = answer.upper()
    if letter in choices and found and letter not in found:
        raise RowError(
            f"the right answer may be the letter {letter} or the text of {found[0]}; reword that choice"
        )
    if letter in choices:
        return letter
    if not found:
        raise RowError("the right answer is none of the choices")
    return found[0]


# A JSON file that is read whole, strictly.


def read_json_file(path: Path) -> Any:
    """What a file holds; NaN, Infinity and a key that appears twice are refused, since each hides a mistake."""
    try:
        return parse_json(read_bytes(path).removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise MedjuryError(f"{path.name}: {error}; fetch it again") from None


# XML from elsewhere: nothing in it is loaded, followed or unfolded.


def read_xml(path: Path) -> ElementTree.Element:
    """The root of an XML file."""
    return _root(read_bytes(path, SHEET_BYTES), path.name)


def read_packed_xml(path: Path, member: str) -> ElementTree.Element:
    """The root of an XML file inside a packed one, such as a Word document."""
    try:
        with ZipFile(path) as packed:
            content = read_part(packed, member, path)
    except (BadZipFile, KeyError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error):
        raise MedjuryError(f"{path.name}: is not the document that was expected, or it is damaged") from None
    return _root(content, path.name)


def _root(content: bytes, name: str) -> ElementTree.Element:
    # An entity can unfold to gigabytes or name another file; UTF-16 would hide its declaration from this search.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:100]:
        raise MedjuryError(
            f"{name}: declares a document type or entities, or is not UTF-8; no source of ours does"
        )
    try:
        return ElementTree.fromstring(content)  # noqa: S314 - what declares entities is refused above
    except ElementTree.ParseError as error:
        raise MedjuryError(f"{name}: is not valid XML (line {error.position[0]}); fetch it again") from None


# Whether a SQLite file can be used: it is whole, and has the tables that its description names.


_TABLE = re.compile(r"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"`\[]?(\w+)", re.IGNORECASE)


def database_problem(path: Path, schema: str) -> str:
    """What is wrong with the database, or nothing. It is opened for reading alone, and no journal is made."""
    try:
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            ).fetchall()
    except (sqlite3.Error, ValueError):
        return f"{path.name}: is not an SQLite database, or it is damaged"
    if found != ("ok",):
        return f"{path.name}: is damaged"
    wanted = {name.lower() for name in _TABLE.findall(schema)}
    missing = sorted(wanted - {str(name).lower() for (name,) in rows})
    if not wanted or missing:
        return f"{path.name}: has no table {', '.join(missing) or 'that eicu.sql describes'}"
    return ""

"""Which column is which: a hospital's own column names, sorted into the fields of a case."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medjury.foundation.nested import Record, is_path, root_of, value_at
from medjury.intake._files.cells import in_cell
from medjury.intake._files.reading import FileError, Reading
from medjury.intake.cases._chat_forms import look_like_messages
from medjury.intake.cases._images import IMAGES
from medjury.intake.cases._messages import CONVERSATION, LABS
from medjury.intake.cases._row import Fields, Problems
from medjury.intake.cases._units import Unit

SIMPLE = ("id", "candidate", "reference", "system", "vendor", "patient")
# Columns of these names are facts about the case, not texts, also where every cell is text.
METADATA_NAMES = frozenset({"specialty", "age", "sex", "language"})
LONGEST_NAME = 100
_WORD = re.compile(r"[^\W_]+")
_COLUMN_WORDS = frozenset((
    "answer", "assistant", "candidate", "case", "context", "date", "document", "encounter", "gold", "id",
    "ids", "identifier", "index", "input", "item", "label", "model", "mrn", "name", "no", "note", "notes",
    "number", "output", "patient", "prompt", "question", "record", "reference", "response", "row",
    "sample", "score", "source", "specialty", "study", "subject", "summary", "system", "target", "text",
    "texts", "title", "transcript", "uid", "uuid", "vendor", "visit",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """From field to column. Fields that are not named are looked for under their own names.

    `notes` may name several columns, each of which is one note. `constants` gives a field one value for the
    whole file (the system that wrote every answer). Where a mapping is given, columns that it does not name
    and that are not fields are left out; where none is given, other text columns become texts and other
    values metadata.
    """

    simple: Mapping[str, str] = field(default_factory=dict)
    notes: str | tuple[str, ...] = "notes"
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    criteria: str = "criteria"
    constants: Mapping[str, object] = field(default_factory=dict)
    fhir: Mapping[str, str] = field(default_factory=dict)
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header_rows: int = 1
    rows: str | None = None  # where the rows are in a nested JSON file
    skip_rows: int = 0
    images: str = IMAGES
    folder: Path = Path()  # where the paths of images begin
    language: str | None = None  # of cases that state none, or `detect`
    given: bool = False
    unit: Unit | None = None  # what is judged of each conversation
    needs_id: bool = True  # false where rows are read for something else than cases

    def reading(self) -> Reading:
        """How the file is read, to be filled in one pass over it."""
        return Reading(
            self.sheet, self.delimiter, self.encoding, self.header_rows, self.rows, self.simple.get("id", "id"),
            skip_rows=self.skip_rows, by_row=True,
        )  # fmt: skip

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column the mapping names, without those that merely have a field's name."""
        notes = () if self.notes == "notes" else (self.notes,) if isinstance(self.notes, str) else self.notes
        criteria = () if self.criteria == "criteria" else (self.criteria,)
        images = () if self.images == IMAGES else (self.images,)
        return (
            *self.simple.values(), *notes, *self.texts.values(), *self.metadata.values(), *criteria, *images,
        )  # fmt: skip

    def check_header(self, header: Sequence[str], file: str) -> None:
        """Refuse a header that is missing, or that lacks a column that is needed.

        A file without a header shows its first patient in the header's place, so its cells are not repeated.
        """
        if not any(header) or any(len(name) > LONGEST_NAME or "\n" in name for name in header):
            raise FileError(f"{file}: has no header; the first row must name the columns")
        known = {name for name in header if name}
        for column in self.columns:
            if column not in known and root_of(column) not in known:
                near = difflib.get_close_matches(column, header, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"the file has {len(header)} columns"
                raise FileError(f"{file}: the mapping names {column!r}, but there is no such column; {hint}")
        if self.needs_id and "id" not in self.simple and "id" not in known:
            raise FileError(
                f"{file}: has no column 'id'{_names_text(header)}; say in a mapping which column names the case "
                "(id: ...)"
            )

    def unseen(self, row: Mapping[str, object], columns: Iterable[str]) -> set[str]:
        """Those of the columns that the row does not have, not even empty."""
        return {each for each in columns if each not in row and not _is_found(row, each)}

    def leaves_out(self, column: str) -> bool:
        """True for a column of the file that no case will have."""
        used = {
            *(self.simple.get(name, name) for name in SIMPLE),
            *self.columns,
            "notes",
            "texts",
            "metadata",
            self.images,
            "criteria",
        }
        if not self.given or column in used or column in map(root_of, self.columns):
            return False
        return not _place(column, "", mapped=True)[0]

    def classify(self, row: Mapping[str, object], problems: Problems) -> Fields:
        """The row's values by field."""
        used: set[str] = set()
        named = self.columns if isinstance(row, Record) else ()

        def take(column: str) -> object:
            used.add(column)
            if column in row:
                return row[column]
            try:
                return _look_up(row, column, column in named)
            except (ValueError, RecursionError):
                problems.append((column, "is not valid JSON, so nothing can be found inside it"))
                return None

        simple = {name: take(self.simple.get(name, name)) for name in SIMPLE}
        if isinstance(self.notes, str):
            notes = take(self.notes)
        else:
            notes = [{"id": column, "text": text} for column in self.notes if _filled(text := take(column))]
        texts = _group(take("texts"), "texts", problems)
        metadata = _group(take("metadata"), "metadata", problems)
        texts |= {name: take(column) for name, column in self.texts.items()}
        metadata |= {name: take(column) for name, column in self.metadata.items()}
        criteria = take(self.criteria)
        images = take(self.images)
        for column, value in row.items():
            if column in used or not column:
                continue
            group, name = _place(column, value, self.given)
            if group == "texts":
                texts.setdefault(name, value)
            elif group == "metadata":
                metadata.setdefault(name, value)
        for name, value in self.constants.items():
            if name in SIMPLE:
                simple[name] = value
            else:
                metadata[name] = value
        return Fields(notes=notes, texts=texts, metadata=metadata, criteria=criteria, images=images, **simple)


def _place(column: str, value: object, mapped: bool) -> tuple[str, str]:
    """Where a column goes that no field has taken: ("texts" | "metadata" | "", its name there)."""
    for group in ("texts", "metadata"):
        if column.startswith(f"{group}."):
            return group, column.removeprefix(f"{group}.")
    if column in METADATA_NAMES:
        return "metadata", column
    if mapped:
        return "", column
    if column == LABS:
        return "texts", column
    if column == "messages" and (not isinstance(value, str) or look_like_messages(in_cell(value))):
        return "texts", CONVERSATION
    if look_like_messages(value):
        return "texts", column
    return ("texts" if isinstance(value, str) else "metadata"), column


def _group(value: object, name: str, problems: Problems) -> dict[str, object]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(key): each for key, each in value.items()}
    problems.append((name, "is not an object of named values"))
    return {}


def _look_up(row: Mapping[str, object], column: str, named: bool = True) -> object:
    """The value of a column; `output.text` also finds the `text` inside an object `output`, and what the mapping
    names may lie in an object around the row."""
    if column in row or not (is_path(column) or (named and isinstance(row, Record))):
        return row.get(column)
    return value_at(row, column)


def _is_found(row: Mapping[str, object], column: str) -> bool:
    try:
        return _look_up(row, column) is not None
    except (ValueError, RecursionError):
        return True  # it is there, and a problem of its row


def _filled(value: object) -> bool:
    return value is not None and value != ""


def _names_text(header: Sequence[str]) -> str:
    """The columns that a file has, where all of them are words that columns are called by: the first row of a file
    without a header is a patient's, and is not repeated."""
    names = [name for name in header if name]
    plain = all(set(_WORD.findall(name.casefold())) <= _COLUMN_WORDS for name in names)
    return f" (it has {', '.join(names)})" if len(names) > 1 and plain else ""

"""Which column is which: a hospital's own column names, sorted into the fields of a case. A mapping is checked with
all its mistakes at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from medjury.foundation.fields import Part, Text
from medjury.foundation.nested import Record, is_path, root_of, value_at
from medjury.intake._files.cells import in_cell
from medjury.intake._files.reading import FileError, Reading
from medjury.intake._mapping import FilePart
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


def _column_names(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("must map names to columns, like {question: q}")
    return value


def _notes(value: Any) -> Any:
    """One column, or several of which each is a note."""
    names = value if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(each, str) and each.strip() for each in names):
        raise ValueError("must be the name of a column, or a list of columns that are one note each")
    return tuple(names) if isinstance(value, list | tuple) else value


def _is_single(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ValueError("must be a single value, like {system: scribe-a}")
    return value


ColumnNames = Annotated[dict[str, Text], BeforeValidator(_column_names)]


class FhirPart(Part):
    candidate: Text | None = None
    reference: Text | None = None


class CaseMapping(FilePart):
    """What a mapping may state of cases: which column is which field. A field that is not named is looked for under
    its own name. `item` and `fixed`, as mappings of ratings call them, are the same as `id` and `constants`.

    `notes` may name several columns, each of which is one note. `constants` gives a field one value for the
    whole file (the system that wrote every answer). Where a mapping is given, columns that it does not name
    and that are not fields are left out; where none is given, other text columns become texts and other
    values metadata.
    """

    id: Text | None = Field(default=None, validation_alias=AliasChoices("id", "item"))
    candidate: Text | None = None
    reference: Text | None = None
    system: Text | None = None
    vendor: Text | None = None
    patient: Text | None = None
    notes: Annotated[Any, AfterValidator(_notes)] = "notes"
    texts: ColumnNames = Field(default_factory=dict)
    messages: Text | None = None  # the text `conversation`
    metadata: ColumnNames = Field(default_factory=dict)
    criteria: Text = "criteria"
    images: Text = IMAGES
    constants: dict[str, Annotated[Any, AfterValidator(_is_single)]] = Field(
        default_factory=dict, validation_alias=AliasChoices("constants", "fixed")
    )
    fhir: FhirPart = FhirPart()


@dataclass(frozen=True)
class ColumnMapping:
    """A mapping, and how the cases of one file are to be read by it."""

    part: CaseMapping = field(default_factory=CaseMapping)
    folder: Path = Path()  # where the paths of images begin
    language: str | None = None  # of cases that state none, or `detect`
    unit: Unit | None = None  # what is judged of each conversation
    needs_id: bool = True  # false where rows are read for something else than cases

    @cached_property
    def simple(self) -> Mapping[str, str]:
        """By field the column that is named for it."""
        return {name: column for name in SIMPLE if (column := getattr(self.part, name)) is not None}

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """By its name the column of each text."""
        messages = self.part.messages
        return self.part.texts if messages is None else {**self.part.texts, CONVERSATION: messages}

    @cached_property
    def given(self) -> bool:
        """Whether some column is named."""
        columns = {"notes", "texts", "messages", "metadata", "criteria", "images"}
        return bool(self.simple or self.part.model_fields_set & columns)

    def reading(self) -> Reading:
        """How the file is read, to be filled in one pass over it."""
        return Reading(**self.part.form(), item=self.simple.get("id", "id"), by_row=True)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column the mapping names, without those that merely have a field's name."""
        part = self.part
        notes = () if part.notes == "notes" else (part.notes,) if isinstance(part.notes, str) else part.notes
        criteria = () if part.criteria == "criteria" else (part.criteria,)
        images = () if part.images == IMAGES else (part.images,)
        return (
            *self.simple.values(), *notes, *self.texts.values(), *part.metadata.values(), *criteria, *images,
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
            self.part.images,
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
        part = self.part
        if isinstance(part.notes, str):
            notes = take(part.notes)
        else:
            notes = [{"id": column, "text": text} for column in part.notes if _filled(text := take(column))]
        texts = _group(take("texts"), "texts", problems)
        metadata = _group(take("metadata"), "metadata", problems)
        texts |= {name: take(column) for name, column in self.texts.items()}
        metadata |= {name: take(column) for name, column in part.metadata.items()}
        criteria = take(part.criteria)
        images = take(part.images)
        for column, value in row.items():
            if column in used or not column:
                continue
            group, name = _place(column, value, self.given)
            if group == "texts":
                texts.setdefault(name, value)
            elif group == "metadata":
                metadata.setdefault(name, value)
        for name, value in part.constants.items():
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

"""Which column is which: a hospital's own column names, sorted into the fields of a case."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.nested import Record, is_path, root_of, steps_of, value_at
from medjury.intake.cases._labs import LABS
from medjury.intake.cases._readers.text_file import is_encoding
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import Fields, Problems

SIMPLE = ("id", "candidate", "reference", "system", "vendor", "patient")
# Columns of these names are facts about the case, not texts, also where every cell is text.
METADATA_NAMES = frozenset({"specialty", "age", "sex"})
LONGEST_NAME = 100
_MOST_LAYOUTS = 1_000  # are remembered, where no two rows have the same columns
_WORD = re.compile(r"[^\W_]+")
_COLUMN_WORDS = frozenset((
    "answer", "assistant", "candidate", "case", "context", "date", "document", "encounter", "gold", "id",
    "ids", "identifier", "index", "input", "item", "label", "model", "mrn", "name", "no", "note", "notes",
    "number", "output", "patient", "prompt", "question", "record", "reference", "response", "row",
    "sample", "score", "source", "specialty", "study", "subject", "summary", "system", "target", "text",
    "texts", "title", "transcript", "uid", "uuid", "vendor", "visit",
))  # fmt: skip
_KEYS = (*SIMPLE, "notes", "texts", "metadata", "constants", "sheet", "fhir", "encoding", "rows")


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
    constants: Mapping[str, object] = field(default_factory=dict)
    sheet: str | None = None
    fhir: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    rows: str | None = None  # where the rows are in a nested JSON file
    given: bool = False
    needs_id: bool = True  # false where rows are read for something else than cases
    _layouts: dict[tuple[str, ...], _Layout | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column the mapping names, without those that merely have a field's name."""
        notes = () if self.notes == "notes" else (self.notes,) if isinstance(self.notes, str) else self.notes
        return (*self.simple.values(), *notes, *self.texts.values(), *self.metadata.values())

    def check_header(self, header: Sequence[str], file: str) -> None:
        """Refuse a header that is missing or ambiguous, or that lacks a column that is needed.

        A file without a header shows its first patient in the header's place, so columns are named by number.
        """
        if not any(header) or any(len(name) > LONGEST_NAME or "\n" in name for name in header):
            raise CaseError(f"{file}: has no header; the first row must name the columns")
        numbers: dict[str, int] = {}
        for number, name in enumerate(header, 1):
            if name and name in numbers:
                raise CaseError(
                    f"{file}: columns {numbers[name]} and {number} have the same name; rename one"
                )
            numbers[name] = number
        for column in self.columns:
            if column not in numbers and root_of(column) not in numbers:
                near = difflib.get_close_matches(column, header, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"the file has {len(header)} columns"
                raise CaseError(f"{file}: the mapping names {column!r}, but there is no such column; {hint}")
        if self.needs_id and "id" not in self.simple and "id" not in numbers:
            raise CaseError(
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
        }
        if not self.given or column in used or column in map(root_of, self.columns):
            return False
        return not _place(column, "", mapped=True)[0]

    def classify(self, row: Mapping[str, object], problems: Problems) -> Fields:
        """The row's values by field."""
        if type(row) is dict and (layout := self._layout(tuple(row))) is not None:
            return layout.classify(row, self.constants)
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
        return Fields(notes=notes, texts=texts, metadata=metadata, **simple)

    def _layout(self, header: tuple[str, ...]) -> _Layout | None:
        """Where the columns of a row go, found once for all rows that have the same ones; None where a value has to
        be taken apart, or looked for inside another."""
        try:
            return self._layouts[header]
        except KeyError:
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[header] = self._new_layout(header)
            return layout

    def _new_layout(self, header: tuple[str, ...]) -> _Layout | None:
        simple = [self.simple.get(name, name) for name in SIMPLE]
        if not isinstance(self.notes, str) or "texts" in header or "metadata" in header:
            return None
        named = (*simple, self.notes, *self.texts.values(), *self.metadata.values())
        if any(column not in header and is_path(column) for column in named):
            return None
        others = []
        for column in header:
            if column and column not in named:
                group, name = _place(column, "", self.given)
                by_value = group != _place(column, None, self.given)[0]
                others.append((column, "either" if by_value else group, name))
        return _Layout(
            tuple(simple),
            self.notes,
            tuple(self.texts.items()),
            tuple(self.metadata.items()),
            tuple(each for each in others if each[1]),
        )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the columns of a row go: those of the fields in the order of `SIMPLE`, what the mapping names, and the
    others as (column, group, name). Of the group "either" a text is one of the texts, any other value metadata."""

    simple: tuple[str, ...]
    notes: str
    texts: tuple[tuple[str, str], ...]
    metadata: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str, str], ...]

    def classify(self, row: dict[str, object], constants: Mapping[str, object]) -> Fields:
        take = row.get
        texts = {name: take(column) for name, column in self.texts}
        metadata = {name: take(column) for name, column in self.metadata}
        for column, group, name in self.others:
            value = row[column]
            if group == "texts" or (group == "either" and isinstance(value, str)):
                texts.setdefault(name, value)
            else:
                metadata.setdefault(name, value)
        simple = list(map(take, self.simple))
        for name, value in constants.items():
            if name in SIMPLE:
                simple[SIMPLE.index(name)] = value
            else:
                metadata[name] = value
        item, candidate, reference, system, vendor, patient = simple
        return Fields(item, candidate, reference, system, vendor, patient, take(self.notes), texts, metadata)


def parse_mapping(mapping: Mapping[str, Any] | ColumnMapping | None) -> ColumnMapping:
    """Check a mapping as it stands in a study file or in a call; every mistake is told at once."""
    if mapping is None:
        return ColumnMapping()
    if isinstance(mapping, ColumnMapping):
        return mapping
    faults = [f"{key!r} is not a field; {nearest(str(key), _KEYS)}" for key in mapping if key not in _KEYS]
    wrong = [key for key in SIMPLE if key in mapping and not _is_column(mapping[key])]
    faults += [f"{key} must be the name of a column" for key in wrong]
    for key in ("texts", "metadata", "fhir"):
        value = mapping.get(key, {})
        if not isinstance(value, Mapping) or not all(_is_column(each) for each in value.values()):
            faults.append(f"{key} must map names to columns, like {{question: q}}")
    notes = mapping.get("notes", "notes")
    if not _is_column(notes) and not (
        isinstance(notes, list | tuple) and notes and all(map(_is_column, notes))
    ):
        faults.append("notes must be the name of a column, or a list of columns that are one note each")
    constants = mapping.get("constants", {})
    if not isinstance(constants, Mapping) or any(
        isinstance(each, list | dict) for each in constants.values()
    ):
        faults.append("constants must map names to single values, like {system: scribe-a}")
    if mapping.get("sheet") is not None and not _is_column(mapping["sheet"]):
        faults.append("sheet must be the name of a sheet")
    encoding = mapping.get("encoding")
    if encoding is not None and not (isinstance(encoding, str) and is_encoding(encoding)):
        faults.append(f"encoding: there is no encoding {encoding!r}; try utf-8 or cp1252")
    if mapping.get("rows") is not None:
        try:
            steps_of(str(mapping["rows"]))
        except MedjuryError as error:
            faults.append(f"rows: {error}")
    unknown = _unknown(mapping.get("fhir", {}), ("candidate", "reference"))
    faults += [f"fhir.{key} is not known; use candidate or reference" for key in unknown]
    if faults:
        raise CaseError("the mapping of columns cannot be used: " + "; ".join(faults))
    return ColumnMapping(
        simple={key: mapping[key] for key in SIMPLE if key in mapping},
        notes=notes if isinstance(notes, str) else tuple(notes),
        texts=dict(mapping.get("texts", {})),
        metadata=dict(mapping.get("metadata", {})),
        constants=dict(constants),
        sheet=mapping.get("sheet"),
        fhir=dict(mapping.get("fhir", {})),
        encoding=encoding,
        rows=mapping.get("rows"),
        given=any(key in mapping for key in (*SIMPLE, "notes", "texts", "metadata")),
    )


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


def _is_column(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _unknown(value: object, known: Iterable[str]) -> list[str]:
    return [str(key) for key in value if key not in tuple(known)] if isinstance(value, Mapping) else []


def _names_text(header: Sequence[str]) -> str:
    """The columns that a file has, where all of them are words that columns are called by: the first row of a file
    without a header is a patient's, and is not repeated."""
    names = [name for name in header if name]
    plain = all(set(_WORD.findall(name.casefold())) <= _COLUMN_WORDS for name in names)
    return f" (it has {', '.join(names)})" if len(names) > 1 and plain else ""

"""One row becomes one case, or the list of everything that is wrong with it."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from medjury.intake._files.cells import changed_id, shown_of
from medjury.intake.cases._case import Case, MetadataValue, Note, Origin
from medjury.intake.cases._labs import LABS, labs_text

LONGEST_ID = 500


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as a reader found it; `problem` says why it could not be read as a row at all. `remarks` counts what
    was left out, or kept with a mark; a row that `is_remark` holds these alone."""

    origin: Origin
    values: Mapping[str, object] = field(default_factory=dict)
    problem: str = ""
    reason: str = ""  # the problem without names that are the file's own, for counts that are kept
    remarks: Mapping[str, int] = field(default_factory=dict)
    is_remark: bool = False


class Fields(NamedTuple):
    """A row sorted into the fields of a case, values still unchecked. A tuple, since every row makes one."""

    id: object
    candidate: object
    reference: object
    system: object
    vendor: object
    patient: object
    notes: object
    texts: Mapping[str, object]
    metadata: Mapping[str, object]


Problems = list[tuple[str, str]]
_NOTE_FIELDS = frozenset({"id", "text", "date", "kind"})


def build_case(fields: Fields, origin: Origin | None, problems: Problems) -> Case | None:
    """The case, or None with every problem added to `problems` as (field, what is wrong)."""
    before = len(problems)
    identifier = _name(fields.id, "id", problems)
    if not identifier and len(problems) == before:
        problems.append(("id", "is empty; every case needs one"))
    candidate = _text(fields.candidate, "candidate", problems)
    reference = _text(fields.reference, "reference", problems)
    texts = {
        name: _text(labs_text(value) if name == LABS else value, name, problems)
        for name, value in fields.texts.items()
    }
    metadata = {name: _metadata(value, name, problems) for name, value in fields.metadata.items()}
    notes = _notes(fields.notes, problems)
    system = _name(fields.system, "system", problems)
    vendor = _name(fields.vendor, "vendor", problems)
    patient = _name(fields.patient, "patient", problems)
    if len(problems) > before:
        return None
    return Case(
        id=identifier,
        candidate=candidate,
        reference=reference,
        texts={name: text for name, text in texts.items() if text is not None},
        notes=notes,
        system=system,
        vendor=vendor,
        patient=patient or None,
        metadata={name: value for name, value in metadata.items() if value is not None},
        origin=origin,
    )


def _name(value: object, where: str, problems: Problems) -> str:
    """An id or a name: text without surrounding blanks, or a whole number, as spreadsheets give it."""
    if value is None:
        return ""
    if not isinstance(value, str):
        if (made := changed_id(value)) is not None:
            problems.append((where, f"is {made}, not an id: format the column as text and enter it again"))
        elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            return shown_of(value)
        else:
            problems.append((where, f"is {_kind(value)}, not text"))
        return ""
    value = value.strip()
    if value.isascii() and value.isprintable() and len(value) <= LONGEST_ID and "E+" not in value:
        return value  # nothing of what follows can be wrong with it
    if len(value) > LONGEST_ID:
        problems.append((where, f"is longer than {LONGEST_ID} characters"))
    elif any(sign in value for sign in "\r\n\t"):
        problems.append((where, "holds a line break or a tab"))
    elif any(sign in value for sign in "\u200b\u2060\ufeff"):
        problems.append((where, "holds a zero-width space, which is invisible; remove it"))
    elif "E+" in value and (made := changed_id(value)) is not None:
        problems.append((where, f"is {made}; export it as text"))
    else:
        _check_characters(value, where, problems)
    return value


def _text(value: object, where: str, problems: Problems) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        problems.append((where, f"is {_kind(value)}, not text"))
        return None
    _check_characters(value, where, problems)
    return value if value.strip() else None


def _metadata(value: object, where: str, problems: Problems) -> MetadataValue | None:
    if isinstance(value, str):
        return _text(value.strip(), where, problems)
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float | Decimal):
        if math.isfinite(value):
            return float(value)
        if math.isnan(value):  # what data frames write for "missing"
            return None
        problems.append((where, "is not a finite number; leave it empty"))
    elif isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    else:
        problems.append(
            (where, f"is {_kind(value)}, not a single value; name the columns you need in a mapping")
        )
    return None


def _notes(value: object, problems: Problems) -> tuple[Note, ...]:
    """Notes from a text (one note), a list of texts, a list of {id, text, date, kind} or an object {id: text}; a
    cell may hold any of these as JSON. A note without an id is numbered by its place."""
    if isinstance(value, str):
        value = _decoded(value)
    if isinstance(value, Mapping):
        value = [value] if set(value) & _NOTE_FIELDS else [_with_id(*each) for each in value.items()]
    if value is None:
        return ()
    if not isinstance(value, Sequence):
        problems.append(("notes", f"is {_kind(value)}, not a list of notes or a text"))
        return ()
    notes = list(_each_note(value, problems))
    seen: set[str] = set()
    for note in notes:
        if note.id in seen:
            problems.append(("notes", "two notes have the same id; citations could not be told apart"))
            break
        seen.add(note.id)
    return tuple(notes)


def _each_note(values: Sequence[object], problems: Problems) -> Iterator[Note]:
    for position, each in enumerate(values, 1):
        where = f"notes[{position}]"
        if each is None:
            continue
        parts = each if isinstance(each, Mapping) else {"text": each}
        unknown = set(parts) - _NOTE_FIELDS
        if unknown:
            problems.append((where, "has a field other than id, text, date and kind"))
        before = len(problems)
        text = _text(parts.get("text"), f"{where}.text", problems)
        if text is not None:
            yield Note(
                id=_name(parts.get("id"), f"{where}.id", problems) or str(position),
                text=text,
                date=_optional(_metadata(parts.get("date"), f"{where}.date", problems)),
                kind=_name(parts.get("kind"), f"{where}.kind", problems) or None,
            )
        elif len(problems) == before and not isinstance(each, str):
            problems.append((f"{where}.text", "is empty"))


def _with_id(identifier: object, note: object) -> dict[str, object]:
    return {"id": identifier, **(note if isinstance(note, Mapping) else {"text": note})}


def _decoded(text: str) -> object:
    """A cell that holds a JSON list of notes, or an object of them; any other text is one note."""
    if text.lstrip()[:1] not in ("[", "{"):
        return [text]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    each_note = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value if each_note and all(isinstance(each, str | dict) for each in each_note) else [text]


def _optional(value: MetadataValue | None) -> str | None:
    return None if value is None else str(value)


def _check_characters(text: str, where: str, problems: Problems) -> None:
    if "\x00" in text:
        problems.append((where, "holds a NUL character; remove it"))
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        # The readers decode with `surrogateescape`, so a byte that is not UTF-8 arrives as U+DC80 to U+DCFF.
        if 0xDC80 <= ord(text[error.start]) <= 0xDCFF:
            problems.append(
                (
                    where,
                    "is not valid UTF-8; save the file as UTF-8, or name its encoding in the "
                    "mapping (encoding: cp1252)",
                )
            )
        else:
            problems.append((where, "holds half of a surrogate pair, which is not a character; remove it"))


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float | Decimal):
        return "a number"
    if isinstance(value, datetime.date | datetime.time):
        return "a date"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "a list"
    return "binary data" if isinstance(value, bytes) else "something else"

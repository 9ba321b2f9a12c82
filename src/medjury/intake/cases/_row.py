"""One row becomes one case, or the list of everything that is wrong with it."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from medjury.foundation.errors import MedjuryError
from medjury.intake._files.cells import changed_id, in_cell, shown_of
from medjury.intake.cases._case import Case, Criterion, MetadataValue, Note, Origin
from medjury.intake.cases._chat_forms import look_like_messages, read_messages
from medjury.intake.cases._messages import CONVERSATION, LABS, ChatMessage

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
    criteria: object = None
    images: object = None


Problems = list[tuple[str, str]]
_NOTE_FIELDS = frozenset({"id", "text", "date", "kind"})


def build_case(fields: Fields, origin: Origin | None, problems: Problems) -> Case | None:
    """The case, or None with every problem added to `problems` as (field, what is wrong)."""
    before = len(problems)
    identifier = _name(fields.id, "id", problems)
    if not identifier and len(problems) == before:
        problems.append(("id", "is empty; every case needs one"))
    messages: dict[str, tuple[ChatMessage, ...]] = {}

    def words(value: object, name: str) -> str | None:
        if name == CONVERSATION and isinstance(value, str):
            value = in_cell(value)
        if not look_like_messages(value) and (
            name != CONVERSATION or value is None or isinstance(value, str)
        ):
            return _text(value, name, problems)
        messages[name] = _messages(value, name, problems)
        return None

    candidate = words(fields.candidate, "candidate")
    reference = _text(fields.reference, "reference", problems)
    texts = {
        name: words(_labs_text(value) if name == LABS else value, name)
        for name, value in fields.texts.items()
    }
    metadata = {name: _metadata(value, name, problems) for name, value in fields.metadata.items()}
    notes = _notes(fields.notes, problems)
    system = _name(fields.system, "system", problems)
    criteria = _criteria(fields.criteria, problems)
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
        criteria=criteria,
        messages=messages,
        origin=origin,
    )


def _labs_text(value: object) -> object:
    """A list of values, as a file of JSON may hold it, as the text that a case keeps; anything else unchanged."""
    if isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
        return "\n".join(json.dumps(each, ensure_ascii=False, default=str) for each in value)
    return value


def _messages(value: object, where: str, problems: Problems) -> tuple[ChatMessage, ...]:
    before = len(problems)
    found = read_messages(value, where, problems)
    for place, each in enumerate(found, 1):
        if len(problems) == before:  # one problem of its signs is enough: they are mostly all of one kind
            _check_characters(each.text, f"{where}[{place}]", problems)
    return found


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
    value = in_cell(text)
    each_note = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value if each_note and all(isinstance(each, str | dict) for each in each_note) else [text]


# What follows from the marks of a case bears these names.
RESERVED = ("criteria", "criterion", "harm")
_SIGNS = re.compile(r"[\W_]+")
# What the parts of a criterion are called, in the order in which they are looked for.
CRITERION_FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "criterion_id", "rubric_id"),
    "text": ("text", "criterion", "description", "rubric"),
    "points": ("points", "weight"),
    "tags": ("tags", "tag"),
    "quote": ("quote",),
}


def _criteria(value: object, problems: Problems) -> tuple[Criterion, ...]:
    """Criteria from a list of texts or of {id, text, points, tags, quote}; a cell may hold the list as JSON. One
    without points is worth 1; one without an id is named by its place and its text."""
    if isinstance(value, str):
        value = in_cell(value) if value.strip() else None
    if value is None:
        return ()
    if isinstance(value, str):
        problems.append(("criteria", "is a text that is not a JSON list of criteria"))
        return ()
    if not isinstance(value, Sequence):
        problems.append(("criteria", f"is {_kind(value)}, not a list of criteria"))
        return ()
    made = [_criterion(each, position, problems) for position, each in enumerate(value, 1)]
    criteria = tuple(each for each in made if each is not None)
    check_ids(criteria, problems, "two criteria have the same id; marks could not be told apart")
    return criteria


def check_ids(criteria: Sequence[Criterion], problems: Problems, twice: str) -> None:
    """Refuse ids that a judge's answer, or a table of marks, could not tell apart; `twice` says so."""
    names = [_SIGNS.sub("_", each.id.casefold()) for each in criteria]
    if len({*names}) < len(names):
        problems.append(("criteria", twice))
    if not {*names}.isdisjoint(RESERVED):
        problems.append(
            ("criteria", f"an id is one of {', '.join(RESERVED)}, which scores are called; change it")
        )


def criteria_of(value: object) -> tuple[Criterion, ...]:
    """Criteria in any of the forms that a case's may have; the error names each that is wrong."""
    problems: Problems = []
    found = _criteria(value, problems)
    if problems:
        raise MedjuryError("; ".join(f"{where}: {problem}" for where, problem in problems))
    return found


def _criterion(given: object, position: int, problems: Problems) -> Criterion | None:
    where, before = f"criteria[{position}]", len(problems)
    stated = given if isinstance(given, Mapping) else {"text": given}
    parts = {
        part: next((stated[name] for name in names if stated.get(name) is not None), None)
        for part, names in CRITERION_FIELDS.items()
    }
    text = (_text(parts["text"], f"{where}.text", problems) or "").strip()
    if not text and len(problems) == before:
        problems.append((f"{where}.text", "is empty"))
    points = 1.0 if parts["points"] is None else _points(parts["points"])
    if points is None:
        problems.append((f"{where}.points", "is not a number"))
    tags = _tags(parts["tags"])
    if tags is None:
        problems.append((f"{where}.tags", "is not a list of texts"))
    identifier = _name(parts["id"], f"{where}.id", problems)
    quote = _text(parts["quote"], f"{where}.quote", problems) or ""
    if points is None or tags is None or len(problems) > before:
        return None
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return Criterion(identifier or f"c{position:02}-{digest}", text, points, tags, quote)


def _points(value: object) -> float | None:
    """A finite number, or the text of one; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        points = float(value)
    except ValueError:
        return None
    return points if math.isfinite(points) else None


def _tags(value: object) -> tuple[str, ...] | None:
    """Tags from a list, from a text with commas, or from an object: {axis: accuracy} is the tag `axis:accuracy`."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = found if isinstance(found := in_cell(value), list) else value.split(",")
    elif isinstance(value, Mapping):
        value = [f"{name}:{each}" for name, each in value.items()]
    if not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
        return None
    return tuple(dict.fromkeys(tag for each in value if (tag := each.strip())))


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

"""The rows of a file or folder, as cases are made of them: tables, JSON, FHIR and logs of Inspect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.foundation.errors import no_such
from medjury.foundation.nested import Record, value_at
from medjury.intake._files.any_file import check_readable, file_rows, read_table
from medjury.intake._files.cells import SHEET_ERRORS, ShownNumber
from medjury.intake._files.json import JsonError, is_json, parse_json
from medjury.intake._files.reading import FileError, Reading, Row
from medjury.intake._files.sheets import SHEETS
from medjury.intake._files.text import ending, stem
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._messages import CONVERSATION
from medjury.intake.cases._row import RawRow

LEADING_ZEROS = "id that the sheet shows with leading zeros, read as it is shown"
_NAMES = ("id", "patient", "system", "vendor")
_AGAIN = (
    "is a later epoch: a second answer to the same input; keep every answer as a case of its own by a mapping with "
    "id: uuid, candidate: output.completion, reference: target and system: eval.model"
)


def check_source(path: Path, mapping: ColumnMapping) -> None:
    """Refuse what no case can be read from."""
    if not path.exists():
        raise FileError(no_such(path, "file or folder"))
    if not path.is_dir():
        check_readable(path, mapping.reading())


def rows_of_source(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a file, or of every file of a folder, and what was left out of it."""
    if path.is_dir():
        yield from _rows_of_folder(path, mapping)
        return
    reading = mapping.reading()
    yield from (_of_json if is_json(path) else _of_table)(path, mapping, reading)
    remarks = dict(reading.left_out)
    if is_json(path):  # what a log states of how its run ended
        remarks |= {each.partition(": ")[2]: 1 for each in reading.reported}
    yield RawRow(Origin(path.name, 1), remarks=remarks, is_remark=True)


def _of_table(path: Path, mapping: ColumnMapping, reading: Reading) -> Iterator[RawRow]:
    table = read_table(path, reading)
    try:
        mapping.check_header(table.header, path.name)
    except FileError as error:
        raise FileError(". ".join([str(error), *table.reported])) from None
    names = {mapping.simple.get(name, name) for name in _NAMES}
    is_sheet = ending(path) in SHEETS
    for row in table.rows:
        origin = Origin(path.name, row.number)
        if row.problem:
            yield RawRow(origin, problem=row.problem, reason=row.reason)
            continue
        values = dict(zip(table.header, row.cells, strict=True))
        values.pop("", None)
        if is_sheet and (errors := [name for name, cell in values.items() if cell in SHEET_ERRORS]):
            why = "holds a spreadsheet error"
            yield RawRow(origin, problem=f"{why} in {', '.join(errors)}", reason=why)
            continue
        zeros = sum(isinstance(values.get(name), ShownNumber) for name in names)
        yield RawRow(origin, values, remarks={LEADING_ZEROS: zeros} if zeros else {})


def _of_json(path: Path, mapping: ColumnMapping, reading: Reading) -> Iterator[RawRow]:
    plain = not mapping.given and mapping.part.rows is None
    for row in file_rows(path, reading):
        origin = Origin(path.name, row.number)
        if row.problem:
            yield RawRow(origin, problem=row.problem, reason=row.reason)
        elif plain and isinstance(row.cells, Record):
            yield _of_sample(row.cells, origin, is_conversation=mapping.unit is not None)
        else:
            yield from _of_value(row, origin, mapping, stem(path))


def _of_value(row: Row, origin: Origin, mapping: ColumnMapping, file: str) -> Iterator[RawRow]:
    """The rows in one JSON value: a case, or the documents of a FHIR resource or bundle. A case that is alone in
    its file and has no id takes the file's name."""
    value = row.cells
    if not isinstance(value, dict):
        kind = "is a list, not" if isinstance(value, list) else "is not"
        yield RawRow(origin, problem=f"{kind} an object with the fields of a case")
    elif "resourceType" in value and not isinstance(value, Record):
        from medjury.intake.cases._fhir.rows import documents_of

        yield from documents_of(value, origin, mapping, by_entry=row.alone)
    elif "prompt_id" in value and "rubrics" in value and "id" not in value and "id" not in mapping.simple:
        yield _of_healthbench(value, origin)
    elif row.alone and "id" not in value and "id" not in mapping.simple:
        yield RawRow(origin, {"id": file, **value})
    else:
        yield RawRow(origin, value)


def _rows_of_folder(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of every `.json` file of a folder, by name, one in memory at a time; or of a FHIR bulk export."""
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    cases = [file for file in files if file.suffix.lower() == ".json"]
    export = [file for file in files if file.suffix.lower() == ".ndjson"]
    packed = [file for file in files if file.name.lower().endswith(".ndjson.gz")]
    if packed:
        raise FileError(f"{packed[0]}: is packed; unpack it (gunzip), so that its lines can be found")
    if not cases and not export:
        raise FileError(
            f"{path}: the folder has no .json file; name the file itself if it is of another kind"
        )
    if left_out := len(files) - len(cases) - len(export):
        remarks = {"file of another kind, left out": left_out}
        yield RawRow(Origin(path.name, 1), remarks=remarks, is_remark=True)
    if not export:
        for file in cases:
            yield from rows_of_source(file, mapping)
        return
    from medjury.intake.cases._fhir.bulk import read_export, stated_rows

    for file in cases:
        try:
            manifest = parse_json(file.read_bytes())
        except JsonError:
            manifest = None
        if not isinstance(manifest, dict) or "output" not in manifest:
            raise FileError(
                f"{path}: holds an export (.ndjson) and {file.name}; put them in folders of their own"
            )
        yield from stated_rows(manifest, file, export)
    yield from read_export(export, mapping)


# A sample of a log of Inspect, as Inspect means it: its input the question, its completion the
# candidate; where conversations are judged, its messages.


def _of_sample(sample: Record, origin: Origin, *, is_conversation: bool) -> RawRow:
    if sample.get("epoch") not in (None, 1):
        return RawRow(origin, problem=_AGAIN)
    target = sample.get("target")
    known = {
        "id": sample.get("id"),
        "reference": _joined(target) if isinstance(target, list) else target,
        "system": value_at(sample, "^.eval.model"),
    }
    if is_conversation:
        return RawRow(origin, {**known, "messages": sample.get("messages")})
    question = _words(sample.get("input"))
    if question is None:
        why = "the input holds more than text, such as a picture; name what is to be read in a mapping"
        return RawRow(origin, problem=why)
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, Mapping) else None
    return RawRow(origin, {**known, "candidate": completion, "texts": {"question": question}})


# A row of HealthBench, as its authors publish it; the answer is beside it, as `candidate` and `system` or by a
# mapping. Their other columns (completions of earlier models, the canary) are no part of a case.

_NO_FACT = "tag of a row without a name, or another of the same name, left out"
_THEIRS = frozenset({"prompt_id", "prompt", "rubrics", "example_tags", "ideal_completions_data", "canary"})


def _of_healthbench(value: Mapping[str, Any], origin: Origin) -> RawRow:
    listed = value.get("example_tags") or []
    if not isinstance(listed, list):
        return RawRow(origin, problem="example_tags is not a list of texts")
    tags = [each for each in listed if isinstance(each, str) and ":" in each]
    ideal = value.get("ideal_completions_data")
    texts, facts = value.get("texts"), value.get("metadata")
    values = {
        **{name: each for name, each in value.items() if name not in _THEIRS},
        "id": value["prompt_id"],
        "texts": {CONVERSATION: value.get("prompt"), **(texts if isinstance(texts, Mapping) else {})},
        "metadata": {
            **dict(tag.split(":", 1) for tag in tags),
            **(facts if isinstance(facts, Mapping) else {}),
        },
        "criteria": value["rubrics"],
    }
    if isinstance(ideal, Mapping) and "reference" not in values:
        values["reference"] = ideal.get("ideal_completion")
    lost = len(listed) - len({tag.partition(":")[0] for tag in tags})
    return RawRow(origin, values, remarks={_NO_FACT: lost} if lost else {})


def _words(given: object) -> str | None:
    """A text, or messages one below another with their roles; None where a message is no text."""
    if not isinstance(given, list):
        return given if isinstance(given, str) else None
    messages = [
        (each.get("role"), _content(each.get("content"))) for each in given if isinstance(each, Mapping)
    ]
    if len(messages) < len(given) or any(words is None for _, words in messages):
        return None
    return "\n\n".join(f"{role}: {words}" for role, words in messages)


def _content(given: object) -> str | None:
    if isinstance(given, str):
        return given
    parts = given if isinstance(given, list) else [given]
    return _joined(
        [
            each.get("text") if isinstance(each, Mapping) and each.get("type") == "text" else None
            for each in parts
        ]
    )


def _joined(parts: list[Any]) -> str | None:
    texts = [each for each in parts if isinstance(each, str)]
    return "\n".join(texts) if len(texts) == len(parts) else None

"""Cases from one `.json` file (a case, a list of cases, a FHIR bundle) or from a folder of such files
or of a FHIR bulk export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._readers.eval import rows_of_log
from medjury.intake.cases._readers.eval_log import as_log, is_log
from medjury.intake.cases._readers.json import parse_json, rows_of, rows_within
from medjury.intake.cases._readers.text_file import stem, whole_text
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import RawRow


def read_json(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of one file, which is read whole. A case without an id takes the file's name."""
    parsed = parse_json(whole_text(path, mapping.encoding))
    if isinstance(parsed, str):
        yield RawRow(Origin(path.name, 1), problem=parsed)
    elif is_log(parsed.content):
        yield from rows_of_log(as_log(parsed.content, path.name), mapping, path.name)
    elif mapping.rows is not None:
        yield from rows_within(parsed.content, mapping.rows, Origin(path.name, 1), whole_file=True)
    elif isinstance(parsed.content, list):
        for number, each in enumerate(parsed.content, 1):
            yield from rows_of(each, Origin(path.name, number), mapping)
    else:
        yield from rows_of(parsed.content, Origin(path.name, 1), mapping, stem(path))


def read_folder(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of every `.json` file of a folder, by name, one in memory at a time; or of a FHIR bulk export."""
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    cases = [file for file in files if file.suffix.lower() == ".json"]
    export = [file for file in files if file.suffix.lower() == ".ndjson"]
    packed = [file for file in files if file.name.lower().endswith(".ndjson.gz")]
    if packed:
        raise CaseError(f"{packed[0]}: is packed; unpack it (gunzip), so that its lines can be found")
    if not cases and not export:
        raise CaseError(
            f"{path}: the folder has no .json file; name the file itself if it is of another kind"
        )
    left_out = len(files) - len(cases) - len(export)
    if left_out:
        yield RawRow(
            Origin(path.name, 1), remarks={"file of another kind, left out": left_out}, is_remark=True
        )
    if not export:
        for file in cases:
            yield from read_json(file, mapping)
        return
    from medjury.intake.cases._fhir.bulk import read_export
    from medjury.intake.cases._fhir.export_manifest import stated_rows

    for file in cases:
        parsed = parse_json(file.read_bytes())
        if isinstance(parsed, str) or not isinstance(parsed.content, dict) or "output" not in parsed.content:
            raise CaseError(
                f"{path}: holds an export (.ndjson) and {file.name}; put them in folders of their own"
            )
        yield from stated_rows(parsed.content, file, export)
    yield from read_export(export, mapping)

"""The folder of a FHIR bulk export: one resource to a line, joined patient by patient.

A first pass notes where everything lies; then one patient at a time is read. So memory holds places, and the
documents of one patient.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from medjury.intake._files.json import JsonError, parse_json
from medjury.intake.cases._case import Origin
from medjury.intake.cases._fhir.document import is_document
from medjury.intake.cases._fhir.observations import UNUSED
from medjury.intake.cases._fhir.resources import (
    Entry,
    Resource,
    local_name,
    name_in,
    objects_in,
    reference_in,
    server_of,
    text_in,
)
from medjury.intake.cases._fhir.rows import NO_MATCH, READ, UNNAMED, rows_of_entries
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._row import RawRow

_NO_PATIENT = "the document names no patient (subject), so its notes cannot be found in the export"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a resource lies: the file, the byte at which its line begins, and the line's number."""

    file: Path
    offset: int
    line: int

    def read(self) -> Entry:
        with self.file.open("rb") as file:
            file.seek(self.offset)
            try:
                content = parse_json(file.readline().removeprefix(b"\xef\xbb\xbf"))
            except JsonError:  # it was changed since it was looked over
                content = {}
        return Entry(content if isinstance(content, dict) else {}, "", Origin(self.file.name, self.line))


def read_export(files: Sequence[Path], mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of every patient's documents, in the order in which the patients' first documents lie."""
    export = _Export()
    yield from export.look_over(files)
    chosen = mapping.part.fhir.candidate
    matched = not chosen
    whole = Origin(files[0].parent.name, 1)
    for patient, documents in export.patients():
        for row in rows_of_entries(export.gather(patient, documents), whole, mapping, complain=False):
            matched = matched or not row.is_remark
            if chosen and not patient and not row.is_remark and not row.problem:
                row = RawRow(row.origin, problem=_NO_PATIENT)
            yield row
    if not matched and export.documents:
        yield RawRow(whole, problem=NO_MATCH)
    yield RawRow(whole, remarks=+export.remarks(), is_remark=True)


class _Export:
    """Where the resources of an export lie: documents and observations by patient, the rest by name."""

    def __init__(self) -> None:
        self.documents: dict[str, list[_Place]] = defaultdict(list)  # by patient; "" names none
        self._observations: dict[str, list[_Place]] = defaultdict(list)
        self._others: dict[str, _Place] = {}
        self._used: set[str] = set()
        self._measured: set[str] = set()
        self._server = ""
        self._left_out: Counter[str] = Counter()

    def look_over(self, files: Iterable[Path]) -> Iterator[RawRow]:
        """Note where everything lies; a row for every line that is no resource."""
        for file in files:
            offset = 0
            with file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    place, offset = _Place(file, offset, number), offset + len(line)
                    if line.strip() and (problem := self._note(place, line)):
                        yield RawRow(Origin(file.name, number), problem=problem)

    def _note(self, place: _Place, line: bytes) -> str:
        try:
            content = parse_json(line.removeprefix(b"\xef\xbb\xbf"))
        except JsonError as error:
            return str(error)
        content = content if isinstance(content, dict) else {}
        entry = Entry(content, "", Origin(place.file.name, place.line))
        subject = reference_in(content.get("subject"))
        patient = local_name(entry, subject) or name_in(subject)
        if not entry.kind:
            return "is not a FHIR resource; an export has one on each line"
        if entry.kind == "Bundle":
            return "is a Bundle inside an export; read a file of bundles by itself"
        self._server = self._server or server_of(subject)
        if server_of(subject) not in ("", self._server):
            return (
                "names a patient of another server than earlier lines; read the exports of two servers apart"
            )
        if is_document(entry):
            self.documents[patient].append(place)
        elif entry.kind == "Observation" and entry.name and entry.name in self._measured:
            return "an earlier line holds an Observation of the same id"
        elif entry.kind == "Observation":
            self._measured.add(entry.name)
            self._observations[patient].append(place)
        elif entry.kind in READ:
            if entry.name in self._others:
                return f"an earlier line holds a {entry.kind} of the same id"
            self._others[entry.name] = place
        else:
            self._left_out[f"{entry.kind} resource, left out"] += 1
        return ""

    def patients(self) -> Iterator[tuple[str, list[_Place]]]:
        """Each patient with their documents; a document that names none is alone."""
        for patient, places in self.documents.items():
            yield from ([(patient, places)] if patient else [("", [place]) for place in places])

    def gather(self, patient: str, documents: Iterable[_Place]) -> list[Entry]:
        """A patient's documents with all that they refer to, and the patient's observations."""
        entries = [place.read() for place in documents]
        names = {name_in(reference) for entry in entries for reference in _references(entry.resource)}
        found = sorted((names & self._others.keys()) | ({patient} & self._others.keys()))
        self._used.update(found)
        observations = self._observations.get(patient, []) if patient else []
        return [
            *entries,
            *(self._others[name].read() for name in found),
            *(place.read() for place in observations),
        ]

    def remarks(self) -> Counter[str]:
        """What belongs to no document of the export."""
        strangers = [len(places) for patient, places in self._observations.items() if not self._has(patient)]
        unnamed = sum(name.startswith("Binary/") for name in self._others.keys() - self._used)
        return self._left_out + Counter({UNUSED: sum(strangers), UNNAMED: unnamed})

    def _has(self, patient: str) -> bool:
        return bool(patient) and patient in self.documents


def _references(resource: Resource) -> Iterator[str]:
    """Every reference and every link in a resource, however deep."""
    waiting: list[object] = [resource]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from (text_in(value.get(name)) for name in ("reference", "url") if text_in(value.get(name)))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


# What the manifest of an export states of its files, held against the files that are there.

_ABSENT = "file that the export's manifest names and that is not in the folder under that name"
_NOT_READ = {
    "error": "file of errors that the export's manifest names, not read",
    "deleted": "file of deleted resources that the export's manifest names, not read",
}


def stated_rows(manifest: Resource, place: Path, files: Sequence[Path]) -> Iterator[RawRow]:
    """A problem for each file that has more or fewer lines than the manifest states, and what is not here."""
    origin = Origin(place.name, 1)
    remarks: Counter[str] = Counter()
    known = {file.name: file for file in files}
    for stated in objects_in(manifest.get("output")):
        name = text_in(stated.get("url")).rstrip("/").rpartition("/")[2]
        count = stated.get("count")
        if name not in known:
            remarks[_ABSENT] += 1
        elif isinstance(count, int) and (held := _lines(known[name])) != count:
            problem = (
                f"states {count:,} resources in {name}, which has {held:,}; a part is missing or was added: "
                "export or copy it again"
            )
            yield RawRow(origin, problem=problem, reason="states other counts than its files have")
    for name, words in _NOT_READ.items():
        remarks[words] += len(objects_in(manifest.get(name)))
    yield RawRow(origin, remarks=+remarks, is_remark=True)


def _lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(bool(line.strip()) for line in lines)

"""What the manifest of a bulk export states of its files, held against the files that are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from medjury.intake.cases._case import Origin
from medjury.intake.cases._fhir.values import Resource, objects_in, text_in
from medjury.intake.cases._row import RawRow

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

"""Which documents do not hold: entered in error, superseded, replaced, not yet or no longer valid."""

from __future__ import annotations

from collections.abc import Iterable

from medjury.intake.cases._fhir.resources import Entry, Resources
from medjury.intake.cases._fhir.values import codes_in, objects_in, reference_in, text_in

_MARKED = ("superseded", "registered", "partial", "preliminary", "cancelled", "deprecated", "unknown")
IN_ERROR = "document entered in error, left out"


def is_error(entry: Entry) -> bool:
    return "entered-in-error" in _statuses(entry)


def replaced(entries: Iterable[Entry], resources: Resources) -> set[str]:
    """The names of documents that a valid one states it replaces."""
    return {
        resources.name_of(
            reference_in(each.get("target")) or reference_in(each.get("targetReference")), entry.url
        )
        for entry in entries
        if not is_error(entry)
        for each in objects_in(entry.resource.get("relatesTo"))
        if "replaces" in codes_in(each.get("code"))
    }


def marks_of(entry: Entry, replaced_names: set[str]) -> str:
    """What a reader must know of a document that does not hold; empty for one that does."""
    marks = [status for status in _statuses(entry) if status in _MARKED]
    if entry.name in replaced_names and "superseded" not in marks:
        marks.insert(0, "replaced")
    return ", ".join(dict.fromkeys(marks))


def _statuses(entry: Entry) -> list[str]:
    return [text_in(entry.resource.get(name)) for name in ("status", "docStatus")]

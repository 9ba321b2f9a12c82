"""Cases from FHIR R4: `DocumentReference` and `Composition`, alone or in a `Bundle`. Nothing is ever fetched.

By default every document is a case of its own, its text the candidate. Where the mapping says which documents
are judged (`fhir: {candidate: CODE}`, by type code, type name, title or id), the other documents of the same
patient in the bundle become that case's notes, and those that match `fhir.reference` its reference.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from medjury.cases._attachment import attachment_text
from medjury.cases._case import Origin
from medjury.cases._mapping import ColumnMapping
from medjury.cases._row import RawRow
from medjury.cases._xhtml import FhirError, text_of

DEEPEST = 20
_DOCUMENTS = ("DocumentReference", "Composition")


@dataclass(frozen=True, slots=True)
class _Document:
    """One document, read or refused; `names` are all the words a mapping may choose it by."""

    id: str
    origin: Origin
    names: frozenset[str]
    text: str = ""
    problem: str = ""
    date: str | None = None
    kind: str | None = None
    patient: str | None = None
    system: str = ""
    vendor: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


def documents_of(
    resource: Mapping[str, Any], origin: Origin, mapping: ColumnMapping, by_entry: bool
) -> Iterator[RawRow]:
    """The rows of a resource, numbered `by_entry` where the bundle is the whole file."""
    try:
        entries = list(_entries(resource))
    except FhirError as error:
        yield RawRow(origin, problem=str(error))
        return
    if not any(each.get("resourceType") in _DOCUMENTS for _, each in entries):
        kind = resource.get("resourceType")
        name = kind if isinstance(kind, str) and kind.isalnum() and len(kind) < 60 else "resource"
        yield RawRow(origin, problem=f"the FHIR {name} holds no DocumentReference and no Composition")
        return
    index = _index(entries)
    documents = [
        _read(each, Origin(origin.file, number) if by_entry else origin, index)
        for number, (_, each) in enumerate(entries, 1)
        if each.get("resourceType") in _DOCUMENTS
    ]
    chosen = mapping.fhir.get("candidate")
    judged = [each for each in documents if chosen is None or chosen.casefold() in each.names]
    if not judged:
        yield RawRow(origin, problem="no document matches what the mapping names as fhir.candidate")
    chosen_ids = set(map(id, judged))
    others = [each for each in documents if id(each) not in chosen_ids]
    for document in judged:
        yield _row(document, others, mapping)


def _row(document: _Document, others: list[_Document], mapping: ColumnMapping) -> RawRow:
    wanted = mapping.fhir.get("reference", "").casefold()
    record = [each for each in others if each.patient == document.patient]
    references = [each for each in record if wanted and wanted in each.names]
    notes = [each for each in record if each not in references]
    for each in (document, *record):
        if each.problem:
            return RawRow(each.origin, problem=each.problem)
    if len(references) > 1:
        return RawRow(document.origin, problem="several documents of the patient match fhir.reference")
    values = {
        "id": document.id,
        "candidate": document.text,
        "reference": references[0].text if references else None,
        "notes": [{"id": each.id, "text": each.text, "date": each.date, "kind": each.kind} for each in notes],
        "system": document.system,
        "vendor": document.vendor,
        "patient": document.patient,
        "metadata": document.metadata,
    }
    return RawRow(document.origin, values)


def _entries(resource: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every resource with its full URL; bundles inside bundles are opened."""
    if resource.get("resourceType") != "Bundle":
        yield "", resource
        return
    if depth > DEEPEST:
        raise FhirError("bundles are nested too deeply")
    for entry in _list(resource.get("entry")):
        inner = _object(entry.get("resource"))
        if inner.get("resourceType") == "Bundle":
            yield from _entries(inner, depth + 1)
        else:
            yield str(entry.get("fullUrl") or ""), inner


def _index(entries: list[tuple[str, Mapping[str, Any]]]) -> dict[str, Mapping[str, Any]]:
    """Resources by the references that other resources of the bundle may use."""
    found: dict[str, Mapping[str, Any]] = {}
    for url, resource in entries:
        if url:
            found[url] = resource
        if resource.get("id"):
            found[f"{resource.get('resourceType')}/{resource['id']}"] = resource
    return found


def _read(resource: Mapping[str, Any], origin: Origin, index: Mapping[str, Mapping[str, Any]]) -> _Document:
    subject = _reference(resource.get("subject"))
    date = _text(resource.get("date"))
    identity = _identity(resource)
    system, vendor = _author(resource, index)
    kind = _concept_name(resource.get("type"))
    text, problem = "", ""
    try:
        if "entered-in-error" in (resource.get("status"), resource.get("docStatus")):
            raise FhirError("the document is marked as entered in error")
        is_composition = resource.get("resourceType") == "Composition"
        text = _composition_text(resource) if is_composition else _reference_text(resource, index)
    except FhirError as error:
        problem = str(error)
    metadata = {"date": date, "kind": kind, **_patient_facts(index.get(subject, {}), date)}
    return _Document(
        id=identity,
        origin=origin,
        names=frozenset(name.casefold() for name in _names(resource, identity)),
        text=text,
        problem=problem,
        date=date or None,
        kind=kind or None,
        patient=subject or None,
        system=system,
        vendor=vendor,
        metadata={name: value for name, value in metadata.items() if value not in ("", None)},
    )


def _reference_text(resource: Mapping[str, Any], index: Mapping[str, Mapping[str, Any]]) -> str:
    """The first attachment that is text; where none is, why the first one is not."""
    problems = []
    for content in _list(resource.get("content")):
        try:
            return attachment_text(_object(content.get("attachment")), index)
        except FhirError as error:
            problems.append(error)
    raise problems[0] if problems else FhirError("the document has no attachment")


def _composition_text(resource: Mapping[str, Any]) -> str:
    parts = [_text(resource.get("title")), *_section_texts(resource, 0)]
    if len(parts) == 1:
        parts.append(text_of(_text(_object(resource.get("text")).get("div"))))
    if not any(parts[1:]):
        raise FhirError("the composition's sections hold no narrative text")
    return "\n\n".join(part for part in parts if part)


def _section_texts(parent: Mapping[str, Any], depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise FhirError("the composition's sections are nested too deeply")
    for section in _list(parent.get("section")):
        title = _text(section.get("title")) or _concept_name(section.get("code"))
        body = text_of(_text(_object(section.get("text")).get("div")))
        inner = [part for part in _section_texts(section, depth + 1) if part]
        if body or inner:
            yield "\n".join(part for part in (title, body) if part)
            yield from inner


def _identity(resource: Mapping[str, Any]) -> str:
    """The resource's id, else a business identifier."""
    identifiers = [resource.get("masterIdentifier"), *_as_list(resource.get("identifier"))]
    values = [_text(_object(each).get("value")) for each in identifiers]
    return _text(resource.get("id")) or next((value for value in values if value), "")


def _author(resource: Mapping[str, Any], index: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """Who wrote it, as (system, vendor). A device gives its name, a person only the reference."""
    contained = {f"#{each.get('id')}": each for each in _list(resource.get("contained"))}
    people = ""
    for author in _list(resource.get("author")):
        address = _reference(author)
        found = contained.get(address) or index.get(address) or {}
        if found.get("resourceType") == "Device" or "Device/" in address or author.get("type") == "Device":
            names = [_text(each.get("name")) for each in _list(found.get("deviceName"))]
            name = next((each for each in [*names, _text(author.get("display")), address] if each), "")
            return name, _text(found.get("manufacturer"))
        people = people or address
    return people, ""


def _patient_facts(patient: Mapping[str, Any], date: str) -> dict[str, object]:
    """Sex, and age on the day of the document where both dates are complete."""
    facts: dict[str, object] = {"sex": _text(patient.get("gender"))}
    try:
        born = datetime.date.fromisoformat(_text(patient.get("birthDate")))
        day = datetime.date.fromisoformat(date[:10])
    except ValueError:
        return facts
    return {**facts, "age": day.year - born.year - ((day.month, day.day) < (born.month, born.day))}


def _names(resource: Mapping[str, Any], identity: str) -> Iterator[str]:
    yield identity
    yield _text(resource.get("title"))
    yield _text(resource.get("description"))
    concepts = [resource.get("type"), *_as_list(resource.get("category"))]
    for concept in map(_object, concepts):
        yield _text(concept.get("text"))
        for coding in _list(concept.get("coding")):
            yield _text(coding.get("code"))
            yield _text(coding.get("display"))


def _concept_name(value: object) -> str:
    concept = _object(value)
    codings = [_text(each.get("display")) or _text(each.get("code")) for each in _list(concept.get("coding"))]
    return _text(concept.get("text")) or next((each for each in codings if each), "")


def _reference(value: object) -> str:
    return _text(_object(value).get("reference"))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _list(value: object) -> list[Mapping[str, Any]]:
    return [each for each in _as_list(value) if isinstance(each, Mapping)]

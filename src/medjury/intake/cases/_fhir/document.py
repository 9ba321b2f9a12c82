"""One FHIR document: its text, who wrote it, about whom, when, and whether it holds."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from medjury.intake.cases._case import Origin
from medjury.intake.cases._fhir.attachment import DamagedError, attachment_text
from medjury.intake.cases._fhir.resources import (
    DEEPEST,
    NO_TEXT,
    Entry,
    Resource,
    Resources,
    codes_in,
    concept_name,
    first_text,
    local_name,
    object_in,
    objects_in,
    reference_in,
    text_in,
    values_in,
)
from medjury.intake.cases._fhir.xhtml import FhirError, text_of

FURTHER = "further attachment of a document, left out"
# Where the releases and the kinds of documents keep the same thing; STU3 has no `date` and no `category`.
_DATES = ("date", "created", "indexed", "effectiveDateTime", "effectivePeriod.start", "issued")


@dataclass(frozen=True, slots=True)
class Document:
    """One document, read or refused; `names` are all the words a mapping may choose it by, `marks` say why it does
    not hold."""

    id: str
    origin: Origin
    names: frozenset[str]
    text: str = ""
    problem: str = ""
    date: str | None = None
    kind: str | None = None
    marks: str = ""
    patient: str | None = None
    encounter: str = ""
    system: str = ""
    vendor: str = ""
    is_report: bool = False
    metadata: Mapping[str, object] = field(default_factory=dict)
    remarks: Mapping[str, int] = field(default_factory=dict)

    @property
    def title(self) -> str | None:
        """The kind as the title of a note, with what must be known of it."""
        return " ".join(filter(None, (self.kind, self.marks and f"({self.marks})"))) or None


def is_document(entry: Entry) -> bool:
    """A report is one where it is presented as a whole text; else it is but a list of results."""
    if entry.kind == "DiagnosticReport":
        return bool(objects_in(entry.resource.get("presentedForm")))
    return entry.kind in ("DocumentReference", "Composition")


def read_document(entry: Entry, resources: Resources, replaced_names: set[str]) -> Document:
    resource = entry.resource
    subject = reference_in(resource.get("subject"))
    encounter, encounter_class = _encounter(entry, resources)
    identity, date = _identity(resource), first_text(resource, *_DATES)
    system, vendor = _author(entry, resources)
    kind = concept_name(resource.get("type") or resource.get("code"))
    marks = marks_of(entry, replaced_names)
    remarks: Counter[str] = Counter({f"{marks} document, kept and marked": 1} if marks else {})
    text, problem = "", ""
    try:
        is_composition = entry.kind == "Composition"
        text = (
            _composition_text(resource, remarks) if is_composition else _attached(entry, resources, remarks)
        )
        if not text.strip():
            raise FhirError("the document holds no text that can be read")
    except FhirError as error:
        problem = str(error)
    metadata = {
        "date": date, "kind": kind, "status": marks, "encounter": encounter, "encounter_class": encounter_class,
        **_patient_facts(resources.find(subject, entry.url), date),
    }  # fmt: skip
    return Document(
        id=identity,
        origin=entry.origin,
        names=frozenset(name.casefold() for name in _names(resource, identity)),
        text=text,
        problem=problem,
        date=date or None,
        kind=kind or None,
        marks=marks,
        patient=local_name(entry, subject) or resources.name_of(subject, entry.url) or None,
        encounter=encounter,
        system=system,
        vendor=vendor,
        is_report=entry.kind == "DiagnosticReport",
        metadata={name: value for name, value in metadata.items() if value not in ("", None)},
        remarks=remarks,
    )


def _attached(entry: Entry, resources: Resources, remarks: Counter[str]) -> str:
    """The first attachment that is text; where none is, why the first one is not. Before it none is damaged."""
    forms = objects_in(entry.resource.get("presentedForm"))
    given = [object_in(each.get("attachment")) for each in objects_in(entry.resource.get("content"))]
    contained = {f"#{each.get('id')}": each for each in objects_in(entry.resource.get("contained"))}
    problems = []
    for attachment in forms if entry.kind == "DiagnosticReport" else given:
        url = text_in(attachment.get("url"))
        linked = contained.get(url) or resources.find(url, entry.url)
        own: Counter[str] = Counter()
        try:
            text = attachment_text(attachment, linked, own)
        except DamagedError:
            raise
        except FhirError as error:
            problems.append(error)
            continue
        remarks.update(own)
        further = len(forms or given) - 1
        remarks.update({FURTHER: further} if further else {})
        return text
    raise problems[0] if problems else FhirError("the document has no attachment")


def _composition_text(resource: Resource, remarks: Counter[str]) -> str:
    parts = [text_in(resource.get("title")), *_section_texts(resource, remarks, 0)]
    if len(parts) == 1:
        parts.append(text_of(text_in(object_in(resource.get("text")).get("div")), remarks))
    if not any(parts[1:]):
        raise FhirError("the composition's sections hold no narrative text")
    return "\n\n".join(part for part in parts if part)


def _section_texts(parent: Resource, remarks: Counter[str], depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise FhirError("the composition's sections are nested too deeply")
    for section in objects_in(parent.get("section")):
        title = text_in(section.get("title")) or concept_name(section.get("code"))
        body = text_of(text_in(object_in(section.get("text")).get("div")), remarks)
        inner = [part for part in _section_texts(section, remarks, depth + 1) if part]
        if body or inner:
            yield "\n".join(part for part in (title, body) if part)
            yield from inner
        elif not objects_in(
            section.get("section")
        ):  # what it holds may be coded; a parent has children that count
            remarks[NO_TEXT] += 1


def _identity(resource: Resource) -> str:
    """The resource's id, else a business identifier."""
    identifiers = [resource.get("masterIdentifier"), *values_in(resource.get("identifier"))]
    values = [text_in(object_in(each).get("value")) for each in identifiers]
    return text_in(resource.get("id")) or next((value for value in values if value), "")


def _author(entry: Entry, resources: Resources) -> tuple[str, str]:
    """Who wrote it, as (system, vendor). A device gives its name, a person only the reference."""
    contained = {f"#{each.get('id')}": each for each in objects_in(entry.resource.get("contained"))}
    people = ""
    for author in objects_in(entry.resource.get("author") or entry.resource.get("performer")):
        address = reference_in(author)
        found = contained.get(address) or resources.find(address, entry.url)
        if found.get("resourceType") == "Device" or "Device/" in address or author.get("type") == "Device":
            names = [text_in(each.get("name")) for each in objects_in(found.get("deviceName"))]
            name = next((each for each in [*names, text_in(author.get("display")), address] if each), "")
            return name, text_in(found.get("manufacturer"))
        people = people or address
    return people, ""


def _encounter(entry: Entry, resources: Resources) -> tuple[str, str]:
    """The visit that the document is about, and its class, as ("Encounter/e1", "AMB")."""
    context = objects_in(entry.resource.get("context"))
    inside = [each for outer in context for each in objects_in(outer.get("encounter"))]
    for given in [*objects_in(entry.resource.get("encounter")), *inside, *context]:
        if reference := reference_in(given):
            stated = resources.find(reference, entry.url).get("class")
            codes = [text_in(each.get("code")) for each in objects_in(stated)]
            nested = [concept_name(each) for each in objects_in(stated)]
            found = next((each for each in [*codes, *nested] if each), "")
            return local_name(entry, reference) or resources.name_of(reference, entry.url), found
    return "", ""


def _patient_facts(patient: Resource, date: str) -> dict[str, object]:
    """Sex, and age on the day of the document where both dates are complete."""
    facts: dict[str, object] = {"sex": text_in(patient.get("gender"))}
    try:
        born = datetime.date.fromisoformat(text_in(patient.get("birthDate")))
        day = datetime.date.fromisoformat(date[:10])
    except ValueError:
        return facts
    return {**facts, "age": day.year - born.year - ((day.month, day.day) < (born.month, born.day))}


def _names(resource: Resource, identity: str) -> Iterator[str]:
    yield identity
    yield text_in(resource.get("title"))
    yield text_in(resource.get("description"))
    given = ("type", "code", "category", "class")
    for concept in map(object_in, (each for name in given for each in values_in(resource.get(name)))):
        yield text_in(concept.get("text"))
        for coding in objects_in(concept.get("coding")):
            yield text_in(coding.get("code"))
            yield text_in(coding.get("display"))


# Which documents do not hold: entered in error, superseded, replaced, not yet or no longer valid.

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

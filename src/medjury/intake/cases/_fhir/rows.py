"""Cases from FHIR documents: `DocumentReference`, `Composition` and `DiagnosticReport`, alone or in a `Bundle`.

By default every document is a case of its own, its text the candidate. Where the mapping says which documents
are judged (`fhir: {candidate: CODE}`, by type code, type name, title or id), the other documents of the same
patient in the bundle become that case's notes, and those that match `fhir.reference` its reference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from medjury.intake.cases._case import Origin
from medjury.intake.cases._fhir.document import (
    IN_ERROR,
    Document,
    is_document,
    is_error,
    read_document,
    replaced,
)
from medjury.intake.cases._fhir.observations import UNUSED, Measured, measured_in
from medjury.intake.cases._fhir.resources import Entry, Resource, Resources, entries_of
from medjury.intake.cases._fhir.xhtml import FhirError
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._messages import LABS
from medjury.intake.cases._row import RawRow

STRANGER = "document of a patient without a judged document, left out"
TWICE = "report with the text of a document, left out"
UNNAMED = "Binary that no document names, left out"
NO_MATCH = "no document matches what the mapping names as fhir.candidate"
READ = frozenset({"Patient", "Encounter", "Binary", "Device"})


def documents_of(
    resource: Resource, origin: Origin, mapping: ColumnMapping, by_entry: bool
) -> Iterator[RawRow]:
    """The rows of a resource, numbered `by_entry` where the bundle is the whole file."""
    try:
        entries = entries_of(resource, origin, by_entry)
    except FhirError as error:
        yield RawRow(origin, problem=str(error))
        return
    documents = [each for each in entries if is_document(each)]
    if not documents:
        name = Entry(resource, "", origin).kind or "resource"
        yield RawRow(
            origin,
            problem=f"the FHIR {name} holds no DocumentReference and no Composition, nor a DiagnosticReport with a "
            "presentedForm",
        )
    elif by_entry and all(map(is_error, documents)):
        yield RawRow(documents[0].origin, problem="the document is marked as entered in error")
    else:
        yield from rows_of_entries(entries, origin, mapping)


def rows_of_entries(
    entries: Sequence[Entry], origin: Origin, mapping: ColumnMapping, complain: bool = True
) -> Iterator[RawRow]:
    """The rows of resources that belong together, after a row of remarks on all of them. Where no document is
    judged, that is a problem (`complain`) or counted."""
    resources = Resources(entries)
    given = [each for each in entries if is_document(each)]
    gone = replaced(given, resources)
    read = [read_document(each, resources, gone) for each in given if not is_error(each)]
    documents = _told_once(read, mapping)
    remarks = Counter({IN_ERROR: sum(map(is_error, given)), TWICE: len(read) - len(documents)})
    measured = measured_in(entries, resources, remarks)
    chosen = mapping.part.fhir.candidate
    judged = [each for each in documents if chosen is None or chosen.casefold() in each.names]
    chosen_ids = set(map(id, judged))
    others = [each for each in documents if id(each) not in chosen_ids]
    rows = [_row(each, others, measured, mapping) for each in judged]
    _count_unread(entries, resources, remarks)
    for each in documents:
        remarks.update(each.remarks)
    if judged or not complain:
        patients = {each.patient for each in judged}
        remarks[STRANGER] += sum(each.patient not in patients for each in others)
    remarks[UNUSED] += sum(not any(goes_with(each, document) for document in judged) for each in measured)
    yield RawRow(origin, remarks=+remarks, is_remark=True)
    if not judged and documents and complain:
        yield RawRow(origin, problem=NO_MATCH)
    yield from rows


def _count_unread(entries: Sequence[Entry], resources: Resources, remarks: Counter[str]) -> None:
    for entry in entries:
        if entry.kind == "Binary" and id(entry.resource) not in resources.found:
            remarks[UNNAMED] += 1
        elif not is_document(entry) and entry.kind not in READ | {"Observation"}:
            remarks[f"{entry.kind or 'nameless'} resource, left out"] += 1


def goes_with(measured: Measured, document: Document) -> bool:
    """Of the same patient and, where both name a visit, of the same visit."""
    patient, encounter, _ = measured
    return patient == (document.patient or "") and len({encounter, document.encounter} - {""}) < 2


def _told_once(documents: list[Document], mapping: ColumnMapping) -> list[Document]:
    """The documents without those that many systems write twice, as a document and as a report of the same text.
    The document stays, or the report where the mapping chooses it; one of them goes for one of the others."""
    fhir = mapping.part.fhir
    chosen = {name.casefold() for name in (fhir.candidate, fhir.reference) if name is not None}
    waiting: dict[tuple[str | None, str], list[Document]] = defaultdict(list)
    for each in documents:
        if not each.is_report and not each.problem:
            waiting[each.patient, each.text.strip()].append(each)
    left_out: set[int] = set()
    for each in documents:
        twins = waiting.get((each.patient, each.text.strip()), [])
        if each.is_report and not each.problem and twins:
            twin = twins.pop()
            left_out.add(id(twin if each.names & chosen and not twin.names & chosen else each))
    return [each for each in documents if id(each) not in left_out]


def _row(
    document: Document, others: list[Document], measured: list[Measured], mapping: ColumnMapping
) -> RawRow:
    wanted = (mapping.part.fhir.reference or "").casefold()
    record = [each for each in others if each.patient == document.patient]
    references = [each for each in record if wanted and wanted in each.names]
    notes = [each for each in record if each not in references]
    for each in (document, *record):
        if each.problem:
            return RawRow(each.origin, problem=each.problem)
    if len(references) > 1:
        return RawRow(document.origin, problem="several documents of the patient match fhir.reference")
    labs = [each[2] for each in measured if goes_with(each, document)]
    values = {
        "id": document.id,
        "candidate": document.text,
        "reference": references[0].text if references else None,
        "notes": [
            {"id": each.id, "text": each.text, "date": each.date, "kind": each.title} for each in notes
        ],
        "system": document.system,
        "vendor": document.vendor,
        "patient": document.patient,
        "metadata": document.metadata,
        "texts": {LABS: labs} if labs else {},
    }
    return RawRow(document.origin, values)

"""Cases from FHIR documents: `DocumentReference`, `Composition` and `DiagnosticReport`, alone or in a `Bundle`.

By default every document is a case of its own, its text the candidate. Where the mapping says which documents
are judged (`fhir: {candidate: CODE}`, by type code, type name, title or id), the other documents of the same
patient in the bundle become that case's notes, and those that match `fhir.reference` its reference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from medjury.cases._case import Origin
from medjury.cases._fhir.document import Document, is_document, read_document
from medjury.cases._fhir.resources import Entry, Resources, entries_of
from medjury.cases._fhir.status import IN_ERROR, is_error, replaced
from medjury.cases._fhir.values import Resource
from medjury.cases._mapping import ColumnMapping
from medjury.cases._row import RawRow
from medjury.cases._xhtml import FhirError

STRANGER = "document of a patient without a judged document, left out"
TWICE = "report with the text of a document, left out"
UNNAMED = "Binary that no document names, left out"
_READ = frozenset({"Patient", "Encounter", "Binary", "Device"})


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


def rows_of_entries(entries: Sequence[Entry], origin: Origin, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of resources that belong together, after a row of remarks on all of them."""
    resources = Resources(entries)
    given = [each for each in entries if is_document(each)]
    gone = replaced(given, resources)
    read = [read_document(each, resources, gone) for each in given if not is_error(each)]
    documents = _told_once(read, mapping)
    remarks = Counter({IN_ERROR: sum(map(is_error, given)), TWICE: len(read) - len(documents)})
    chosen = mapping.fhir.get("candidate")
    judged = [each for each in documents if chosen is None or chosen.casefold() in each.names]
    chosen_ids = set(map(id, judged))
    others = [each for each in documents if id(each) not in chosen_ids]
    patients = {each.patient for each in judged}
    for each in documents:
        remarks.update(each.remarks)
    if judged:
        remarks[STRANGER] += sum(each.patient not in patients for each in others)
    for entry in entries:
        if not is_document(entry) and entry.kind not in _READ:
            remarks[f"{entry.kind or 'nameless'} resource, left out"] += 1
        elif entry.kind == "Binary" and id(entry.resource) not in resources.found:
            remarks[UNNAMED] += 1
    yield RawRow(origin, remarks=+remarks, is_remark=True)
    if not judged and documents:
        yield RawRow(origin, problem="no document matches what the mapping names as fhir.candidate")
    for document in judged:
        yield _row(document, others, mapping)


def _told_once(documents: list[Document], mapping: ColumnMapping) -> list[Document]:
    """The documents without those that many systems write twice, as a document and as a report of the same text.
    The document stays, or the report where the mapping chooses it; one of them goes for one of the others."""
    chosen = {mapping.fhir[name].casefold() for name in ("candidate", "reference") if name in mapping.fhir}
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


def _row(document: Document, others: list[Document], mapping: ColumnMapping) -> RawRow:
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
        "notes": [
            {"id": each.id, "text": each.text, "date": each.date, "kind": each.title} for each in notes
        ],
        "system": document.system,
        "vendor": document.vendor,
        "patient": document.patient,
        "metadata": document.metadata,
    }
    return RawRow(document.origin, values)

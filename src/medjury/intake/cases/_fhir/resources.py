"""The resources of a bundle or an export, found by the references to them, and the values in one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from medjury.intake.cases._case import Origin
from medjury.intake.cases._fhir.xhtml import FhirError

Resource = Mapping[str, Any]
DEEPEST = 20
NO_TEXT = "section of a document without text, left out"
_NAME = re.compile(r"([A-Z][A-Za-z]+/[^/#?]+)$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A resource, the full URL under which a bundle holds it, and where it was read."""

    resource: Resource
    url: str
    origin: Origin

    @property
    def kind(self) -> str:
        """The type of the resource; empty where it is no name of a type."""
        kind = self.resource.get("resourceType")
        return kind if isinstance(kind, str) and kind.isalnum() and len(kind) < 60 else ""

    @property
    def name(self) -> str:
        identity = text_in(self.resource.get("id"))
        return f"{self.kind}/{identity}" if identity else ""


def entries_of(resource: Resource, origin: Origin, by_entry: bool) -> list[Entry]:
    """Every resource of a bundle, numbered `by_entry` where the bundle is the whole file."""
    return [
        Entry(each, url, Origin(origin.file, number) if by_entry else origin)
        for number, (url, each) in enumerate(_opened(resource), 1)
    ]


def _opened(resource: Resource, depth: int = 0) -> Iterator[tuple[str, Resource]]:
    """Every resource with its full URL; bundles inside bundles are opened."""
    if resource.get("resourceType") != "Bundle":
        yield "", resource
        return
    if depth > DEEPEST:
        raise FhirError("bundles are nested too deeply")
    for entry in objects_in(resource.get("entry")):
        inner = object_in(entry.get("resource"))
        if inner.get("resourceType") == "Bundle":
            yield from _opened(inner, depth + 1)
        else:
            yield text_in(entry.get("fullUrl")), inner


class Resources:
    """Finds a resource by a relative or absolute reference, by `urn:uuid:`, with or without a version."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_url: dict[str, Entry] = {}
        self._by_name: dict[str, list[Entry]] = defaultdict(list)
        self.found: set[int] = set()
        for entry in entries:
            if entry.url:
                self._by_url[address_of(entry.url)] = entry
            if entry.name and not any(each.resource == entry.resource for each in self._by_name[entry.name]):
                self._by_name[entry.name].append(entry)
                self._by_name[f"urn:uuid:{entry.resource['id']}".casefold()].append(entry)

    def find(self, reference: str, base: str = "") -> Resource:
        """The resource that is meant, empty where it is not here; `base` is the full URL of the one that refers."""
        entry = self._entry(reference, base)
        return {} if entry is None else entry.resource

    def name_of(self, reference: str, base: str = "") -> str:
        """One name for one resource, however it is referred to."""
        entry = self._entry(reference, base)
        if entry is None:
            return address_of(reference)
        return entry.name if len(self._by_name[entry.name]) == 1 else entry.url

    def _entry(self, reference: str, base: str) -> Entry | None:
        address = address_of(reference)
        if not address:
            return None
        found = self._by_url.get(address)
        if found is None and _is_web(base) and ":" not in address:
            found = self._by_url.get(server_of(base) + address)
        if found is None:
            named = self._by_name.get(name_in(address), [])
            # A resource that states where it lives is not the one of that name somewhere else.
            named = [each for each in named if not (_is_web(address) and _is_web(each.url))]
            found = named[0] if len(named) == 1 else None
        if found is not None:
            self.found.add(id(found.resource))
        return found


def local_name(entry: Entry, reference: str) -> str:
    """A name for what a resource holds itself (`#p`): the same sign means something else in every other one."""
    own = entry.name or f"{entry.origin.file}:{entry.origin.row}"
    return f"{own}{reference}" if reference.startswith("#") else ""


def address_of(reference: str) -> str:
    """A reference without the version it may name."""
    address = re.sub(r"/_history/[^/]*$", "", reference.strip())
    return address.casefold() if address.casefold().startswith("urn:uuid:") else address


def name_in(reference: str) -> str:
    """The type and id at the end of a reference, as all resources of one export have them; else all of it."""
    address = address_of(reference)
    name = _NAME.search(address)
    return name.group(1) if name else address


def server_of(reference: str) -> str:
    """Where an absolute reference points; empty for any other."""
    return _NAME.sub("", address_of(reference)) if _is_web(reference) else ""


def _is_web(url: str) -> bool:
    return url.casefold().startswith(("http://", "https://"))


# Values inside a resource, whatever a careless writer put in their place.


def text_in(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def object_in(value: object) -> Resource:
    return value if isinstance(value, Mapping) else {}


def values_in(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def objects_in(value: object) -> list[Resource]:
    return [each for each in values_in(value) if isinstance(each, Mapping)]


def first_text(resource: Resource, *names: str) -> str:
    """The first of the fields that holds a text; `effectivePeriod.start` reaches into an object."""
    for name in names:
        outer, _, inner = name.partition(".")
        value = object_in(resource.get(outer)).get(inner) if inner else resource.get(outer)
        if found := text_in(value):
            return found
    return ""


def codes_in(value: object) -> Iterator[str]:
    """The codes of a concept, or of a list of concepts; a bare code is one too."""
    for each in values_in(value):
        if isinstance(each, str):
            yield each.strip()
        for coding in objects_in(object_in(each).get("coding")):
            yield text_in(coding.get("code"))


def concept_name(value: object) -> str:
    concept = object_in(value)
    codings = objects_in(concept.get("coding"))
    names = [text_in(each.get("display")) or text_in(each.get("code")) for each in codings]
    return text_in(concept.get("text")) or next((each for each in names if each), "")


def reference_in(value: object) -> str:
    """The address of another resource, or the identifier that stands for it."""
    given = object_in(value)
    identifier = object_in(given.get("identifier"))
    named = "|".join(filter(None, (text_in(identifier.get("system")), text_in(identifier.get("value")))))
    return text_in(given.get("reference")) or (named if text_in(identifier.get("value")) else "")

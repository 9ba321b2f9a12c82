"""Values inside a FHIR resource, whatever a careless writer put in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Resource = Mapping[str, Any]


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

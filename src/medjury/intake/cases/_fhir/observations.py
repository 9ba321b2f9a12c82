"""Laboratory values from FHIR `Observation` resources, in the form that a case keeps as `labs`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from medjury.intake.cases._fhir.resources import (
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

WITHDRAWN = "laboratory value entered in error or cancelled, left out"
NO_VALUE = "laboratory result without a value that can be read, left out"
# One value, after the patient whose it is and the visit at which it was taken, where that is known.
Measured = tuple[str, str, dict[str, str]]
NOT_LABORATORY = "Observation that is not a laboratory value, left out"
UNUSED = "laboratory value of no judged document, left out"
_UNSURE = ("registered", "preliminary", "unknown")


def measured_in(entries: Iterable[Entry], resources: Resources, remarks: Counter[str]) -> list[Measured]:
    """The laboratory values among the resources; `remarks` counts the observations that are none."""
    found: list[Measured] = []
    for entry in entries:
        if entry.kind != "Observation":
            continue
        resource = entry.resource
        status = text_in(resource.get("status"))
        if not _is_laboratory(resource):
            remarks[NOT_LABORATORY] += 1
        elif status in ("entered-in-error", "cancelled"):
            remarks[WITHDRAWN] += 1
        else:
            subject = reference_in(resource.get("subject"))
            patient = local_name(entry, subject) or resources.name_of(subject, entry.url)
            visit = reference_in(resource.get("encounter")) or reference_in(resource.get("context"))
            encounter = local_name(entry, visit) or resources.name_of(visit, entry.url)
            values = list(_values(resource, status if status in _UNSURE else ""))
            remarks[NO_VALUE] += _unread(resource)
            found += [(patient, encounter, each) for each in values]
    return found


def _is_laboratory(resource: Resource) -> bool:
    categories = values_in(resource.get("category"))
    words = {*codes_in(categories), *(concept_name(each) for each in categories)}
    return "laboratory" in {word.casefold() for word in words}


def _unread(resource: Resource) -> int:
    """How many values of a result cannot be read: a part without one, and a whole that states one (or has no
    parts)."""
    parts = objects_in(resource.get("component"))
    states_one = any(name.startswith("value") and resource[name] is not None for name in resource)
    whole = [resource] if states_one or not parts else []
    return sum(not _is_read(each) for each in (*whole, *parts))


def _is_read(part: Resource) -> bool:
    return bool(concept_name(part.get("code")) and _value(part)[0])


def _values(resource: Resource, unsure: str) -> Iterator[dict[str, str]]:
    date = first_text(resource, "effectiveDateTime", "effectivePeriod.start", "effectiveInstant", "issued")
    own = (_value(resource), resource)
    for (value, unit), part in [
        own,
        *((_value(each), each) for each in objects_in(resource.get("component"))),
    ]:
        name = concept_name(part.get("code"))
        if name and value:
            stated = [
                [*codes_in(each), concept_name(each)][0] for each in values_in(part.get("interpretation"))
            ]
            interpretation = " ".join(filter(None, stated))
            row = {
                "name": name, "value": value, "unit": unit, "date": date,
                "flag": " ".join(filter(None, (interpretation, unsure))), "range": _range(part),
            }  # fmt: skip
            yield {key: each for key, each in row.items() if each}


def _value(part: Resource) -> tuple[str, str]:
    """The value as text, and its unit."""
    quantity = object_in(part.get("valueQuantity"))
    number = _number(quantity.get("value"))
    if number:
        unit = text_in(quantity.get("unit")) or text_in(quantity.get("code"))
        return text_in(quantity.get("comparator")) + number, unit
    words = text_in(part.get("valueString")) or concept_name(part.get("valueCodeableConcept"))
    return words or _number(part.get("valueInteger")), ""


def _range(part: Resource) -> str:
    for given in objects_in(part.get("referenceRange")):
        low, high = (_number(object_in(given.get(name)).get("value")) for name in ("low", "high"))
        if low or high:
            return f"{low}-{high}" if low and high else f">={low}" if low else f"<={high}"
        if text_in(given.get("text")):
            return text_in(given.get("text"))
    return ""


def _number(value: object) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""

"""An instrument that changes another one: what it does not state is as in the instrument that it extends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medjury.foundation.documents import Document, Place, read_document
from medjury.foundation.errors import MedjuryError

_OWN = ("name", "version", "title")  # what tells the two apart


def extended(document: Document, library: Path) -> Document:
    """The document with what it takes over from a built-in instrument (`extends: NAME`), or from a file beside it.

    A dimension that is stated changes the one of its name, part by part; a new one comes last. Whatever else is
    stated takes the place of what was there.
    """
    value = document.value
    if not isinstance(value, dict) or "extends" not in value:
        return document
    name = value["extends"]
    if not isinstance(name, str):
        raise MedjuryError(
            document.complaint(("extends",), "must be an instrument's name, or a file beside it")
        )
    for needed in _OWN:
        if needed not in value:
            raise MedjuryError(
                document.complaint(("extends",), f"an instrument of its own needs a `{needed}`")
            )
    beside = name.endswith((".yaml", ".yml"))
    file = Path(document.file).parent / name if beside else library / f"{name}.yaml"
    if not file.exists():
        known = ", ".join(sorted(each.stem for each in library.glob("*.yaml")))
        problem = f"there is no instrument {name!r}; there are {known}, or a file beside this one"
        raise MedjuryError(document.complaint(("extends",), problem))
    base = read_document(file).value
    if not isinstance(base, dict) or "extends" in base:
        raise MedjuryError(
            document.complaint(("extends",), f"{name} extends another one itself; extend that one")
        )
    stated = {key: each for key, each in value.items() if key not in ("extends", "dimensions")}
    dimensions, places = _dimensions(base.get("dimensions"), value.get("dimensions", []))
    lines = {_moved(place, places): line for place, line in document.lines.items()}
    return Document(document.file, {**base, **stated, "dimensions": dimensions}, lines)


def _dimensions(base: Any, stated: Any) -> tuple[Any, dict[int, int]]:
    """The dimensions of both, and where those that are stated stand among them."""
    if not isinstance(base, list) or not isinstance(stated, list):
        return stated, {}
    merged = [dict(each) for each in base]
    known = {each.get("name"): at for at, each in enumerate(merged)}
    places = {}
    for number, each in enumerate(stated):
        at = known.get(each.get("name")) if isinstance(each, dict) else None
        if at is None:
            places[number] = len(merged)
            merged.append(each)
        else:
            places[number] = at
            merged[at] = {**merged[at], **each}
    return merged, places


def _moved(place: Place, places: dict[int, int]) -> Place:
    if len(place) > 1 and place[0] == "dimensions" and place[1] in places:
        return (place[0], places[int(place[1])], *place[2:])
    return place

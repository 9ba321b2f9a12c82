"""Finds an instrument, built in or the user's own file, and refuses a bad one with every fault at once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.documents import Document, Place, nearest, own_file, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.instruments._instrument import Instrument

if TYPE_CHECKING:
    from medjury.instruments._file import ExamplePart


# An instrument that changes another one: what it does not state is as in the instrument that it extends.

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
    """The dimensions of both, and where those that are stated are among them."""
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


LIBRARY = Path(__file__).parent / "library"
_EXAMPLES = ".examples.yaml"


class InstrumentError(MedjuryError):
    """The instrument cannot be used; the message lists every fault with file, line and fix."""


def list_instruments() -> tuple[str, ...]:
    """The names of the built-in instruments."""
    files = (file.name for file in LIBRARY.glob("*.yaml"))
    return tuple(sorted(name.removesuffix(".yaml") for name in files if not name.endswith(_EXAMPLES)))


def load_instrument(name_or_path: str | os.PathLike[str]) -> Instrument:
    """A built-in instrument by name, or the user's own by the path of its YAML file.

    A text that ends in `.yaml` or `.yml` or holds a path separator is a path. Examples come from the file
    itself and from `NAME.examples.yaml` beside it.
    """
    if (file := own_file(name_or_path)) is not None:
        return _load_file(file)
    text = str(name_or_path)
    known = list_instruments()
    if text not in known:
        raise InstrumentError(
            f"there is no built-in instrument {text!r}; {nearest(text, known)} "
            "Your own instrument is given by the path of its .yaml file."
        )
    return _load_built_in(text)


@cache
def _load_built_in(name: str) -> Instrument:
    return _load_file(LIBRARY / f"{name}.yaml")


def _load_file(path: Path) -> Instrument:
    from medjury.instruments._file import (
        ExamplesFile,
        InstrumentFile,
        check_examples,
        check_file,
        to_instrument,
    )

    beside = path.with_name(path.name.removesuffix(path.suffix) + _EXAMPLES)
    more: list[ExamplePart] = []
    try:
        document = extended(read_document(path), LIBRARY)
        file = validate(document, InstrumentFile)
        if beside.exists():
            beside_document = read_document(beside)
            more = validate(beside_document, ExamplesFile).examples
    except MedjuryError as error:
        raise InstrumentError(str(error)) from None
    _refuse(document, check_file(file))
    instrument = to_instrument(file, more)
    _refuse(document, check_examples(instrument, file.examples))
    if more:
        _refuse(beside_document, check_examples(instrument, more))
    return instrument


def _refuse(document: Document, faults: Iterable[tuple[tuple[str | int, ...], str]]) -> None:
    found = sorted((document.line(place), document.complaint(place, text)) for place, text in faults)
    if found:
        raise InstrumentError("\n".join(text for _, text in found))

"""Finds an instrument, built in or the user's own file, and refuses a bad one with every fault at once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.documents import Document, nearest, own_file, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.instruments._extends import extended
from medjury.instruments._instrument import Instrument

if TYPE_CHECKING:
    from medjury.instruments._file import ExamplePart

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
    from medjury.instruments._check import check_examples, check_file
    from medjury.instruments._file import ExamplesFile, InstrumentFile, to_instrument

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

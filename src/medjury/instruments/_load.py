"""Finds an instrument, built in or the user's own file, and refuses a bad one with every fault at once."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.errors import MedjuryError
from medjury.instruments._instrument import Instrument
from medjury.instruments._yaml import YamlDocument, YamlError, read_yaml

if TYPE_CHECKING:
    from pydantic import ValidationError

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
    text = os.fspath(name_or_path)
    is_path = not isinstance(name_or_path, str) or "/" in text or os.sep in text
    if is_path or text.endswith((".yaml", ".yml")):
        return _load_file(Path(text))
    known = list_instruments()
    if text not in known:
        near = difflib.get_close_matches(text, known, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InstrumentError(
            f"there is no instrument {text!r}: {hint}The built-in ones are {', '.join(known)}; "
            "your own is given by the path of its .yaml file."
        )
    return _load_built_in(text)


@cache
def _load_built_in(name: str) -> Instrument:
    return _load_file(LIBRARY / f"{name}.yaml")


def _load_file(path: Path) -> Instrument:
    from pydantic import ValidationError

    from medjury.instruments._check import check_examples, check_file
    from medjury.instruments._file import ExamplesFile, InstrumentFile, to_instrument

    document = _read(path)
    try:
        file = InstrumentFile.model_validate(document.data)
    except ValidationError as error:
        raise _refusal(document, _explain(error)) from None
    beside = path.with_name(path.name.removesuffix(path.suffix) + _EXAMPLES)
    more: list[Any] = []
    if beside.exists():
        examples_document = _read(beside)
        data = examples_document.data
        try:
            more = ExamplesFile.model_validate(
                {"examples": data} if isinstance(data, list) else data
            ).examples
        except ValidationError as error:
            raise _refusal(examples_document, _explain(error)) from None
    faults = list(check_file(file))
    if faults:
        raise _refusal(document, faults)
    instrument = to_instrument(file, more)
    faults = list(check_examples(instrument, file.examples))
    if faults:
        raise _refusal(document, faults)
    if more and (faults := list(check_examples(instrument, more))):
        raise _refusal(examples_document, faults)
    return instrument


def _read(path: Path) -> YamlDocument:
    try:
        return read_yaml(path)
    except YamlError as error:
        raise InstrumentError(str(error)) from None


def _refusal(document: YamlDocument, faults: Iterable[tuple[Sequence[str | int], str]]) -> InstrumentError:
    drop = 1 if isinstance(document.data, list) else 0  # an examples file may be a bare list
    lines = []
    for place, problem in faults:
        where = ".".join(str(step) for step in place) or "the file"
        lines.append((document.line_of(place[drop:]), f"{where}: {problem}"))
    return InstrumentError("\n".join(f"{document.path}:{line}: {text}" for line, text in sorted(lines)))


def _explain(error: ValidationError) -> list[tuple[tuple[str | int, ...], str]]:
    """Pydantic's findings in words that name the fix, one for each place."""
    found: dict[tuple[str | int, ...], str] = {}
    for each in error.errors(include_url=False, include_input=False):
        place = tuple(step for step in each["loc"] if step not in ("[key]", *_UNION_STEPS))
        found.setdefault(
            place, _MESSAGES.get(each["type"], each["msg"]).format(name=(place or ("file",))[-1])
        )
    return list(found.items())


# Steps that pydantic adds for the alternatives of a union; they name no place in the file.
_UNION_STEPS = (
    "int", "float", "dict[constrained-str,union[int,float]]", "list[constrained-str]",
)  # fmt: skip

_MESSAGES = {
    "missing": "`{name}` is missing; add it",
    "extra_forbidden": "`{name}` is not a field of an instrument; remove it or correct its spelling",
    "string_type": "`{name}` must be text; put it in quotes",
    "string_too_short": "`{name}` is empty; write it",
    "string_pattern_mismatch": "a name is lower-case letters, digits and _, and begins with a letter",
    "int_type": "`{name}` must be a whole number, without quotes",
    "bool_type": "`{name}` must be true or false",
    "model_type": "`{name}` must be a mapping of fields",
    "dict_type": "`{name}` must be a mapping",
    "list_type": "`{name}` must be a list",
    "too_short": "`{name}` has too few entries (grades: two or more; lists: one or more)",
}

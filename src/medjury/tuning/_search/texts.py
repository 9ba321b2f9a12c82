"""The editable texts of an instrument: its instructions and definitions. Never its scale, its anchors or "
"its form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument

INSTRUCTIONS = "instructions"
_DEFINITION = "definition of "
_LONGEST = 20_000
# So many words of a case in a row are its text, not a turn of phrase.
_QUOTED = 12
_WORD = re.compile(r"\w+")
Texts = Mapping[str, str]


def editable_texts(instrument: Instrument, names: Sequence[str] | None = None) -> dict[str, str]:
    """The texts that may be rewritten, by name; all of them, or those that are named."""
    known = {INSTRUCTIONS: instrument.instructions.strip()}
    known |= {f"{_DEFINITION}{each.name}": each.definition.strip() for each in instrument.dimensions}
    for name in names or ():
        if name not in known:
            raise MedjuryError(f"there is no editable text {name!r}; {nearest(name, list(known))}")
    return {name: text for name, text in known.items() if names is None or name in names}


def with_texts(instrument: Instrument, texts: Texts) -> Instrument:
    """The instrument in other words; what is not editable is not touched. Words that are its own leave it as it is,
    others give it a version of its own, which its judges are told."""
    if all(editable_texts(instrument).get(name) == text for name, text in texts.items()):
        return instrument
    dimensions = tuple(
        replace(each, definition=texts.get(f"{_DEFINITION}{each.name}", each.definition))
        for each in instrument.dimensions
    )
    return replace(
        instrument,
        version=tuned_version(instrument.version),
        instructions=texts.get(INSTRUCTIONS, instrument.instructions),
        dimensions=dimensions,
    )


def tuned_version(version: str) -> str:
    return f"{version}-tuned"


def text_hash(texts: Texts) -> str:
    """What a candidate is known by."""
    return hashlib.sha256(json.dumps(dict(sorted(texts.items()))).encode()).hexdigest()[:12]


def why_refused(text: str, cases: Iterable[str], *, may_quote: bool) -> str:
    """Why a proposed text is not tried; "" where it is. A prompt that quotes a patient carries that patient into
    every later question, and knows its training cases by heart."""
    if not text.strip():
        return "the proposal is empty"
    if len(text) > _LONGEST:
        return f"the proposal has {len(text):,} characters, more than {_LONGEST:,}"
    if may_quote:
        return ""
    words = _words(text)
    runs = {tuple(words[at : at + _QUOTED]) for at in range(len(words) - _QUOTED + 1)}
    for case in cases:
        own = _words(case)
        if any(tuple(own[at : at + _QUOTED]) in runs for at in range(len(own) - _QUOTED + 1)):
            return f"the proposal quotes {_QUOTED} words or more of a training case"
    return ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

"""Which of another program's texts an instrument is shown under which name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medjury.instruments import Instrument

_ANSWER, _REFERENCE = "candidate", "reference"


def texts_for(instrument: Instrument, prompt: str, named: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The instrument's inputs beside the answer and the reference: those that the other program has under the same
    name, and the prompt for the one that is left. Where several are left, which of them the prompt is would be a
    guess: they stay out, and an answer that needs them is unscored for want of its input."""
    named = named or {}
    others = [each for each in instrument.inputs if each.name not in (_ANSWER, _REFERENCE)]
    found = {each.name: str(named[each.name]) for each in others if named.get(each.name) not in (None, "")}
    open_ones = [each.name for each in others if each.required and each.name not in found]
    if not open_ones and not found and others:
        open_ones = [others[0].name]  # the prompt helps, although the instrument can do without
    if len(open_ones) == 1 and prompt.strip():
        found[open_ones[0]] = prompt
    return found

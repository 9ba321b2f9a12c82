"""Training against a key: what was right, why, and whether the round is passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medjury.instruments import Instrument, NotApplicable, Outcome, Score


@dataclass(frozen=True)
class Compared:
    """One grade beside the key's; None is "not applicable"."""

    dimension: str
    label: str
    given: str
    right: str
    words: str  # of the key's grade
    is_right: bool


def compare_with_key(
    instrument: Instrument, outcomes: Mapping[str, Outcome], key: Mapping[str, Any], within: int
) -> list[Compared]:
    """What was said on the dimensions that the key grades."""
    compared = []
    for name, right in key["grades"].items():
        dimension, outcome = instrument.dimension(name), outcomes[name]
        given, is_right = "can't judge", False
        if isinstance(outcome, Score):
            given = f"{outcome.value:g}"
            is_right = right is not None and abs(outcome.value - right) <= within
        elif isinstance(outcome, NotApplicable):
            given, is_right = "not applicable", right is None
        shown = "not applicable" if right is None else str(right)
        words = "" if right is None else dimension.grades[right]
        compared.append(Compared(name, dimension.label, given, shown, words, is_right))
    return compared


def share_right(compared: Sequence[Compared]) -> float:
    return sum(each.is_right for each in compared) / len(compared) if compared else 1.0

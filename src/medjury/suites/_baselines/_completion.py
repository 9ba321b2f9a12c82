"""Has a model memorised items? Given the first half of each, how often does the second come back word for word?

For endpoints without log-probabilities. What can be foreseen comes back too, so that it is held against a control:
paraphrased items, or ones of the same kind that the model cannot have seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, counted, error_rate, fisher_test, percent
from medjury.statistics import p_value as shown_p

NEARLY = 0.8  # share of the second half's words that come back in their order
FEWEST_WORDS = 16  # of an item: a shorter one has no half worth completing


@dataclass(frozen=True, slots=True)
class CompletionProbe:
    """How many second halves came back, of the items and of the control. `detectable` is the smallest number of
    items that these numbers could have told from the control: fewer are not noticed."""

    items: int
    returned: int
    control: int
    control_returned: int
    rate: Estimate
    p_value: float
    detectable: int | None
    too_short: int

    def memorised(self, level: float = 0.05) -> bool | None:
        """Whether more items come back than control texts; None where no number could have told."""
        if self.detectable is None:
            return None
        more = self.returned * self.control > self.control_returned * self.items
        return more and self.p_value <= level

    def text(self, level: float = 0.05) -> str:
        """One sentence for the page, with what the probe could not have seen."""
        others = f"{self.control_returned} of {self.control} of the control"
        said = f"{self.returned} of {self.items} items came back, {others}"
        found = self.memorised(level)
        if found is None:
            return f"cannot be told: {said}, too few to find anything; give more of both"
        if found:
            return f"memorised: {said} (p {_equals(self.p_value)})"
        least = counted(self.detectable or 0, "item")
        return (
            f"no sign of memory: {said} (p {_equals(self.p_value)}). Up to {percent(self.rate.high)} of all such "
            f"items may be known word for word, and fewer than {least} here would not be noticed; nor would items "
            "that a model knows by meaning, or holds back"
        )


def completion_probe(
    items: Sequence[str],
    control: Sequence[str],
    complete: Callable[[str], str],
    *,
    nearly: float = NEARLY,
    level: float = 0.05,
    confidence: float = 0.95,
) -> CompletionProbe:
    """Give `complete` the first half of every text, at temperature 0, and compare what comes with the second.

    `complete` is asked to continue a text: for a chat model, with an instruction to do so word for word.
    """
    kept, others = ([text for text in side if _long(text)] for side in (items, control))
    if not kept or not others:
        raise MedjuryError(
            f"items and control need texts of at least {FEWEST_WORDS} words: {len(kept)} and {len(others)} are left"
        )
    returned, control_returned = (
        sum(comes_back(text, complete) >= nearly for text in side) for side in (kept, others)
    )
    return CompletionProbe(
        len(kept),
        returned,
        len(others),
        control_returned,
        error_rate(np.arange(len(kept)) < returned, confidence=confidence),
        _p(returned, len(kept), control_returned, len(others)),
        _detectable(len(kept), control_returned, len(others), level),
        len(items) + len(control) - len(kept) - len(others),
    )


def comes_back(text: str, complete: Callable[[str], str]) -> float:
    """The share of the second half's words that the continuation of the first holds, in their order."""
    words = text.split()
    half = len(words) // 2
    given, wanted = " ".join(words[:half]), _plain(" ".join(words[half:]))
    said = complete(given)
    if said.strip().startswith(given):  # some repeat what they are to continue
        said = said.strip()[len(given) :]
    heard = _plain(said)[: len(wanted) + len(wanted) // 4]
    blocks = SequenceMatcher(None, wanted, heard, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(wanted) if wanted else 0.0


def _long(text: str) -> bool:
    return len(text.split()) >= FEWEST_WORDS


def _plain(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _p(returned: int, items: int, control_returned: int, control: int) -> float:
    return fisher_test(((returned, items - returned), (control_returned, control - control_returned))).p_value


def _detectable(items: int, control_returned: int, control: int, level: float) -> int | None:
    """The smallest count of items that would be more than the control's at this level."""
    for count in range(items + 1):
        if (
            count * control > control_returned * items
            and _p(count, items, control_returned, control) <= level
        ):
            return count
    return None


def _equals(value: float) -> str:
    said = shown_p(value)
    return said if said.startswith("<") else f"= {said}"

"""Has a model memorised a benchmark? Two probes: completing the second half of items, and the order of all of them.

The first is for endpoints without log-probabilities: given the first half of each item, how often does the second
come back word for word? What can be foreseen comes back too, so that it is compared with a control: paraphrased
items, or ones of the same kind that the model cannot have seen.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

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
    kept, others = ([text for text in side if len(text.split()) >= FEWEST_WORDS] for side in (items, control))
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


def _plain(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _p(returned: int, items: int, control_returned: int, control: int) -> float:
    return fisher_test(((returned, items - returned), (control_returned, control - control_returned)))[0]


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


# Has a model memorised a benchmark in the order in which it was published? An exact test over log-probabilities.
#
# Where the order of items carries no meaning, every order is as likely as another to a model that never saw the
# file. A model that finds the published one likelier than shuffles of it has seen it (Oren et al. 2024, Proving
# test set contamination in black-box language models, ICLR). Items are cut into shards that fit a context; within
# each the published order is one of `shuffles + 1` that are exchangeable under the hypothesis, so that drawing
# which of them is called the published one gives the exact distribution of the sum over shards, without asking the
# model again.


_FEWEST = 2  # items of a shard: one has no order
_MOST_LISTED = 20_000


@dataclass(frozen=True, slots=True)
class ExchangeabilityTest:
    """`p_value` is the chance of a published order that is this likely, or likelier, in a model that never saw it.
    `smallest` is the least that these shards and shuffles could have given: above the wanted level nothing could
    have been found."""

    p_value: float
    smallest: float
    advantage: float  # mean over shards of published less shuffled log-probability, in nats
    items: int
    shards: int
    shuffles: int
    calls: int

    def memorised(self, level: float = 0.05) -> bool | None:
        """Whether the order is known to the model; None where so few orders could not have told."""
        return None if self.smallest > level else self.p_value <= level

    def text(self, level: float = 0.05) -> str:
        """One sentence for the page, with what the test could not have seen."""
        cut = f"{self.items} items in {self.shards} shards, {self.shuffles} shuffles each"
        said = f"p {_equals(self.p_value)} ({cut})"
        found = self.memorised(level)
        if found is None:
            return f"cannot be told: so few shards and shuffles give no p below {shown_p(self.smallest)}"
        if found:
            return f"memorised: the published order is likelier to the model than shuffles of it, {said}"
        unseen = "A model that saw the items once, or in another order, would not be noticed"
        return f"no sign of memory: {said}. {unseen}"


def exchangeability_test(
    items: Sequence[str],
    log_probability: Callable[[str], float],
    *,
    shards: int = 10,
    shuffles: int = 9,
    draws: int = 9_999,
    seed: int = 0,
    separator: str = "\n\n",
) -> ExchangeabilityTest:
    """Ask for the log-probability of each shard in its published order and in `shuffles` others.

    `items` are the texts as the source publishes them, in its order; `log_probability` gives that of a whole text.
    `shards · (shuffles + 1)` texts are asked for. Where the source's order means something (by topic, by date), the
    test says nothing: shuffle within the parts that are in no order, and give each as items of its own test.
    """
    parts = _shards(items, shards)
    if shuffles < 1:
        raise MedjuryError("shuffles: at least one other order is needed to compare with")
    chance = random.Random(seed)
    table = []
    for number, part in enumerate(parts):
        orders = [list(part), *(chance.sample(part, len(part)) for _ in range(shuffles))]
        values = [log_probability(separator.join(order)) for order in orders]
        if not all(math.isfinite(value) for value in values):
            raise MedjuryError(f"shard {number + 1}: the log-probability of a text is not a finite number")
        table.append(values)
    advantage = sum(row[0] - sum(row[1:]) / shuffles for row in table) / len(table)
    p_value, smallest = _exact(table, draws, chance)
    return ExchangeabilityTest(
        p_value, smallest, advantage, len(items), len(table), shuffles, len(table) * (shuffles + 1)
    )


def _shards(items: Sequence[str], shards: int) -> list[list[str]]:
    """Runs of items that lie beside one another, of one size give or take one."""
    count = min(shards, len(items) // _FEWEST)
    if count < 1:
        raise MedjuryError(f"{len(items)} items have too few orders to compare; give more")
    edges = [len(items) * place // count for place in range(count + 1)]
    return [list(items[first:last]) for first, last in pairwise(edges)]


def _exact(table: Sequence[Sequence[float]], draws: int, chance: random.Random) -> tuple[float, float]:
    """The p-value over which order of each shard is called the published one: listed whole where they are few, else
    drawn, the one that was seen counted with them, which keeps it exact."""
    seen = math.fsum(row[0] for row in table)
    ties = 1e-9 * max(1.0, abs(seen))
    ways = math.prod(len(row) for row in table)
    if ways <= _MOST_LISTED:
        sums = [0.0]
        for row in table:
            sums = [total + value for total in sums for value in row]
        return sum(total >= seen - ties for total in sums) / ways, 1 / ways
    drawn = sum(math.fsum(chance.choice(row) for row in table) >= seen - ties for _ in range(draws))
    return (1 + drawn) / (1 + draws), 1 / (1 + draws)

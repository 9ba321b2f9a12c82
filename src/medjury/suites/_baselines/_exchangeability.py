"""Has a model memorised a benchmark in the order in which it was published? An exact test over log-probabilities.

Where the order of items carries no meaning, every order is as likely as another to a model that never saw the
file. A model that finds the published one likelier than shuffles of it has seen it (Oren et al. 2024, Proving test
set contamination in black-box language models, ICLR). Items are cut into shards that fit a context; within each the
published order is one of `shuffles + 1` that are exchangeable under the hypothesis, so that drawing which of them
is called the published one gives the exact distribution of the sum over shards, without asking the model again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from medjury.foundation.errors import MedjuryError
from medjury.statistics import p_value as shown_p

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


def _equals(value: float) -> str:
    said = shown_p(value)
    return said if said.startswith("<") else f"= {said}"

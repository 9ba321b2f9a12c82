"""The sides of a training: what is learned from, what is looked at while learning, and what is never touched.

What belongs together (the answers to one item, the items of one patient, items that share a record) stays together.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.intake.cases import Case
from medjury.judging import Family, families_of

HELD_OUT = 0.2  # 40 of 200, as in Croxford et al. (2025)
DEVELOPMENT = (
    0.1  # of the training side: the paper speaks of evaluation losses, not of how many cases they take
)


@dataclass(frozen=True, slots=True)
class Sides:
    """Items by side; `development` is on the training side too: its losses choose the settings."""

    training: frozenset[str]
    development: frozenset[str]
    held_out: frozenset[str]


def split_sides(
    cases: Iterable[Case],
    rated: Collection[tuple[str, str]],
    instrument: Instrument,
    *,
    held_out: float = HELD_OUT,
    development: float = DEVELOPMENT,
    seed: int = 0,
) -> Sides:
    """Shares of the rated answers, or, from 1 on, numbers of them. A family's place in the order depends on the
    seed and itself alone."""
    families, there = families_of(cases, instrument, rated)
    answers = Counter(item for item, _ in there)
    order = sorted(
        (each for each in families if any(answers[item] for item in each.items)),
        key=lambda each: hashlib.sha256(f"{seed}\0{min(each.items)}".encode("utf-8", "replace")).hexdigest(),
    )
    apart, rest = _first(order, answers, _number(held_out, len(there)))
    left = sum(answers[item] for each in rest for item in each.items)
    looked_at, learned = _first(rest, answers, _number(development, left))
    if not learned:
        raise MedjuryError(
            f"nothing is left to learn from: {len(there):,} rated answers in {len(order):,} groups that belong "
            f"together, with {held_out:g} held out and {development:g} for development; ask for less of both"
        )
    return Sides(_items(learned), _items(looked_at), _items(apart))


def _first(order: Sequence[Family], answers: Counter[str], wanted: int) -> tuple[list[Family], list[Family]]:
    """The first families that have as many answers as wanted, and the rest."""
    taken, count = 0, 0
    while count < wanted and taken < len(order):
        count += sum(answers[item] for item in order[taken].items)
        taken += 1
    return list(order[:taken]), list(order[taken:])


def _number(wanted: float, of: int) -> int:
    return int(wanted) if wanted >= 1 else math.ceil(wanted * of - 1e-9)


def _items(families: Iterable[Family]) -> frozenset[str]:
    return frozenset(item for each in families for item in each.items)

"""What the engine runs: anything that turns a case into ratings, one unit of work at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from medjury.foundation.hashes import json_hash
from medjury.instruments import Instrument, Unscored
from medjury.intake.cases import Case
from medjury.judging._asking import Sample, Speaker
from medjury.judging._shortening import Truncation
from medjury.models import TOKEN_BYTES, ChatModel, Gate, Message, Request, most_tokens
from medjury.store.ratings import Question, Rating
from medjury.store.runs import Body


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work: these dimensions of this case, asked for the `repeat`-th time. Its key is the hash
    of everything that determines the answer, so that work whose key is in the store is not done again."""

    rater: Rater
    case: Case
    dimensions: tuple[str, ...]
    repeat: int
    key: str
    again: bool = False  # set where stored answers that could not be used are asked for anew

    @property
    def sample(self) -> Sample:
        return Sample(self.repeat, self.again)


@dataclass(frozen=True, slots=True)
class Rated:
    """What came of a unit: its ratings and, where several steps led to them, the record of these steps."""

    ratings: Sequence[Rating]
    record: Body | None = None
    questions: Sequence[Question] = ()  # where the rater notes itself what it asked


# The beginnings of a question that other questions have too: the hash of each, and about how many tokens it has. A
# provider's prompt cache serves one once a question that begins so has been answered.
Beginnings = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Used:
    """Calls and their tokens."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def plus(self, other: Used, times: int = 1) -> Used:
        return Used(
            self.calls + times * other.calls,
            self.tokens_in + times * other.tokens_in,
            self.tokens_out + times * other.tokens_out,
        )


@dataclass(frozen=True, slots=True)
class Expected(Used):
    """What a unit is expected to use, stated before anything is asked, and the most that it can use: every answer
    as long as it may be, and handed back as often as it may be."""

    most: Used = Used()


class Rater(Protocol):
    """A way of judging. A single judge is one; a panel that deliberates is another."""

    @property
    def name(self) -> str:
        """The rater's name in the ratings."""

    @property
    def instrument(self) -> Instrument:
        """What it grades by."""

    @property
    def models(self) -> Sequence[ChatModel]:
        """Every model it may call: the gate checks hosts and prices before the first call."""

    @property
    def groups(self) -> Sequence[tuple[str, ...]]:
        """The dimensions of each unit of one case: together, all that it rates."""

    @property
    def revises_as(self) -> str:
        """The ending of the systems whose texts it wrote itself (see `ClosedLoop`); "" where it writes none."""

    @property
    def truncation(self) -> Truncation | None:
        """The rule by which a record that is too long is shortened (see `Fitted`); None where it is refused."""

    def settings_hash(self) -> str:
        """The hash of everything but its name and the case that determines an answer."""

    def describe(self) -> Mapping[str, object]:
        """Its settings for the manifest: no secrets."""

    def units(self, case: Case, repeat: int) -> Sequence[Unit]:
        """The work one repeat of one case needs, one unit per group."""

    def expected(self, unit: Unit) -> Expected | Unscored:
        """What the unit will use, or why it cannot be asked."""

    def shared(self, unit: Unit) -> Beginnings:
        """What its first question begins with as those of other units do, the shortest first; none where it shares
        nothing that would be worth waiting for."""

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        """One row per dimension of the unit, scored or not. Only a fatal `ModelError` is raised."""


class PlainRater:
    """What a rater is that asks about all dimensions at once, writes no texts, shortens no records and shares no
    beginnings: a base for others."""

    def settings_hash(self) -> str:
        return self._settings_hash

    @cached_property
    def _settings_hash(self) -> str:
        return json_hash(self._stated())

    def _stated(self) -> object:
        """Everything but its name and the case that determines an answer, as JSON values."""
        raise NotImplementedError

    def units(self: Rater, case: Case, repeat: int) -> list[Unit]:
        return make_units(self, case, repeat)

    def shared(self, unit: Unit) -> Beginnings:
        return {}

    @property
    def groups(self: Rater) -> Sequence[tuple[str, ...]]:
        return (tuple(each.name for each in self.instrument.dimensions),)

    @property
    def revises_as(self) -> str:
        return ""

    @property
    def truncation(self) -> Truncation | None:
        return None


def make_units(
    rater: Rater, case: Case, repeat: int, groups: Iterable[tuple[str, ...]] | None = None
) -> list[Unit]:
    """One unit per group of dimensions, each with the key that everything about it determines."""
    stem = f"{rater.settings_hash()} {rater.name} {case.fingerprint()} {repeat}"
    units = []
    for group in rater.groups if groups is None else groups:
        key = hashlib.sha256((stem + "\0".join(group)).encode()).hexdigest()
        units.append(Unit(rater, case, group, repeat, key))
    return units


# More than the words that hand an answer back, and more than what is around a quoted text.
COMPLAINT, FRAME = 3_000, 300


def most_prompt(messages: Sequence[Message], schema: object = None) -> int:
    """More tokens than these messages have, by any way of counting."""
    asked = most_tokens(Request(tuple(messages)))
    return asked + 4 * len(repr(schema)) + TOKEN_BYTES if schema is not None else asked


def most_question(prompt: int, speaker: Speaker, complaint: int = COMPLAINT) -> Used:
    """One question whose prompt has at most so many tokens, handed back as often as the speaker may be asked."""
    times = 1 + speaker.reasks
    handed_back = (speaker.max_tokens + complaint) * (times * (times - 1) // 2)
    return Used(times, times * prompt + handed_back, times * speaker.max_tokens)

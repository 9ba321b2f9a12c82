"""Worked examples drawn for each case from a training split: at random, spread over the scores, or by likeness."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.hashes import json_hash
from medjury.instruments import Explain, Instrument, Reason, Unscored
from medjury.intake.cases import Case
from medjury.judging._families import chance, kin_of, nearly_the_same, record_sketch
from medjury.judging._prompt import question_text, worked_messages
from medjury.judging._training_split import TrainingSplit, WorkedExample, level_of
from medjury.models import Message

# Which worked examples read most like a case: cosine of word vectors, rare words weighing more.

_WORD = re.compile(r"\w+")
# The codes of marker lines are hashes; they say nothing about what a text is about.
_MARKER = re.compile(r"<<<(?:begin|end) [^\n]*>>>")


class WordIndex:
    """Texts by their words. A word's weight in a text is (1 + ln count) · ln((1 + texts) / (1 + texts with it)):
    a word that is in every text weighs nothing. Likeness is the cosine of two texts' weights."""

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np

        counted = [_count(text) for text in texts]
        holders = Counter(word for words in counted for word in words)
        self._weight = {word: math.log((1 + len(texts)) / (1 + held)) for word, held in holders.items()}
        found: dict[str, tuple[list[int], list[float]]] = {}
        for place, words in enumerate(counted):
            weights = self._weights(words)
            length = math.sqrt(sum(weight * weight for weight in weights.values()))
            for word, weight in weights.items():
                places, shares = found.setdefault(word, ([], []))
                places.append(place)
                shares.append(weight / length)
        self._holders = {
            word: (np.array(places), np.array(shares)) for word, (places, shares) in found.items()
        }
        self._texts = len(texts)

    def likeness(self, text: str) -> list[float]:
        """The cosine of a text with each text of the index, in their order; 0 where no telling word is shared."""
        import numpy as np

        weights = self._weights(_count(text))
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        found = np.zeros(self._texts)
        for word, weight in weights.items():
            places, shares = self._holders[word]
            found[places] += shares * (weight / length)
        return [float(each) for each in found]

    def _weights(self, words: Mapping[str, int]) -> dict[str, float]:
        """Weights of the words that tell texts of the index apart; a word that none of them has tells nothing."""
        return {
            word: (1.0 + math.log(count)) * weight
            for word, count in words.items()
            if (weight := self._weight.get(word, 0.0)) > 0.0
        }


def _count(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_MARKER.sub(" ", text).casefold()))


Draw = Literal["random", "stratified", "nearest"]
DRAWS: tuple[Draw, ...] = ("random", "stratified", "nearest")
# Part of every key: raise it whenever another example could be drawn from the same split.
_VERSION = 2


@dataclass(frozen=True)
class DrawnExamples:
    """`shots` worked examples for every case, none of which is the case itself, its kin, or nearly its own record.

    `random` and `stratified` show every case the same examples, apart from those that are its kin, so that a
    provider's prompt cache serves them. `stratified` spreads them evenly from the worst to the best answer on
    `dimension` (a dimension or a composite; by default all dimensions together). `nearest` shows each case
    the examples whose texts read most like it, the most alike last. As far as there are enough, no two examples
    come from the same patient.
    """

    split: TrainingSplit
    instrument: Instrument
    shots: int
    draw: Draw = "random"
    seed: int = 0
    dimension: str | None = None

    def __post_init__(self) -> None:
        if self.draw not in DRAWS:
            raise MedjuryError(f"draw: {nearest(self.draw, DRAWS)}")
        self._check_dimension()
        self._check_size()

    @cached_property
    def _pool(self) -> Sequence[WorkedExample]:
        """The examples in the order of chance; to be spread over levels only those that have one."""
        pool = sorted(self.split.examples, key=lambda each: chance(self.seed, each.item, each.system))
        return pool if self.draw != "stratified" else [each for each in pool if self._level(each) is not None]

    @cached_property
    def _levels(self) -> Sequence[float]:
        return [level for each in self._pool if (level := self._level(each)) is not None]

    def _level(self, example: WorkedExample) -> float | None:
        return level_of(self.instrument, example.scores, self.dimension)

    @cached_property
    def _marks(self) -> frozenset[str]:
        return frozenset(mark for each in self._pool for mark in each.kin)

    @cached_property
    def _usual(self) -> tuple[WorkedExample, ...]:
        """What is shown to a case that knows none of them; nothing where each case has its own."""
        return () if self._index is not None else self._among(range(len(self._pool)))

    @cached_property
    def _index(self) -> WordIndex | None:
        return WordIndex([each.question for each in self._pool]) if self.draw == "nearest" else None

    @cached_property
    def _worked(self) -> dict[tuple[object, ...], tuple[Message, Message]]:
        return {}

    def for_case(self, case: Case) -> tuple[WorkedExample, ...] | Unscored:
        """The examples this case is judged with, or why it cannot have them."""
        own, record = kin_of(case, self.instrument), record_sketch(case, self.instrument)
        stranger = self._index is None and own.isdisjoint(self._marks)
        if stranger and not any(nearly_the_same(record, each.sketch) for each in self._usual):
            return self._usual
        strangers = [
            place
            for place, each in enumerate(self._pool)
            if own.isdisjoint(each.kin) and not nearly_the_same(record, each.sketch)
        ]
        if len(strangers) < self.shots:  # it is close to what the split did not know to belong together
            problem = (
                f"only {len(strangers)} examples may be shown to it: the others are of its own patient, or their "
                "records are nearly its own"
            )
            return Unscored(Reason.INPUT, problem)
        if self._index is not None:
            return self._like(case, self._index, strangers)
        return self._among(strangers)

    def messages_for(
        self, case: Case, dimensions: Sequence[str], explain: Explain
    ) -> list[Message] | Unscored:
        """The examples of a case as questions and answers; each is written once and serves every case."""
        examples = self.for_case(case)
        if isinstance(examples, Unscored):
            return examples
        messages: list[Message] = []
        for each in examples:
            known = (each.item, each.system, tuple(dimensions), explain)
            if known not in self._worked:
                self._worked[known] = worked_messages(
                    each.question, each.scores, each.explanations, dimensions, explain
                )
            messages += self._worked[known]
        return messages

    def fingerprint(self) -> str:
        """SHA-256 of all that decides which examples a case is shown, and of what they say."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        stated = [_VERSION, self.split.fingerprint(), self.shots, self.draw, self.seed, self.dimension]
        return json_hash(stated)

    def described(self) -> dict[str, object]:
        """What a judge says of them in the manifest: how they were drawn and from what, no clinical text. The
        development cases are all that could have been shown to some case: agreement on these proves nothing."""
        drawn = {
            "shots": self.shots,
            "draw": self.draw,
            "seed": self.seed,
            "dimension": self.dimension,
            "split": self.split.fingerprint(),
            "training_answers": len(self.split.examples),
            "training_cases": len(self.split.development),
            "rated_answers": self.split.rated,
            "held_out_cases": self.split.held_out,
            "left_out": dict(self.split.left_out),
        }
        return {"drawn_examples": drawn, "development_cases": list(self.split.development)}

    def _among(self, places: Sequence[int]) -> tuple[WorkedExample, ...]:
        """The examples to show where those at these places may be shown; places are in the order of chance."""
        if self.draw == "stratified":
            return tuple(self._pool[place] for place in self._spread(places))
        return tuple(_first([self._pool[place] for place in places], self.shots))

    def _spread(self, places: Sequence[int]) -> list[int]:
        """For each of `shots` levels, evenly spaced from the lowest to the highest there is, the example nearest
        to it; in the order of chance, so that a judge learns nothing from their order."""
        levels = self._levels
        low, high = min(levels[place] for place in places), max(levels[place] for place in places)
        chosen: set[int] = set()
        taken: frozenset[str] = frozenset()
        for step in range(self.shots):
            aim = (low + high) / 2 if self.shots == 1 else low + (high - low) * step / (self.shots - 1)
            free = [place for place in places if place not in chosen]
            least = min(round(abs(levels[place] - aim), 9) for place in free)
            equals = [place for place in free if round(abs(levels[place] - aim), 9) == least]
            best = next((place for place in equals if taken.isdisjoint(self._pool[place].kin)), equals[0])
            chosen.add(best)
            taken |= self._pool[best].kin
        return sorted(chosen)

    def _like(
        self, case: Case, index: WordIndex, places: Sequence[int]
    ) -> tuple[WorkedExample, ...] | Unscored:
        question = question_text(self.instrument, case)
        if isinstance(question, Unscored):
            return question
        likeness = index.likeness(question)
        order = sorted(places, key=lambda place: (-round(likeness[place], 12), place))
        return tuple(reversed(_first([self._pool[place] for place in order], self.shots)))

    def _check_dimension(self) -> None:
        if self.dimension is None:
            return
        if self.draw != "stratified":
            raise MedjuryError(f"`dimension` is for `draw: stratified`; with {self.draw} it has no meaning")
        instrument = self.instrument
        known = [each.name for each in instrument.dimensions]
        known += [each.name for each in instrument.reversed] + [each.name for each in instrument.composites]
        if self.dimension not in known:
            raise MedjuryError(
                f"{instrument.name} has no dimension {self.dimension!r}; {nearest(self.dimension, known)}"
            )

    def _check_size(self) -> None:
        """A training case is judged too, and it may see nobody of its own family."""
        pool = self._pool
        if self.shots < 1:
            raise MedjuryError(f"shots is {self.shots}; it is 1 or more")
        bearers: dict[str, set[int]] = {}
        for place, each in enumerate(pool):
            for mark in each.kin:
                bearers.setdefault(mark, set()).add(place)
        families = [set().union(*(bearers[mark] for mark in kin)) for kin in {each.kin for each in pool}]
        largest = max(map(len, families), default=0)
        if len(pool) - largest >= self.shots:
            return
        left_out = "".join(f"; {count:,} not used: {why}" for why, count in self.split.left_out.items())
        raise MedjuryError(
            f"{self.shots} examples for every case need {self.shots + max(1, largest):,} or more training answers, "
            f"since up to {max(1, largest):,} of them belong together and are not shown to each other; there are "
            f"{len(pool):,}, of {self.split.rated:,} answers that clinicians rated{left_out}. Raise `share`, lower "
            "`shots`, or have more cases rated"
        )


def _first(pool: Sequence[WorkedExample], shots: int) -> list[WorkedExample]:
    """The first ones that are no kin of each other; kin only where there are not enough others."""
    chosen: list[WorkedExample] = []
    kin: list[WorkedExample] = []
    taken: frozenset[str] = frozenset()
    for each in pool:
        if len(chosen) == shots:
            break
        if taken.isdisjoint(each.kin):
            chosen.append(each)
            taken |= each.kin
        else:
            kin.append(each)
    return [*chosen, *kin][:shots]

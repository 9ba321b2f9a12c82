"""Pairs: two systems' answers to one case, laid side by side as one case that has both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations
from typing import TypeVar

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases._case import Case, clean_text
from medjury.intake.cases._read import CaseReader
from medjury.intake.cases._tally import LeftOut

_Text = TypeVar("_Text")
# What the one dimension of a pair is called, and the texts that are compared.
PREFERENCE = "preference"
FIRST_ANSWER, SECOND_ANSWER = "answer_a", "answer_b"
_VERSUS = " vs "
# What a pair of equal texts is marked with: there a tie is the right answer.
SAME_TEXT = "same_text"
# A table of judgements has these columns, and none of scores.
PAIR_COLUMNS = ("item", "first", "second", "preferred")
_UNKNOWN = 9.0
_ALONE = "case with the answer of one system only: nothing to compare it with, left out"


def pair_name(first: str, second: str) -> str:
    """The `system` of a pair, in the order shown.

    >>> pair_name("alpha", "beta")
    'alpha vs beta'
    """
    return f"{first}{_VERSUS}{second}"


def pair_of(system: str) -> tuple[str, str] | None:
    """The two systems in the order shown; None where the name is not that of a pair.

    >>> pair_of("beta vs alpha"), pair_of("alpha")
    (('beta', 'alpha'), None)
    """
    first, versus, second = system.partition(_VERSUS)
    return (first, second) if versus and first and second and _VERSUS not in second else None


def holds_pairs(columns: Collection[str]) -> bool:
    """Whether a table has one row for each judgement of a pair, and no column of scores."""
    return {*PAIR_COLUMNS} <= {*columns} and "score" not in columns


def read_preference(first: str, second: str, preferred: str) -> float | None:
    """Which of two systems a table says is preferred: -1 the first, 1 the second, 0 neither; None where the cell is
    empty. Whatever else it says is a `ValueError`.

    >>> read_preference("alpha", "beta", "beta"), read_preference("alpha", "beta", "tie")
    (1.0, 0.0)
    """
    if first == second:
        raise ValueError(f"first and second are the same system, {first!r}")
    for name in (first, second):
        if not _may_be_paired(name):
            raise ValueError(_bad_name(name))
    meant = {
        **dict.fromkeys(("tie", "both", "equal", "neither"), 0.0),
        "first": -1.0,
        "second": 1.0,
        "": None,
    }
    found = {first: -1.0, second: 1.0}.get(preferred, meant.get(preferred.lower(), _UNKNOWN))
    if found == _UNKNOWN:
        raise ValueError(
            f"preferred is {preferred!r}; it must be {first!r}, {second!r}, first, second, tie or empty"
        )
    return found


class PairedCases:
    """Every two answers to a case as one case: twice, once in each order. People see each pair `once`, by turns in
    the one order and in the other, so that each of two systems is first in half of their pairs.

    Both answers to a case must be known before there is a pair, so these cases are held in memory, as others are
    not.
    """

    def __init__(self, cases: CaseReader) -> None:
        self._cases = cases
        self._made: list[Case] = []
        self._once: set[tuple[str, str]] = set()
        self._alone = 0

    def __iter__(self) -> Iterator[Case]:
        return iter(self._pairs())

    @property
    def skipped(self) -> int:
        return self._cases.skipped

    @property
    def left_out(self) -> LeftOut:
        """What the reader left out, and the cases that only one system answered."""
        self._pairs()
        found = self._cases.left_out
        alone = {_ALONE: self._alone} if self._alone else {}
        return LeftOut(found.rows, {**found.parts, **alone})

    @property
    def once(self) -> frozenset[tuple[str, str]]:
        """Case and pair, in the order in which people see it."""
        self._pairs()
        return frozenset(self._once)

    def _pairs(self) -> list[Case]:
        if not self._made:
            answers: dict[str, list[Case]] = {}
            for case in self._cases:
                _check_name(case.system)
                answers.setdefault(case.id, []).append(case)
            self._alone = sum(len(each) < 2 for each in answers.values())
            self._made = list(self._laid_out(answers))
            if not self._made:
                raise MedjuryError(
                    f"{self._cases.name}: no case has the answers of two systems, and pairs compare two; give each "
                    "answer a row of its own with the same `id` and its `system`"
                )
        return self._made

    def _laid_out(self, answers: Mapping[str, list[Case]]) -> Iterator[Case]:
        pairs = [pair for each in answers.values() for pair in combinations(_in_order(each), 2)]
        marked = any(map(_same, pairs))
        turns: Counter[tuple[str, str]] = Counter()
        for one, other in pairs:
            both = [_paired(one, other, marked), _paired(other, one, marked)]
            # By turns, and whose turn is first is by the names: not always that of the earlier in the alphabet.
            systems = (one.system, other.system)
            turn = turns[systems] + sum(map(ord, one.system + other.system))
            turns[systems] += 1
            self._once.add((one.id, both[turn % 2].system))
            yield from both


def _in_order(answers: Iterable[Case]) -> list[Case]:
    return sorted(answers, key=lambda each: each.system)


def _check_name(system: str) -> None:
    if not _may_be_paired(system):
        raise MedjuryError(_bad_name(system))


def _may_be_paired(system: str) -> bool:
    """Whether the name of a pair tells this system from the other, in both orders: not "a vs b", nor "a vs"."""
    return bool(system.strip()) and pair_of(pair_name(system, "other")) == (system, "other")


def _bad_name(system: str) -> str:
    problem = f"is called {system!r}" if system.strip() else "has no name"
    return (
        f"a system {problem}; in pairs every answer names its `system`, and no name has “{_VERSUS}” in it or "
        f"ends in “{_VERSUS.rstrip()}”"
    )


def _same(pair: tuple[Case, Case]) -> bool:
    one, other = (" ".join(clean_text(each.candidate or "").split()) for each in pair)
    return one == other


def _paired(first: Case, second: Case, marked: bool) -> Case:
    """One case with both answers, and all else that the two agree on."""
    answers = {FIRST_ANSWER: first, SECOND_ANSWER: second}
    texts = _common(first.texts, second.texts)
    texts |= {name: each.candidate for name, each in answers.items() if each.candidate is not None}
    messages = _common(first.messages, second.messages)
    messages.pop("candidate", None)
    messages |= {
        name: each.messages["candidate"] for name, each in answers.items() if "candidate" in each.messages
    }
    metadata = {name: value for name, value in first.metadata.items() if second.metadata.get(name) == value}
    if marked:
        metadata[SAME_TEXT] = "yes" if _same((first, second)) else "no"
    return Case(
        first.id,
        reference=first.reference if first.reference == second.reference else None,
        texts=texts,
        notes=first.notes if first.notes == second.notes else (),
        system=pair_name(first.system, second.system),
        patient=first.patient,
        metadata=metadata,
        messages=messages,
        images=first.images if first.images == second.images else (),
        origin=first.origin,
    )


def _common(one: Mapping[str, _Text], other: Mapping[str, _Text]) -> dict[str, _Text]:
    """What is in either, unless the two differ."""
    return {
        name: text for name, text in {**one, **other}.items() if one.get(name, text) == other.get(name, text)
    }

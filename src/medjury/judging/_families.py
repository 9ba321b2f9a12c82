"""What belongs together, and sides that never part it: for worked examples, for tuning and for training.

The answers of all systems to one item, all items of one patient, and items that share a record or a note are one
family. Who learns from one of them and is tested on another has tested nothing.
"""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from medjury.instruments import Instrument
from medjury.intake.cases import Case

# Two items that share a note, or all that is known beside the answer, of at least this many characters are taken
# for the same patient's. Shorter texts (a specialty, a standing instruction) are shared by cases that have nothing
# to do with each other; the whole of a record is less often so than one note.
_TELLING_NOTE, _TELLING_RECORD = 400, 100
_ITEM = "item "


def kin_of(case: Case, instrument: Instrument) -> frozenset[str]:
    """The marks by which a case is known to belong to another: its item, its patient and, hashed, the whole of its
    record and each note of it, where they are long enough to be nobody else's."""
    marks = [f"{_ITEM}{case.id}"]
    if case.patient:
        marks.append(f"patient {case.patient}")
    # A note tells whose case it is, whether or not the instrument shows it.
    marks += [mark for note in case.notes if (mark := _mark("note", note.text, _TELLING_NOTE))]
    whole = _mark("record", record_of(case, instrument), _TELLING_RECORD)
    return frozenset([*marks, whole] if whole else marks)


def record_of(case: Case, instrument: Instrument) -> str:
    """All that the instrument shows of a case but the answer under judgement."""
    record: list[str] = []
    for wanted in instrument.inputs:
        value = None if wanted.name == "candidate" else case.input(wanted.name)
        record += [value] if isinstance(value, str) else [note.text for note in value or ()]
    return " ".join(record)


def record_sketch(case: Case, instrument: Instrument) -> frozenset[int]:
    """The sketch of a record; empty where it is too short to tell."""
    record = record_of(case, instrument)
    return sketch_of(record) if len(record) >= _TELLING_RECORD else frozenset()


def _mark(kind: str, text: str, least: int) -> str:
    if len(text) < least:
        return ""
    plain = " ".join(text.casefold().split()).encode("utf-8", "surrogatepass")
    return f"{kind} {hashlib.sha256(plain).hexdigest()[:16]}"


_SKETCHED = re.compile(r"\w+")
_RUN = 5  # words in a shingle
_KEPT = 128  # hashes in a sketch: the standard error of a likeness of 0.7 is 0.04
# One word in a dozen changed leaves about this much; records that share a template stay well below.
_NEARLY_THE_SAME = 0.7


def sketch_of(text: str) -> frozenset[int]:
    """The smallest hashes of the runs of five words in a text (a bottom-k sketch; Broder 1997)."""
    words = _SKETCHED.findall(text.casefold())
    runs = {" ".join(words[place : place + _RUN]) for place in range(max(1, len(words) - _RUN + 1))}
    return frozenset(sorted({zlib.crc32(run.encode("utf-8", "surrogatepass")) for run in runs})[:_KEPT])


def nearly_the_same(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two texts share most of their runs of words: the estimated share of those in both, of all in either.

    >>> note = "Two weeks of dry cough without fever, chest clear, no smoker, ramipril since May; stop it and call."
    >>> nearly_the_same(sketch_of(note), sketch_of(note.upper().replace(",", " ,")))
    True
    """
    if not one or not other:
        return False
    most = min(_KEPT, max(len(one), len(other)))
    shared = one & other
    if len(shared) < _NEARLY_THE_SAME * most:
        return False
    smallest = sorted(one | other)[:_KEPT]
    return sum(each in shared for each in smallest) >= _NEARLY_THE_SAME * len(smallest)


@dataclass(slots=True)
class Family:
    """Items that belong together, and every mark that any of their cases bears."""

    items: set[str]
    marks: frozenset[str]


class Joined:
    """Marks that were seen together, at whatever remove, are one."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def __contains__(self, mark: str) -> bool:
        return mark in self._parent

    def join(self, marks: Iterable[str]) -> None:
        first, *others = marks
        self._parent.setdefault(first, first)
        for mark in others:
            self._parent.setdefault(mark, mark)
            self._parent[self.head(mark)] = self.head(first)

    def head(self, mark: str) -> str:
        """The mark that speaks for all that this one was joined with."""
        while self._parent[mark] != mark:
            self._parent[mark] = mark = self._parent[self._parent[mark]]
        return mark

    def groups(self) -> Iterable[set[str]]:
        together: dict[str, set[str]] = {}
        for mark in self._parent:
            together.setdefault(self.head(mark), set()).add(mark)
        return together.values()


def families_of(
    cases: Iterable[Case], instrument: Instrument, rated: Collection[tuple[str, str]]
) -> tuple[list[Family], set[tuple[str, str]]]:
    """The rated items, grouped so that any two that share a mark, at whatever remove, are together; and the
    rated answers that are really there."""
    items = {item for item, _ in rated}
    joined = Joined()
    found: set[tuple[str, str]] = set()
    others_there = False
    for case in cases:
        if case.id not in items:
            others_there = True
            continue
        if (case.id, case.system) in rated:
            found.add((case.id, case.system))
        joined.join(kin_of(case, instrument))
    if others_there:  # a case that nobody rated may tell that two rated ones are of one patient
        for case in cases:
            known = [] if case.id in items else [mark for mark in kin_of(case, instrument) if mark in joined]
            if known:
                joined.join(known)
    families = [
        Family({mark.removeprefix(_ITEM) for mark in marks if mark.startswith(_ITEM)}, frozenset(marks))
        for marks in joined.groups()
    ]
    return sorted(families, key=lambda family: min(family.items)), found


def deal_families(
    families: Iterable[Family], answers: Counter[str], wanted: Sequence[float], *, seed: int
) -> list[list[Family]]:
    """Whole families with any of the `answers` (counted by item), dealt out in an order that the seed decides.

    For each number in `wanted` a side with so many answers, and last what is left. A number below 1 is a share of
    what the sides before it left. A family's place in the order does not depend on what else is in the study.
    """
    left = [(family, sum(answers[item] for item in family.items)) for family in families]
    left = sorted((each for each in left if each[1]), key=lambda each: chance(seed, min(each[0].items)))
    sides: list[list[Family]] = []
    for number in wanted:
        there = sum(count for _, count in left)
        most = int(number) if number >= 1 else math.ceil(number * there - 1e-9)  # 0.3 of 10 is 3
        taken, count = 0, 0
        while count < most and taken < len(left):
            count += left[taken][1]
            taken += 1
        sides.append([family for family, _ in left[:taken]])
        left = left[taken:]
    return [*sides, [family for family, _ in left]]


def chance(seed: int, *words: str) -> str:
    """A place in an order that is random, the same on every machine, and independent of the other places."""
    return hashlib.sha256("\0".join([str(seed), *words]).encode("utf-8", "surrogatepass")).hexdigest()

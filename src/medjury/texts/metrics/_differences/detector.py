"""The detector in C: the word lists as tables of numbers, and pairs of turns read and compared in one call.

What it gives is what `reading`, `differences` and `located` give in Python, which are its definition; it is only
faster. Words get numbers as they are met; the tables grow with them.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.texts.metrics._compiled import check_status, joined_texts
from medjury.texts.metrics._differences import differences as _differences
from medjury.texts.metrics._differences import explain as _explain
from medjury.texts.metrics._differences import reading as _reading
from medjury.texts.metrics._differences.explain import WordChange
from medjury.texts.metrics._lexicons import (
    CATEGORIES,
    CLINICAL,
    MOST_WORDS,
    Lexicons,
    Phrase,
    Phrases,
    lexicons,
)
from medjury.texts.transcripts import normalise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Categories by number: the listed ones first, then those that come of counting, then all other content.
CODES = {name: code for code, name in enumerate([*CATEGORIES, "dose", "number", "content"])}
NAMES = [*CODES, ""]
KINDS = ("lost", "added", "affirmed", "denied", "negation", "answer", "acknowledgement")
ANSWERS = ("", "yes", "no")
DRUG_ENDING, VAGUE, JOINS, IS_NO, IS_NOT, IS_SIDE = (1 << bit for bit in range(6))

POINTERS = (
    "spell_starts", "spell", "wording_starts", "wordings", "wording_items", "phrase_starts", "phrases",
    "phrase_items", "kinds", "marks", "letter_starts", "letters",
)  # fmt: skip
NUMBERS = (
    "spoken_words", "canonical_words", "wording_words", "phrase_words", "longest_spelling", "scope", "margin",
    "answer_within", "quoted_with", "longest_joined", "most_near", "anatomy", "laterality", "drug", "dose", "time",
    "number", "content", "qualifier",
)  # fmt: skip
_NUMBERING = threading.Lock()
BITS = ("loaded", "deniable", "clinical", "health", "counted_as_time", "counted_as_dose")


class ListsInC(ctypes.Structure):
    """The structure `Lists` of `_detector.c`, field by field."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in POINTERS),
        *((name, ctypes.c_int32) for name in NUMBERS),
        *((name, ctypes.c_uint32) for name in BITS),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ComparedInC:
    """Pairs as compared in C: features (without chrF), counts of characters, and the changes of each pair."""

    features: Floats
    counts: Integers
    changes: list[list[WordChange]]
    answers: list[tuple[str, str]]
    surfaces: list[list[str]]


class Vocabulary:
    """Numbers for spoken and canonical words, and the tables that C reads; words of the lists come first."""

    def __init__(self, lists: Lexicons) -> None:
        self.lists = lists
        self.spoken: dict[str, int] = {}
        self.canonical: dict[str, int] = {}
        self.spell_starts: list[int] = [0]
        self.spell: list[int] = []
        self.kinds: list[int] = []
        self.marks: list[int] = []
        self.letters: list[str] = []
        phrases = self._phrases()
        wordings = [(words, replacement) for each in lists.wordings.values() for words, replacement in each]
        for words, _, _ in phrases:
            for word in words:
                self._canonical(word)
        for words, replacement in wordings:
            for word in words:
                self.number(word)
            for word in replacement:
                self._canonical(word)
        self.phrase_words, self.wording_words = len(self.canonical), len(self.spoken)
        self.fixed = self._phrase_tables(phrases) | self._wording_tables(wordings)
        self.built: tuple[int, ListsInC, dict[str, NDArray[Any]]] | None = None

    def number(self, word: str) -> int:
        """The number of a spoken word, given when it is first met."""
        found = self.spoken.get(word)
        if found is None:
            canonical = [self._canonical(each) for each in self.lists.canon[word]]
            found = self.spoken[word] = len(self.spoken)
            self.spell += canonical
            self.spell_starts.append(len(self.spell))
        return found

    def tables(self) -> tuple[int, ListsInC, dict[str, NDArray[Any]]]:
        """The structure for C with the arrays it points into; made again only when there are new words.

        Whoever calls C keeps what is returned until C is done.
        """
        size = len(self.spoken)
        if self.built is None or self.built[0] != size:
            text = "".join(self.letters)
            arrays = self.fixed | {
                "spell_starts": np.array(self.spell_starts, dtype=np.int32),
                "spell": np.array(self.spell, dtype=np.int32),
                "kinds": np.array(self.kinds, dtype=np.uint16),
                "marks": np.array(self.marks, dtype=np.uint8),
                "letter_starts": np.cumsum([0, *map(len, self.letters)], dtype=np.int64),
                "letters": np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4"),
            }
            self.built = size, self._structure(arrays), arrays
        return self.built

    def _canonical(self, word: str) -> int:
        found = self.canonical.get(word)
        if found is None:
            found = self.canonical[word] = len(self.canonical)
            kind = self.lists.kinds.get(word, 0)
            drug = not kind and len(word) >= _reading.SHORTEST_DRUG and word.endswith(self.lists.drug_endings)
            self.kinds.append(kind)
            self.marks.append(
                DRUG_ENDING * drug
                | VAGUE * (word in _reading.VAGUE_NUMBERS)
                | JOINS * (word in _reading.JOINS_NUMBERS)
                | IS_NO * (word == "no")
                | IS_NOT * (word == "not")
                | IS_SIDE * (word == _reading.SIDE)
            )
            self.letters.append(word)
        return found

    def _phrases(self) -> list[tuple[Phrase, int, int]]:
        """Every listed phrase with its list and category, first word by first word, the longest first."""
        lists = self.lists
        found = [(term.words, 0, CODES[term.category]) for terms in lists.terms.values() for term in terms]
        others: tuple[Phrases, ...] = (
            lists.courtesy, lists.yes, lists.short_yes, lists.no, lists.greetings, lists.administrative,
            lists.closing,
        )  # fmt: skip
        for number, phrases in enumerate(others, start=1):
            found += [(phrase, number, -1) for each in phrases.values() for phrase in each]
        return found

    def _phrase_tables(self, phrases: list[tuple[Phrase, int, int]]) -> dict[str, NDArray[Any]]:
        ordered = sorted(phrases, key=lambda one: (self.canonical[one[0][0]], one[1], -len(one[0])))
        rows: list[tuple[int, ...]] = []
        items: list[int] = []
        starts = np.zeros(self.phrase_words + 1, dtype=np.int32)
        for words, number, category in ordered:
            rows.append((number, category, len(items), len(words)))
            items += [self.canonical[word] for word in words]
            starts[self.canonical[words[0]] + 1] += 1
        return {
            "phrase_starts": np.cumsum(starts, dtype=np.int32),
            "phrases": np.array(rows, dtype=np.int32),
            "phrase_items": np.array(items, dtype=np.int32),
        }

    def _wording_tables(self, wordings: list[tuple[Phrase, Phrase]]) -> dict[str, NDArray[Any]]:
        ordered = sorted(wordings, key=lambda one: (self.spoken[one[0][0]], -len(one[0])))
        rows: list[tuple[int, ...]] = []
        items: list[int] = []
        starts = np.zeros(self.wording_words + 1, dtype=np.int32)
        for words, replacement in ordered:
            rows.append((len(items), len(words), len(items) + len(words), len(replacement)))
            items += [self.spoken[word] for word in words] + [self.canonical[word] for word in replacement]
            starts[self.spoken[words[0]] + 1] += 1
        return {
            "wording_starts": np.cumsum(starts, dtype=np.int32),
            "wordings": np.array(rows, dtype=np.int32),
            "wording_items": np.array(items, dtype=np.int32),
        }

    def _structure(self, arrays: dict[str, NDArray[Any]]) -> ListsInC:
        spellings = np.diff(arrays["spell_starts"]).max(initial=1)
        numbers = {
            "spoken_words": len(self.spoken),
            "canonical_words": len(self.canonical),
            "wording_words": self.wording_words,
            "phrase_words": self.phrase_words,
            "longest_spelling": max(int(spellings), int(arrays["wordings"][:, 3].max(initial=1))),
            "scope": _reading.SCOPE,
            "margin": _reading.MARGIN,
            "answer_within": _reading.ANSWER_WITHIN,
            "quoted_with": _explain.QUOTED_WITH,
            "longest_joined": _differences.LONGEST_JOINED,
            "most_near": _differences.MOST_NEAR,
            "loaded": _bits(_differences.LOADED),
            "deniable": _bits(_differences.DENIABLE),
            "clinical": _bits(CLINICAL),
            "health": _bits(_differences.HEALTH),
            "counted_as_time": _bits(name for name, kind in _reading.COUNTED.items() if kind == "time"),
            "counted_as_dose": _bits(name for name, kind in _reading.COUNTED.items() if kind == "dose"),
        }
        numbers |= {name: CODES[name] for name in NUMBERS if name in CODES}
        structure = ListsInC()
        for name in POINTERS:
            setattr(structure, name, arrays[name].ctypes.data)
        for name, value in numbers.items():
            setattr(structure, name, value)
        return structure


@cache
def _vocabulary() -> list[Vocabulary]:
    return [Vocabulary(lexicons())]


def _numbered(surfaces: list[list[str]]) -> tuple[list[int], tuple[int, ListsInC, dict[str, NDArray[Any]]]]:
    """The words as numbers, and the tables that know these numbers; one thread at a time gives new ones."""
    with _NUMBERING:
        current = _vocabulary()
        if len(current[0].spoken) > MOST_WORDS:  # a stream of ever new words must not fill the memory
            current[0] = Vocabulary(lexicons())
        known, number = current[0].spoken.get, current[0].number
        spoken = [known(word, -1) for words in surfaces for word in words]
        if -1 in spoken:
            spoken = [number(word) for words in surfaces for word in words]
        return spoken, current[0].tables()


def compare_in_c(
    library: ctypes.CDLL, said: Sequence[str], heard: Sequence[str], asked: Sequence[str | None]
) -> ComparedInC:
    """Read and compare every pair."""
    surfaces: list[list[str]] = []
    for one, other, question in zip(said, heard, asked, strict=True):
        surfaces.append(normalise(one).split())
        surfaces.append(normalise(other).split())
        surfaces.append(normalise(question).split() if question else [])
    spoken, kept = _numbered(surfaces)
    tables = kept[1]
    pairs = len(said)
    numbers = np.array(spoken, dtype=np.int32)
    offsets = np.zeros(3 * pairs + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, surfaces), dtype=np.int64, count=3 * pairs), out=offsets[1:])
    has_question = np.fromiter(map(bool, asked), dtype=np.uint8, count=pairs)
    letters, letter_offsets = joined_texts(
        ["".join(words) for place, words in enumerate(surfaces) if place % 3 < 2]
    )
    features = np.zeros((pairs, len(_differences.FEATURES)))
    counts = np.zeros((pairs, 8), dtype=np.int64)
    answers = np.zeros((pairs, 2), dtype=np.int8)
    rows = np.empty((len(spoken) * tables.longest_spelling + 4 * pairs, 8), dtype=np.int32)
    starts = np.zeros(pairs + 1, dtype=np.int64)
    check_status(
        library.medjury_compare(
            ctypes.byref(tables),
            *_passed(numbers, offsets, has_question, letters, letter_offsets),
            ctypes.c_int64(pairs),
            *(ctypes.c_void_p(array.ctypes.data) for array in (features, counts, answers, rows)),
            ctypes.c_int64(len(rows)),
            ctypes.c_void_p(starts.ctypes.data),
        )
    )
    every = [
        WordChange(KINDS[kind], NAMES[category], (a, b), (c, d), bool(denied), bool(loaded))
        for kind, category, a, b, c, d, denied, loaded in rows[: int(starts[-1])].tolist()
    ]
    ends = starts.tolist()
    return ComparedInC(
        features,
        counts,
        [every[start:stop] for start, stop in pairwise(ends)],
        [(ANSWERS[one], ANSWERS[other]) for one, other in answers.tolist()],
        surfaces,
    )


def _passed(
    numbers: NDArray[np.int32],
    offsets: Integers,
    asked: NDArray[np.uint8],
    letters: NDArray[np.uint32],
    letter_offsets: Integers,
) -> tuple[Any, ...]:
    def at(array: NDArray[Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def size(array: NDArray[Any]) -> ctypes.c_int64:
        return ctypes.c_int64(len(array))

    return at(numbers), size(numbers), at(offsets), at(asked), at(letters), size(letters), at(letter_offsets)


def _bits(categories: Any) -> int:
    return sum(1 << CODES[name] for name in categories)

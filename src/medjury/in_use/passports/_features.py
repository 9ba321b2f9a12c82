"""What the novelty test looks at in a case: numbers about its words, none of its words."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from medjury.intake.cases import Case

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LINE_MARK = re.compile(r"^\s*(?:[-*•–#]|\d+[.)])\s*\S", re.MULTILINE)
# A feature's name, and the least spread by which it is divided: a difference that no reader would notice is none.
FEATURES = {
    "words of the answer (log)": 0.1,
    "words of the record (log)": 0.1,
    "mean length of words": 0.1,
    "share of digits": 0.01,
    "share of letters beyond a to z": 0.01,
    "share of words said before": 0.02,
    "list items and headings per line": 0.02,
    "share of uncommon words, answer": 0.02,
    "share of uncommon words, record": 0.02,
}
_SHARED_BY, _MOST_WORDS, _DIGITS = 5, 4000, 10


def common_words(cases: Iterable[tuple[Case, str]]) -> tuple[str, ...]:
    """Hashes of the words that five patients or more have in common, the most common ones: what one patient alone
    has, such as a name, is not among them. `cases` come with their patients."""
    patients: dict[str, set[str]] = {}
    for case, patient in cases:
        for word in {*_words(case.candidate or ""), *_words(_record(case))}:
            patients.setdefault(word, set()).add(patient)
    shared = Counter({word: len(found) for word, found in patients.items() if len(found) >= _SHARED_BY})
    ranked = sorted(shared, key=lambda word: (-shared[word], word))[:_MOST_WORDS]
    return tuple(sorted(map(_hash, ranked)))


def features(case: Case, common: Collection[str]) -> tuple[float, ...]:
    """The numbers of one case, in the order of `FEATURES`."""
    answer, record = case.candidate or "", _record(case)
    words, others = _words(answer), _words(record)
    letters = [letter for letter in answer + record if letter.isalpha()]
    size = max(1, len(answer) + len(record))
    lines = max(1, sum(bool(line.strip()) for line in answer.splitlines()))
    found = (
        math.log1p(len(words)),
        math.log1p(len(others)),
        sum(map(len, [*words, *others])) / max(1, len(words) + len(others)),
        sum(each.isdigit() for each in answer + record) / size,
        sum(not each.isascii() for each in letters) / max(1, len(letters)),
        1.0 - len(set(words)) / len(words) if words else 0.0,
        len(_LINE_MARK.findall(answer)) / lines,
        _uncommon(words, common),
        _uncommon(others, common),
    )
    return tuple(round(each, 4) for each in found)


def word_count(case: Case) -> int:
    """How many words the answer has."""
    return len(_words(case.candidate or ""))


def record_word_count(case: Case) -> int:
    """How many words the record has that it is judged against."""
    return len(_words(_record(case)))


def _record(case: Case) -> str:
    texts = [case.reference or "", *(case.texts[name] for name in sorted(case.texts))]
    return "\n".join([*texts, *(note.text for note in case.notes)])


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _uncommon(words: Sequence[str], common: Collection[str]) -> float:
    """The share of words, numbers left out, that are not among the common ones."""
    said = [word for word in words if not word.isdigit()]
    return sum(_hash(word) not in common for word in said) / len(said) if said else 0.0


@lru_cache(maxsize=20_000)
def _hash(word: str) -> str:
    return hashlib.sha256(f"medjury word\0{word}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]

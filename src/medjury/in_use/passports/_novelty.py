"""Is a case as far from the validated cases as they are from one another? A conformal test.

One half of the validated patients gives the measure: a case's distance is its mean distance to the five nearest of
them, in standardised features (numbers about its words, none of its words). The other half gives the distances to
compare with. The p-value of a new case is the share of those patients at least as far away, itself counted in. So
of new patients who are exchangeable with the validated ones at most a share `alpha` is flagged, on average over
validations, however the features are distributed (split conformal p-value: Vovk, Gammerman & Shafer 2005;
patients weigh alike: Lee, Barber & Willett 2023).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import numpy as np

from medjury.analysis.calibration import first_share, strangeness
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case
from medjury.statistics import Floats
from medjury.store.runs import RunPart

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
    text = [word for word in words if not word.isdigit()]
    return sum(_hash(word) not in common for word in text) / len(text) if text else 0.0


@lru_cache(maxsize=20_000)
def _hash(word: str) -> str:
    return hashlib.sha256(f"medjury word\0{word}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


_MOST_KEPT, _NEIGHBOURS = 400, 5


class Novelty(RunPart):
    """The measure of distance: the spread of each feature, the features of the `measure` cases, the common words'
    hashes; and, for each `compared` case, its distance and the number of its patient."""

    alpha: float
    spreads: dict[str, float]
    measure: tuple[tuple[float, ...], ...]
    common_words: tuple[str, ...]
    compared: tuple[float, ...]
    compared_patients: tuple[int, ...]


class NoveltyTest:
    """Distances and p-values of new cases."""

    def __init__(self, novelty: Novelty) -> None:
        self.alpha = novelty.alpha
        self._common = frozenset(novelty.common_words)
        self._measure = np.array(novelty.measure, dtype=float)
        self._spreads = np.array([novelty.spreads[name] for name in FEATURES])
        patients = np.array(novelty.compared_patients, dtype=object)
        self._known = strangeness(np.array(novelty.compared), patients)

    def look(self, case: Case) -> tuple[float, float, str]:
        """The distance of a case, its p-value, and the feature by which it lies farthest away."""
        own = np.array(features(case, self._common))
        distance = distances(own[None, :], self._measure, self._spreads)
        p_value = float(self._known.p_values(distance, np.array([1.0]))[0])
        apart = np.abs(own - np.median(self._measure, axis=0)) / self._spreads
        return float(distance[0]), min(1.0, p_value), list(FEATURES)[int(np.argmax(apart))]


def novelty_of(cases: Sequence[Case], patients: Sequence[str], alpha: float, seed: int = 0) -> Novelty:
    """The measure and the distances of these validated cases; refused where they are too few for `alpha`."""
    if not 0.0 < alpha <= 0.5:
        raise MedjuryError(f"the level of the novelty test lies above 0 and at most at 0.5, not at {alpha:g}")
    known, needed = len(set(patients)), 2 * math.ceil(1 / alpha)
    if known < needed:
        raise MedjuryError(
            f"{known:,} validated patients are too few to tell at the level {alpha:g} whether a new case is "
            f"like them; {needed:,} are needed, or a higher level (--alpha)"
        )
    first = first_share(patients, 0.5, seed)
    measuring = [(case, name) for case, name, own in zip(cases, patients, first, strict=True) if own]
    compared = [(case, name) for case, name, own in zip(cases, patients, first, strict=True) if not own]
    common = common_words(measuring)
    words = frozenset(common)
    measure = np.array([features(case, words) for case, _ in measuring])
    spreads = np.maximum(measure.std(axis=0), list(FEATURES.values()))
    measure = measure[:: max(1, math.ceil(len(measuring) / _MOST_KEPT))]
    others = np.array([features(case, words) for case, _ in compared])
    numbers: dict[str, int] = {}
    return Novelty(
        alpha=alpha,
        spreads=dict(zip(FEATURES, spreads.tolist(), strict=True)),
        measure=tuple(map(tuple, measure.tolist())),
        common_words=common,
        compared=tuple(distances(others, measure, spreads).tolist()),
        compared_patients=tuple(numbers.setdefault(name, len(numbers)) for _, name in compared),
    )


def distances(points: Floats, measure: Floats, spreads: Floats) -> Floats:
    """The mean distance of each point to the nearest of the measuring cases, in standardised features."""
    near = min(_NEIGHBOURS, len(measure))
    found = []
    for point in points:
        apart = np.sqrt((((measure - point) / spreads) ** 2).mean(axis=1))
        found.append(float(np.sort(apart)[:near].mean()))
    return np.array(found)

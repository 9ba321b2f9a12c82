"""METEOR: words matched exactly, then by stem, then by synonym, and how much their order is broken up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from medjury.texts.metrics._lexical.porter import stem
from medjury.texts.metrics._lexical.wordnet import WordNet

# Recall counts nine times as much as precision; the penalty for broken order is at most one half.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


@dataclass(slots=True)
class _Side:
    """The words that are not matched yet, with their places in the text."""

    places: list[int]
    words: list[str]

    def keep(self, taken: set[int], change: Callable[[str], str] = str) -> _Side:
        left = [index for index in range(len(self.words)) if index not in taken]
        return _Side([self.places[i] for i in left], [change(self.words[i]) for i in left])


def meteor(reference: Sequence[str], hypothesis: Sequence[str], wordnet: WordNet | None) -> float:
    """METEOR = F · (1 − 0.5·(chunks / matches)³), F = P·R / (0.9·P + 0.1·R); 0 where nothing matches.

    Banerjee & Lavie (2005) with the parameters and the order of matching of NLTK: from the end of the
    hypothesis, each word takes the last free equal of the reference; synonyms are looked up for stems.

    >>> round(meteor("not throat but lips".split(), "not so but lips".split(), None), 4)
    0.6389
    """
    said = _Side(list(range(len(reference))), [word.lower() for word in reference])
    heard = _Side(list(range(len(hypothesis))), [word.lower() for word in hypothesis])
    matches: list[tuple[int, int]] = []
    for stage in ("exact", "stem", "synonym"):
        if stage == "synonym" and wordnet is None:
            break
        if stage == "stem":
            said, heard = said.keep(set(), stem), heard.keep(set(), stem)
        said, heard = _match(said, heard, wordnet if stage == "synonym" else None, matches)
    if not matches:
        return 0.0
    matches.sort()
    chunks = 1 + sum(
        (after[0] - before[0], after[1] - before[1]) != (1, 1) for before, after in pairwise(matches)
    )
    precision, recall = len(matches) / len(hypothesis), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return float(mean * (1 - GAMMA * (chunks / len(matches)) ** BETA))


def _match(
    said: _Side, heard: _Side, wordnet: WordNet | None, matches: list[tuple[int, int]]
) -> tuple[_Side, _Side]:
    free: dict[str, list[int]] = {}
    for index, word in enumerate(said.words):
        free.setdefault(word, []).append(index)
    taken_said: set[int] = set()
    taken_heard: set[int] = set()
    for index in range(len(heard.words) - 1, -1, -1):
        word = heard.words[index]
        names = wordnet.synonyms(word) if wordnet else (word,)
        candidates = [free[name] for name in names if free.get(name)]
        if candidates:
            other = max(candidates, key=lambda places: places[-1]).pop()
            taken_said.add(other)
            taken_heard.add(index)
            matches.append((heard.places[index], said.places[other]))
    return said.keep(taken_said), heard.keep(taken_heard)

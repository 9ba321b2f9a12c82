"""Finds the passages of a long record that a claim may rest on: BM25 built in, embeddings where one is given.

Passages are windows of a few sentences that overlap by some, each with the note it comes from and its place
there, so that what a verdict was given on can be read again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from medjury.judging._clinical_words import tokens
from medjury.judging._quotations import Source

# Turns texts into vectors of one length; a model of the user's own, in this process.
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]

_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+|\n+")
_MOST_SIGNS = 1_000  # a "sentence" without an end (a table, a dump) is cut
# How quickly a lower rank counts for less when two rankings are joined (Cormack, Clarke, Büttcher 2009).
_FUSION = 60
_K1, _B = 1.5, 0.75  # of BM25
# Words that are everywhere and find nothing.
_COMMON = frozenset(
    """a an the of to in on at by for from with and or as is are was were be been being it its this that these those
    he she his her him they their them patient pt has have had do does did will would should can may""".split()  # noqa: SIM905
)


def sentences(text: str) -> list[tuple[int, int]]:
    """The places of a text's sentences; lines count as sentences, for notes are often lists."""
    places = []
    start = 0
    for end, following in [
        *((found.start(), found.end()) for found in _END.finditer(text)),
        (len(text),) * 2,
    ]:
        while end - start > _MOST_SIGNS:
            space = text.rfind(" ", start + 1, start + _MOST_SIGNS)
            cut = space if space > start else start + _MOST_SIGNS
            places.append((start, cut))
            start = cut
        if text[start:end].strip():
            places.append((start, end))
        start = following
    return places


def passages(note: Source, *, size: int = 4, overlap: int = 1) -> list[Source]:
    """Windows of `size` sentences; each begins with the last `overlap` sentences of the one before."""
    found = sentences(note.text)
    made = []
    for first in range(0, len(found), size - overlap):
        window = found[first : first + size]
        start, end = window[0][0], window[-1][1]
        made.append(Source(note.id, note.text[start:end], start))
        if first + size >= len(found):
            break
    return made


class Index:
    """Passages that can be searched. `embed` adds a ranking by meaning to the ranking by words.

    BM25 (Robertson and Zaragoza 2009): the sum over the query's words of
    idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)), idf = ln(1 + (N - n + 0.5) / (n + 0.5)),
    which unlike the older idf is never negative.
    """

    def __init__(self, passages: Sequence[Source], embed: Embed | None = None) -> None:
        self.passages, self.embed = passages, embed
        self._counts = [Counter(_terms(each.text)) for each in passages]
        holding = Counter(term for each in self._counts for term in each)
        size = len(passages)
        self._idf = {term: math.log(1 + (size - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
        self._vectors = embed([each.text for each in passages]) if embed and passages else ()

    def scores(self, query: str) -> list[float]:
        """The BM25 score of every passage.

        >>> notes = [Source("n1", "bp 148/92"), Source("n2", "no chest pain")]
        >>> [round(score, 3) for score in Index(notes).scores("chest pain")]
        [0.0, 1.386]
        """
        wanted = _terms(query)
        lengths = [each.total() for each in self._counts]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        found = []
        for counts, length in zip(self._counts, lengths, strict=True):
            damping = _K1 * (1 - _B + _B * length / mean) if mean else 0.0
            found.append(
                math.fsum(
                    self._idf[term] * counts[term] * (_K1 + 1) / (counts[term] + damping)
                    for term in wanted
                    if term in counts
                )
            )
        return found

    def search(self, query: str, most: int) -> list[tuple[Source, float]]:
        """The best passages and how well they fit, by BM25 or, with embeddings, by both rankings joined; the best
        first, equals in the order of the record. By words alone, a passage that shares none with the query is no
        hit."""
        by_words = self.scores(query)
        if self.embed is None or not self.passages:
            order = _best(by_words, range(len(by_words)))
            return [(self.passages[place], by_words[place]) for place in order if by_words[place] > 0][:most]
        [wanted] = self.embed([query])
        by_meaning = [_cosine(wanted, vector) for vector in self._vectors]
        joined = [0.0] * len(self.passages)
        with_words = [
            place for place, score in enumerate(by_words) if score > 0
        ]  # no word in common, no rank
        for ranking, ranked in ((by_words, with_words), (by_meaning, range(len(by_meaning)))):
            for rank, place in enumerate(_best(ranking, ranked), start=1):
                joined[place] += 1 / (_FUSION + rank)
        order = _best(joined, range(len(joined)))
        return [(self.passages[place], joined[place]) for place in order[:most]]


def _best(scores: Sequence[float], places: Iterable[int]) -> list[int]:
    """The places by falling score, equals in their order."""
    return sorted(places, key=lambda place: (-scores[place], place))


def _terms(text: str) -> list[str]:
    """The words and numbers of a text that can find something, plural and singular alike."""
    return [
        _singular(token.text)
        for token in tokens(text)
        if token.kind in ("word", "number") and token.text not in _COMMON
    ]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    size = math.sqrt(math.fsum(a * a for a in one) * math.fsum(b * b for b in other))
    return product / size if size else 0.0

"""Which worked examples read most like a case: cosine of word vectors, rare words weighing more."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

_WORD = re.compile(r"\w+")
# The codes of marker lines are hashes; they say nothing about what a text is about.
_MARKER = re.compile(r"<<<(?:begin|end) [^\n]*>>>")


class WordIndex:
    """Texts by their words. A word's weight in a text is (1 + ln count) · ln((1 + texts) / (1 + texts with it)):
    a word that stands in every text weighs nothing. Likeness is the cosine of two texts' weights."""

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

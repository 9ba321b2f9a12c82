"""How alike two turns are, word by word: the one measure that the aligner, its repair and its output share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

from medjury.texts.transcripts._normalise import fillers, normalise

# Scripts that put no spaces between words (Han, kana, Thai, Lao, Burmese, Khmer) are compared sign by sign, a
# vowel or tone above or below with the sign that it belongs to; Latin words and numbers among them stay whole.
# So they are counted where speech recognition is (Radford et al. 2022, appendix C).
_SIGN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARK = (
    "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
_UNSPACED = re.compile(f"[{_SIGN}]")
_WORDS = re.compile(rf"[{_SIGN}][{_MARK}]*|[^\s{_SIGN}]+")
# Beyond this many words the order inside a turn is no longer looked at: only which words both sides share.
LONG = 2000


@cache
def _variants() -> dict[str, str]:
    text = resources.files("medjury.texts.transcripts").joinpath("variants.txt").read_text(encoding="utf-8")
    sets = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {word: words[0] for words in sets for word in words}


def split_words(text: str) -> list[str]:
    """The words of a text, by its script: between spaces, and sign by sign where a script puts none.

    >>> split_words("no aspirin"), split_words("HbA1c 是 7"), split_words("否认胸痛")
    (['no', 'aspirin'], ['HbA1c', '是', '7'], ['否', '认', '胸', '痛'])
    """
    return _WORDS.findall(text) if _UNSPACED.search(text) else text.split()


def comparable(text: str) -> tuple[str, ...]:
    """The words that are compared: normalised, without sounds of hesitation (unless nothing else was said), and
    one spelling for "OK" and "okay", "yeah" and "yes".

    >>> comparable("Um, OK. Yeah, 2 days.")
    ('okay', 'yes', 'two', 'days')
    """
    words = split_words(normalise(text))
    silent, variants = fillers(), _variants()
    spoken = [word for word in words if word not in silent] or words
    return tuple(variants.get(word, word) for word in spoken)


class Common:
    """How many words a growing text shares with a fixed one, in the same order (the longest common subsequence).

    Bit-parallel: one addition of long integers per word (Hyyrö H. Bit-parallel LCS-length computation revisited.
    AWOCA 2004). For a fixed text of more than `LONG` words the shared words are counted in any order.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._size = len(words)
        self._counts: Counter[str] | None = Counter(words) if len(words) > LONG else None
        self._places: dict[str, int] = {}
        if self._counts is None:
            for place, word in enumerate(words):
                self._places[word] = self._places.get(word, 0) | 1 << place
        self._full = (1 << self._size) - 1 if self._counts is None else 0
        self.restart()

    def restart(self) -> None:
        """Forget what was added."""
        self._state = self._full
        self._used: Counter[str] = Counter()
        self._shared = 0

    def holds_any(self, words: Iterable[str]) -> bool:
        known = self._places if self._counts is None else self._counts
        return any(word in known for word in words)

    def add(self, words: Iterable[str]) -> int:
        """Let the other text grow by these words; how many are shared so far."""
        if self._counts is not None:
            counts, used = self._counts, self._used
            for word in words:
                if word in counts and used[word] < counts[word]:
                    used[word] += 1
                    self._shared += 1
            return self._shared
        state, places = self._state, self._places
        for word in words:
            if word in places:
                same = state & places[word]
                state = ((state + same) | (state - same)) & self._full
        self._state = state
        return self._size - state.bit_count()


def shared_words(first: Sequence[str], second: Sequence[str]) -> int:
    """Words in common, in the same order."""
    if len(first) > len(second):
        first, second = second, first
    return Common(first).add(second)


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """2 × shared words / all words: 1 is the same text, 0 has nothing in common (1 − normalised insert/delete
    distance). Where no word is shared, short texts are compared letter by letter: "itchy" was heard as "itching".

    >>> similarity(("four", "days", "ago"), ("four", "days"))
    0.8
    """
    if not first and not second:
        return 1.0
    common = shared_words(first, second)
    if common:
        return 2 * common / (len(first) + len(second))
    return letter_similarity(first, second) if first and second else 0.0


# Two short turns without one word in common may still be one misheard word; half their letters must agree in order.
# Below that, any two short answers would be "alike". Longer turns without a common word are not the same turn.
SHORT, ALIKE = 6, 0.5


def letter_similarity(first: Sequence[str], second: Sequence[str]) -> float:
    if len(first) > SHORT or len(second) > SHORT:
        return 0.0
    one, other = "".join(first), "".join(second)
    found = 2 * Common(one).add(other) / (len(one) + len(other)) if one and other else 0.0
    return found if found >= ALIKE else 0.0

"""Porter's stemmer (Porter 1980), with the later amendments that NLTK's stemmer has by default.

A word is consonants and vowels in alternation, [C](VC)^m[V]; most rules cut an ending where the measure m of what
remains is large enough.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
# Endings and what they become, in the order in which they are tried.
SECOND = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"),
    ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
THIRD = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
FOURTH = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of an English word, in lower case.

    >>> stem("allergies"), stem("swollen"), stem("breathing")
    ('allergi', 'swollen', 'breath')
    """
    word = word.lower()
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _final_y, _second, _third, _fourth, _final_e, _double_l):
        word = step(word)
    return word


def _consonants(word: str) -> list[bool]:
    """Which letters are consonants; a y is one at the beginning and after a vowel."""
    kinds: list[bool] = []
    for place, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and place > 0 and kinds[-1])
        kinds.append(not vowel)
    return kinds


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    kinds = _consonants(word)
    return sum(not before and after for before, after in pairwise(kinds))


def _double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]


def _short(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x, y; or a word of one vowel and one consonant."""
    kinds = _consonants(word)
    if len(word) == 2:
        return kinds == [False, True]
    return kinds[-3:] == [True, False, True] and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    for ending, kept in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word[: -len(ending)] + kept
    return word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            if not all(_consonants(base)):
                break
    else:
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _double(base):
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _short(base) else base


def _final_y(word: str) -> str:
    base = word[:-1]
    return base + "i" if word.endswith("y") and len(base) > 1 and _consonants(base)[-1] else word


def _second(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _second(word[:-2])
    for ending, kept in SECOND:
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + kept if _measure(base) > 0 else word
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return word


def _third(word: str) -> str:
    for ending, kept in THIRD:
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + kept if _measure(base) > 0 else word
    return word


def _fourth(word: str) -> str:
    for ending in FOURTH:
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base if _measure(base) > 1 and (ending != "ion" or base[-1] in "st") else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    base = word[:-1]
    measure = _measure(base)
    return base if measure > 1 or (measure == 1 and not _short(base)) else word


def _double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word

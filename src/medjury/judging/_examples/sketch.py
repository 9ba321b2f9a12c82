"""Records that are nearly the same: a note copied forward with a new date is still the same patient's."""

from __future__ import annotations

import re
import zlib

_WORD = re.compile(r"\w+")
_RUN = 5  # words in a shingle
_KEPT = 128  # hashes in a sketch: the standard error of a likeness of 0.7 is 0.04
# One word in a dozen changed leaves about this much; records that share a template stay well below.
_NEARLY_THE_SAME = 0.7


def sketch_of(text: str) -> frozenset[int]:
    """The smallest hashes of the runs of five words in a text (a bottom-k sketch; Broder 1997)."""
    words = _WORD.findall(text.casefold())
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

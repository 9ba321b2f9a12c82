"""Does a reason say that grades were averaged? A decision must weigh arguments, not do sums with grades.

Only words about grades count: a mean arterial pressure or the average of three readings is medicine, and "I did
not average the grades" is the opposite of averaging. A rare false alarm costs one re-ask, with the reason told.
"""

from __future__ import annotations

import re

_GRADES = (
    r"(?:grades?|scores?|\w*scorers?|ratings?|votes?|agents?|raters?|judges?|opinions?|assessments?|views?|"
    r"positions?|evaluations?|perfectionist|multitasker|collaborator)\b"
)
_THEM = r"(?:two|three|four|five|both|them|all|these|those)\b(?=\s*(?:[.,;:)]|$|\b(?:gives?|is|and|so|to|would)\b))"
_NUMBERS = r"[0-9](?:\s*,\s*[0-9])*\s*,?\s*and\s+[0-9]\b"
_FEW = r"(?:[\w'’-]+\s+)"
_AVERAGING = re.compile(
    "|".join(
        (
            # the average of the grades, the median between these, the mean of 3, 4 and 5
            rf"\b(?:averag(?:e|es|ed|ing)|mean|median|mid-?point)\s+(?:of|between|across|over|among)\s+{_FEW}{{0,4}}?"
            rf"(?:{_GRADES}|{_THEM}|{_NUMBERS})",
            # averaging their scores, averaged them out
            rf"\baverag(?:e|ed|ing)\s+(?:out\s+)?{_FEW}{{0,3}}?(?:{_GRADES}|{_THEM}|{_NUMBERS})",
            r"\baverag(?:e|ed|ing)\s+(?:them|both|these)\s+out\b",
            # the mean grade, an average score of 3.7
            r"\b(?:mean|averaged?|median)\s+(?:grade|score|rating|vote)s?\b",
            # the grades average to 4, their scores average 3.7
            rf"{_GRADES}\s+{_FEW}{{0,2}}?averag(?:e|ed|es)\s+(?:out|to|at|around|about|[0-9])",
            rf"\bon\s+average\b[^.;]{{0,60}}?{_GRADES}",
            rf"{_GRADES}[^.;]{{0,40}}?\bon\s+average\b",
            r"\bsplit(?:s|ting)?\s+the\s+difference\b",
            r"\bmeet(?:s|ing)?\s+(?:them\s+)?in\s+the\s+middle\b",
            # (3 + 4 + 4) / 3
            r"[0-9]\s*(?:\+\s*[0-9]\s*)+\)?\s*(?:/|÷|divided\s+by)\s*[0-9]",
        )
    ),
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|nor|never|without|neither|cannot|rather\s+than|instead\s+of|avoid\w*|refus\w*|declin\w*|"
    r"\w+n['’]t)\s+(?:[\w'’-]+\s+){0,4}$",
    re.IGNORECASE,
)


def averages(reason: str) -> bool:
    """Whether the reason says that grades were averaged.

    >>> averages("I take the mean of the three grades."), averages("I did not average the grades.")
    (True, False)
    """
    for found in _AVERAGING.finditer(reason):
        before = re.split(r"[.;:!?\n]", reason[max(0, found.start() - 120) : found.start()])[-1]
        if not _NEGATION.search(before):
            return True
    return False

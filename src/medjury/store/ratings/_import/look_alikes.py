"""Rater names that are probably one person spelled two ways. We warn and suggest; we never merge."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
_TITLES = frozenset({"dr", "doctor", "prof", "professor", "mr", "mrs", "ms", "miss", "md", "phd", "mbbs"})


@dataclass(slots=True)
class RaterSeen:
    """A rater by the name that may be shown (a pseudonym, perhaps), and where the name stands first."""

    shown: str
    first: str
    ratings: int = 0


def look_alikes(raters: Mapping[str, RaterSeen]) -> list[str]:
    """A warning for each set of names alike but for case, signs, titles and order. It points at rows, and shows
    a name only where names are kept.

    >>> seen = RaterSeen("clinician-3f9a2c41", "file.csv, row 2", 40)
    >>> look_alikes({"Dr Smith": seen, "Dr Jones": seen})
    []
    >>> len(look_alikes({"Dr Smith": seen, "smith, DR.": seen}))
    1
    """
    alike: dict[tuple[str, ...], list[RaterSeen]] = defaultdict(list)
    for name, seen in raters.items():
        words = _WORD.findall(unicodedata.normalize("NFKC", name).casefold())
        alike[tuple(sorted(set(words) - _TITLES)) or tuple(words)].append(seen)
    return [
        f"raters {' and '.join(f'{each.shown!r} ({each.ratings:,} x, first in {each.first})' for each in group)} "
        "look like one person spelled two ways; correct the file if they are"
        for group in alike.values()
        if len(group) > 1
    ]

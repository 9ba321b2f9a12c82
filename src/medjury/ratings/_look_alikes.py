"""Rater names that are probably one person spelled two ways. We warn and suggest; we never merge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

_WORD = re.compile(r"\w+")
_TITLES = frozenset({"dr", "doctor", "prof", "professor", "mr", "mrs", "ms", "miss", "md", "phd", "mbbs"})


def look_alikes(raters: Mapping[str, int]) -> list[str]:
    """A warning for each set of names alike but for case, signs, titles and order. `raters` counts ratings.

    >>> look_alikes({"Dr Smith": 40, "dr. smith": 2})
    ["raters 'Dr Smith' (40 ratings) and 'dr. smith' (2) look like one person; correct the file if they are"]
    """
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(raters, key=lambda name: (-raters[name], name)):
        words = _WORD.findall(name.casefold())
        alike[tuple(sorted(set(words) - _TITLES)) or tuple(words)].append(name)
    warnings = []
    for names in alike.values():
        if len(names) > 1:
            listed = [f"{name!r} ({raters[name]:,})" for name in names]
            listed[0] = f"{names[0]!r} ({raters[names[0]]:,} ratings)"
            warnings.append(
                f"raters {' and '.join(listed)} look like one person; correct the file if they are"
            )
    return warnings

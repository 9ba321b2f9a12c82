"""Units of laboratory values and doses: what one must be multiplied by to become another of the same kind."""

from __future__ import annotations

import re

# Size in a base of each kind. Kinds that share no base are never turned into one another.
_SIZES = {
    "kg": ("mass", 1e3), "g": ("mass", 1.0), "mg": ("mass", 1e-3), "mcg": ("mass", 1e-6), "ug": ("mass", 1e-6),
    "ng": ("mass", 1e-9), "lb": ("mass", 453.59237), "lbs": ("mass", 453.59237), "l": ("volume", 1.0),
    "dl": ("volume", 0.1), "ml": ("volume", 1e-3), "ul": ("volume", 1e-6), "m": ("length", 1.0),
    "cm": ("length", 1e-2), "mm": ("length", 1e-3), "in": ("length", 0.0254), "inch": ("length", 0.0254),
    "inches": ("length", 0.0254), "mol": ("amount", 1.0), "mmol": ("amount", 1e-3), "umol": ("amount", 1e-6),
    "eq": ("charge", 1.0), "meq": ("charge", 1e-3), "s": ("time", 1.0), "sec": ("time", 1.0), "ms": ("time", 1e-3),
    "msec": ("time", 1e-3), "min": ("time", 60.0), "h": ("time", 3600.0), "hr": ("time", 3600.0),
    "hour": ("time", 3600.0), "day": ("time", 86400.0), "days": ("time", 86400.0), "week": ("time", 604800.0),
    "weeks": ("time", 604800.0),
}  # fmt: skip
_UNIT = re.compile(r"[\s*_(]*([a-zµμ]+(?:\s*/\s*[a-zµμ]+){0,2})(?!\w)", re.IGNORECASE)


def factor_between(words: str, wanted: str) -> float | None:
    """What a number before these words is multiplied by to be in the wanted unit; none where that is not known."""
    said, asked = _size(words), _size(wanted)
    if said is None or asked is None or said[0] != asked[0]:
        return None
    return said[1] / asked[1]


def _size(words: str) -> tuple[tuple[str, ...], float] | None:
    found = _UNIT.match(words)
    if found is None:
        return None
    parts = re.sub(r"\s", "", found.group(1).lower()).replace("µ", "u").replace("μ", "u").split("/")
    if any(part not in _SIZES for part in parts):
        return None
    size = _SIZES[parts[0]][1]
    for part in parts[1:]:
        size /= _SIZES[part][1]
    return tuple(_SIZES[part][0] for part in parts), size

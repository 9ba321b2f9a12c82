"""Times as they are written in transcripts, as seconds."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9}))?")
_SECONDS = re.compile(r"(-?\d+(?:\.\d+)?)s?")


def seconds(value: object) -> float | None:
    """12, "12.5", "12.5s", "00:12.5", "01:02:03,400" or "2025-10-02T12:37:46Z" in seconds; ValueError for others.

    >>> seconds("01:02:03,400")
    3723.4
    """
    if value is None or value == "":
        return None
    if isinstance(value, dict):  # {"seconds": "3", "nanos": 500000000}
        return float(value.get("seconds") or 0) + float(value.get("nanos") or 0) / 1e9
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ValueError("not a time")
        return float(value)
    if not isinstance(value, str):
        raise ValueError("not a time")
    text = value.strip()
    if found := _SECONDS.fullmatch(text):
        return float(found[1])
    if found := _CLOCK.fullmatch(text):
        hours, minutes, whole, fraction = found.groups()
        return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{whole}.{fraction or 0}")
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

"""When a note or a value is from: the written date as a moment that can be compared."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_PARTIAL = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")


def moment_of(written: str | None) -> datetime | None:
    """The moment that a date names, or None where it is absent or cannot be read for sure.

    ISO dates and times, and year, month and day with - or /, in that order. A missing month, day or hour is the
    first one; a time without a zone is taken as UTC. 03/04/2025 is not read: it is two days, by country.

    >>> moment_of("2025-03-04").isoformat()
    '2025-03-04T00:00:00+00:00'
    >>> moment_of("03/04/2025") is None
    True
    """
    text = (written or "").strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        found = _PARTIAL.fullmatch(text)
        if found is None:
            return None
        try:
            moment = datetime(int(found[1]), int(found[2] or 1), int(found[3] or 1))
        except ValueError:
            return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None

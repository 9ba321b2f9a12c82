"""When a note or a value is from: the written date as a moment, or a period, that can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_PARTIAL = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Period:
    """From `first` until before `end`, which are the same where a time was written; no zone where none was."""

    first: datetime
    end: datetime

    def surely_by(self, other: Period) -> bool:
        """Whether nothing of this is later than the other, for certain: by its end, or on the very same day where
        neither has a time. Where only one has a zone, the other is taken to be of that zone."""
        first, end = _alike(self.first, other.first), _alike(self.end, other.first)
        begin = _alike(other.first, self.first)
        same_day = other.end - other.first == self.end - self.first == _DAY and first == begin
        return end <= begin or same_day


def period_of(written: str | None) -> Period | None:
    """The time that a date names, as exactly as it says; None where it is absent or cannot be read for sure.

    >>> period_of("2025-03").end.isoformat()
    '2025-04-01T00:00:00'
    """
    text = (written or "").strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _partial(text)
    try:
        if ":" in text or "T" in text or " " in text:
            return Period(moment, moment)
        week = "W" in text and len(text.replace("-", "")) == len("2025W10")
        return Period(moment, moment + (_WEEK if week else _DAY))
    except OverflowError:
        return None


def _partial(text: str) -> Period | None:
    """A year, a year and a month, or a day written with slashes or single digits."""
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return None
    year, month, day = (None if each is None else int(each) for each in found.groups())
    assert year is not None
    try:
        first = datetime(year, month or 1, day or 1)
        if day is not None:
            return Period(first, first + _DAY)
        if month is not None and month < 12:
            return Period(first, datetime(year, month + 1, 1))
        return Period(first, datetime(year + 1, 1, 1))
    except (ValueError, OverflowError):
        return None


def moment_of(written: str | None) -> datetime | None:
    """The moment that a date names, or None where it is absent or cannot be read for sure.

    ISO dates and times, and year, month and day with - or /, in that order. A missing month, day or hour is the
    first one; a time without a zone is taken as UTC. 03/04/2025 is not read: it is two days, by country.

    >>> moment_of("2025-03-04").isoformat()
    '2025-03-04T00:00:00+00:00'
    >>> moment_of("03/04/2025") is None
    True
    """
    period = period_of(written)
    if period is None:
        return None
    moment = period.first
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None


def _alike(moment: datetime, other: datetime) -> datetime:
    """The moment with the other's zone, where it has none itself and the other has one."""
    return moment.replace(tzinfo=other.tzinfo) if moment.tzinfo is None else moment

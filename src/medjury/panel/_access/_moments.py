"""Moments as the database keeps them: UTC, of one length, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime


def stored(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def read(text: str) -> datetime:
    return datetime.fromisoformat(text)

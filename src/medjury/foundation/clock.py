"""The time as ratings, stores and logs hold it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache


def utc_now() -> str:
    """This moment in UTC, to the millisecond: `2026-01-31T08:15:30.123+00:00`."""
    second, part = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(second)}.{part // 1_000_000:03d}+00:00"


@lru_cache(maxsize=4)
def _second(second: int) -> str:
    """A second of the clock, written out once: hundreds of ratings fall into it."""
    return datetime.fromtimestamp(second, UTC).isoformat()[:19]

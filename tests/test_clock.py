"""Moments are written as datetime writes them."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.foundation.clock import utc_now

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1))


@given(MOMENTS)
def test_a_moment_is_written_as_datetime_writes_it(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC)
    nanoseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: nanoseconds + 999)
        assert utc_now() == moment.isoformat(timespec="milliseconds")


def test_it_is_now() -> None:
    before = datetime.now(UTC)
    told = datetime.fromisoformat(utc_now())
    assert before - timedelta(milliseconds=1) <= told <= datetime.now(UTC)

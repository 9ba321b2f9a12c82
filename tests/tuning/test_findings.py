"""What a tuning may claim of a prompt that does worse on cases it has not seen."""

from __future__ import annotations

import pytest

from medjury.statistics import Estimate
from medjury.tuning._held_out import PLAIN, TUNED, HeldOut, HeldOutRow
from medjury.tuning._result import _memorised


@pytest.mark.parametrize(
    ("high", "heart", "not_known"), [(0.6, True, False), (0.95, False, False), (None, False, True)]
)
def test_only_an_interval_below_the_training_cases_shows_learning_by_heart(
    high: float | None, heart: bool, not_known: bool
) -> None:
    low = None if high is None else 0.4
    worth = Estimate(0.5, low, high, 12, method="no interval: 5 clusters are too few")
    rows = tuple(HeldOutRow(who, "", "objective", worth) for who in (PLAIN, TUNED))
    (line,) = _memorised(HeldOut(rows, worth, 12, 5, fits={TUNED: 0.9}))
    assert ("by heart" in line, "is not known" in line) == (heart, not_known)

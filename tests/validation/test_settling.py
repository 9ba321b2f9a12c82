"""An interval that may be looked at after every rating, and how many more ratings settle a question."""

from __future__ import annotations

import numpy as np

from medjury.statistics import Estimate
from medjury.validation._settling import look


def test_looking_after_every_rating_keeps_its_promise_where_plain_intervals_do_not() -> None:
    generator = np.random.default_rng(0)
    studies, most = 600, 300
    scores = generator.normal(size=(studies, most))
    wrong = {"every look": 0, "plain": 0}
    for study in scores:
        seen = {"every look": False, "plain": False}
        for n in range(30, most + 1, 10):
            part = study[:n]
            half = 1.96 * part.std(ddof=1) / np.sqrt(n)
            own = look(Estimate(part.mean(), part.mean() - half, part.mean() + half, n, ""), 0.0, planned=150)
            assert own is not None
            seen["every look"] |= own[2] != "open"
            seen["plain"] |= abs(part.mean()) > half
        for name, failed in seen.items():
            wrong[name] += failed
    assert wrong["every look"] / studies <= 0.05
    assert wrong["plain"] / studies > 0.15


def test_more_ratings_are_counted_to_where_the_interval_is_clear_of_its_limit() -> None:
    now = Estimate(0.60, 0.42, 0.78, 100, "")
    seen = look(now, 0.4, planned=200)
    assert seen is not None
    *_, side, more = seen
    assert side == "open" and more is not None and more > 0
    half = 0.18 * np.sqrt(100 / (100 + more))
    later = look(Estimate(0.60, 0.60 - half, 0.60 + half, 100 + more, ""), 0.4, planned=200)
    assert later is not None and later[2:] == ("above", 0)
    on_it = look(Estimate(0.4, 0.3, 0.5, 100, ""), 0.4, planned=200)
    assert on_it is not None and on_it[3] is None

"""From how many labelled cases on a tuned judge is better, in words."""

from __future__ import annotations

import pytest

from medjury.report._sections.strategies import _curve


@pytest.mark.parametrize(
    ("lows", "word"),
    [
        ((-0.1, 0.02, 0.03), "it beat the plain prompt from 100 labelled cases on."),
        ((0.02, -0.1, 0.03), "it beat the plain prompt from 200 labelled cases on."),
        ((0.02, 0.03, -0.1), "it beat the plain prompt with fewer labelled cases, and not with the most."),
        ((-0.1, -0.1, -0.1), "it was not shown to beat the plain prompt."),
    ],
)
def test_from_a_number_on_is_at_every_larger_number_too(lows: tuple[float, ...], word: str) -> None:
    points = [
        {"labels": labels, "gain": 0.1, "gain_low": low, "gain_high": 0.3}
        for labels, low in zip((50, 100, 200), lows, strict=True)
    ]
    (line,) = _curve("judge", {"curve": points})
    assert line.endswith(word)

"""Intervals and tests that hold whenever one looks: against another implementation, and what they promise."""

from __future__ import annotations

import json

import numpy as np
import pytest

from medjury.statistics import ConfidenceSequence, EProcess

GRADES = [0.25, 0.75, 1.0, 0.5, 0.0, 1.0, 0.75, 0.75, 0.25, 1.0]
# `truescore` 0.7.4, `confidence_sequence(GRADES * k, alpha=0.05)`: k, low, high.
TRUESCORE: list[tuple[int, float, float]] = [
    (1, 0.0, 1.0),
    (5, 0.429135325015, 0.816040311583),
    (30, 0.55432986111, 0.692875687818),
    (200, 0.594346356355, 0.654429599849),
]
# The same of GRADES * 6 − 3, with bounds=(-3, 3) and alpha=0.01, k = 20.
TRUESCORE_SCALED: tuple[float, float] = (0.133258711080, 1.351010537291)


@pytest.mark.parametrize(("times", "low", "high"), TRUESCORE)
def test_intervals_are_those_of_truescore(times: int, low: float, high: float) -> None:
    sequence = ConfidenceSequence(alpha=0.05)
    for value in GRADES * times:
        sequence.update(value)
    assert sequence.interval == pytest.approx((low, high), abs=1e-9)


def test_on_another_scale_too() -> None:
    sequence = ConfidenceSequence(alpha=0.01, low=-3, high=3)
    for value in GRADES * 20:
        sequence.update(6 * value - 3)
    assert sequence.interval == pytest.approx(TRUESCORE_SCALED, abs=1e-9)
    assert sequence.mean == pytest.approx(6 * np.mean(GRADES) - 3)


def test_a_value_beyond_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.5 does not lie between 0 and 1"):
        ConfidenceSequence().update(1.5)


def by_the_definition(values: list[float], limit: float) -> float:
    """The evidence that the mean lies below the limit, written out: every gambler by himself."""
    total, started = 0.0, 0
    starts = [*range(0, 110, 10), 110, 121, 133, 146, 160, 176, 193, 212, 233, 256, 281, 309, 339, 372]
    for start in (each for each in starts if each < len(values)):
        started += 1
        for bet in (0.1, 0.3, 0.6, 0.95):
            wealth = 1.0
            for value in values[start:]:
                wealth *= 1 + bet / (1 - limit) * (limit - value)
            total += wealth / 4 * 20 / ((started + 19) * (started + 20))
    return total + 20 / (started + 20)


def test_evidence_is_the_wealth_of_all_gamblers() -> None:
    values = np.random.default_rng(1).binomial(4, 0.5, 350) / 4
    process = EProcess(0.55, "below")
    for value in values:
        process.update(value)
    assert process.evidence[0] == pytest.approx(by_the_definition(values.tolist(), 0.55))


def test_below_and_above_are_mirror_images() -> None:
    values = np.random.default_rng(2).random(250)
    below, above = EProcess(0.4, "below"), EProcess(0.6, "above")
    for value in values:
        assert below.update(value) == pytest.approx(above.update(1 - value))


def test_a_process_goes_on_from_its_stored_state_exactly() -> None:
    values = np.random.default_rng(3).random(320)
    whole, part = EProcess(0.55, "below"), EProcess(0.55, "below")
    for place, value in enumerate(values):
        if place % 60 == 59:
            part = EProcess.from_state(json.loads(json.dumps(part.state())))
        assert part.update(value)[0] == whole.update(value)[0]


def test_evidence_against_a_true_mean_stays_low_and_against_a_drop_grows() -> None:
    generator = np.random.default_rng(4)
    process, highest = EProcess(0.5, "below", streams=50), np.zeros(50)
    for _ in range(1000):
        highest = np.maximum(highest, process.update(generator.binomial(1, 0.5, 50)))
    assert (highest >= 20).mean() <= 0.05
    for _ in range(400):
        highest = np.maximum(highest, process.update(generator.binomial(1, 0.25, 50)))
    assert (highest >= 20).all()


def test_a_limit_at_the_end_of_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        EProcess(1.0, "below")

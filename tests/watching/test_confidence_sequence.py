"""Intervals and tests that hold whenever you look: against the definition, and what they promise."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from medjury.in_use.watching._confidence_sequence import ConfidenceSequence
from medjury.in_use.watching._e_process import EProcess

GRADES = [0.25, 0.75, 1.0, 0.5, 0.0, 1.0, 0.75, 0.75, 0.25, 1.0]


def reach_by_the_definition(values: list[float], alpha: float) -> float:
    """How far the sum of values between 0 and 1 may be from its mean, written out and solved by scipy."""
    guesses = [(0.5 + sum(values[:place])) / (place + 1) for place in range(len(values))]
    squares = sum((value - guess) ** 2 for value, guess in zip(values, guesses, strict=True))

    def wealth(reach: float) -> float:
        total = 0.0
        for place in range(14):
            bet = 0.9 / 2**place
            total += math.exp(bet * reach - (-math.log(1 - bet) - bet) * squares) / (
                (place + 1) * (place + 2)
            )
        return total - 2 / alpha

    return float(brentq(wealth, 0, 400, xtol=1e-11))


@pytest.mark.parametrize("times", [1, 5, 30])
def test_an_interval_is_where_the_mixture_of_bets_stays_below_its_bound(times: int) -> None:
    sequence = ConfidenceSequence(alpha=0.05)
    for value in GRADES * times:
        sequence.update(value)
    reach = reach_by_the_definition(GRADES * times, 0.9 * 0.05) / (10 * times)
    assert sequence.interval == pytest.approx((max(0, 0.625 - reach), min(1, 0.625 + reach)), abs=1e-9)
    assert (sequence.n, sequence.mean) == (10 * times, 0.625)


def test_on_another_scale_too() -> None:
    sequence = ConfidenceSequence(alpha=0.01, low=-3, high=3)
    for value in GRADES * 20:
        sequence.update(6 * value - 3)
    reach = 6 * reach_by_the_definition(GRADES * 20, 0.9 * 0.01) / 200
    assert sequence.interval == pytest.approx((0.75 - reach, 0.75 + reach), abs=1e-9)
    assert sequence.mean == pytest.approx(6 * np.mean(GRADES) - 3)
    assert ConfidenceSequence(low=-3, high=3).interval == (-3, 3)


def test_first_second_and_third_values_of_a_source_are_summed_up_apart() -> None:
    sequence, sums = ConfidenceSequence(alpha=0.05), []
    for earlier in range(3):
        values = GRADES * (20 - 5 * earlier)
        for value in values:
            sequence.update(value, earlier)
        share = (0.9, 0.1 / 2, 0.1 / 6)[earlier]
        sums.append(reach_by_the_definition(values, 0.05 * share))
    assert sequence.interval == pytest.approx((0.625 - sum(sums) / 450, 0.625 + sum(sums) / 450), abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3)), min_size=1, max_size=60),
    st.sampled_from([0.001, 0.05, 0.4]),
)
def test_an_interval_holds_its_own_mean(values: list[tuple[float, int]], alpha: float) -> None:
    sequence = ConfidenceSequence(alpha=alpha, low=-1, high=4)
    for value, earlier in values:
        sequence.update(5 * value - 1, earlier)
        low, high = sequence.interval
        assert sequence.mean is not None and -1 <= low <= sequence.mean + 1e-12
        assert sequence.mean - 1e-12 <= high <= 4


def test_an_interval_holds_a_mean_that_moves() -> None:
    """Of the plain mean of the means so far, at every 25th look, in all of 60 streams but 3 at most."""
    generator, missed = np.random.default_rng(8), 0
    means = np.repeat([0.9, 0.3, 0.6], 400)
    for _ in range(60):
        sequence, off = ConfidenceSequence(alpha=0.05), False
        for place, value in enumerate(generator.binomial(1, means)):
            sequence.update(float(value))
            if place % 25 == 24:
                low, high = sequence.interval
                off |= not low <= means[: place + 1].mean() <= high
        missed += off
    assert missed <= 3


def test_patients_who_come_back_do_not_narrow_the_interval_for_free() -> None:
    """Forty patients with a mean of their own come ten times each: the interval still holds the mean of all."""
    generator, missed, narrow = np.random.default_rng(9), [0, 0], 0.0
    for _ in range(60):
        own = generator.binomial(1, 0.5, 40).astype(float)
        told, silent = ConfidenceSequence(alpha=0.05), ConfidenceSequence(alpha=0.05)
        for earlier in range(10):
            for value in own:
                told.update(value, earlier)
                silent.update(value)
        for place, sequence in enumerate((told, silent)):
            low, high = sequence.interval
            missed[place] += not low <= 0.5 <= high
        narrow = max(narrow, told.interval[1] - told.interval[0])
    assert missed[0] == 0 and missed[1] >= 5 and narrow < 1


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


def test_a_gambler_bets_once_on_each_source_and_the_next_generation_again() -> None:
    """Sixty sources, each 0.5 below the limit or above it, come six times: written out generation by generation."""
    generator = np.random.default_rng(5)
    own = generator.choice([0.05, 1.0], 60, p=[0.7, 0.3])
    process, known = EProcess(0.55, "below"), dict.fromkeys(range(60), 0)
    taken: dict[int, list[float]] = {}
    for _ in range(6):
        for source in range(60):
            process.update(own[source], known[source])
            for generation in range(known[source] + 1, process.generation + 1):
                taken.setdefault(generation, []).append(own[source])
            known[source] = process.generation
    assert {name: len(values) for name, values in taken.items()} == {1: 60, 2: 60, 3: 40}
    started, stakes = 0, []
    steps = ([*range(0, 60, 10)], [*range(0, 60, 10)], [0, 12, 25, 39])
    for values, starts in zip(taken.values(), steps, strict=True):
        total = 0.0
        for start in starts:
            started += 1
            for bet in (0.1, 0.3, 0.6, 0.95):
                wealth = np.prod([1 + bet / 0.45 * (0.55 - value) for value in values[start:]])
                total += wealth / 4 * 20 / ((started + 19) * (started + 20))
        stakes.append(total)
    stakes[-1] += 20 / (started + 20)
    assert process.evidence[0] == pytest.approx(max(stakes)) and max(stakes) == stakes[0] > 2


@pytest.mark.parametrize(
    ("length", "correlation"),
    [
        (3, 0.63),
        *(pytest.param(*each, marks=pytest.mark.simulation) for each in ((3, 0.5), (5, 0.5), (5, 0.63))),
    ],
)
def test_runs_of_one_source_are_one_value_each(length: int, correlation: float) -> None:
    """At the limit: single values of a patient alarm in many streams, the means of patients in 5 % at most."""
    generator = np.random.default_rng([7, length])
    patients = generator.binomial(1, 0.5, (600, 1, 60))
    own = generator.binomial(1, 0.5, (600, length, 60))
    values = np.where(generator.random(own.shape) < correlation**0.5, patients, own)
    highest = []
    for given_values in (values.mean(axis=1), values.reshape(-1, 60)):
        process, most = EProcess(0.5, "below", streams=60), np.zeros(60)
        for each in given_values:
            most = np.maximum(most, process.update(each))
        highest.append((most >= 20).mean())
    assert highest[0] <= 0.05 and highest[1] >= 0.25


def test_what_comes_back_raises_no_false_alarm_and_a_drop_is_found_all_the_same() -> None:
    """Two hundred sources with a mean of their own, at the limit together, come fifteen times each."""
    generator = np.random.default_rng(6)
    own = generator.binomial(1, 0.5, (200, 60)).astype(float)
    once, always, highest = (
        EProcess(0.5, "below", streams=60),
        EProcess(0.5, "below", streams=60),
        np.zeros((2, 60)),
    )
    known = dict.fromkeys(range(200), 0)
    for source in generator.integers(0, 200, 3000).tolist():
        evidence = once.update(own[source], known[source]), always.update(own[source])
        known[source] = once.generation
        highest = np.maximum(highest, evidence)
    false = (highest >= 20).mean(axis=1)
    assert false[0] <= 0.05 and false[1] >= 0.3
    assert once.generation >= 5
    for source in generator.integers(0, 200, 1500).tolist():
        highest[0] = np.maximum(highest[0], once.update(own[source] * 0.5, known[source]))
        known[source] = once.generation
    assert (highest[0] >= 20).mean() >= 0.9


def test_a_limit_at_the_end_of_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        EProcess(1.0, "below")

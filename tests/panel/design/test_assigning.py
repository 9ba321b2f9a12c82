"""Who rates which case: even loads, even meetings, and nobody twice on one case."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from medjury.foundation.errors import MedjuryError
from medjury.panel._design._assignments import balanced, everyone, overlapping, paired


def loads(design: list[tuple[int, ...]], raters: int) -> list[int]:
    found = Counter(rater for case in design for rater in case)
    return [found[rater] for rater in range(raters)]


def meetings(design: list[tuple[int, ...]], raters: int) -> list[int]:
    found = Counter(pair for case in design for pair in combinations(case, 2))
    return [found[pair] for pair in combinations(range(raters), 2)]


@given(some.integers(0, 80), some.integers(1, 9), some.data())
@settings(max_examples=80)
def test_loads_differ_by_one_at_most_and_pairs_meet_evenly(
    cases: int, raters: int, data: some.DataObject
) -> None:
    per_case = data.draw(some.integers(1, raters))
    design = balanced(cases, raters, per_case, data.draw(some.integers(0, 5)))
    assert len(design) == cases
    assert all(len(set(case)) == per_case for case in design)
    counted = loads(design, raters)
    assert max(counted) - min(counted) <= 1
    if per_case > 1 and raters > 1:
        met = meetings(design, raters)
        # Two cases with three of four raters each: those who are left out once meet less, whatever is done.
        assert max(met) - min(met) <= (1 if per_case == 2 else 3)


@pytest.mark.parametrize(("cases", "raters"), [(6, 4), (12, 4), (10, 5), (15, 6), (30, 6), (28, 8)])
def test_whole_rounds_of_pairs_are_as_even_as_they_can_be(cases: int, raters: int) -> None:
    met = meetings(balanced(cases, raters, 2, seed=1), raters)
    assert max(met) - min(met) <= 1


@pytest.mark.parametrize("seed", range(12))
def test_nine_raters_by_threes_all_meet_once(seed: int) -> None:
    """Twelve cases are just enough; whoever exchanges only where that gains at once gets stuck before."""
    assert set(meetings(balanced(12, 9, 3, seed), 9)) == {1}


def test_the_same_seed_gives_the_same_design_and_another_seed_another() -> None:
    assert balanced(30, 6, 2, 1) == balanced(30, 6, 2, 1) != balanced(30, 6, 2, 2)


def test_more_raters_per_case_than_raters_is_refused() -> None:
    with pytest.raises(MedjuryError, match="there are 2"):
        balanced(5, 2, 3)


@given(some.lists(some.booleans(), max_size=80), some.integers(1, 9))
def test_an_overlap_is_rated_by_all_and_the_rest_once(common: list[bool], raters: int) -> None:
    design = overlapping(common, raters)
    assert [len(case) for case in design] == [raters if each else 1 for each in common]
    counted = loads(design, raters)
    assert max(counted) - min(counted) <= 1


def test_pairs_are_fixed_and_the_one_without_a_partner_waits() -> None:
    design = paired(10, 5)
    assert set(design) == {(0, 1), (2, 3)}
    assert loads(design, 5) == [5, 5, 5, 5, 0]
    assert paired(3, 1) == [(), (), ()]


def test_everyone_rates_every_case() -> None:
    assert everyone(2, 3) == [(0, 1, 2), (0, 1, 2)]

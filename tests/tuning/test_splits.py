"""Splits: alike in labels, nothing that belongs together on two sides, the same from the same seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tuning.labelled import case

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.tuning._labelled_cases import Labelled, Split, split_cases

IMPACT = load_instrument("transcript_impact").dimensions


def cases(labels: list[int], groups: list[int]) -> list[Labelled]:
    return [
        case(number, float(label), f"patient p{group}", patient=f"p{group}")
        for number, (label, group) in enumerate(zip(labels, groups, strict=True))
    ]


def sizes(split: Split) -> tuple[int, ...]:
    return len(split.training), len(split.validation), len(split.held_out)


def test_the_papers_numbers_come_out_exactly() -> None:
    labels = [0] * 190 + [1] * 45 + [2] * 63
    split = split_cases(cases(labels, list(range(298))), IMPACT, sizes=(218, 30, 50), group="none")
    assert sizes(split) == (218, 30, 50)
    for side, share in (
        (split.training, 218 / 298),
        (split.validation, 30 / 298),
        (split.held_out, 50 / 298),
    ):
        counts = Counter(each.grade(IMPACT[0]) for each in side)
        for label, total in ((0, 190), (1, 45), (2, 63)):
            assert abs(counts[label] - total * share) <= 1, "each class has its share on each side"


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 15)), min_size=30, max_size=80), st.integers(0, 5)
)
def test_no_patient_is_on_two_sides_and_nobody_is_lost(rows: list[tuple[int, int]], seed: int) -> None:
    made = cases([label for label, _ in rows], [group for _, group in rows])
    if len({each.group for each in made}) < 6:
        return
    try:
        split = split_cases(made, IMPACT, seed=seed)
    except MedjuryError as error:
        assert "cannot be split in three" in str(error)
        return
    sides = [{each.group for each in side} for side in (split.training, split.validation, split.held_out)]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
    assert sum(sizes(split)) == len(made) and not split.kin()
    assert split_cases(made, IMPACT, seed=seed).hash() == split.hash()


def test_another_seed_or_another_label_is_another_split() -> None:
    made = cases([n % 3 for n in range(60)], list(range(60)))
    first = split_cases(made, IMPACT, seed=1).hash()
    assert split_cases(made, IMPACT, seed=2).hash() != first
    assert (
        split_cases(cases([(n + (n == 0)) % 3 for n in range(60)], list(range(60))), IMPACT, seed=1).hash()
        != first
    )


def test_kin_on_two_sides_are_counted_where_nothing_is_kept_together() -> None:
    made = cases([n % 3 for n in range(60)], [n // 2 for n in range(60)])
    loose = [Labelled(each.case, each.truth, each.reasons, each.case.id, each.marks) for each in made]
    split = split_cases(loose, IMPACT, group="none")
    assert split.kin() and split.described(IMPACT).kin == len(split.kin())


def test_what_an_earlier_tuning_saw_trains() -> None:
    made = cases([n % 3 for n in range(60)], [n // 2 for n in range(60)])
    before = frozenset().union(*(each.marks for each in made[:10]))
    for seed in range(5):
        split = split_cases(made, IMPACT, seed=seed, seen_before=before)
        assert {each.key for each in made[:10]} <= {each.key for each in split.training}


def test_a_patient_of_whom_an_earlier_tuning_saw_one_case_trains_whole() -> None:
    made = cases([n % 3 for n in range(60)], [n // 2 for n in range(60)])
    before = frozenset().union(*(each.marks for each in made[0:20:2]))
    for seed in range(5):
        split = split_cases(made, IMPACT, seed=seed, seen_before=before)
        assert {each.key for each in made[:20]} <= {each.key for each in split.training}


@pytest.mark.parametrize("wanted", [(1, 0, 1), (0, 1, 1), (1, 1)])
def test_a_missing_validation_set_is_an_error(wanted: tuple[float, ...]) -> None:
    with pytest.raises(MedjuryError, match="without cases for validation"):
        split_cases(cases([0, 1, 2] * 5, list(range(15))), IMPACT, sizes=wanted)


def test_too_few_groups_are_refused() -> None:
    with pytest.raises(MedjuryError, match="cannot be split in three"):
        split_cases(cases([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1]), IMPACT)


def test_a_study_that_names_development_cases_learns_from_those_and_is_tested_on_the_others() -> None:
    made = cases([n % 3 for n in range(60)], [n // 2 for n in range(60)])
    named = {each.case.id for each in made[:21]}  # of the last patient one case of two
    split = split_cases(made, IMPACT, sizes=(3, 1, 1), development=named)
    assert {each.case.id for each in split.seen} == named
    assert abs(sizes(split)[0] - 16) <= 1
    assert [each.case.id for each in split.held_out] == [each.case.id for each in made[22:]]
    assert not split.kin()
    with pytest.raises(MedjuryError, match="0 of 60 labelled cases are development cases"):
        split_cases(made, IMPACT, development={"another"})
    with pytest.raises(MedjuryError, match="leaves 0 to hold out"):
        split_cases(made, IMPACT, development={each.case.id for each in made})

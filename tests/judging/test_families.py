"""Families are dealt out whole, in an order that the seed alone decides."""

from __future__ import annotations

from collections import Counter

import pytest

from medjury.judging import Family, Joined, chance, deal_families

FAMILIES = [Family({f"{name}{number}" for number in range(size)}, frozenset()) for name, size in
            (("a", 3), ("b", 1), ("c", 2), ("d", 1), ("e", 3))]  # fmt: skip
ANSWERS = Counter({item: 2 for family in FAMILIES for item in family.items})


@pytest.mark.parametrize("wanted", [(0.2, 0.1), (4, 0.5), (0, 1), (100,), (0.5,)])
def test_each_side_has_as_many_answers_as_wanted_and_no_family_is_parted(wanted: tuple[float, ...]) -> None:
    sides = deal_families(FAMILIES, ANSWERS, wanted, seed=3)
    assert len(sides) == len(wanted) + 1
    assert sorted(min(each.items) for side in sides for each in side) == ["a0", "b0", "c0", "d0", "e0"]
    left = 20
    for number, side in zip(wanted, sides, strict=False):
        asked = number if number >= 1 else number * left
        sizes = [2 * len(each.items) for each in side]
        assert sum(sizes) >= min(asked, left) and sum(sizes[:-1]) <= asked
        left -= sum(sizes)


def test_a_family_without_an_answer_is_on_no_side() -> None:
    sides = deal_families(FAMILIES, Counter({"a1": 1, "d0": 1}), [1], seed=0)
    assert sorted(min(each.items) for side in sides for each in side) == ["a0", "d0"]


def test_the_place_of_a_family_does_not_depend_on_the_others() -> None:
    order = [min(each.items) for each in deal_families(FAMILIES, ANSWERS, [], seed=5)[0]]
    assert order == sorted(order, key=lambda item: chance(5, item))
    fewer = [min(each.items) for each in deal_families(FAMILIES[1:], ANSWERS, [], seed=5)[0]]
    assert fewer == [each for each in order if each != "a0"]
    assert chance(7, "q1", "model") == "32d8c8e17b6a89d7b6391b87d20b739f5097fab72b8ef19efcb914135b699279"


def test_marks_that_were_seen_together_at_any_remove_are_one() -> None:
    joined = Joined()
    for marks in (["a", "b"], ["c", "d"], ["e"], ["d", "b"]):
        joined.join(marks)
    assert sorted(map(sorted, joined.groups())) == [["a", "b", "c", "d"], ["e"]]
    assert joined.head("a") == joined.head("c") != joined.head("e")
    assert "e" in joined and "f" not in joined

"""The table of answers already seen: exact for any keys a study may have, small for any number of them."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from medjury.intake.cases._tally import Seen


@given(st.lists(st.tuples(st.text(), st.text())))
def test_it_answers_as_a_set_does(keys: list[tuple[str, str]]) -> None:
    seen, known = Seen(), set()
    for key in keys:
        assert seen.add(*key) == (key not in known)
        known.add(key)


def test_it_grows_and_forgets_nothing() -> None:
    seen = Seen()
    assert all(seen.add(str(number), "a") for number in range(5_000))
    assert not any(seen.add(str(number), "a") for number in range(5_000))
    assert seen.add("0", "b")


def test_an_answer_costs_at_most_two_dozen_bytes() -> None:
    seen = Seen()
    for number in range(20_000):
        seen.add(str(number))
    assert sys.getsizeof(seen._table) / 20_000 <= 24


def test_the_parts_of_a_key_are_kept_apart() -> None:
    seen = Seen()
    assert seen.add("ab", "c")
    assert seen.add("a", "bc")

"""How memory is kept and cycles are searched for while a report is made."""

from __future__ import annotations

import gc

from medjury.statistics import few_searches_for_cycles


def test_cycles_are_searched_for_less_often_and_then_as_before() -> None:
    before = gc.get_threshold()
    with few_searches_for_cycles():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_who_switched_the_search_off_keeps_it_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with few_searches_for_cycles():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)

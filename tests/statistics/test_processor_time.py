"""How a report saves processor time: few searches for cycles, long turns of its workers."""

from __future__ import annotations

import gc
import os
import sys

from medjury.cycles import few_searches_for_cycles
from medjury.statistics import side_by_side


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


def test_workers_take_long_turns_and_leave_the_switch_as_it_was() -> None:
    before = sys.getswitchinterval()
    taken = side_by_side([sys.getswitchinterval] * 4)
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert workers < 2 or min(taken) > before
    assert sys.getswitchinterval() == before

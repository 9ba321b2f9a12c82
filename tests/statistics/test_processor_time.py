"""How a report saves processor time: workers for large tasks alone, one draw for many readers."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from medjury.statistics import sample, side_by_side
from medjury.statistics._resample import _blocks_of_counts, draw


def test_tasks_on_few_answers_need_no_worker_and_those_on_many_have_them() -> None:
    here = threading.get_ident()
    assert set(side_by_side([threading.get_ident] * 4, answers=360)) == {here}
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert workers < 2 or here not in side_by_side([threading.get_ident] * 4, answers=30_000)


def test_a_seed_draws_the_same_again_whoever_read_the_resamples_before() -> None:
    data = sample(np.arange(24.0), np.arange(24) // 2)
    drawn = [np.concatenate(list(draw(data, 300, seed))) for seed in (1, 1, 2)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    single = sample(np.arange(24.0))
    (weights,) = draw(single, 300, 1)
    with pytest.raises(ValueError, match="read-only"):
        weights += 1.0


@pytest.mark.parametrize("resamples", [40, 300, 2_000])
@pytest.mark.parametrize("visits, columns, levels, patterns", [(3, 3, 5, 40), (3, 1, 2, 4), (1, 1, 9, 9)])
def test_what_is_kept_of_clusters_is_what_would_be_drawn_anew(
    visits: int, columns: int, levels: int, patterns: int, resamples: int
) -> None:
    """However it lies in memory, into whatever blocks it is cut, and however many clusters look the same."""
    generator = np.random.default_rng(11)
    data = sample(generator.integers(0, levels, (120, columns)), np.repeat(np.arange(120 // visits), visits))
    assert (data.held is None) == (visits == 1)
    assert len(data.multiplicity) == patterns
    kept = np.concatenate(list(draw(data, resamples, 5)))
    anew = [
        data.row_weights(block) for block in _blocks_of_counts(data.multiplicity, resamples, resamples, 5)
    ]
    assert np.array_equal(kept, np.concatenate(anew))

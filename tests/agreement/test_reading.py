"""Scores as they come: what is read, what is missing, and what is refused in words."""

from __future__ import annotations

import numpy as np

from medjury.analysis.agreement._scores import complete_rows, read_pairs, read_scale, read_scores


def test_arrays_lists_and_words_are_read_alike() -> None:
    scale = read_scale(["low", "middle", "high"])
    assert [
        np.nan_to_num(each, nan=-1).tolist()
        for each in (
            read_scores(np.array([1, 2, 3]), None, 1),
            read_scores(np.array([True, False]), None, 1),
            read_scores([1, None, 2.5, float("nan")], None, 1),
            read_scores(["high", None, "low"], scale, 1),
            read_scores([1, 2], None, 2),
            read_scores(np.array([[1, 2]], dtype=object), None, 2),
        )
    ] == [[1.0, 2.0, 3.0], [1.0, 0.0], [1.0, -1.0, 2.5, -1.0], [2.0, -1.0, 0.0], [[1.0], [2.0]], [[1.0, 2.0]]]


def test_nothing_is_a_table_of_nothing() -> None:
    assert [read_scores([], None, axes).shape for axes in (1, 2)] == [(0,), (0, 0)]


def test_a_scale_is_ordered_numbers_or_words_as_listed() -> None:
    assert [
        (each.levels, each.positions.tolist(), len(each))
        for each in (read_scale([3, 1, 2]), read_scale(["b", "a"]), read_scale(np.array([0.5, 0.25])))
    ] == [((1.0, 2.0, 3.0), [1.0, 2.0, 3.0], 3), (("b", "a"), [0.0, 1.0], 2), ((0.25, 0.5), [0.25, 0.5], 2)]


def test_pairs_are_the_items_that_both_scored() -> None:
    rows, kept, note = read_pairs([1, None, 3, 4], [1, 2, None, 5])
    assert (
        rows.tolist(),
        kept.tolist(),
        note,
        read_pairs([1], [2])[2],
        complete_rows(np.array([[1, np.nan], [1, 2]])).tolist(),
    ) == (
        [[1.0, 1.0], [4.0, 5.0]],
        [True, False, False, True],
        "; 2 of 4 pairs incomplete, left out",
        "",
        [False, True],
    )

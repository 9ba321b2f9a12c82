"""Scores as they come: what is read, what is missing, and what is refused in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from medjury.analysis.agreement._options import estimates
from medjury.analysis.agreement._scores import complete_rows, read_pairs, read_scale, read_scores
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    text_table,
)
from medjury.statistics._result import html_table

ROWS = np.array([[float(place)] for place in range(1, 21)])


def mean(rows: Any) -> Callable[[Any], dict[str, Any]]:
    """The mean, and a value that never exists."""

    def read(weights: Any) -> dict[str, Any]:
        return {
            "mean": weights @ rows[:, 0] / weights.sum(axis=-1),
            "nothing": np.full(len(weights), np.nan),
        }

    return read


def made(**options: Any) -> dict[str, Estimate]:
    return estimates(ROWS, mean, reason=lambda name: f"no {name}", **options)


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MedjuryError) as caught:
        call()
    return str(caught.value)


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


def test_what_is_no_score_is_named_with_its_place() -> None:
    assert [
        refused(lambda call=call: call())
        for call in (
            lambda: read_scores(["x", 1, "y"], None, 1),
            lambda: read_scores([[1, "x"], [2, 3]], None, 2),
            lambda: read_scores([1, float("inf")], None, 1),
            lambda: read_scores([[1, 2], [3, 4]], None, 1),
            lambda: read_scores(np.zeros((1, 1, 1)), None, 2),
            lambda: read_scores([[1, 2], [3]], None, 2),
        )
    ] == [
        ("2 scores are not numbers: 'x' at item 1, 'y' at item 3. Correct or empty these cells."),
        "1 scores are not numbers: 'x' at item 1, rater 2. Correct or empty these cells.",
        "A score is infinite. Leave the cell empty where there is no score.",
        "Give one list of scores, not something with 2 axes.",
        "Give a table of items by raters, not something with 3 axes.",
        "The rows of the score table differ in length. Give every rater a cell in every row.",
    ]


def test_what_lies_off_the_scale_is_named_and_more_than_five_are_counted() -> None:
    numbers, words = read_scale([3, 1, 2]), read_scale(["no", "yes"])
    assert [
        refused(lambda call=call: call())
        for call in (
            lambda: read_scores([1, 4], numbers, 1),
            lambda: read_scores([[1, 2], [2.5, 9]], numbers, 2),
            lambda: read_scores([4] * 7, numbers, 1),
            lambda: read_scores(["maybe", "yes"], words, 1),
            lambda: read_scores([0, 4, 5, 6, 7], numbers, 1),
        )
    ] == [
        ("Scores off the scale 1, 2, 3: 4 at item 2. Correct them, or give the scale they were made on."),
        (
            "Scores off the scale 1, 2, 3: 2.5 at item 2, rater 1, 9 at item 2, rater 2. Correct "
            "them, or give the scale they were made on."
        ),
        (
            "Scores off the scale 1, 2, 3: 4 at item 1, 4 at item 2, 4 at item 3, 4 at item 4, 4 "
            "at item 5 and 2 more. Correct them, or give the scale they were made on."
        ),
        (
            "Scores off the scale no, yes: 'maybe' at item 1. Correct them, or give the scale "
            "they were made on."
        ),
        (
            "Scores off the scale 1, 2, 3: 0 at item 1, 4 at item 2, 5 at item 3, 6 at item 4, 7 "
            "at item 5. Correct them, or give the scale they were made on."
        ),
    ]


def test_a_scale_is_ordered_numbers_or_words_as_listed() -> None:
    assert [
        (each.levels, each.positions.tolist(), len(each))
        for each in (read_scale([3, 1, 2]), read_scale(["b", "a"]), read_scale(np.array([0.5, 0.25])))
    ] == [((1.0, 2.0, 3.0), [1.0, 2.0, 3.0], 3), (("b", "a"), [0.0, 1.0], 2), ((0.25, 0.5), [0.25, 0.5], 2)]


def test_a_scale_of_one_level_of_two_kinds_or_with_a_level_twice_is_refused() -> None:
    assert [refused(lambda levels=levels: read_scale(levels)) for levels in ([1], [1, 1], [1, "a"])] == [
        "A scale lists two or more different levels, all that could be given, not [1].",
        "A scale lists two or more different levels, all that could be given, not [1, 1].",
        "A scale is all numbers or all words, not [1, 'a'].",
    ]


def test_pairs_are_the_items_that_both_scored() -> None:
    found = read_pairs([1, None, 3, 4], [1, 2, None, 5])
    assert (
        found.rows.tolist(),
        found.kept.tolist(),
        found.n,
        found.note,
        read_pairs([1], [2]).note,
        complete_rows(np.array([[1, np.nan], [1, 2]])).tolist(),
    ) == (
        [[1.0, 1.0], [4.0, 5.0]],
        [True, False, False, True],
        2,
        "; 2 of 4 pairs incomplete, left out",
        "",
        [False, True],
    )


def test_raters_of_different_length_are_refused() -> None:
    assert (
        refused(lambda: read_pairs([1, 2], [1]))
        == "The first rater has 2 scores and the second 1. Give both one per item."
    )


def test_a_table_in_html_has_a_row_for_each() -> None:
    assert html_table([{"a": 1, "b": "<x>"}, {"a": None, "b": "y"}]) == (
        ""
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>&lt;x&gt;</td></tr><tr><td>–</td><td>y</td></tr></tbody></table>"
    )


def test_a_table_in_text_lines_numbers_up_to_the_right() -> None:
    assert text_table([{"name": "a", "n": 1, "empty": None}, {"name": "long", "n": 1000, "empty": ""}]) == [
        "name      n",
        "a         1",
        "long  1,000",
    ]

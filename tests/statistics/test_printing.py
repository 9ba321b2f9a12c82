"""One way to print a number: in the terminal, in the report, in a notebook."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.foundation.screen import screen, screen_columns
from medjury.statistics import (
    Estimate,
    counted,
    moment,
    p_value,
    percent,
    shown,
    supported,
    text_table,
    undefined,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        ("as it is", "as it is"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (1234567, "1,234,567"),
        (-12, "−12"),
        (0.5, "0.500"),
        (1234.5678, "1,234.568"),
        (-0.25, "−0.250"),
        # What rounds to zero is zero, from whichever side.
        (-0.0, "0.000"),
        (-0.0004, "0.000"),
        (0.0004, "0.000"),
        (-0.0006, "−0.001"),
        (Estimate(0.7468, 0.5249, 0.9081, 40, "bca"), "0.747 (0.525 to 0.908)"),
        (Estimate(0.7468, None, None, 40, "none"), "0.747"),
        (Estimate(0.7468, 0.5249, None, 40, "one-sided"), "0.747 (0.525 to –)"),
        (Estimate(0.7468, None, 0.9, 40, "one-sided"), "0.747 (– to 0.900)"),
        (Estimate(-0.0001, -0.2, 0.2, 40, "bca"), "0.000 (−0.200 to 0.200)"),
        (undefined("no item was scored by both", 0, "bca"), "not defined: no item was scored by both"),
    ],
)
def test_a_value_is_shown_as_a_reader_wants_it(value: object, text: str) -> None:
    assert shown(value) == text


def test_digits_can_be_chosen_for_value_and_interval_alike() -> None:
    assert shown(0.12345, 1) == "0.1"
    assert shown(-0.04, 1) == "0.0"
    assert shown(Estimate(0.12345, 0.1, 0.2, 5, "bca"), 2) == "0.12 (0.10 to 0.20)"


def test_shares_are_percentages() -> None:
    assert [percent(share) for share in (0, 0.5, 0.996, 1, None)] == [
        "0 %",
        "50 %",
        "100 %",
        "100 %",
        "–",
    ]
    assert percent(0.1234, 1) == "12.3 %"


def test_p_values_stop_at_a_thousandth() -> None:
    assert [p_value(each) for each in (0.0, 0.000999, 0.001, 0.04567, 1.0, None)] == [
        "< 0.001",
        "< 0.001",
        "0.001",
        "0.046",
        "1.000",
        "–",
    ]


def test_one_thing_is_singular() -> None:
    assert [counted(count, "judge") for count in (0, 1, 2, 1200)] == [
        "0 judges",
        "1 judge",
        "2 judges",
        "1,200 judges",
    ]


def test_a_moment_is_written_as_people_write_it() -> None:
    assert moment("2026-01-31T12:34:56.000+00:00") == "2026-01-31 12:34 UTC"
    assert moment("2026-01-31T12:34:56") == "2026-01-31T12:34:56"
    assert moment("yesterday") == "yesterday"


# Rows as lines.


ROWS: list[dict[str, Any]] = [
    {
        "dimension": dimension,
        "rater": rater,
        "value": 0.74681234,
        "low": 0.52491234,
        "high": 0.90811234,
        "n": 40,
        "method": f"percentile bootstrap of whole patients of {rater}",
    }
    for dimension in ("accuracy", "completeness of the plan")
    for rater in ("jury", "a-judge-with-a-long-name")
]


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.7468, 0.5249, 0.9081, 40, ""), "0.75 (0.52 to 0.91)"),
        (Estimate(23.4, 12.1, 40.7, 40, ""), "23 (12 to 41)"),
        (Estimate(0.7468, 0.7460, 0.7475, 40, ""), "0.747 (0.746 to 0.748)"),
        # An end that is not 0 or 1 must not read as if it were.
        (Estimate(0.121, 0.004, 0.238, 40, ""), "0.121 (0.004 to 0.238)"),
        (Estimate(0.9, 0.72, 0.998, 40, ""), "0.900 (0.720 to 0.998)"),
        (Estimate(0.5, 0.0, 1.0, 40, ""), "0.5 (0.0 to 1.0)"),
        (Estimate(0.5, 0.5, 0.5, 40, ""), "0.500 (0.500 to 0.500)"),
        (Estimate(0.5, None, None, 40, ""), "0.500"),
        (undefined("no item was scored by both", 0, ""), "not defined: no item was scored by both"),
    ],
)
def test_a_number_has_the_digits_that_its_interval_supports(estimate: Estimate, text: str) -> None:
    assert supported(estimate) == text


def test_without_a_screen_every_column_and_digit_is_there() -> None:
    assert screen_columns() is None
    head, first, *_ = text_table(ROWS)
    assert head.split() == list(ROWS[0])
    assert "0.747" in first and "0.525" in first and "0.908" in first and len(first) > 100


def test_on_a_screen_value_and_ends_are_one_interval_and_what_is_left_out_is_named() -> None:
    with screen(60):
        lines = text_table(ROWS)
    assert screen_columns() is None, "the screen is gone afterwards"
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert text.count("0.75 (0.52 to 0.91)") == len(ROWS)
    assert "not shown: method (--wide shows all columns)" in text
    assert "In all rows: n 40" in text, "what every row shares is said once"


def test_a_table_that_fits_is_left_as_it_is() -> None:
    with screen(200):
        head, *rows = text_table(ROWS)
    assert "method" in head and len(rows) == len(ROWS)


def test_runs_become_headings_where_there_is_no_room() -> None:
    rows = [
        {"dimension": f"a dimension with a long name, number {place // 3}", "rater": f"judge-{place % 3}",
         "before": Estimate(0.3, 0.1, 0.5, 9, ""), "after": Estimate(0.3, 0.1, 0.5, 9, "")}
        for place in range(9)
    ]  # fmt: skip
    with screen(60):
        lines = text_table(rows)
    assert [line for line in lines if line.startswith("dimension: ")] == [
        f"dimension: a dimension with a long name, number {place}" for place in range(3)
    ]


def test_a_heading_appears_once_though_its_rows_come_apart() -> None:
    rows = [
        {"rater": rater, "statistic": f"{name}_{place}", "value": Estimate(0.3, 0.1, 0.5, 9, "")}
        for name in ("spearman", "spearman_less_reference") for rater in ("ada", "bob") for place in range(4)
    ]  # fmt: skip
    with screen(40):
        lines = text_table(rows)
    assert [line for line in lines if line.startswith("rater: ")] == ["rater: ada", "rater: bob"]
    of_ada = lines[lines.index("rater: ada") : lines.index("rater: bob")]
    assert "\n".join(of_ada).count("(0.10 to 0.50)") == 8, "all of its rows are below it"


def test_heads_are_words_on_a_screen_and_names_elsewhere() -> None:
    rows = [{"item": "a", "expected_harm": 0.25}, {"item": "b", "expected_harm": 0.5}]
    assert text_table(rows)[0].split() == ["item", "expected_harm"]
    with screen(80):
        assert text_table(rows)[0].split() == ["item", "expected", "harm"]


def test_words_are_parted_only_where_intervals_below_their_values_do_not_suffice() -> None:
    wide = Estimate(-0.001, -0.024, 0.007, 9, "")
    rows = [{"order": "conformal_width", "first": wide, "second": wide, "third": wide}] * 2
    with screen(76):
        lines = text_table([row | {"order": f"{row['order']}_{place}"} for place, row in enumerate(rows)])
    assert "conformal_width_0" in "\n".join(lines) and max(map(len, lines)) <= 76


WORDS = st.text("abc _", min_size=1, max_size=30)
CELLS = st.one_of(WORDS, st.integers(0, 10**6), st.floats(-5, 5), st.none())


@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=1, max_size=6), st.integers(60, 120))
def test_no_line_is_wider_than_the_screen_and_no_row_is_lost(cells: list[list[Any]], width: int) -> None:
    names = ("first", "second_name", "value", "n", "reason")
    rows = [dict(zip(names, row, strict=True)) for row in cells]
    with screen(width):
        lines = text_table(rows)
    assert all(len(line) <= width for line in lines)
    if any(row["value"] not in (None, "") for row in rows):
        shown = {line.split()[0] for line in lines if line.strip()}
        assert shown, "something is shown"

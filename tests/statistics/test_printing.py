"""One way to print a number: in the terminal, in the report, in a notebook."""

from __future__ import annotations

import pytest

from medjury.statistics import Estimate, counted, moment, p_value, percent, shown, undefined


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

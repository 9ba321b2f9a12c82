"""Dates and ages of a pregnancy as people write them, and the limits of a calculation; of several that differ none
is taken."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.suites import Item
from medjury.suites._marking._metrics import mark, read_age, read_date


@pytest.mark.parametrize(
    ("answer", "date"),
    [
        ("2000-12-02", "2000-12-02"),
        ("2000/1/2", "2000-01-02"),
        ("2000.1.2", "2000-01-02"),
        ("12-02-2000", "2000-12-02"),
        ("12-02-00", "2000-12-02"),
        ("12/02/69", "2069-12-02"),
        ("12/02/70", "1970-12-02"),
        ("25/12/2000", "2000-12-25"),
        ("12/25/2000", "2000-12-25"),
        ("12/12/2000", "2000-12-12"),
        ("31.12.2000", "2000-12-31"),
        ("1. 2. 00", "2000-02-01"),
        ("Sept 5 2001", "2001-09-05"),
        ("sep. 5th, 2001", "2001-09-05"),
        ("December 31, 2001", "2001-12-31"),
        ("5th of May 2001", "2001-05-05"),
        ("5 May, 2001", "2001-05-05"),
        ("may 5 2001", "2001-05-05"),
        ("2-Jan-2000", "2000-01-02"),
        ("12/02/2000 and 2000-12-02", "2000-12-02"),  # one date, written twice
        ("Due: 12/02/2000, then 12/03/2000", "2000-12-02"),
        ("The date is 12/02/2000. The date is 12/03/2000", "2000-12-03"),
        ("1/1/2000 + 1 month = 2/1/2000", "2000-02-01"),
        ("a 1/1/2000\nb 1/2/2000\n1/3/2000\n\n", "2000-01-03"),
        ("\\boxed{12/02/2000} \\boxed{2000-12-02}", "2000-12-02"),
        ('1/1/2000 {"answer": "12/02/2000"}', "2000-12-02"),
        ("Due date: " + "x" * 69 + " 1/2/2000 or 1/3/2000", "2000-01-02"),
    ],
)
def test_a_date_is_read_in_every_notation(answer: str, date: str) -> None:
    assert read_date(answer).value == date


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "January 2000",
        "13/13/2000",
        "Feb 30, 2000",
        "112/02/2000",
        "12/02/2000/3",
        "12/02/2000 and 12/03/2000",
        "\\boxed{soon} 12/02/2000",
        "\\boxed{1/1/2000 1/2/2000}",
        "\\boxed{12/02/2000} \\boxed{2000-12-03}",
        "Due date:\n1/2/2000 or 1/3/2000",
        "Due date: " + "x" * 80 + " 1/2/2000 or 1/3/2000",
    ],
)
def test_what_is_no_date_or_more_than_one_is_not_guessed(answer: str) -> None:
    assert read_date(answer).value is None


@pytest.mark.parametrize(
    ("answer", "age"),
    [
        ("34 weeks 3 days", "34 weeks 3 days"),
        ("34 weeks & 3 d", "34 weeks 3 days"),
        ("1 week, 1 day", "1 weeks 1 days"),
        ("34 w 3 d", "34 weeks 3 days"),
        ("34w3d", "34 weeks 3 days"),
        ("34 3/7", "34 weeks 3 days"),
        ("34 and 3/7 weeks", "34 weeks 3 days"),
        ("34+3", "34 weeks 3 days"),
        ("34 + 0 weeks", "34 weeks 0 days"),
        ("34 weeks", "34 weeks 0 days"),
        ("34 completed weeks", "34 weeks 0 days"),
        ("241 days", "34 weeks 3 days"),
        ("6 days", "0 weeks 6 days"),
        ("7 days", "1 weeks 0 days"),
        ("34 weeks 10 days", "35 weeks 3 days"),
        ("34 wks 3 days (241 days)", "34 weeks 3 days"),
        ("The age is 34 weeks. 35 weeks 36 weeks", "34 weeks 0 days"),
        ("12 weeks at first\n34 weeks and 3 days", "34 weeks 3 days"),
        ("('34 weeks', '3 days')", "34 weeks 3 days"),
        ("\\boxed{34 weeks, 3 days} or 35 weeks", "34 weeks 3 days"),
    ],
)
def test_an_age_is_read_in_weeks_and_days(answer: str, age: str) -> None:
    assert read_age(answer).value == age


@pytest.mark.parametrize(
    "answer",
    ["", "34 weeks, 3", "34.5 weeks", "34+7", "34 8/7", "134 weeks", "34+3/7", "12 days and 34 weeks"],
)
def test_what_is_no_age_or_more_than_one_is_not_guessed(answer: str) -> None:
    assert read_age(answer).value is None


def calculated(gold: str, answer: str, **facts: object) -> float | None:
    return mark(benchmark(), Item("1", {}, (gold,), facts=facts), answer, "medcalc").score


def test_the_limits_of_a_calculation_count_as_right_and_nothing_beyond_them() -> None:
    for answer, score in (("95", 1), ("94.9", 0), ("105", 1), ("105.1", 0), ("100", 1)):
        assert calculated("100", answer) == score
        assert calculated("-100", f"-{answer}") == score
        assert calculated("100", answer, output_type=" Decimal ", lower_limit="", upper_limit=105) == score
    for answer, score in (("1,990", 1), ("1,989.9", 0), ("2,001", 1), ("2,001.1", 0)):
        assert calculated("2,000", answer, lower_limit="1,990", upper_limit="2,001") == score
        assert calculated("2,000", answer, lower_limit="2,001", upper_limit="1,990") == score
    for answer, score in (("4", 1), ("4.0", 1), ("4.01", 0), ("3.99", 0), ("5", 0)):
        assert calculated("4", answer, output_type="INTEGER", lower_limit=1, upper_limit=9) == score
    assert calculated("100", "1e400") == 0


def test_a_gold_date_may_be_written_otherwise_and_another_kind_is_a_fault_of_the_item() -> None:
    assert calculated("12/02/2000", "2 December 2000", output_type="date") == 1
    assert calculated("34 Weeks", "238 days", output_type="Date") == 1
    assert calculated("soon", "12/02/2000", output_type="date") is None
    assert calculated("34 days", "34 days", output_type="date") is None
    two = Item("1", {}, ("12/02/2000", "12/03/2000"), facts={"output_type": "date"})
    assert mark(benchmark(), two, "2000-12-03", "medcalc").score == 1

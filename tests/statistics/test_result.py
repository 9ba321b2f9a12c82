"""The face of every result: rows for a script, a terminal and a notebook."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from medjury.statistics import Estimate, Result, ends, text_table
from medjury.statistics._result import html_table


@dataclass(frozen=True, slots=True)
class Line:
    rater: str
    value: float | None
    n: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Lines(Result[Line]):
    rows: tuple[Line, ...]
    warnings: tuple[str, ...] = ()


FOUND = Lines((Line("a", 0.5, 1200), Line("<b>", None, 3)), ("read <this> first",))


def test_rows_are_a_frame_and_json_without_nan() -> None:
    assert FOUND.frame().to_dicts() == [row.as_dict() for row in FOUND.rows]
    assert json.loads(FOUND.to_json()) == [row.as_dict() for row in FOUND.rows]
    with pytest.raises(ValueError, match="not JSON compliant"):
        Lines((Line("a", float("nan"), 1),)).to_json()


def test_the_one_row_is_found_or_it_is_an_error() -> None:
    assert FOUND.find(rater="a").n == 1200
    assert FOUND.find(rater="<b>", n=3).value is None
    with pytest.raises(LookupError, match="0 rows have"):
        FOUND.find(rater="a", n=3)
    with pytest.raises(LookupError, match="2 rows have any values"):
        FOUND.find()


def test_text_says_warnings_first_and_puts_numbers_to_the_right() -> None:
    assert FOUND.text().splitlines() == [
        "! read <this> first",
        "rater  value      n",
        "a      0.500  1,200",
        "<b>               3",
    ]


def test_columns_that_hold_nothing_are_left_out_of_the_text() -> None:
    rows = [{"a": 1, "b": None, "c": ""}, {"a": 2, "b": None, "c": ""}]
    assert text_table(rows) == ["a", "1", "2"]
    assert text_table([]) == []
    assert text_table([{"b": None}]) == []


def test_html_escapes_whatever_it_shows() -> None:
    page = FOUND._repr_html_()
    assert "&lt;b&gt;" in page
    assert "read &lt;this&gt; first" in page
    assert "<b>" not in page
    assert html_table([]) == "<table><thead><tr></tr></thead><tbody></tbody></table>"


def test_an_estimate_is_flat_under_its_own_name_or_another() -> None:
    estimate = Estimate(0.5, 0.4, None, 10, "exact")
    assert ends(estimate) == {"value": 0.5, "low": 0.4, "high": None}
    assert ends(estimate, "rate") == {"rate": 0.5, "rate_low": 0.4, "rate_high": None}


@pytest.mark.parametrize("numbers", [(float("nan"), None, None), (0.5, float("inf"), None)])
def test_an_estimate_never_holds_a_nan(numbers: tuple[float | None, ...]) -> None:
    with pytest.raises(ValueError, match="finite number or None"):
        Estimate(*numbers, 5, "bca")


def test_an_estimate_without_a_value_says_why_and_only_that_one() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Estimate(None, None, None, 5, "bca")
    with pytest.raises(ValueError, match="needs a reason"):
        Estimate(0.5, None, None, 5, "bca", "because")

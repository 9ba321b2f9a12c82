"""What the State page draws is what its tables hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.panel.meeting.closed_rounds import closed_panel
from tests.panel.visitors import sign_in

from medjury.panel._access._people import Role
from medjury.panel._exchange._collecting import collect
from medjury.panel._live._pages import agreement_so_far, height, table_of, time_bars
from medjury.panel._serve import make_app


def grades(number: int) -> dict[str, tuple[str, str]]:
    one, other = str(1 + number % 5), str(1 + (number + (number % 2 == 0)) % 5)
    return {"accuracy": (one, other), "completeness": (one, one), "clarity": ("3", "3")}


def test_agreement_is_drawn_as_it_grows_and_ends_at_the_number_in_the_table(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [grades(number) for number in range(50)])
    assert panel.study is not None
    with panel.database.reading() as connection:
        ratings = collect(connection)
    table = table_of(ratings, panel.study.instrument, {})
    accuracy = next(each for each in agreement_so_far(table, ratings) if each.dimension == "accuracy")
    assert [each["shared"] for each in accuracy.steps] == [20, 30, 40, 50]
    last = accuracy.steps[-1]
    assert last["alpha"] == accuracy.alpha and accuracy.alpha.value is not None
    assert last["top"] < last["y"] == height(accuracy.alpha.value) < last["bottom"]
    page = sign_in(make_app(panel), Role.COORDINATOR).get("/live").text
    labels = re.findall(r'role="img" aria-label="([^"]+)"', page)
    assert any(each.startswith("accuracy: alpha") and "after 50 answers" in each for each in labels)


def test_times_fall_into_the_bars_of_the_histogram() -> None:
    found = {
        each["label"]: each["cases"] for each in time_bars([1, 14.9, 15, 29, 59, 61, 119, 400, 601, 4000])
    }
    assert found == {
        "to 15 s": 2, "to 30 s": 2, "to 1 min": 1, "to 2 min": 2, "to 5 min": 0, "to 10 min": 1, "over 10 min": 2,
    }  # fmt: skip
    assert max(each["height"] for each in time_bars([5.0, 5.0, 100.0])) == time_bars([5.0])[0]["height"]


@pytest.mark.parametrize("alpha", [-1.0, -0.2, 0.0, 1.0])
def test_what_is_drawn_stays_inside(alpha: float) -> None:
    assert np.isfinite(height(alpha)) and 8 <= height(alpha) <= 96

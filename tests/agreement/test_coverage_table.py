"""The coverage table, in small: a few cells with few studies, so that a broken interval is seen at once.

With 60 studies a true coverage of 95 % shows as 88 % or more in 99 runs of 100.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.coverage import BEGIN, DESIGNS, END, SIZES, TESTS, coverage, holds, text, type_one, write

STUDIES = 60
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
BY_NAME = {design.name: design for design in DESIGNS}


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("One answer to a case", 20),
        ("One answer to a case", 50),
        ("Four answers to a case", 20),
        ("Two grades, one answer to a case", 50),
        ("Severe errors, eight dangerous answers to a case", 20),
    ],
)
def test_default_intervals_hold_or_are_refused(name: str, n: int) -> None:
    for statistic, (given, held) in coverage(BY_NAME[name], n, STUDIES, seed=3).items():
        assert given < 0.1 * STUDIES or held / given >= 0.87, f"{statistic}: {held} of {given}"


def test_intervals_of_many_clinicians_hold() -> None:
    found = coverage(BY_NAME["Fifteen clinicians, two for each case"], 50, 25, seed=3)
    assert {"kappa_quadratic, clinicians", "kappa_quadratic, jury", "icc_2_1, mixed model"} <= set(found)
    for statistic, (given, held) in found.items():
        assert held / given >= 0.8, f"{statistic}: {held} of {given}"


@pytest.mark.parametrize(("answers", "raters"), [(1, 3), (1, 15)])
def test_a_jury_the_margin_below_the_clinicians_is_seldom_called_non_inferior(
    answers: int, raters: int
) -> None:
    """5 % of 80 studies show as at most 12.5 % in 99 runs of 100."""
    assert type_one(answers, raters, 20, 80, seed=4) <= 0.125


def test_what_is_too_narrow_or_far_too_wide_does_not_hold() -> None:
    assert holds("kappa", [400, 380], 400)
    assert not holds("kappa", [400, 360], 400)
    assert not holds("kappa", [400, 400], 400)
    assert holds("difference_q1", [400, 400], 400)
    assert holds("rmse", [0, 0], 400)


def test_the_tables_are_written_between_the_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nstale\n{END}\nafter\n", encoding="utf-8")
    cells = {BY_NAME["One answer to a case"]: {n: {"kappa": [100, 95], "rmse": [0, 0]} for n in SIZES}}
    write(page, text(cells, {"three": dict.fromkeys(SIZES, 0.04)}, 100))
    written = page.read_text(encoding="utf-8")
    assert written.startswith("before\n") and written.endswith("after\n") and "stale" not in written
    assert "| `kappa` | 0.282 | 95.0 % | 95.0 % | 95.0 % |" in written
    assert "| refused | refused | refused |" in written
    assert "| three | 0.1 | 4.0 % | 4.0 % | 4.0 % |" in written


def test_the_page_has_every_design() -> None:
    shown = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    for name in (*BY_NAME, *TESTS):
        assert name in shown

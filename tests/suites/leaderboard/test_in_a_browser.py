"""The leaderboard in a real Chromium, opened from disk: ranks follow the choice, exactly as Python computes
them."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.chromium import chromium
from tests.report.browser import Page, open_page
from tests.suites.leaderboard.made_up import results_of

from medjury.analysis.ranking import rank
from medjury.suites._leaderboard._cells import cells_of
from medjury.suites._leaderboard._page import write_leaderboard
from medjury.suites._leaderboard._results import AnswerResult
from medjury.suites._leaderboard._standings import Board, board_of

pytestmark = pytest.mark.skipif(
    chromium() is None and os.geteuid() != 0, reason="Chromium is not installed, and only root can install it"
)
EVIL = "<img src=x onerror=alert(1)>"
NAMES = [EVIL, "beta", "gamma", "delta"]


@pytest.fixture(scope="module")
def board() -> Board:
    table = {
        name: [12 + (3 * place * bench) % 7 - place for bench in range(11)]
        for place, name in enumerate(NAMES)
    }
    made = results_of(table, baseline=6, suite="a <script>alert(2)</script> suite")
    lost = [
        AnswerResult(each.benchmark, each.item, each.candidate, "missing", reason="timeout")
        if (each.candidate == "delta" and each.benchmark == "bench_04" and int(each.item[1:]) < 10)
        or (each.candidate == "beta" and each.benchmark == "bench_08" and each.item == "i12")
        else each
        for each in made.answers
    ]
    return board_of(replace(made, answers=tuple(lost)), resamples=200)


@pytest.fixture(scope="module")
def index(board: Board, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_leaderboard(board, tmp_path_factory.mktemp("leaderboard"))


@pytest.fixture
async def page(index: Path) -> AsyncIterator[Page]:
    async with open_page(index) as opened:
        yield opened


def by_python(
    board: Board, candidates: list[int], benchmarks: list[int], *, hard: bool
) -> dict[str, list[float]]:
    """Win rates by both rules and macro averages of a choice, by `medjury rank` on the scores that a
    leaderboard of these candidates alone compares."""
    import polars as pl

    names = [each.name for each in board.results.benchmarks]
    alone = cells_of(
        board.results.only([NAMES[one] for one in candidates]), leave_out_decided=hard, resamples=0
    )
    scores = {
        (NAMES[one], names[two]): alone[NAMES[one], names[two]].compared
        for one in candidates
        for two in benchmarks
    }
    ranked = [
        NAMES[one]
        for one in candidates
        if all(scores[NAMES[one], names[two]] is not None for two in benchmarks)
    ]
    if len(ranked) < 2:
        return {}
    rows = [(one, two, score) for (one, two), score in scores.items() if one in ranked]
    table = pl.DataFrame(rows, schema=["system", "benchmark", "score"], orient="row")
    found: dict[str, list[float]] = {name: [] for name in ranked}
    for ties in ("half", "win"):
        for row in rank(table, by="win_rate", ties=ties, resamples=0).rows:  # type: ignore[arg-type]
            found[row.system] += [float(row.win_rate.value or 0.0), float(row.rank)]
    for row in rank(table, by="macro_average", resamples=0).rows:
        found[row.system] += [float(row.macro_average.value or 0.0), float(row.rank)]
    return found


async def test_ranks_follow_the_choice_as_python_computes_them(page: Page, board: Board) -> None:
    choices = [
        (list(one), list(two), hard)
        for one in (*itertools.combinations(range(4), 2), (0, 1, 2), (0, 1, 2, 3))
        for two in ((0,), (1, 5, 8), (0, 4), tuple(range(11)))
        for hard in (False, True)
    ]
    compared = 0
    for candidates, benchmarks, hard in choices:
        script = f"leaderboard.standings({candidates}, {benchmarks}, {str(hard).lower()}).rows"
        rows = await page.evaluate(script)
        expected = by_python(board, candidates, benchmarks, hard=hard)
        if not expected:
            continue
        assert {NAMES[row["candidate"]] for row in rows} == set(expected)
        for row in rows:
            keys = ("win_half", "win_half_rank", "win_or_tie", "win_or_tie_rank", "macro", "macro_rank")
            assert [row[key] for key in keys] == pytest.approx(expected[NAMES[row["candidate"]]], abs=1e-9)
            compared += 1
    assert compared > 100
    # What the second lacks counts again as soon as it is not chosen.
    score = "leaderboard.standings({}, [8], false).rows.find((row) => row.candidate === 2).macro"
    with_it, without = [await page.evaluate(score.format(each)) for each in ([0, 1, 2], [0, 2])]
    assert with_it != without

    # The table that a reader sees follows too, and comes back.
    before = await page.evaluate("document.querySelector('#overall tbody').innerText")
    assert "no rank: bench_04 INCOMPLETE" in before
    press = "(name, value) => document.querySelector(`input[name=${name}][value='${value}']`).click()"
    await page.evaluate(f"({press})('benchmark', '4')")
    after = await page.evaluate("document.querySelector('#overall tbody').innerText")
    assert "INCOMPLETE" not in after and "delta" in after
    assert "Intervals and tie groups belong to the whole table" in await page.evaluate(
        "document.querySelector('#chosen').innerText"
    )
    hidden = "document.querySelector('#heat tr[data-benchmark=\"4\"]').hidden"
    assert await page.evaluate(hidden)
    await page.evaluate(f"({press})('benchmark', '4')")
    assert await page.evaluate("document.querySelector('#overall tbody').innerText") == before
    await page.evaluate(f"({press})('measure', 'macro')")
    first = await page.evaluate("document.querySelector('#overall tbody th').innerText")
    macro = max((row for row in board.overall.rows), key=lambda row: row.macro.value or 0.0)
    assert first == macro.candidate

    # No name becomes markup, nothing is loaded, and a phone can read it without scrolling the page sideways.
    assert await page.evaluate("document.querySelectorAll('img, main script').length") == 0
    assert page.complaints() == [] and all(each.startswith("file:") for each in page.requests())
    await page.width(390)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (await page.pdf()).startswith(b"%PDF")


def test_without_script_the_whole_table_is_there_and_every_cell_leads_to_its_items(
    index: Path, board: Board
) -> None:
    text = index.read_text()
    assert 'id="chooser" hidden' in text  # what needs a script is not shown without one
    table = text[text.index('id="overall"') :].split("</table>")[0]
    for row in board.overall.rows:
        assert row.win_half is not None and f"{row.win_half.value:.3f}" in table
    links = re.findall(r'href="(items/[^"]+)"', text)
    assert len(links) == 4 * 11 and len(set(links)) == 44
    assert all((index.parent / each).is_file() for each in links)
    assert (
        "<img" not in text
        and "<script>alert" not in text
        and "http" not in re.sub(r"http-equiv|xmlns=\"[^\"]+\"", "", text)
    )


def test_a_long_benchmark_has_several_pages_of_items_and_private_data_no_texts(tmp_path: Path) -> None:
    made = results_of({"one": [450], "two": [440]}, items=450, benchmarks=["long_one"])
    hidden = replace(made, benchmarks=(replace(made.benchmarks[0], access="gated"),))
    for results, shown in ((made, True), (hidden, False)):
        folder = tmp_path / str(shown)
        write_leaderboard(board_of(results, resamples=200), folder)
        own = sorted(folder.glob("items/*/*.html"))
        assert len(own) == 2 * 3
        text = "".join(each.read_text() for each in own)
        assert ("Question 449" in text) is shown and ("Item i449" in text) is shown
        assert ("the data are gated" in text) is not shown
    write_leaderboard(board_of(made, resamples=200), tmp_path / "none", texts=False)
    assert "Question 449" not in "".join(each.read_text() for each in tmp_path.glob("none/items/*/*.html"))

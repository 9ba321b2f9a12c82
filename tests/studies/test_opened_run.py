"""A run that is there, for a script or a notebook; and a run that is awaited."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer

import medjury
from medjury.studies import Demonstration, load_study, run_study
from medjury.studies._run.how import bar_html


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opened")
    Demonstration(folder).copy()
    return run_study(load_study(Demonstration(folder).good_jury)).folder


def test_an_open_run_has_its_ratings_its_cases_and_its_verdict(run: Path) -> None:
    opened = medjury.open_run(run, resamples=200)
    assert len(opened.cases) == 120 and opened.cases[0].metadata["synthetic"] is True
    assert set(opened.ratings["rater_kind"]) == {"clinician", "judge", "jury"}
    assert opened.verdict == "AUXILIARY"
    assert repr(opened) == (
        f"Run('{run}': complete, {opened.ratings.height:,} ratings, 2 clinicians, 3 judges)"
    )
    assert "AUXILIARY" in opened._repr_html_()


def test_every_analysis_takes_the_open_run_itself(run: Path) -> None:
    opened = medjury.open_run(run)
    whole, folder = (medjury.rank(each, resamples=200) for each in (opened, run))
    assert whole.to_json() == folder.to_json()


def test_the_report_is_written_where_it_is_not_there_yet(run: Path) -> None:
    (run / "report.html").unlink(missing_ok=True)
    page = medjury.open_run(run, resamples=50).report
    assert page == run / "report.html" and "AUXILIARY" in page.read_text(encoding="utf-8")


STUDY = """\
study: awaited
cases: cases-live.jsonl
instrument: note_quality
dimensions: [accuracy]
judges:
  - {{kind: openai, name: juror, url: "{url}", model: m, concurrency: 1}}
"""


async def test_a_run_can_be_awaited_beside_other_work(tmp_path: Path) -> None:
    Demonstration(tmp_path).copy()
    with LoopbackServer() as server:
        (tmp_path / "awaited.yaml").write_text(STUDY.format(url=server.url))
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        beside = asyncio.create_task(tick())
        result = await medjury.arun_study(load_study(tmp_path / "awaited.yaml"))
        beside.cancel()
        assert result.status == "complete" and ticks > 1


async def test_cancelled_it_asks_no_more_and_the_next_run_goes_on(tmp_path: Path) -> None:
    Demonstration(tmp_path).copy()
    with LoopbackServer(lambda call: "latency:0.05") as server:
        (tmp_path / "awaited.yaml").write_text(STUDY.format(url=server.url))
        study = load_study(tmp_path / "awaited.yaml")
        work = asyncio.create_task(medjury.arun_study(study, preflight=False))
        while not server.calls:  # noqa: ASYNC110 (another thread's list)
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        asked = len(server.calls)
        await asyncio.sleep(0.15)
        assert len(server.calls) == asked < 8
        result = await medjury.arun_study(study, preflight=False)
        assert result.status == "complete" and len(server.calls) == 8


def test_the_bar_of_a_notebook_tells_what_is_done_and_what_failed() -> None:
    from medjury.judging import Progress

    progress = Progress(planned=20)
    progress.judged = 5
    progress.unscored["refusal"] = 2
    made = bar_html(progress, 0.25, "USD")
    assert 'value="5" max="20"' in made and "unscored: 2 refusal" in made and "0.25 USD" in made

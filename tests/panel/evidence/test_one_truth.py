"""A number on a page is the report's: every list has as many answers as the report's table counts, and every grade
is the one in the ratings."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.panel.evidence.planted_run import Reader, plant_study, with_development
from tests.report.planted import planted_frame

from medjury.analysis.calibration import triage
from medjury.cli import main
from medjury.panel._evidence._numbers import number_shown, rows_of
from medjury.panel._evidence._run import EvidenceRun

COUNTED = {
    "severe-errors": {"errors", "dangerous with a score", "dangerous without a score"},
    "confusion": {"answers"},
    "confusion-by-rater": {"answers"},
    "agreement": {"n"},
    "attributes": {"n"},
    "differences": {"n"},
    "distributions": {"n"},
    "severe-error-overlap": {"answers"},
    "triage": {"rated answers", "dangerous"},
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Development cases, repeats, and a jury that is formed because its rows are not stored."""
    frame = planted_frame(cases=60, systems=("alpha", "beta"), repeats=2, unscored=0.2, seed=11)
    formed = frame.filter(pl.col("rater") != "jury")
    run = plant_study(
        tmp_path_factory.mktemp("truth"), formed, gate=with_development(12), report={"resamples": 200}
    )
    (run / "audit.jsonl").touch()
    assert main(["report", str(run)]) == 0
    return run


@pytest.fixture(scope="module", params=["planted", "econsult"])
def run(request: pytest.FixtureRequest) -> EvidenceRun:
    return EvidenceRun(request.getfixturevalue(request.param))


def test_every_count_of_the_report_is_the_length_of_its_list(run: EvidenceRun) -> None:
    compared: dict[str, set[str]] = {}
    for table in run.tables():
        for number, row in enumerate(rows_of(run, table), start=1):
            for behind in number_shown(run, run.state, table, number)[1]:
                if behind.counted_by and row[behind.counted_by]:
                    assert int(behind.flags.sum()) == int(row[behind.counted_by]), (
                        table,
                        number,
                        behind.title,
                    )
                    compared.setdefault(table, set()).add(behind.counted_by)
    assert compared == {name: columns for name, columns in COUNTED.items() if rows_of(run, name)}


def test_no_number_rests_on_development_cases(run: EvidenceRun) -> None:
    snapshot = run.state.snapshot
    for flags in (snapshot.dangerous(), snapshot.missed()):
        assert not (flags & snapshot.development).any()


def test_the_first_page_has_the_counts_of_severe_errors(run: EvidenceRun) -> None:
    reader = Reader(run)
    page = reader.text("/")
    rows = re.findall(r"<tr><th scope=\"row\">([^<]+)</th><td>([^<]+)</td>(.*?)</tr>", page)
    shown = {
        (html.unescape(label), rater): [int(each) for each in re.findall(r">(\d+)</a>", cells)]
        for label, rater, cells in rows
    }
    with (run.folder / "tables" / "severe-errors.csv").open(newline="") as file:
        wanted = {
            (row["dimension"], row["rater"]): [
                int(row[name]) for name in ("errors", "dangerous with a score", "dangerous without a score")
            ]
            for row in csv.DictReader(file)
        }
    assert shown == wanted
    links = re.findall(r"<td class=\"number\"><a href=\"([^\"]+)\">(\d+)</a>", page)
    assert len(links) == 3 * len(wanted)
    for link, count in links:
        listed = reader.text(html.unescape(link))
        total = re.search(r"<span>([\d,]+) answers?", listed)
        assert (int(total[1]) if total else 0) == int(count), link


def test_the_queue_is_that_of_triage(run: EvidenceRun, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = run.state.snapshot
    name = snapshot.queues[0]
    assert main(["triage", str(run.folder), "--dimensions", name, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["ranking"]
    order = [snapshot.keys[place] for place in snapshot.queue(name)]
    assert order == [(each["item"], each["system"]) for each in told]
    page = Reader(run).text(f"/cases?show=queue&dimension={name}")
    shown = re.findall(r"<a class=\"answer\" href=\"/case/([^/\"]+)/([^?\"]+)", page)
    assert shown == [(item, system) for item, system in order[:50]]


def test_the_largest_differences_are_the_cases_worth_reading(run: EvidenceRun) -> None:
    worth = rows_of(run, "cases-worth-reading")
    found = run.state.snapshot.difference()
    for row in worth:
        item, _, system = row["case"].partition(" · ")
        value = found[run.state.snapshot.number[item, system]]
        assert abs(value) == pytest.approx(abs(float(row["difference in grades"].removeprefix("'"))))
    largest = sorted((abs(value) for value in found if value == value), reverse=True)
    told = [abs(float(row["difference in grades"].removeprefix("'"))) for row in worth]
    assert told == pytest.approx(largest[: len(told)])


def test_every_vote_of_the_ratings_is_on_its_page(run: EvidenceRun) -> None:
    state = run.state
    reader = Reader(run)
    for place in (0, 7, len(state.snapshot.keys) - 1):
        item, system = state.snapshot.keys[place]
        page = reader.text(state.address(place))
        table = page.partition('id="votes"')[2].partition('id="words"')[0]
        rows = re.findall(r"<th scope=\"row\">(.*?)</tr>", table, flags=re.DOTALL)
        said = [re.sub(r"<[^>]+>", " ", each).split() for each in rows]
        ratings = state.snapshot.table.everything.filter(pl.col("item") == item, pl.col("system") == system)
        for rating in ratings.iter_rows(named=True):
            wanted = (
                f"{rating['score']:.3g}"
                if rating["score"] is not None
                else rating["reason"] or rating["status"].split("_")[0]
            )
            assert any(rating["rater"] in words and wanted in words for words in said), rating


def test_a_jury_that_is_formed_here_has_the_score_of_the_table(planted: Path) -> None:
    run = EvidenceRun(planted)
    table = run.state.snapshot.table
    roles = table.roles()
    grid = table.grid("accuracy", roles)
    place = int((~run.state.snapshot.development).nonzero()[0][3])
    item, system = run.state.snapshot.keys[place]
    (at,) = ((grid.items == item) & (grid.systems == system)).nonzero()[0]
    score = grid.scores["jury"][at]
    page = Reader(run).text(run.state.address(place))
    assert re.search(
        rf"jury <span class=\"soft\">mean of its judges</span></th>\s*<td class=\"number score\">{score:.3g}<",
        page,
    )


def test_triage_of_a_run_that_is_too_small_is_told(tmp_path: Path) -> None:
    run = plant_study(tmp_path, planted_frame(cases=8))
    with pytest.raises(Exception, match="cases") as refused:
        triage(run, dimensions="accuracy")
    page = Reader(EvidenceRun(run)).text("/cases?show=queue")
    assert html.escape(str(refused.value)[:40]) in page

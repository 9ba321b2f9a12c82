"""Gold answers out of reach and memory of a benchmark stand on the page with their effect on ranks; so does what
nobody looked at."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.loopback import Call, LoopbackServer
from tests.suites.leaderboard.made_up import results_of
from tests.suites.running.suites import CLOSED, model, referrals, right_up_to, write_suite

from medjury.cli import main
from medjury.intake.cases import write_cases
from medjury.studies import load_study, run_study
from medjury.suites import completion_probe, gold_cases, keep_probe, load_benchmark, load_items
from medjury.suites._leaderboard._data import board_json
from medjury.suites._leaderboard._page import write_leaderboard
from medjury.suites._leaderboard._results import MemoryResult, ReachResult
from medjury.suites._leaderboard._standings import board_of


def test_items_out_of_reach_may_turn_the_ranks_and_the_page_shows_both(tmp_path: Path) -> None:
    made = results_of({"first": [10, 10], "second": [8, 8]}, items=20)
    # The first is right on items 0 to 9; without 0 to 3 both have fewer, and the order stays.
    reach = ReachResult("bench_00", "judge", {f"i{n}": float(n >= 4) for n in range(19)} | {"i19": None})
    memory = MemoryResult("first", "bench_01", "completion", True, "memorised: 9 of 10 items came back")
    board = board_of(replace(made, reach=(reach,), memory=(memory,)), resamples=200)
    (found,) = board_json(board)["reach"]
    assert (found["items"], found["out_of_reach"], found["not_judged"]) == (20, 4, 1)
    assert [(row["candidate"], row["score"], row["score_in_reach"]) for row in found["candidates"]] == [
        ("first", 0.5, 6 / 16),
        ("second", 0.4, 4 / 16),
    ]
    page = write_leaderboard(board, tmp_path / "page").read_text()
    assert "no rank changes" in page and "known by heart" in page and "9 of 10 items came back" in page
    assert "It was not checked whether the gold answers can be reached: Bench 01." in page
    assert (
        "second was not tested on Bench 00, Bench 01." in page and "first was not tested on Bench 00." in page
    )
    rows = list(csv.DictReader((tmp_path / "page" / "data" / "checks.csv").read_text().splitlines()))
    assert [row["check"] for row in rows] == ["gold answers in reach"] * 2 + ["memory"]
    assert "i19" not in page.split("</main>")[0]  # no id of an item


def test_all_out_of_reach_is_said_and_a_choice_leaves_the_checks_of_others_out() -> None:
    made = results_of({"one": [3], "two": [4]})
    none = ReachResult("bench_00", "judge", {f"i{n}": 0.0 for n in range(20)})
    memory = MemoryResult("two", "bench_00", "completion", None, "cannot be told")
    results = replace(made, reach=(none,), memory=(memory,))
    assert "no item is left" in board_json(board_of(results, resamples=200))["reach"][0]["why"]
    assert not results.only(["one"]).memory and results.only(["one"]).reach


def test_a_study_on_gold_answers_and_a_probe_are_kept_beside_the_results_and_survive_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(call: Call) -> str:
        if call.schema is not None:
            grade = 0 if "Note 1 of" in call.prompt else 1
            return "ok:" + json.dumps({"answerable": {"score": grade, "explanation": "So."}})
        return right_up_to(12)(call)

    benchmark = load_benchmark(CLOSED)
    with LoopbackServer(asked) as server:
        file = write_suite(
            tmp_path,
            benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 12)}],
            candidates=[model(server.url, "one"), model(server.url, "two")],
        )
        fast = ["--quiet", "--resamples", "200"]
        assert main(["bench", "run", str(file), *fast]) == 0
        write_cases(
            gold_cases(benchmark, load_items(benchmark, tmp_path / "referrals.jsonl").items),
            tmp_path / "gold.jsonl",
        )
        (tmp_path / "study.yaml").write_text(
            "study: reach\ncases: gold.jsonl\ninstrument: answerable\noutput: reach\n"
            f"judges: [{json.dumps(model(server.url, 'j'))}]\n"
        )
        run_study(load_study(tmp_path / "study.yaml"))
        out = tmp_path / "out"
        texts = [f"{n} " + " ".join(f"word{n}x{m}" for m in range(20)) for n in range(12)]
        keep_probe(out, "one", CLOSED, completion_probe(texts[:6], texts[6:], lambda text: "nothing"))
        options = ["--answerable", f"{CLOSED}={tmp_path / 'reach'}", "--resamples", "200"]
        assert main(["bench", "leaderboard", str(out), *options]) == 0
        assert main(["bench", "run", str(file), *fast]) == 0  # what was kept is not lost
        assert main(["bench", "leaderboard", str(out), "--answerable", "pubmedqa=x"]) == 2
    assert "which is not among the benchmarks" in capsys.readouterr().err
    found = json.loads((out / "leaderboard" / "data" / "leaderboard.json").read_text())
    assert (found["reach"][0]["items"], found["reach"][0]["out_of_reach"]) == (12, 1)
    assert [each["memorised"] for each in found["memory"]] == [False]
    assert found["not_probed"] == {"two": [benchmark.title]}
    assert (out / "checks.json").stat().st_mode & 0o077 == 0

"""One command asks, marks, judges and writes the leaderboard; what is stopped goes on, and nothing is paid for
twice."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import polars
import pytest
from tests.loopback import Call, LoopbackServer
from tests.processes import kill, start, wait_until
from tests.suites.running.suites import CLOSED, OPEN, cells, model, pages, referrals, right_up_to, write_suite

from medjury.cli import main
from medjury.suites import load_benchmark, read_results, sample_file
from medjury.suites._leaderboard._data import board_json
from medjury.suites._leaderboard._standings import board_of

ROOT = Path(__file__).parents[3]
EIGHT = ["head_qa", "pubmedqa", "medec", "ehrsql", "medcalc_bench", "medbullets", "race_bias", "mediqa_qa"]
FAST = ["--quiet", "--resamples", "200"]


def run(file: Path, *options: str) -> int:
    return main(["bench", "run", str(file), *FAST, *options])


def test_eight_benchmarks_and_two_candidates_give_a_leaderboard_in_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(right_up_to(0)) as first, LoopbackServer(right_up_to(0)) as second:
        command = [
            "bench", "run", *EIGHT,
            "--candidate", f"kind=openai,url={first.url},model=one",
            "--candidate", f"kind=openai,url={second.url},model=two",
            "--judge", f"kind=openai,url={first.url},model=judge",
            "--output", str(tmp_path / "out"), *FAST,
        ]  # fmt: skip
        assert main(command) == 0
        asked = len(first.calls), len(second.calls)
        assert main(command) == 0  # everything is found in the store
        assert (len(first.calls), len(second.calls)) == asked
    page = (tmp_path / "out" / "leaderboard" / "index.html").read_text()
    assert "NOT A MEASUREMENT" in page and "NOT VALIDATED" in page
    assert "NOT A MEASUREMENT: made-up rows stand in for the data of" in capsys.readouterr().out
    found = cells(tmp_path)
    assert len(found) == 16 and all(each["complete"] for each in found.values())
    assert {each["benchmark"] for each in found.values()} == set(EIGHT)


def two(tmp_path: Path, first: LoopbackServer, second: LoopbackServer, **settings: object) -> Path:
    """Twelve referrals for two candidates."""
    return write_suite(
        tmp_path,
        benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 12)}],
        candidates=[model(first.url, "good"), model(second.url, "other")],
        **settings,
    )


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two candidates, one right on all items, that several tests look at."""
    folder = tmp_path_factory.mktemp("scored")
    with LoopbackServer(right_up_to(12)) as first, LoopbackServer(right_up_to(4)) as second:
        assert run(two(folder, first, second)) == 0
    return folder


def test_scores_are_the_marks_of_the_answers_and_a_trivial_answer_stands_beside_them(scored: Path) -> None:
    found = cells(scored)
    assert found["good", CLOSED]["score"] == 1.0 and found["other", CLOSED]["score"] == 8 / 12
    assert found["good", CLOSED]["baseline_score"] == 0.5
    marks = polars.read_parquet(scored / "out" / "marks.parquet")
    assert set(marks["rater"]) == {"exact_match"} and set(marks["rater_kind"]) == {"metric"}
    assert marks.filter(system="other")["score"].sum() == 8


def test_an_item_at_fault_counts_for_nobody_and_the_trivial_answer_stays(tmp_path: Path) -> None:
    """Whoever abstains is marked without the item's own query, which cannot be run."""
    folder = tmp_path / "questions"
    shutil.copytree(sample_file(load_benchmark("ehrsql")), folder)
    rows = json.loads((folder / "valid.json").read_text())
    rows.append({**rows[0], "id": "faulty", "question": "what is gone?", "query": "select gone from nowhere"})
    (folder / "valid.json").write_text(json.dumps(rows))
    with LoopbackServer(lambda _call: "ok:null") as server:
        part = {"name": "ehrsql", "data": "questions"}
        file = write_suite(tmp_path, benchmarks=[part], candidates=[model(server.url, "abstains")])
        assert run(file, "--no-preflight") == 0
    cell = cells(tmp_path)["abstains", "ehrsql"]
    assert (cell["items"], cell["score"], cell["baseline_score"]) == (3, 1 / 3, 1 / 3)


def test_a_benchmark_that_is_added_is_all_that_is_asked_and_without_a_jury_an_open_one_ranks_nobody(
    tmp_path: Path,
) -> None:
    with LoopbackServer(right_up_to(12)) as server:
        both: dict[str, object] = {"candidates": [model(server.url, "one"), model(server.url, "two")]}
        closed = {"name": CLOSED, "data": referrals(tmp_path, 12)}
        assert run(write_suite(tmp_path, benchmarks=[closed], **both), "--no-preflight") == 0
        assert len(server.calls) == 24
        assert run(write_suite(tmp_path, benchmarks=[closed, OPEN], **both), "--no-preflight") == 0
        assert len(server.calls) == 24 + 6
    assert cells(tmp_path)["one", OPEN]["missing"] == {"no jury": 3}
    standings = (tmp_path / "out" / "leaderboard" / "data" / "standings.csv").read_text().splitlines()
    assert standings[1].startswith("all benchmarks,one,0.5")
    assert (
        "Open benchmarks that no jury judged" in (tmp_path / "out" / "leaderboard" / "index.html").read_text()
    )


def test_refusals_count_as_not_right_and_lost_answers_count_neither_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = right_up_to(12, {0: "refusal", 1: "empty", 2: "length", 3: "ok:It depends."})
    broken = right_up_to(12, dict.fromkeys(range(6), "400:no such thing"))
    with LoopbackServer(silent) as first, LoopbackServer(broken) as second:
        file = two(tmp_path, first, second)
        assert run(file) == 3
        assert "other: 6 answers missing (provider)" in capsys.readouterr().err
        found = cells(tmp_path)
        good, other = found["good", CLOSED], found["other", CLOSED]
        assert good["unanswered"] == {"refusal": 1, "empty": 1, "truncated": 1, "parse": 1}
        assert good["score"] == 8 / 12 and good["among_answers"] == 1.0 and good["complete"]
        assert other["missing"] == {"provider": 6} and other["score"] == 1.0
        assert (other["worst"], other["best"]) == (0.5, 1.0)
        page = (tmp_path / "out" / "leaderboard" / "index.html").read_text()
        assert "INCOMPLETE" in page and "no rank: ent_referral INCOMPLETE" in page
        before = len(first.calls), len(second.calls)
        second.endpoint.behaviours = right_up_to(12)
        assert run(file) == 0  # only what was lost is asked for
        assert (len(first.calls), len(second.calls)) == (before[0], before[1] + 6)
    assert cells(tmp_path)["other", CLOSED]["complete"]


def test_one_candidate_that_is_away_stops_nobody_else(tmp_path: Path) -> None:
    with LoopbackServer(right_up_to(12)) as first, LoopbackServer(preflight="401") as second:
        assert run(two(tmp_path, second, first)) == 3
    results = read_results(tmp_path / "out")
    away, there = results.candidates
    assert away.why and not there.why
    # Where it is published nobody reads whose address did not answer.
    told = "".join(
        each.read_text() for each in (tmp_path / "out" / "leaderboard").rglob("*.*") if each.is_file()
    )
    assert "good was stopped before its end" in told and "127.0.0.1" not in told
    assert cells(tmp_path)["good", CLOSED]["missing"] == {"not asked": 12}
    assert cells(tmp_path)["other", CLOSED]["score"] == 1.0


def test_a_budget_holds_for_candidates_and_judges_together(tmp_path: Path) -> None:
    with LoopbackServer(right_up_to(12)) as server:
        file = write_suite(
            tmp_path,
            benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 12)}, OPEN],
            candidates=[model(server.url, "one"), model(server.url, "two")],
            jury=[model(server.url, "judge")],
            budget={"calls": 20},
        )
        assert run(file, "--no-preflight") == 3
        assert len(server.calls) == 20
        write_suite(tmp_path, **{**json.loads(json.dumps(_settings(file))), "budget": {"calls": 1000}})
        assert run(file, "--no-preflight") == 0
        assert len(server.calls) == 2 * 15 + 6  # two candidates on 15 items, three of which are open


def _settings(file: Path) -> dict[str, object]:
    return {
        name: json.loads(value)
        for name, _, value in (line.partition(": ") for line in file.read_text().splitlines())
    }


def open_suite(tmp_path: Path, server: LoopbackServer, **benchmark: object) -> Path:
    return write_suite(
        tmp_path,
        benchmarks=[{"name": OPEN, **benchmark}],
        candidates=[model(server.url, "one"), model(server.url, "two")],
        jury=[model(server.url, name) for name in ("j1", "j2", "j3")],
    )


def test_open_answers_are_judged_by_an_ordinary_study_score_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(right_up_to(0)) as server:
        assert run(open_suite(tmp_path, server)) == 0
        judged = [call for call in server.calls if call.schema is not None]
    assert len(judged) == 3 * 3 * 2 and {call.json["temperature"] for call in judged} == {0.0}
    axis = judged[0].json["response_format"]["json_schema"]["schema"]["properties"]
    assert list(axis) == ["accuracy", "completeness", "clarity"]
    assert next(iter(axis["accuracy"]["properties"])) == "score"
    folder = tmp_path / "out" / "open" / OPEN / "run"
    assert main(["runs", "verify", str(folder)]) == 0
    table = polars.read_parquet(folder / "ratings.parquet")
    votes = table.filter(rater_kind="judge", system="one").filter(
        polars.col("dimension").is_in(["accuracy", "completeness", "clarity"])
    )
    expected = ((votes["score"] - 1) / 4).mean()
    assert votes.height == 27 and cells(tmp_path)["one", OPEN]["score"] == pytest.approx(expected)
    page = (tmp_path / "out" / "leaderboard" / "index.html").read_text()
    assert "No clinician has rated these answers" in page
    # What was kept makes the same leaderboard again.
    again = board_json(board_of(read_results(tmp_path / "out"), resamples=200))
    first = (tmp_path / "out" / "leaderboard" / "data" / "leaderboard.json").read_text()
    assert json.loads(json.dumps(again)) == json.loads(first)


def test_a_refusal_in_plain_words_is_no_answer_for_the_jury_to_grade(tmp_path: Path) -> None:
    def declining(call: Call) -> str:
        return "ok:I'm sorry, but I can't help with that." if call.json["model"] == "two" else usual(call)

    usual = right_up_to(0)
    with LoopbackServer(declining) as server:
        assert run(open_suite(tmp_path, server)) == 0
        judged = [call for call in server.calls if call.schema is not None]
    assert len(judged) == 3 * 3  # the answers of the other candidate alone
    found = cells(tmp_path)["two", OPEN]
    assert found["unanswered"] == {"refusal": 3} and found["complete"] and found["scored"] == 0
    assert (
        found["score"] == 0 and (found["worst"], found["best"]) == (0, 0) and found["among_answers"] is None
    )
    page = (tmp_path / "out" / "leaderboard" / "index.html").read_text()
    assert "declined" in page


def test_a_budget_tells_that_the_preflight_is_one_of_its_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(right_up_to(12)) as server:
        file = write_suite(
            tmp_path,
            benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 12)}],
            candidates=[model(server.url, "one")],
            budget={"calls": 6},
        )
        assert run(file) == 3
        assert (len(server.calls), len(server.preflights)) == (5, 1)
    told = capsys.readouterr().err
    assert "6 calls made now, 1 of them for preflight" in told
    assert cells(tmp_path)["one", CLOSED]["missing"] == {"over_budget": 7}


def test_where_text_had_to_be_rearranged_its_structure_is_graded(tmp_path: Path) -> None:
    with LoopbackServer(right_up_to(0)) as server:
        file = write_suite(
            tmp_path,
            benchmarks=["note_extract"],
            candidates=[model(server.url, "one")],
            jury=[model(server.url, "judge")],
        )
        assert run(file) == 0
        [axes] = {tuple(call.schema["properties"]) for call in server.calls if call.schema is not None}
    assert axes == ("accuracy", "clarity", "structure")


def test_a_plan_states_the_bound_before_and_the_page_what_it_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    price = {"price": {"input": 1.0, "output": 10.0}}
    with LoopbackServer(right_up_to(12)) as server:
        file = write_suite(
            tmp_path,
            benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 12)}, OPEN],
            candidates=[model(server.url, "one", **price), model(server.url, "two", max_tokens=77, **price)],
            jury=[model(server.url, "judge", **price)],
        )
        assert run(file, "--dry-run") == 0
        assert "expected" in capsys.readouterr().out and not server.calls
        assert not (tmp_path / "out").exists()
        assert run(file) == 0
        first = [call for call in server.calls if call.json["model"] == "one"]
        answers = [call for call in server.calls if call.json["model"] == "two"]
    assert {call.json["max_tokens"] for call in answers} == {77}
    found = json.loads((tmp_path / "out" / "leaderboard" / "data" / "leaderboard.json").read_text())["cost"]
    one, other, judge = found["by_model"]
    assert (one["payer"], one["role"], judge["role"]) == ("one", "candidate", "judge")
    assert one["calls"] == 15 and judge["calls"] == 6
    assert one["tokens_in"] == sum(max(1, len(call.body) // 4) for call in first)
    assert one["money"] == pytest.approx((one["tokens_in"] + 10 * one["tokens_out"]) / 1e6)
    assert (
        other["bound_tokens"] - other["expected_tokens"] == 0
    )  # 77 is less than a usual answer: both are the limit
    assert one["bound_money"] > one["expected_money"] > 0 and judge["bound_money"] > judge["expected_money"]
    assert found["paid"] >= one["money"] + other["money"] + judge["money"]
    whole = found["by_candidate"][0]
    assert whole["jury_tokens"] > 0 and whole["money"] == pytest.approx(
        whole["benchmark_money"] + whole["jury_money"]
    )


def test_private_texts_and_ids_stay_out_of_the_pages_unless_asked_for(scored: Path, tmp_path: Path) -> None:
    def told(folder: Path) -> str:
        return "".join(each.read_text() for each in folder.rglob("*") if each.is_file())

    published = told(scored / "out" / "leaderboard")
    assert "SECRET PATIENT" not in published and "MRN-" not in published
    again = ["bench", "leaderboard", str(scored / "out"), "--output", str(tmp_path), "--resamples", "200"]
    assert main([*again, "--texts"]) == 0
    assert "SECRET PATIENT" in told(tmp_path) and "MRN-3" in told(tmp_path)
    assert main([*again, "--candidates", "good"]) == 0
    assert "SECRET PATIENT" not in told(tmp_path) and len([*tmp_path.rglob("*.html")]) == 2


def test_clinicians_who_rated_bring_agreement_and_a_verdict(tmp_path: Path) -> None:
    rows = ["item,system,rater,dimension,score"]
    for place, item in enumerate(("s1", "s2", "s3")):
        for number, system in enumerate(("one", "two")):
            for axis in ("accuracy", "completeness", "clarity"):
                for person in range(2):
                    rows.append(f"{item},{system},dr {person},{axis},{1 + (place + 2 * number + person) % 5}")
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    with LoopbackServer(right_up_to(0)) as server:
        assert run(open_suite(tmp_path, server, clinicians="people.csv")) == 0
    [row] = read_results(tmp_path / "out").agreement
    assert row.answers == 6 and row.clinicians == 2 and {"jury", "rouge_l", "clinicians"} <= set(row.columns)
    [benchmark] = read_results(tmp_path / "out").benchmarks
    assert benchmark.jury is not None and benchmark.jury.clinicians == 2 and benchmark.jury.verdicts


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"benchmarks": ["ent_referal"]}, "did you mean 'ent_referral'"),
        ({"benchmarks": [CLOSED, CLOSED]}, "appears twice"),
        ({"candidates": []}, "line 4: candidates"),
        (
            {
                "candidates": [
                    {"kind": "openai", "name": "<b>x</b>", "url": "http://127.0.0.1:9/v1", "model": "m"}
                ]
            },
            "name",
        ),
        ({"jury": "medhelm", "benchmarks": [OPEN]}, "llama_url"),
        (
            {"jury": {"preset": "medhelm", "llama_url": "http://127.0.0.1:9/v1"}, "benchmarks": [OPEN]},
            "api.openai.com",
        ),
        ({"judge": []}, "no such setting"),
    ],
)
def test_what_is_wrong_with_a_suite_file_is_told_before_anything_is_asked(
    tmp_path: Path, change: dict[str, object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    candidates = [model("http://127.0.0.1:9/v1", "one")]
    file = write_suite(tmp_path, **{"benchmarks": [CLOSED], "candidates": candidates, **change})
    assert run(file) == 2
    assert told in capsys.readouterr().err


def reached(log: Path, count: int) -> bool:
    return log.exists() and len(log.read_text().splitlines()) >= count


def test_a_suite_that_was_killed_goes_on_and_pays_for_no_more_than_was_in_flight(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", "--latency", "0.03", "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            file = write_suite(
                tmp_path,
                benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 40)}],
                candidates=[model(url, name, concurrency=3) for name in ("one", "two")],
            )
            going = start(file, "--resamples", "200", "--no-preflight", command=("bench", "run"))
            wait_until(partial(reached, log, 55), going)  # in the middle of the second candidate
            kill(going)
            assert run(file, "--no-preflight") == 0
        finally:
            server.kill()
    answered = Counter(line.split()[0] for line in log.read_text().splitlines())
    assert len(answered) == 80 and sum(answered.values()) <= 80 + 3
    assert all(each["items"] == 40 and each["complete"] for each in cells(tmp_path).values())


def test_a_sites_own_file_under_the_name_of_a_public_benchmark_is_not_published(tmp_path: Path) -> None:
    with sample_file(load_benchmark("medbullets")).open(encoding="utf-8", newline="") as source:
        rows = [
            {name: f"{value} SECRET PATIENT" if len(value) > 20 else value for name, value in row.items()}
            for row in csv.DictReader(source)
        ]
    with (tmp_path / "ours.csv").open("w", encoding="utf-8", newline="") as ours:
        writer = csv.DictWriter(ours, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with LoopbackServer() as server:
        chosen = [{"name": "medbullets", "data": "ours.csv"}]
        assert run(write_suite(tmp_path, benchmarks=chosen, candidates=[model(server.url, "one")])) == 0
        assert any("SECRET PATIENT" in call.prompt for call in server.calls)
    assert not [page for page in pages(tmp_path) if "SECRET PATIENT" in page.read_text(encoding="utf-8")]

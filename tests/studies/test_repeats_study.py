"""Repeats as a strategy in a study file: several draws behind one rating, each paid for once, the spread kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import killed_at, records_of, votes_of

from medjury.report import write_page
from medjury.studies import check_study, load_study, run_study

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
SCORES = (5, 3, 4, 4, 2)


def draw(call: Call) -> int:
    return int(call.json["seed"])


def scores(call: Call) -> str:
    """Every draw its own score."""
    answer = {"explanation": f"draw {draw(call)}", "score": SCORES[draw(call) % 5]}
    return "ok:" + json.dumps(dict.fromkeys(DIMENSIONS, answer))


@pytest.fixture
def write_repeats(write_study: Write, server: LoopbackServer) -> Write:
    server.endpoint.behaviours = scores

    def write(strategy: Any = "repeats", **settings: Any) -> Path:
        judge = {"strategy": strategy, **settings.pop("judge", {})}
        return write_study(judge=judge, **{"cases": 2, **settings})

    return write


def run(study: Path) -> str:
    """What becomes of the study; no report is drawn."""
    return run_study(load_study(study), preflight=False).status


def folder(study: Path) -> Path:
    return study.parent / "runs" / "small"


def test_one_word_turns_a_judge_into_the_median_of_five_draws(
    write_repeats: Write, server: LoopbackServer
) -> None:
    study = write_repeats(judge={"price": {"input": 10.0, "output": 20.0}})
    assert run(study) == "complete"
    assert Counter(map(draw, server.calls)) == dict.fromkeys(range(5), 2)
    assert {call.json["temperature"] for call in server.calls} == {1.0}
    table = votes_of(study)
    assert table["score"].to_list() == [4.0] * 6 and table["calls"].sum() == 10
    told = json.loads((folder(study) / "manifest.json").read_text())
    assert table["cost"].sum() == pytest.approx(told["cost"]) and told["cost"] > 0
    assert told["judges"][0]["strategy"] == "repeats" and told["judges"][0]["temperature"] == 1.0
    assert table["explanation"][0].startswith(
        "scores 2, 3, 4, 4, 5 (of 5), standard deviation 1.14. A draw of 4"
    )
    for record in records_of(study):
        assert record["kind"] == "repeats"
        assert [each["outcomes"]["accuracy"]["score"] for each in record["body"]["draws"]] == list(SCORES)
        assert record["body"]["spread"]["accuracy"]["standard_deviation"] == pytest.approx(1.1402, abs=1e-4)
    assert run(study) == "complete" and len(server.calls) == 10, "a finished run asks nothing"


def test_a_budget_reached_between_draws_leaves_the_case_open_and_the_next_run_goes_on(
    write_repeats: Write, server: LoopbackServer
) -> None:
    study = write_repeats(cases=1, budget={"calls": 3})
    assert run(study) == "incomplete"
    assert set(votes_of(study)["reason"]) == {"over_budget"} and len(server.calls) == 3
    assert votes_of(study)["explanation"][0].startswith("draw 4 of 5: ")
    study = write_repeats(cases=1, budget={"calls": 30})
    assert run(study) == "complete" and len(server.calls) == 5
    (record,) = records_of(study)
    assert len(record["body"]["draws"]) == 5


def test_a_run_killed_between_draws_does_not_repeat_the_first_ones(
    write_repeats: Write, server: LoopbackServer
) -> None:
    study = write_repeats(cases=1)
    killed_at(study, server, lambda call: draw(call) == 2)
    assert run(study) == "complete"
    assert Counter(map(draw, server.calls)) == {0: 1, 1: 1, 2: 2, 3: 1, 4: 1}
    assert votes_of(study)["score"].to_list() == [4.0] * 3


def test_examples_are_shown_in_every_draw(write_repeats: Write, server: LoopbackServer) -> None:
    study = write_repeats(
        {"name": "repeats", "n": 2}, cases=6, examples={"shots": 1, "share": 0.5}, humans="h.csv"
    )
    lines = [f"case-{n},a,dr-{rater},{name},3" for n in range(6) for rater in (1, 2) for name in DIMENSIONS]
    (study.parent / "h.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
    assert run(study) == "complete"
    assert len(server.calls) == 12 and {len(call.json["messages"]) for call in server.calls} == {4}
    told = json.loads((folder(study) / "manifest.json").read_text())
    assert len(told["judges"][0]["development_cases"]) == 3 == len(told["gate"]["development_cases"])


def test_the_plan_counts_every_draw(write_repeats: Write, server: LoopbackServer) -> None:
    plan = check_study(load_study(write_repeats({"name": "repeats", "n": 7}, cases=3)))
    assert plan.calls == 21 and not server.calls


def test_the_report_shows_the_spread_of_repeats_of_the_whole_study(
    write_study: Write, server: LoopbackServer
) -> None:
    server.endpoint.behaviours = scores
    study = write_study(cases=8, repeats=5, judge={"temperature": 0.5}, report={"resamples": 200})
    assert run(study) == "complete"
    page = write_page(folder(study)).read_text()
    assert "Repeats of the same judge on the same answer" in page and "1.14" in page

"""A deliberation in a study file: one line, every role its model, every step kept, no step paid for twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import killed_at, manifest_of, records_of, run_without_report, votes_of

from medjury.cli import main

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
OPENINGS = {"high_scorer": 5, "low_scorer": 2, "middle_scorer": 3}
STEPS = 3 + 3 + 2 + 1  # first gradings, the orchestrator's questions, turns, the decision


def step(call: Call) -> str:
    """Which step of a deliberation a request is."""
    assert call.schema is not None
    names = call.schema["properties"]
    if "speaker" in names:
        return f"question {call.prompt.count('the orchestrator asks') + 1}"
    if "statement" in names:
        return f"turn {call.prompt.count('the orchestrator asks')}"
    return "decision" if "The discussion is over" in call.prompt else "opening"


def talk(call: Call) -> str:
    """Two turns without agreement, then the orchestrator ends and decides for 2."""
    name = step(call)
    if name == "opening":
        score = next(grade for persona, grade in OPENINGS.items() if f"You are {persona}," in call.prompt)
        return "ok:" + graded(score, "as the note shows")
    if name.startswith("question"):
        speaker, question = {
            "question 1": ("low_scorer", "What is missing?"),
            "question 2": ("high_scorer", "Is that so?"),
        }.get(name, ("nobody", ""))
        answer: dict[str, Any] = {"assessment": "open", "speaker": speaker, "about": "accuracy"}
        return "ok:" + json.dumps({**answer, "progress": True, "question": question})
    if name.startswith("turn"):
        score = 2 if name == "turn 1" else 5
        words = {"turn 1": "The dose on the second line.", "turn 2": "It stands further down there."}[name]
        return "ok:" + json.dumps({"statement": words, "grades": {"accuracy": score}})
    return "ok:" + graded(2, "the dose is missing")


def graded(score: int, why: str) -> str:
    return json.dumps({name: {"explanation": why, "score": score} for name in DIMENSIONS})


@pytest.fixture
def deliberate(write_study: Write, server: LoopbackServer) -> Write:
    server.endpoint.behaviours = talk

    def write(strategy: Any = "deliberation", **settings: Any) -> Path:
        judge = {"strategy": strategy, **settings.pop("judge", {})}
        return write_study(judge=judge, **{"cases": 2, **settings})

    return write


def run(study: Path) -> int:
    return run_without_report(study, "--no-preflight")


def test_one_line_turns_a_judge_into_a_deliberation(deliberate: Write, server: LoopbackServer) -> None:
    price = {"input": 10.0, "output": 20.0}
    study = deliberate(judge={"price": price})
    assert run(study) == 0
    assert len(server.calls) == 2 * STEPS
    table = votes_of(study)
    assert table["score"].to_list() == [2.0] * 6 and set(table["explanation"]) == {"the dose is missing"}
    assert table["calls"].sum() == 2 * STEPS
    told = manifest_of(study)
    assert table["cost"].sum() == pytest.approx(told["cost"]) and told["cost"] > 0
    story = [each["body"] for each in records_of(study)]
    assert [each["ended"] for each in story] == ["orchestrator"] * 2
    assert sum(each["cost"] for body in story for each in body["steps"]) == pytest.approx(told["cost"])
    before = len(server.calls)
    assert run(study) == 0 and len(server.calls) == before, "a finished run asks nothing"
    assert len(records_of(study)) == 2


def test_every_role_may_have_a_model_of_its_own(deliberate: Write, server: LoopbackServer) -> None:
    other = {"kind": "openai", "url": server.url}
    study = deliberate(
        {
            "name": "deliberation",
            "orchestrator": {**other, "model": "large", "max_tokens": 333},
            "personas": [
                "high_scorer",
                {
                    "name": "low_scorer",
                    "model": {**other, "model": "small", "price": {"input": 1, "output": 1}},
                },
                {"name": "middle_scorer", "text": "You read as the hospital's pharmacist."},
            ],
        },
        cases=1,
    )
    assert run(study) == 0
    asked = Counter((call.json["model"], step(call).split()[0]) for call in server.calls)
    assert asked == {
        ("m", "opening"): 2,
        ("small", "opening"): 1,
        ("large", "question"): 3,
        ("small", "turn"): 1,
        ("m", "turn"): 1,
        ("large", "decision"): 1,
    }
    assert any("You read as the hospital's pharmacist." in call.prompt for call in server.calls)
    names = {each["model"] for each in records_of(study)[0]["body"]["steps"]}
    assert names == {"juror", "juror/low_scorer", "juror/orchestrator"}


def test_a_budget_reached_in_the_middle_leaves_the_case_open_and_the_next_run_goes_on(
    deliberate: Write, server: LoopbackServer
) -> None:
    study = deliberate(cases=1, budget={"calls": 5})
    assert run(study) == 3
    assert set(votes_of(study)["reason"]) == {"over_budget"} and len(server.calls) == 5
    assert records_of(study)[0]["body"]["ended"] == "failed"
    study = deliberate(cases=1, budget={"calls": 50})
    assert run(study) == 0
    assert len(server.calls) == STEPS and votes_of(study)["score"].to_list() == [2.0] * 3
    (record,) = records_of(study)
    assert record["body"]["ended"] == "orchestrator", "the story of the finished deliberation takes its place"


def test_a_run_killed_in_the_second_round_does_not_repeat_the_first(
    deliberate: Write, server: LoopbackServer
) -> None:
    study = deliberate(cases=1)
    killed_at(study, server, lambda call: step(call) == "turn 2")
    assert run(study) == 0
    asked = Counter(call.body for call in server.calls)
    repeated = {
        step(next(call for call in server.calls if call.body == body)) for body in asked if asked[body] > 1
    }
    assert repeated == {"turn 2"} and max(asked.values()) == 2 and len(asked) == STEPS
    assert votes_of(study)["score"].to_list() == [2.0] * 3


def test_repeats_are_different_draws(deliberate: Write, server: LoopbackServer) -> None:
    study = deliberate(cases=1, repeats=2)
    assert run(study) == 0
    assert len(server.calls) == 2 * STEPS and len({call.body for call in server.calls}) == 2 * STEPS
    assert [each["repeat"] for each in records_of(study)] == [0, 1]


def test_a_host_of_a_role_must_be_allowed_too(
    deliberate: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    far = {"kind": "openai", "url": "https://models.example.org/v1", "model": "x"}
    assert run(deliberate({"name": "deliberation", "orchestrator": far})) == 2
    assert "models.example.org" in capsys.readouterr().err and not server.calls


def test_the_plan_counts_the_calls_of_a_deliberation(
    deliberate: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(deliberate()), "--dry-run", "--no-preflight"]) == 0
    assert "20 calls" in capsys.readouterr().out and not server.calls  # (3 + 2 · 3 + 1) for each of 2 cases

"""Claims in a study file: one line, both steps kept, a kill between them costs nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.judging.planted_claims import CASES, DOSE, MIXED, knowing
from tests.loopback import Call, LoopbackServer
from tests.studies.running import killed_at, manifest_of, records_of, run_without_report, votes_of

from medjury.intake.cases import case_to_row
from medjury.judging import ClaimsBody, ClaimStatistics

Write = Callable[..., Path]


def step(call: Call) -> str:
    if "Text to take apart" in call.prompt:
        return "list"
    return "told" if "were looked up" in call.prompt else "verify"


def planted(call: Call) -> str:
    return "ok:" + knowing()(call.prompt)


@pytest.fixture
def by_claims(write_study: Write, server: LoopbackServer) -> Write:
    server.endpoint.behaviours = planted

    def write(strategy: Any = "claims", *, cases: Any = CASES, **settings: Any) -> Path:
        rows = [case_to_row(each.case) for each in cases]
        judge = {"strategy": strategy, **settings.pop("judge", {})}
        fixed = {"instrument": "concordance", "dimensions": ["concordant"], "max_unscored": 1.0}
        return write_study(cases=rows, judge=judge, **{**fixed, **settings})

    return write


def run(study: Path) -> int:
    return run_without_report(study, "--no-preflight")


CALLS = sum(1 + len(each.claims) for each in CASES)


def test_one_line_turns_a_judge_into_decompose_then_verify(by_claims: Write, server: LoopbackServer) -> None:
    study = by_claims(judge={"price": {"input": 10.0, "output": 20.0}})
    assert run(study) == 0
    table = votes_of(study)
    assert dict(zip(table["item"], table["score"], strict=True)) == {
        each.case.id: each.vetoed for each in CASES
    }
    assert len(server.calls) == CALLS == table["calls"].sum()
    told = manifest_of(study)
    assert table["cost"].sum() == pytest.approx(told["cost"]) and told["cost"] > 0
    bodies = [each["body"] for each in records_of(study)]
    assert {each["kind"] for each in records_of(study)} == {"claims"}
    spent = sum(each["cost"] for body in bodies for each in body["steps"])
    assert spent == pytest.approx(told["cost"])
    found = ClaimStatistics()
    for body in bodies:
        found.note(ClaimsBody.model_validate(body))
    assert found.claims == sum(len(each.claims) for each in CASES)
    assert found.range == (2, 6)
    assert found.count("contradicted", 3) == 3
    before = len(server.calls)
    assert run(study) == 0
    assert len(server.calls) == before, "a finished run asks nothing"
    assert len(records_of(study)) == len(CASES)


def test_the_steps_may_have_models_of_their_own_and_claims_may_share_a_call(
    by_claims: Write, server: LoopbackServer
) -> None:
    other = {"kind": "openai", "url": server.url}
    study = by_claims(
        {
            "name": "claims",
            "batch": 4,
            "lister": {**other, "model": "small"},
            "verifier": {**other, "model": "large", "max_tokens": 333},
        },
        cases=[MIXED],
    )
    assert run(study) == 0
    assert Counter((call.json["model"], step(call)) for call in server.calls) == {
        ("small", "list"): 1,
        ("large", "verify"): 2,
    }
    sizes = {call.json["model"]: call.json.get("max_tokens") or call.json["max_completion_tokens"]
             for call in server.calls}  # fmt: skip
    assert sizes == {"small": 4096, "large": 333}
    assert votes_of(study)["score"].to_list() == [0.0]


def test_settings_reach_the_arithmetic(by_claims: Write) -> None:
    strategy = {"name": "claims", "decisive": "weight", "threshold": 0.3, "denominator": "addressed"}
    study = by_claims(strategy, cases=[MIXED])
    assert run(study) == 0
    assert votes_of(study)["score"].to_list() == [1.0]  # a third of the weight


def test_a_budget_reached_between_the_steps_leaves_the_case_open(
    by_claims: Write, server: LoopbackServer
) -> None:
    study = by_claims(cases=[MIXED], budget={"calls": 3})
    assert run(study) == 3
    assert votes_of(study)["reason"].to_list() == ["over_budget"]
    assert len(server.calls) == 3
    study = by_claims(cases=[MIXED], budget={"calls": 50})
    assert run(study) == 0
    assert len(server.calls) == 1 + len(MIXED.claims)
    assert votes_of(study)["score"].to_list() == [0.0]
    (record,) = records_of(study)
    assert record["body"]["share"] == 4 / 12


def test_a_run_killed_while_it_verifies_does_not_list_again(by_claims: Write, server: LoopbackServer) -> None:
    study = by_claims(cases=[MIXED], judge={"concurrency": 1})
    killed_at(study, server, lambda call: step(call) == "verify" and DOSE.claim in call.prompt)
    assert run(study) == 0
    asked = Counter(call.body for call in server.calls)
    repeated = [call for call in server.calls if asked[call.body] > 1]
    assert {step(call) for call in repeated} <= {"verify"}
    assert len({call.body for call in repeated}) <= 1, "only what was in flight is asked for twice"
    assert votes_of(study)["score"].to_list() == [0.0]


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is here")
def test_embeddings_without_torch_are_refused_before_any_call(
    by_claims: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(by_claims({"name": "claims", "embeddings": "models/mini"})) == 2
    assert "medjury[neural]" in capsys.readouterr().err
    assert not server.calls

"""An adaptive jury in a study file: cheap first, the next juror only where needed, no call paid for twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import killed_at, manifest_of, records_of, run_without_report, votes_of

from medjury.judging import AdaptiveRule, SavedAdaptiveRule
from medjury.studies import load_study

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
# What each model gives each case: case 0 is plain to see, case 1 is not, case 2 divides the jury.
GRADES = {
    "m": {"Summary 0.": 5, "Summary 1.": 3, "Summary 2.": 4},
    "middle": {"Summary 0.": 1, "Summary 1.": 3, "Summary 2.": 1},
    "large": {"Summary 0.": 1, "Summary 1.": 1, "Summary 2.": 4},
}
JURORS = [{"name": "small"}, {"name": "middle", "model": "middle"}, {"name": "large", "model": "large"}]
RULE = {"tolerance": 0.125, "minimum": 1}
STRATEGY = {"name": "adaptive", "jurors": JURORS, "rule": RULE}
SCALES = dict.fromkeys(DIMENSIONS, (1.0, 5.0))


def grade(call: Call) -> str:
    score = next(each for text, each in GRADES[call.json["model"]].items() if text in call.prompt)
    return "ok:" + json.dumps({name: {"explanation": "so it is", "score": score} for name in DIMENSIONS})


@pytest.fixture
def adapt(write_study: Write, server: LoopbackServer) -> Write:
    server.endpoint.behaviours = grade

    def write(strategy: Any = None, **settings: Any) -> Path:
        judge = {"strategy": strategy or STRATEGY, **settings.pop("judge", {})}
        return write_study(judge=judge, **{"cases": 3, **settings})

    return write


def run(study: Path) -> int:
    return run_without_report(study, "--no-preflight")


def asked(server: LoopbackServer) -> Counter[str]:
    return Counter(call.json["model"] for call in server.calls)


def test_further_jurors_are_asked_only_where_the_decision_is_open(
    adapt: Write, server: LoopbackServer
) -> None:
    other = [{**each, "price": {"input": 30.0, "output": 60.0}} for each in JURORS[1:]]
    study = adapt(
        {**STRATEGY, "jurors": [JURORS[0], *other]}, judge={"price": {"input": 10.0, "output": 20.0}}
    )
    assert run(study) == 0
    assert asked(server) == {"m": 3, "middle": 2, "large": 1}
    table = votes_of(study)
    assert table["score"].to_list() == [5.0] * 3 + [3.0] * 3 + [3.0] * 3
    assert table["calls"].sum() == 6 and set(table["rater"]) == {"juror"}
    story = [each["body"] for each in records_of(study)]
    assert [len(each["calls"]) for each in story] == [1, 2, 3]
    assert [each["stopped"] for each in story] == ["settled", "settled", "all calls made"]
    assert [each["juror"] for each in story[2]["calls"]] == ["juror/small", "juror/middle", "juror/large"]
    told = manifest_of(study)
    assert table["cost"].sum() == pytest.approx(told["cost"]) and told["cost"] > 0
    assert run(study) == 0 and len(server.calls) == 6, "a finished run asks nothing"


def test_the_bare_word_asks_the_judge_again_while_it_is_open(adapt: Write, server: LoopbackServer) -> None:
    study = adapt("adaptive")
    assert run(study) == 0
    # Two votes at least; two votes of 4 or of 3 that agree are enough at the default tolerance.
    assert asked(server) == {"m": 6}
    assert votes_of(study)["score"].to_list() == [5.0] * 3 + [3.0] * 3 + [4.0] * 3
    assert len({call.body for call in server.calls}) == 6, "each time another draw"


def test_a_rule_from_a_file_and_jurors_of_other_endpoints(
    adapt: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    saved = SavedAdaptiveRule(AdaptiveRule(0.125, 1, 2), ("small", "middle"), SCALES)
    saved.save(tmp_path / "rule.json", {})
    other = {"name": "middle", "kind": "openai", "url": server.url, "model": "middle", "max_tokens": 77}
    study = adapt({"name": "adaptive", "jurors": [JURORS[0], other], "rule": "rule.json"})
    assert run(study) == 0
    assert asked(server) == {"m": 3, "middle": 2}
    assert 77 in {
        call.json.get("max_tokens", call.json.get("max_completion_tokens")) for call in server.calls
    }


def test_a_budget_reached_in_the_middle_leaves_the_case_open_and_the_next_run_goes_on(
    adapt: Write, server: LoopbackServer
) -> None:
    strict = {**STRATEGY, "rule": {"tolerance": 0.0, "minimum": 3}}
    assert run(adapt(strict, cases=1, budget={"calls": 2})) == 3
    assert len(server.calls) == 2
    study = adapt(strict, cases=1, budget={"calls": 50})
    assert run(study) == 0 and asked(server) == {"m": 1, "middle": 1, "large": 1}
    assert votes_of(study)["score"].to_list() == [pytest.approx(7 / 3)] * 3


def test_a_run_killed_at_the_second_juror_does_not_ask_the_first_again(
    adapt: Write, server: LoopbackServer
) -> None:
    study = adapt(cases=2)
    killed_at(study, server, lambda call: call.json["model"] == "middle")
    assert run(study) == 0
    assert asked(server) == {"m": 2, "middle": 2}
    assert votes_of(study)["score"].to_list() == [5.0] * 3 + [3.0] * 3


def test_a_rule_of_other_jurors_is_refused(
    adapt: Write, server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = SavedAdaptiveRule(AdaptiveRule(), ("middle", "small", "large"), SCALES)
    saved.save(tmp_path / "rule.json", {})
    assert run(adapt({**STRATEGY, "rule": "rule.json"})) == 2
    assert "in this order" in capsys.readouterr().err and not server.calls


def test_a_rule_file_that_changes_between_runs_is_another_judge_and_keeps_the_votes(
    adapt: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    study = adapt({**STRATEGY, "rule": "rule.json"})
    for rule, calls in ((AdaptiveRule(1.0), 3), (AdaptiveRule(0.125, 1), 6), (AdaptiveRule(0.0, 3), 9)):
        saved = SavedAdaptiveRule(rule, ("small", "middle", "large"), SCALES)
        saved.save(tmp_path / "rule.json", {})
        assert run(study) == 0 and len(server.calls) == calls, "only jurors not asked before are asked"
    assert votes_of(study)["score"].to_list()[::3] == [pytest.approx(each / 3) for each in (7, 7, 9)]
    assert len(records_of(study)) == 3, "one record for each case: that of the rule in force"


def test_asked_by_dimension_it_stops_by_dimension(adapt: Write, server: LoopbackServer) -> None:
    def by_dimension(call: Call) -> str:
        wanted = next(name for name in DIMENSIONS if name in json.dumps(call.json["response_format"]))
        score = 5 if wanted != "clarity" else GRADES[call.json["model"]]["Summary 2."]
        return "ok:" + json.dumps({wanted: {"explanation": "so", "score": score}})

    study = adapt(cases=1, judge={"per_dimension": True})
    server.endpoint.behaviours = by_dimension
    assert run(study) == 0
    assert asked(server) == {"m": 3, "middle": 1, "large": 1}
    found = {row["dimension"]: (row["score"], row["calls"]) for row in votes_of(study).to_dicts()}
    assert found == {"accuracy": (5.0, 1), "completeness": (5.0, 1), "clarity": (3.0, 3)}


def test_judges_that_share_jurors_share_their_calls(
    adapt: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    """Two adaptive juries and the same models as single judges, all at once: every question is asked once."""
    study = adapt()
    settings = [line for line in study.read_text().splitlines() if not line.startswith("judges:")]
    own = {"kind": "openai", "url": server.url}
    judges = [
        {**own, "name": "quick", "model": "m", "strategy": STRATEGY},
        {
            **own,
            "name": "strict",
            "model": "m",
            "strategy": {**STRATEGY, "rule": {"tolerance": 0, "minimum": 3}},
        },
        *({**own, "name": name, "model": name} for name in ("m", "middle", "large")),
    ]
    study.write_text("\n".join([*settings, f"judges: {json.dumps(judges)}"]) + "\n")
    assert run(study) == 0
    assert asked(server) == {"m": 3, "middle": 3, "large": 3}
    table = votes_of(study)
    calls = dict(table.group_by("rater").agg(polars.col("calls").sum()).iter_rows())
    assert calls == {"quick": 6, "strict": 9, "m": 3, "middle": 3, "large": 3}, (
        "what each way takes, whoever paid"
    )


def test_a_budget_in_money_needs_the_price_of_every_juror(
    adapt: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"name": "middle", "kind": "openai", "url": server.url, "model": "middle"}
    price = {"price": {"input": 10.0, "output": 20.0}}
    study = adapt({**STRATEGY, "jurors": [JURORS[0], other]}, budget={"money": 1.0}, judge=price)
    assert run(study) == 2
    assert "price of model juror/middle is not known" in capsys.readouterr().err and not server.calls


def test_a_juror_at_the_judges_endpoint_costs_what_the_judge_costs_unless_its_price_is_known(
    adapt: Write,
) -> None:
    listed = {"name": "listed", "model": "gpt-4o"}
    jurors = [*JURORS[:2], {**JURORS[2], "price": {"input": 30.0, "output": 60.0}}, listed]
    study = load_study(
        adapt({**STRATEGY, "jurors": jurors}, judge={"price": {"input": 10.0, "output": 20.0}})
    )
    prices = {part.options["model"]: part.price and part.price.input for _, part in study.models}
    assert prices == {"m": 10.0, "middle": 10.0, "large": 30.0, "gpt-4o": None}


def test_a_host_of_a_juror_must_be_allowed_too(
    adapt: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    far = {"name": "far", "kind": "openai", "url": "https://models.example.org/v1", "model": "x"}
    assert run(adapt({**STRATEGY, "jurors": [JURORS[0], far]})) == 2
    assert "models.example.org" in capsys.readouterr().err and not server.calls

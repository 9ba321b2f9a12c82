"""The papers' ways of judging as settings of a study file: what is stated is asked and kept, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.planted_claims import CASES, knowing
from tests.loopback import Call, LoopbackServer
from tests.studies.running import manifest_of, run_without_report

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import case_to_row
from medjury.judging import CLAIM_EXAMPLES
from medjury.studies import load_study

Write = Callable[..., Path]


def run(study: Path, *flags: str) -> int:
    return run_without_report(study, "--no-preflight", *flags)


def judge(study: Path) -> dict[str, Any]:
    told = manifest_of(study)
    found: dict[str, Any] = told["judges"][0]
    return found


def by_claims(write: Write, strategy: dict[str, Any]) -> Path:
    return write(
        cases=[case_to_row(each.case) for each in CASES[:2]], judge={"strategy": {"name": "claims", **strategy}},
        instrument="concordance", dimensions=["concordant"], max_unscored=1.0,
    )  # fmt: skip


def test_how_a_model_draws_is_asked_and_kept(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(judge={"temperature": 0.1, "top_p": 0.95, "top_k": 40, "sampling": {"min_p": 0.02}})
    assert run(study) == 0
    for call in server.calls:
        sent = {name: call.json[name] for name in ("temperature", "top_p", "top_k", "min_p")}
        assert sent == {"temperature": 0.1, "top_p": 0.95, "top_k": 40, "min_p": 0.02}
    assert json.loads(judge(study)["models"][0]["sampling"]) == {"min_p": 0.02, "top_k": 40, "top_p": 0.95}


def test_a_refused_setting_ends_the_run_before_a_case_is_sent(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.endpoint.preflight = "400:Unrecognized request argument supplied: top_k"
    study = write_study(judge={"top_k": 40})
    assert run_without_report(study) != 0
    told = capsys.readouterr().err
    assert "Unrecognized request argument supplied: top_k" in told and "No case was sent to it" in told
    assert not server.calls


def test_the_grade_comes_first_where_the_study_says_so(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(cases=2, judge={"explain": "after"})
    assert run(study) == 0
    for call in server.calls:
        assert call.schema is not None
        for each in call.schema["properties"].values():
            assert list(each["properties"]) == ["score", "explanation"]
    assert judge(study)["explain"] == "after"
    with pytest.raises(MedjuryError, match=r"judges\[0\].explain"):
        load_study(write_study(judge={"explain": "before"}))


def test_claims_as_in_their_study(write_study: Write, server: LoopbackServer) -> None:
    def planted(call: Call) -> str:
        answer = json.loads(knowing()(call.json["messages"][-1]["content"]))
        for each in answer.get("verdicts", ()):
            each["verdict"] = each["verdict"].replace("contradicted", "not_supported")
        return "ok:" + json.dumps(answer)

    server.endpoint.behaviours = planted
    study = by_claims(
        write_study, {"weights": "equal", "decisive": "weight", "labels": "not_supported", "examples": True}
    )
    assert run(study) == 0
    told = judge(study)
    assert told["rule"]["weights"] == {"1": 1.0, "2": 1.0, "3": 1.0} and told["rule"]["decisive"] == "weight"
    assert told["labels"] == "not_supported" and told["examples"] == 1
    assert all(CLAIM_EXAMPLES[0].claims[0].claim in call.prompt for call in server.calls)
    assert any("not_supported" in call.prompt for call in server.calls)


def test_two_labels_take_the_share_of_all_claims(write_study: Write) -> None:
    (rater,) = load_study(by_claims(write_study, {"labels": "two"})).jury.judges
    assert rater.describe()["rule"]["denominator"] == "all"
    with pytest.raises(MedjuryError, match="say `denominator: all`"):
        load_study(by_claims(write_study, {"labels": "two", "denominator": "addressed"}))


EXAMPLES = """\
examples:
  - question: Treat?
    text: Start it now.
    reference: Wait a week.
    claims:
      - {quote: Start it now, claim: It should be started now., importance: 3, verdict: contradicted,
         explanation: The reference waits., evidence: [Wait a week.]}
"""


def test_examples_of_claims_may_be_ones_own(write_study: Write, tmp_path: Path) -> None:
    (tmp_path / "worked.yaml").write_text(EXAMPLES)
    (rater,) = load_study(by_claims(write_study, {"examples": "worked.yaml"})).jury.judges
    assert rater.describe()["examples"] == 1
    (tmp_path / "worked.yaml").write_text(EXAMPLES.replace("[Wait a week.]", "[Wait two weeks.]"))
    with pytest.raises(
        MedjuryError, match=r"worked\.yaml, line 2: examples.*: example of claims, claim 1: its `evidence`"
    ):
        load_study(by_claims(write_study, {"examples": "worked.yaml"}))
    with pytest.raises(MedjuryError, match=r"absent\.yaml: there is no such file"):
        load_study(by_claims(write_study, {"examples": "absent.yaml"}))

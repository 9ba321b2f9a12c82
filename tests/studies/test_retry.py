"""Asking anew: a changed seed wherever an answer was in vain, and nothing that was well answered is paid again.

Every way of judging asks through one loop, so what holds for a single judge holds for every step of the others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import disagree, ratings_of, run_without_report, step_of

Write = Callable[..., Path]


def votes(file: Path) -> pl.DataFrame:
    return ratings_of(file).filter(pl.col("rater_kind") == "judge", pl.col("dimension") == "accuracy")


def anew(file: Path) -> int:
    return run_without_report(file, "--retry-unscored")


WAYS: dict[str, dict[str, Any]] = {
    "single": {},
    "repeats": {"strategy": {"name": "repeats", "n": 2}, "temperature": 1.0},
    "deliberation": {"strategy": "deliberation"},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_deterministic_endpoint_is_not_paid_for_the_same_failure(
    write_study: Write, server: LoopbackServer, way: str
) -> None:
    server.endpoint.behaviours = lambda call: "ok:no grades today"
    file = write_study(cases=1, judge={**WAYS[way], "reasks": 0}, max_unscored=1.0)
    run_without_report(file)
    assert votes(file)["status"].to_list() == ["unscored"]
    failed = {call.body for call in server.calls}
    server.endpoint.behaviours = lambda call: "ok:no grades today" if call.body in failed else disagree(call)
    assert anew(file) == 0
    assert len({call.body for call in server.calls}) == len(server.calls), "nothing is asked twice"
    assert votes(file)["status"].to_list() == ["scored"]


def test_only_the_step_that_was_in_vain_is_asked_anew(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: "refusal" if step_of(call) == "question" else disagree(call)
    file = write_study(cases=1, judge={"strategy": "deliberation", "reasks": 0}, max_unscored=1.0)
    run_without_report(file)
    before = len(server.calls)
    asked = Counter(step_of(call) for call in server.calls)
    assert asked == {"grades": asked["grades"], "question": 1} and asked["grades"] > 1
    server.endpoint.behaviours = disagree
    assert anew(file) == 0
    now = [call for call in server.calls[before:] if step_of(call) == "grades"]
    assert len(now) == 1, "the decision; the first gradings were well answered and are stored"
    assert votes(file)["status"].to_list() == ["scored"]


def test_an_answer_drawn_anew_is_found_by_the_next_retry(write_study: Write, server: LoopbackServer) -> None:
    """What a retry paid for is not paid for by the next one, whatever broke the first one off."""
    server.endpoint.behaviours = lambda call: "refusal" if step_of(call) == "question" else disagree(call)
    file = write_study(cases=1, judge={"strategy": "deliberation", "reasks": 0}, max_unscored=1.0)
    run_without_report(file)
    server.endpoint.behaviours = lambda call: "429:1000" if step_of(call) == "turn" else disagree(call)
    anew(file)
    before = len(server.calls)
    server.endpoint.behaviours = disagree
    assert anew(file) == 0
    assert step_of(server.calls[before]) == "turn", "it goes on where the passing failure broke it off"
    assert votes(file)["status"].to_list() == ["scored"]


def test_claims_whose_evidence_was_invented_are_verified_anew_and_not_listed_again(
    write_study: Write, server: LoopbackServer
) -> None:
    claim = {"claims": [{"claim": "The dose is 5 mg.", "importance": 3, "quote": "5 mg"}]}

    def answer(call: Call) -> str:
        if "claims" in (call.schema or {})["properties"]:
            return f"ok:{json.dumps(claim)}"
        quote = "it was never written" if call.json["seed"] == 0 else "Take 5 mg daily."
        verdict = {"number": 1, "verdict": "supported", "evidence": [quote], "explanation": "so it says"}
        return f"ok:{json.dumps({'verdicts': [verdict]})}"

    server.endpoint.behaviours = answer
    rows = [
        {"id": "a", "candidate": "5 mg daily.", "reference": "Take 5 mg daily.", "texts": {"question": "?"}}
    ]
    file = write_study(
        cases=rows, instrument="concordance", dimensions=["concordant"], judge={"strategy": "claims"},
        max_unscored=1.0,
    )  # fmt: skip
    run_without_report(file)
    table = file.parent / "runs" / "small" / "ratings.parquet"
    assert pl.read_parquet(table).filter(rater="juror")["reason"].to_list() == ["unfounded"]
    before = len(server.calls)
    assert anew(file) == 0
    assert pl.read_parquet(table).filter(rater="juror")["score"].to_list() == [1.0]
    assert [call for call in server.calls[before:] if "claims" in (call.schema or {})["properties"]] == []

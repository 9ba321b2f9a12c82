"""Several ways of judging in one study: their keys, calls and records stay apart, whatever fails in a step."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import disagree, run_without_report, step_of

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")


def study(write: Write, server: LoopbackServer, **settings: Any) -> Path:
    endpoint = {"kind": "openai", "url": server.url, "price": {"input": 1.0, "output": 2.0}}
    entry = {**endpoint, "model": "m1", **settings.pop("judge", {})}
    loop = {"name": "closed_loop", "loop_judge": {**endpoint, "model": "m2"}, "pass": {"accuracy": 5}}
    judges = [
        {**entry, "name": "one"},
        {**entry, "name": "talk", "strategy": "deliberation"},
        {**entry, "name": "loop", "strategy": loop},
        {**entry, "name": "again", "strategy": {"name": "repeats", "n": 3}},
    ]
    return write(judges=judges, **{"cases": 2, "repeats": 3, **settings})


def table(folder: Path) -> pl.DataFrame:
    found = pl.read_parquet(folder / "runs" / "small" / "ratings.parquet")
    return found.filter(pl.col("dimension").is_in(DIMENSIONS))  # composites follow from these


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "runs" / "small" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("per_dimension", [False, True])
def test_ways_share_no_key_and_a_second_run_asks_nothing(
    write_study: Write, server: LoopbackServer, tmp_path: Path, per_dimension: bool
) -> None:
    file = study(write_study, server, judge={"per_dimension": per_dimension})
    assert run_without_report(file) == 0
    made = len(server.calls)
    ratings = table(tmp_path)
    assert ratings.filter(pl.col("status") != "scored").is_empty()
    rows = ratings.group_by("rater", "system").len().sort("rater", "system").rows()
    assert rows == [
        ("again", "a", 18), ("jury", "a", 6), ("jury", "a+loop", 6), ("loop", "a+loop", 18), ("one", "a", 18),
        ("talk", "a", 18),
    ]  # fmt: skip
    judged = ratings.filter(pl.col("rater_kind") == "judge")
    assert judged.group_by("key").agg(pl.col("rater").n_unique())["rater"].max() == 1
    assert judged["calls"].sum() >= made, "what was found in the cache counts for everyone who used it"
    for flags in ([], ["--retry-unscored"]):
        assert run_without_report(file, *flags) == 0 and len(server.calls) == made


def test_repeats_of_a_loop_rate_one_text(write_study: Write, server: LoopbackServer, tmp_path: Path) -> None:
    """A writer that never writes the same twice: what repeats tell apart must be the juror, not the text."""
    count = Counter[str]()

    def answer(call: Call) -> str:
        count[step_of(call)] += 1
        return f'ok:{{"text": "Revised {count["writer"]}."}}' if step_of(call) == "writer" else "ok"

    server.endpoint.behaviours = answer
    assert run_without_report(study(write_study, server)) == 0
    last: dict[str, set[str]] = {}
    for line in records(tmp_path):
        if line["kind"] == "closed_loop":
            last.setdefault(line["item"], set()).add(line["body"]["rounds"][-1]["draft"])
    assert len(last) == 2 and all(len(texts) == 1 for texts in last.values())


@pytest.mark.parametrize(
    ("where", "fault"),
    [("writer", "429:1000"), ("writer", "refusal"), ("turn", "429:1000"), ("question", "wrong-schema")],
)
def test_a_step_that_fails_is_no_score_and_its_record_says_what_its_ratings_say(
    write_study: Write, server: LoopbackServer, tmp_path: Path, where: str, fault: str
) -> None:
    server.endpoint.behaviours = lambda call: fault if step_of(call) == where else disagree(call)
    file = study(write_study, server, repeats=1, cases=1, judge={"reasks": 0})
    run_without_report(file)
    rater = "loop" if where == "writer" else "talk"
    found = table(tmp_path).filter(pl.col("rater") == rater)
    assert found["status"].unique().to_list() == ["unscored"] and found["score"].null_count() == 3
    assert found["explanation"].str.contains("round 1, writer|turn [12]").all()
    before = len(server.calls)
    server.endpoint.behaviours = disagree
    run_without_report(
        file, "--retry-unscored"
    )  # anew what was answered in vain; on with what was broken off
    found = table(tmp_path).filter(pl.col("rater") == rater)
    assert found["status"].unique().to_list() == ["scored"]
    if fault == "429:1000":
        assert [call for call in server.calls[before:] if step_of(call) == where], (
            "it goes on at the step that failed"
        )
        grades = Counter(step_of(call) for call in server.calls[before:])["grades"]
        assert grades < 7, "and repeats none before it"
    again = [each for each in records(tmp_path) if each["rater"] == rater]
    decided = again[0]["body"].get("decided") or {
        name: each["score"] for name, each in again[0]["body"]["final"]["last"].items()
    }
    assert decided == dict(zip(found["dimension"], found["score"], strict=True))


JURORS = [{"name": "small"}, {"name": "middle", "model": "middle"}, {"name": "large", "model": "large"}]
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("adaptive", {"juror": []}, "juror: no such setting"),
    ("adaptive", {"jurors": [{"model": "x"}]}, "name"),
    ("adaptive", {"jurors": [{"name": "a"}, {"name": "b"}]}, "the same model asked the same way"),
    ("adaptive", {"jurors": [JURORS[1], JURORS[1]]}, "same name"),
    ("adaptive", {"rule": {"tolerance": 2}}, "tolerance"),
    ("adaptive", {"jurors": JURORS, "rule": {"minimum": 4}}, "cannot give the minimum of 4"),
    ("adaptive", {"jurors": JURORS, "rule": {"maximum": 5}}, "at temperature 0"),
    ("adaptive", {"rule": "none.json"}, "cannot be read"),
    ("claims", {"weights": {"1": 1}}, "needs a weight"),
    ("claims", {"thresold": 0.8}, "thresold"),
    ("claims", {"decisive": "maybe"}, "decisive"),
    ("claims", {"rates": {"agreement": "support"}}, "agreement"),
    ("claims", {"sentences": 1, "overlap": 1}, "overlap"),
    ("closed_loop", {"same_model": True, "pass": 4}, "is not a share"),
    ("closed_loop", {"same_model": True, "passing": 0.5}, "no such setting"),
    ("deliberation", {"max_turn": 3}, "max_turn: no such setting"),
    ("deliberation", {"personas": "scorer"}, "did you mean 'scorers'"),
    ("deliberation", {"personas": ["low_scorer", "pharmacist"]}, "'pharmacist' is not a built-in one"),
    ("deliberation", {"quorum": 9}, "quorum is 9, but there are 3 agents"),
    ("deliberation", {"orchestrator": {"model": "x"}}, "kind"),
    ("deliberations", {}, "did you mean 'deliberation'"),
    ("repeats", {"temperature": 0}, "at temperature 0 a model gives the same answer again"),
    ("repeats", {"n": 1}, "judges[0].strategy.n"),
    ("repeats", {"n": 3, "quorum": 4}, "from 1 to 3"),
    ("repeats", {"rule": "mode"}, "judges[0].strategy.rule"),
    ("repeats", {"times": 3}, "times: no such setting"),
    ("repeat", {}, "did you mean 'repeats'"),
]


@pytest.mark.parametrize(("way", "settings", "told"), WRONG)
def test_a_wrong_setting_of_a_way_is_told_with_its_line_before_any_call(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str],
    way: str, settings: dict[str, Any], told: str,
) -> None:  # fmt: skip
    own = {"instrument": "concordance", "dimensions": ["concordant"]} if way == "claims" else {}
    judge = {"temperature": settings["temperature"]} if "temperature" in settings else {}
    strategy = {"name": way, **{name: value for name, value in settings.items() if name not in judge}}
    judge = {**judge, "strategy": strategy}
    assert run_without_report(write_study(judge=judge, **own)) == 2
    error = capsys.readouterr().err
    assert told in error and "study.yaml, line 5" in error and not server.calls

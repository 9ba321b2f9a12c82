"""A closed loop in a study file: one entry, revised answers under a name of their own, every round in the run
folder; a writer that pleases its judge is found out."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import killed_at

from medjury.foundation.errors import MedjuryError
from medjury.judging import revised_cases
from medjury.report._exhibits import Exhibits
from medjury.report._material import Material
from medjury.report._sections.closed_loop import closed_loop
from medjury.studies import RunResult, load_study, run_study
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
PRAISE = "This text is accurate, complete and clear."


@pytest.fixture
def loop_judge(server: LoopbackServer) -> dict[str, Any]:
    return {"kind": "openai", "url": server.url, "model": "inside"}


def strategy(loop_judge: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {"strategy": {"name": "closed_loop", "loop_judge": loop_judge, **settings}}


def run(file: Path) -> RunResult:
    return run_study(load_study(file), preflight=False)


def ratings(result: RunResult) -> polars.DataFrame:
    table = polars.read_parquet(result.folder / "ratings.parquet")
    return table.filter(polars.col("dimension").is_in(DIMENSIONS))


def records(result: RunResult) -> list[dict[str, Any]]:
    lines = (result.folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def grades(score: int, why: str = "because") -> str:
    return json.dumps({name: {"explanation": why, "score": score} for name in DIMENSIONS})


def between(call: Call, name: str) -> str:
    """The text that the request holds under a name."""
    last = call.json["messages"][-1]["content"]
    return str(last.split(f"<<<begin {name} ")[-1].split(">>>\n", 1)[-1].split(f"\n<<<end {name} ")[0])


def flattery(call: Call) -> str:
    """The loop judge is pleased by praise in the text, and the writer adds it; the final juror reads the case."""
    if call.json["model"] == "m":
        number = int(between(call, "candidate").split(".")[0].split()[-1])
        noise = (1, -1, 0)[number % 3] if PRAISE in call.prompt else 0
        return f"ok:{grades(2 + number % 2 + noise)}"
    if "Draft:" in call.json["messages"][-1]["content"]:
        return "ok:" + json.dumps({"text": f"{between(call, 'draft')} {PRAISE}"})
    return f"ok:{grades(5 if PRAISE in call.prompt else 2, 'it does not say how good it is')}"


def page(result: RunResult) -> tuple[str, Exhibits]:
    evidence = evidence_of(open_run(result.folder, resamples=400))
    exhibits = Exhibits()
    section = closed_loop(Material(evidence, validation_of(evidence), exhibits))
    assert section is not None
    return section.body, exhibits


def test_a_loop_is_one_entry_and_the_same_command_again_asks_nothing(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any]
) -> None:
    server.endpoint.behaviours = flattery
    price = {"input": 10.0, "output": 20.0}
    file = write_study(
        cases=3, judge={**strategy({**loop_judge, "price": price}), "price": price}, budget={"money": 9.0}
    )
    first = run(file)
    assert first.status == "complete"
    # Round 0, the writer, round 1; and the final juror on the first and the last draft.
    assert first.calls == len(server.calls) == 3 * 5
    table = ratings(first)
    assert set(table["system"]) == {"a+loop"} and set(table["status"]) == {"scored"}
    votes = table.filter(rater_kind="judge")
    assert votes["calls"].sum() == 15
    assert votes["cost"].sum() == pytest.approx(first.money)
    told = records(first)
    assert {(each["kind"], each["system"], each["rater"]) for each in told} == {
        ("closed_loop", "a+loop", "juror")
    }
    assert [len(each["body"]["rounds"]) for each in told] == [2, 2, 2]
    again = run(file)
    assert again.calls == 0 and again.status == "complete" and records(again) == told
    manifest = json.loads((first.folder / "manifest.json").read_text())
    (judge,) = manifest["judges"]
    assert judge["strategy"] == "closed_loop" and judge["separate_final_juror"] is True
    assert {model["name"] for model in judge["models"]} == {"juror", "juror/loop judge"}


def test_a_writer_that_pleases_its_judge_is_found_out(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any]
) -> None:
    server.endpoint.behaviours = flattery
    result = run(write_study(cases=10, judge=strategy(loop_judge)))
    body, exhibits = page(result)
    assert "loop&#x27;s gain is not confirmed by the final juror" in body
    gains = list(csv.DictReader(io.StringIO(exhibits.tables["closed-loop-gains"])))
    assert len(gains) == 3
    for gain in gains:
        assert gain["verdict"].startswith("NOT CONFIRMED")
        assert float(gain["gain, loop judge"]) == 3
        assert float(gain["gain, final juror low"]) < 0 < float(gain["gain, final juror high"])
        assert float(gain["loop less final low"]) > 2
    rounds = [line.split(",")[1:4] for line in exhibits.tables["closed-loop-rounds"].splitlines()[1:]]
    assert rounds == [["0", "10", "0"], ["1", "10", "10"]]


def test_a_gain_that_the_final_juror_shares_is_confirmed(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any]
) -> None:
    def honest(call: Call) -> str:
        if "Draft:" in call.json["messages"][-1]["content"]:
            return "ok:" + json.dumps({"text": f"{between(call, 'draft')} Better now."})
        return f"ok:{grades(4 if 'Better now.' in call.prompt else 2)}"

    server.endpoint.behaviours = honest
    body, exhibits = page(run(write_study(cases=24, judge=strategy(loop_judge))))
    assert "confirms a gain on Accuracy, Completeness, Clarity" in body
    assert "NOT CONFIRMED" not in exhibits.tables["closed-loop-gains"]


@pytest.mark.parametrize("window", [{}, {"context_window": 100_000}], ids=["no window", "a stated window"])
def test_a_juror_beside_the_loop_rates_the_drafts_and_pays_for_them_once(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any], window: dict[str, Any]
) -> None:
    """The final juror's question on the first draft is the single judge's question: it is asked once."""
    server.endpoint.behaviours = flattery
    model = {"kind": "openai", "url": server.url, "model": "m"}
    judges = [{**model, "name": "alone"}, {**model, "name": "looped", **window, **strategy(loop_judge)}]
    result = run(write_study(cases=2, judges=judges))
    assert len(server.calls) == 2 * 5
    table = ratings(result)
    assert {(row["system"], row["rater"]) for row in table.iter_rows(named=True)} == {
        ("a", "alone"),
        ("a", "jury"),
        ("a+loop", "looped"),
        ("a+loop", "jury"),
    }
    assert set(table["status"]) == {"scored"}, "neither waits for the other's vote"


def test_revised_texts_become_cases_that_clinicians_can_rate(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any]
) -> None:
    server.endpoint.behaviours = flattery
    file = write_study(cases=2, judge=strategy(loop_judge))
    study = load_study(file)
    result = run_study(study)
    revised = list(revised_cases(study.cases, result.folder / "records.jsonl"))
    assert [(case.id, case.system, case.candidate) for case in revised] == [
        (f"case-{number}", "a+loop", f"Summary {number}. {PRAISE}") for number in range(2)
    ]
    assert [case.texts["context"] for case in revised] == ["Note 0.", "Note 1."]


def test_a_loop_killed_in_round_two_does_not_repeat_round_one(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any]
) -> None:
    def writes(call: Call) -> bool:
        return "Draft:" in call.json["messages"][-1]["content"]

    def behave(call: Call) -> str:
        if call.json["model"] == "m":
            return f"ok:{grades(3)}"
        if writes(call):
            draft = between(call, "draft")
            return "ok:" + json.dumps({"text": f"{draft} {'Twice.' if 'Once.' in draft else 'Once.'}"})
        return f"ok:{grades(5 if 'Twice.' in call.prompt else 1)}"

    server.endpoint.behaviours = behave
    file = write_study(cases=1, judge=strategy(loop_judge))
    killed_at(file, server, lambda call: writes(call) and "Once." in between(call, "draft"))
    assert len(server.calls) == 4, "round 0, a revision, round 1, and the revision that hangs"
    result = run(file)
    assert result.status == "complete"
    asked = Counter(call.body for call in server.calls)
    # Only the call in flight at the kill is made again: round 2's revision.
    assert sorted(asked.values()) == [1] * 6 + [2]
    assert [len(each["body"]["rounds"]) for each in records(result)] == [3]


def test_a_final_juror_from_the_loop_is_refused_with_its_line(
    write_study: Write, server: LoopbackServer
) -> None:
    with pytest.raises(MedjuryError, match=r"line 5: judges\[0\].*only confirm itself"):
        load_study(write_study(judge={"strategy": "closed_loop"}))
    same = {"name": "closed_loop", "same_model": True}
    assert load_study(write_study(judge={"strategy": same})).jury.judges[0].name == "juror"
    assert not server.calls


@pytest.mark.parametrize("window", [{}, {"context_window": 100_000}], ids=["no window", "a stated window"])
def test_a_system_with_the_loops_ending_is_refused_before_the_first_call(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any], window: dict[str, Any]
) -> None:
    case = {"id": "c", "system": "a+loop", "candidate": "Text.", "texts": {"context": "Note."}}
    with pytest.raises(MedjuryError, match="another `suffix`"):
        run(write_study(cases=[case], judge={**window, **strategy(loop_judge)}))
    assert not server.calls


def test_the_report_says_when_the_juror_is_not_separate(
    write_study: Write, server: LoopbackServer, loop_judge: dict[str, Any]
) -> None:
    result = run(write_study(cases=2, judge={"strategy": {"name": "closed_loop", "same_model": True}}))
    body, _ = page(result)
    assert "it is not a separate juror" in body

"""Drafting in a study: drafts first, through the same gate and store, then judged; nothing is written twice."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.processes import Command, answered, endpoint, finish, kill, start
from tests.studies.running import manifest_of
from tests.studies.test_kill import hold, release

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import read_cases
from medjury.store.runs import RunFolder
from medjury.studies import check_study, draft_study, load_study, run_study

Write = Callable[..., Path]
LONG = "The patient was seen in clinic and the plan was discussed. " * 80


def questions(count: int = 3, **changes: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{number}",
            "question": f"What about finding {number}?",
            "reference": "Repeat the test in three months.",
            "specialty": "Hematology",
            "notes": [
                {"id": "n1", "date": "2025-01-01", "kind": "Progress note", "text": LONG},
                {"id": "n2", "date": "2024-06-01", "kind": "hematology", "text": LONG},
                {"id": "n3", "date": "2025-01-03", "text": "No show."},
            ],
            "labs": [{"name": "Hb", "value": 13.1, "unit": "g/dL", "date": "2025-01-02"}],
            **changes,
        }
        for number in range(count)
    ]


@pytest.fixture
def study(write_study: Write, server: LoopbackServer) -> Write:
    def write(rows: list[dict[str, Any]] | None = None, *, drafting: Any = None, **settings: Any) -> Path:
        part = {"kind": "openai", "url": server.url, "model": "writer-1", "vendor": "Acme"}
        return write_study(
            cases=rows or questions(),
            instrument="concordance",
            dimensions=None,
            drafting={**part, **(drafting or {})},
            **settings,
        )

    return write


def is_draft(call: Call) -> bool:
    return b'"contingency"' in call.body


def drafts_of(file: Path) -> list[dict[str, Any]]:
    lines = (file.parent / "runs" / "small" / "drafts.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_drafts_are_written_then_judged_and_a_second_run_asks_nothing(
    study: Write, server: LoopbackServer
) -> None:
    file = study(judge={"price": {"input": 1, "output": 2}}, drafting={"price": {"input": 3, "output": 4}})
    result = run_study(load_study(file), preflight=False)
    assert result.status == "complete" and result.calls == 6 == len(server.calls)
    assert [is_draft(call) for call in server.calls] == [True] * 3 + [False] * 3, "all drafts come first"
    assert "hematology" in server.calls[0].prompt and "No show." not in server.calls[0].prompt
    assert "Hb 13.1 g/dL" in server.calls[0].prompt
    drafts = drafts_of(file)
    assert [draft["id"] for draft in drafts] == ["q0", "q1", "q2"]
    assert all(draft["status"] == "drafted" and draft["notes_given"] == ["n2", "n1"] for draft in drafts)
    assert all(
        draft["candidate"] in call.prompt for draft, call in zip(drafts, server.calls[3:], strict=True)
    )
    manifest = manifest_of(file)
    told = manifest["drafting"]
    assert (
        told["model"]["model"] == "writer-1"
        and told["model"]["vendor"] == "Acme"
        and told["system"] == "writer-1"
    )
    assert told["drafted"] == 3 and told["failed"] == {} and told["sources"]["notes_too_short"] == 3
    assert manifest["systems"] == {"writer-1": 3} and "drafts.jsonl" in manifest["files"]
    assert all(finding.sound for finding in RunFolder(result.folder).verify())
    assert manifest["cost"] == pytest.approx(result.money) and manifest["calls"] == 6
    assert "3 of 3 drafts written by writer-1" in result.text()
    again = run_study(load_study(file))
    assert again.calls == 0 and len(server.calls) == 6 and again.coverage == result.coverage
    assert drafts_of(file) == drafts


def test_invented_citations_are_counted_where_a_reader_sees_them(study: Write) -> None:
    file = study()
    result = run_study(load_study(file))  # the endpoint cites a note called "short reason"
    assert manifest_of(file)["drafting"]["citations_invented"] == 3
    assert "3 of 3 citations are invented" in result.text()


def test_a_failed_draft_is_an_unscored_case_not_a_dropped_one(study: Write, server: LoopbackServer) -> None:
    rows = questions()
    rows[1]["question"] += " [[loopback:refusal]]"
    file = study(rows, max_unscored=1.0)
    result = run_study(load_study(file))
    assert result.coverage.unscored_by_reason == {"refusal": 2} and result.coverage.ratings == 6
    assert len(server.calls) == 5, "nobody is asked to judge what is not there"
    table = (result.folder / "ratings.csv").read_text()
    assert "there is no draft to judge: the model declined" in table
    assert [draft["status"] for draft in drafts_of(file)] == ["drafted", "failed", "drafted"]
    assert "failed, refusal: 1" in result.text()


def test_a_draft_that_failed_for_the_moment_is_written_by_the_next_run(
    study: Write, server: LoopbackServer
) -> None:
    rows = questions(2)
    rows[0]["notes"][0]["text"] += " [[loopback:429:700*1]]"  # a note, which the judge does not see
    file = study(rows, max_unscored=1.0)
    first = run_study(load_study(file))
    assert first.coverage.unscored_by_reason == {"rate_limit": 2}
    before = len(server.calls)
    second = run_study(load_study(file))
    assert second.coverage.unscored == 0 and len(server.calls) == before + 2, "one draft and its judging"


def test_the_budget_holds_over_drafting_and_judging(study: Write, server: LoopbackServer) -> None:
    file = study(budget={"calls": 4})
    result = run_study(load_study(file), preflight=False)
    assert result.status == "incomplete" and len(server.calls) == 4
    assert result.coverage.unscored_by_reason == {"over_budget": 4}
    file = study(budget={"calls": 2})
    assert run_study(load_study(file)).calls == 0, "what was spent counts"


def test_the_plan_tells_of_both_steps_before_any_call(
    study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = check_study(load_study(study(drafting={"price": {"input": 1, "output": 1}})))
    assert plan.drafting is not None and plan.drafting.calls == 3 and plan.calls == 6
    assert plan.drafting.money is not None and plan.drafting.money > 0
    file = study(drafting={"context_window": 1000})
    refused = check_study(load_study(file)).drafting
    assert refused is not None and refused.calls == 0, "what will be refused is not counted as a call"
    assert main(["draft", str(file), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "drafting" in told and "drafting: 3 of 3 cases do not fit its 1,000 tokens" in told
    assert not server.calls


def test_a_case_that_has_an_answer_is_refused_or_kept(study: Write, server: LoopbackServer) -> None:
    rows = questions(2)
    rows[1] |= {"candidate": "Nothing to do.", "system": "human"}
    with pytest.raises(MedjuryError, match=r"row 2: case 'q1' has an answer already.*existing: keep"):
        run_study(load_study(study(rows)))
    assert not server.calls
    file = study(rows, drafting={"existing": "keep"})
    run_study(load_study(file))
    assert (
        manifest_of(file)["systems"] == {"writer-1": 1, "human": 1}
        and manifest_of(file)["drafting"]["kept"] == 1
    )
    assert any("Nothing to do." in call.prompt for call in server.calls)


def test_drafts_alone_and_as_cases(study: Write, server: LoopbackServer, tmp_path: Path) -> None:
    file = study()
    written = tmp_path / "with_drafts.jsonl"
    assert main(["draft", str(file), "--quiet", "--cases", str(written)]) == 0
    assert len(server.calls) == 3
    cases = list(read_cases(written))
    assert [(case.system, case.vendor) for case in cases] == [("writer-1", "Acme")] * 3
    assert all(case.candidate and case.candidate.startswith("Assessment\n") for case in cases)
    run_study(load_study(file))
    assert len(server.calls) == 6, "the run judges the drafts that are there"


@pytest.mark.parametrize(
    ("drafting", "told"),
    [
        ({"vendor": None, "model": "m"}, "vendor"),
        ({"sections": ["poem"]}, "assessment"),
        ({"max_age_days": 30}, "as_of"),
        ({"context": {"truncate": "notes"}}, "context_window"),
        ({"note": 3}, "note"),
        ({"name": "x"}, "`system` is the name"),
    ],
)
def test_a_part_that_cannot_be_is_refused_with_its_line(study: Write, drafting: Any, told: str) -> None:
    with pytest.raises(MedjuryError, match=told) as error:
        load_study(study(drafting=drafting))
    assert "line" in str(error.value)


def test_examples_cannot_be_drawn_from_drafts_that_do_not_exist_yet(study: Write) -> None:
    with pytest.raises(MedjuryError, match="medjury draft STUDY --cases FILE"):
        load_study(study(examples=2, humans="clinicians.csv"))


def test_killed_while_drafting_and_while_judging_nothing_is_written_twice(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions(40)))
    log = tmp_path / "answered.log"
    with endpoint(log) as url:
        file = tmp_path / "study.yaml"
        model = f"kind: openai, url: '{url}', concurrency: 2"
        file.write_text(
            "study: small\ncases: cases.jsonl\ninstrument: concordance\n"
            f"drafting: {{{model}, model: writer-1, vendor: Acme}}\njudges: [{{{model}, name: juror, model: m}}]\n"
        )
        for enough in (10, 55):  # among the drafts, and among the judgements
            killed = start(file, "--no-preflight")
            hold(killed, log, 2, enough)
            kill(killed)
            release(log, 2)
        assert finish(file, "--no-preflight") == 0
    calls = answered(log)
    assert len(calls) == 80 and sum(calls.values()) - 80 <= 2 * 2, "only what was in flight is asked again"
    assert len(drafts_of(file)) == 40


def test_stopped_among_the_drafts_it_says_so_and_goes_on(study: Write, server: LoopbackServer) -> None:
    # Slow from the sixth on: the run cannot end before it is stopped.
    server.endpoint.behaviours = lambda call: "latency:1" if len(server.calls) > 5 else "ok"
    file = study(questions(60), drafting={"concurrency": 2})
    with Command("run", str(file), "--quiet") as run:
        deadline = time.monotonic() + 60
        while len(server.calls) < 6 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 3, err
    assert "INCOMPLETE:" in out and "of 60 drafts are done; run again to go on" in out and "Report" not in out
    assert manifest_of(file)["status"] == "incomplete"
    stopped = len(server.calls)
    assert 5 <= stopped < 60 and len(drafts_of(file)) == stopped
    server.endpoint.behaviours = lambda call: "ok"
    assert main(["draft", str(file), "--quiet"]) == 0
    assert len(server.calls) == 60 and len(drafts_of(file)) == 60


def test_clinicians_may_have_rated_the_drafts(study: Write, tmp_path: Path) -> None:
    rows = [
        f"q{each},writer-1,ann,{name},1" for each in range(3) for name in ("concordant", "concordance_grade")
    ]
    (tmp_path / "clinicians.csv").write_text("item,system,rater,dimension,score\n" + "\n".join(rows) + "\n")
    file = study(humans="clinicians.csv")
    assert check_study(load_study(file)).calls == 6
    assert run_study(load_study(file)).status == "complete"
    assert manifest_of(file)["report"]["system_vendors"] == {"writer-1": "Acme"}
    assert main(["report", str(file.parent / "runs" / "small")]) == 0


def test_drafts_in_postgresql_keep_their_cases(study: Write, postgres_url: str) -> None:
    rows = questions(4)
    rows[1]["question"] += " [[loopback:refusal]]"
    rows[2]["id"], rows[3]["id"] = "q 1 b", "Q-Ä"  # ids whose order depends on the database's rules
    file = study(rows, store=postgres_url, max_unscored=1.0)
    result = run_study(load_study(file))
    assert result.coverage.unscored_by_reason == {"refusal": 2}
    assert {draft["id"]: draft["status"] for draft in drafts_of(file)} == {
        "q0": "drafted", "q1": "failed", "q 1 b": "drafted", "Q-Ä": "drafted",
    }  # fmt: skip
    assert run_study(load_study(file)).calls == 0


def test_two_cases_of_one_id_are_refused_before_a_draft_is_paid_for(
    study: Write, server: LoopbackServer
) -> None:
    rows = [{**questions(1)[0], "system": name} for name in ("x", "y")]
    with pytest.raises(MedjuryError, match=r"row 2: two cases without an answer are called 'q0'"):
        run_study(load_study(study(rows)))
    assert not server.calls


def test_drafts_are_found_again_where_another_run_has_put_its_file_in_place(study: Write) -> None:
    result = draft_study(load_study(study()))
    before = [case.candidate for case in result.study.cases]
    lines = result.file.read_bytes().splitlines(keepends=True)
    result.file.write_bytes(b"".join(reversed(lines)))
    assert [case.candidate for case in result.study.cases] == before
    result.file.write_bytes(lines[0])
    with pytest.raises(MedjuryError, match="was changed while its drafts were judged"):
        list(result.study.cases)
    assert not list(result.file.parent.glob("*.part"))


def test_the_plan_of_the_drafts_alone(
    study: Write, write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draft", str(study()), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "In all 4 calls expected" in told and "at most 10 calls" in told
    assert "juror" not in told and not server.calls
    kept = [{**row, "candidate": "Nothing to do."} for row in questions()]
    assert main(["draft", str(study(kept, drafting={"existing": "keep"})), "--dry-run"]) != 0
    assert "every case has an answer already" in capsys.readouterr().err
    assert main(["draft", str(write_study()), "--dry-run"]) != 0
    assert "has no `drafting:` part" in capsys.readouterr().err

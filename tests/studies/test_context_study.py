"""Context windows in a study: told before any call, refused or shortened by the file's rule, never in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import loopback
from tests.loopback import LoopbackServer
from tests.studies.embedded_words import put_words
from tests.studies.running import manifest_of

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.store.ratings import open_store
from medjury.studies import check_study, load_study, run_study

SENTENCE = "The patient was seen on the ward and is doing well today. "
Write = Callable[..., Path]


def cases(short: int = 2, long: int = 1) -> list[dict[str, Any]]:
    """Records of three dated notes; the long ones are far too long for 4,000 tokens."""
    return [
        {
            "id": f"case-{number}",
            "system": "a",
            "candidate": f"Summary {number}.",
            "texts": {"context": "Seen."},
            "notes": [
                {
                    "id": f"n{each}",
                    "date": f"2025-01-0{each}",
                    "text": SENTENCE * (2 if number < short else 60),
                }
                for each in (1, 2, 3)
            ],
        }
        for number in range(short + long)
    ]


INSTRUMENT = """\
name: from_notes
version: "1"
title: Faithful to the notes
instructions: Compare the summary with the notes.
inputs:
  - {name: notes, label: Notes}
  - {name: candidate, label: Summary}
dimensions:
  - name: faithful
    label: Faithful
    definition: Nothing in the summary contradicts the notes.
    grades: {0: contradicts, 1: faithful}
"""


@pytest.fixture
def study(write_study: Write, tmp_path: Path) -> Write:
    (tmp_path / "from_notes.yaml").write_text(INSTRUMENT)

    def write(*, judge: dict[str, Any], rows: list[dict[str, Any]] | None = None, **settings: Any) -> Path:
        return write_study(
            cases=rows or cases(),
            judge={"max_tokens": 200, **judge},
            instrument="from_notes.yaml",
            dimensions=None,
            max_unscored=1.0,
            **settings,
        )

    return write


def test_what_does_not_fit_is_told_by_the_plan_and_then_not_sent(
    study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file = study(judge={"context_window": 2000})
    assert main(["run", str(file), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert (
        "juror: 1 of 3 cases do not fit its 2,000 tokens (a cautious estimate): they will be unscored" in told
    )
    assert not server.calls
    result = run_study(load_study(file))
    assert len(server.calls) == 2 and result.coverage.unscored_by_reason == {"context": 1}
    with open_store(load_study(file).store) as store:
        (refused,) = [row for row in store.ratings() if row.reason is Reason.CONTEXT]
    assert refused.item == "case-2" and refused.cost == 0.0 and refused.calls == 0
    assert "200 are kept for the answer, and the model takes 2,000 in all" in refused.explanation
    run_study(load_study(file))
    assert len(server.calls) == 2, "a second run asks nothing"


def test_a_larger_window_asks_only_for_what_was_refused(study: Write, server: LoopbackServer) -> None:
    run_study(load_study(study(judge={"context_window": 2000})))
    result = run_study(load_study(study(judge={"context_window": 20_000})), preflight=False)
    assert result.coverage.unscored == 0 and result.calls == 1 and len(server.calls) == 3


def test_a_rule_shortens_and_everything_says_so(study: Write, server: LoopbackServer) -> None:
    file = study(judge={"context_window": 2000, "context": {"truncate": "notes", "keep": "newest"}})
    plan = check_study(load_study(file)).text()
    assert (
        "juror: 1 of 3 cases are too long for its 2,000 tokens (a cautious estimate): part of the record"
        in plan
    )
    result = run_study(load_study(file))
    assert result.coverage.unscored == 0 and len(server.calls) == 3
    (prompt,) = [call.prompt for call in server.calls if "left out" in call.prompt]
    assert "Note n3" in prompt and "Note n1" not in prompt and "Summary 2." in prompt
    counts = result.coverage.shortened["juror"]
    assert counts.units == 1 and counts.notes == 2 and counts.characters == 2 * 60 * len(SENTENCE)
    assert "juror: 1 answers were given on a shortened record (2 whole notes or turns " in result.text()
    assert manifest_of(file)["coverage"]["shortened"] == {"juror": counts.content()}
    assert manifest_of(file)["judges"][0]["context"] == {"truncate": "notes", "keep": "newest"}
    (line,) = (result.folder / "records.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["item"] == "case-2" and record["kind"] == "context"
    assert record["body"]["context"]["notes_left_out"] == ["n1", "n2"]
    again = run_study(load_study(file))
    assert again.calls == 0 and again.coverage == result.coverage


def test_a_rule_in_another_way_of_judging(study: Write, server: LoopbackServer) -> None:
    judge = {
        "context_window": 2000,
        "context": {"truncate": "notes", "keep": "oldest"},
        "strategy": {"name": "repeats", "n": 2},
    }
    result = run_study(load_study(study(judge=judge)))
    assert result.coverage.unscored == 0 and result.coverage.shortened["juror"].units == 1
    assert any("left out" in call.prompt for call in server.calls)


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ("shorten", "is `refuse`, or a rule such as"),
        ({"truncate": "candidate"}, "the candidate is never cut"),
        ({"truncate": "notes", "keep": "best"}, "newest"),
        ({"truncate": "notes"}, "say `context_window: TOKENS`"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_its_line(study: Write, context: object, told: str) -> None:
    with pytest.raises(MedjuryError, match=told) as error:
        load_study(study(judge={"context": context}))
    assert "line" in str(error.value)


def test_the_embedded_model_counts_exactly_in_the_plan(study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    put_words(monkeypatch, "what was asked for")
    judge = {"kind": "embedded", "name": "juror", "context_window": 1024, "max_tokens": 40}
    loaded = load_study(study(judge={}, judges=[judge], rows=cases(short=1, long=1)))
    plan = check_study(loaded).text()
    assert "juror: 1 of 2 cases do not fit its 1,024 tokens: they will be unscored" in plan
    result = run_study(loaded)
    assert result.coverage.unscored_by_reason == {"context": 1} and result.calls == 1
    with open_store(loaded.store) as store:
        refused = next(row for row in store.ratings() if row.reason is Reason.CONTEXT)
    assert "about" not in refused.explanation, "its own tokenizer counted"


def test_a_whole_number_under_context_is_the_embedded_models_window(study: Write) -> None:
    (made,) = load_study(study(judge={}, judges=[{"kind": "embedded", "context": 512}])).models
    assert made[0].context_window == 512


def test_what_may_fit_is_planned_and_asked_about(study: Write, server: LoopbackServer) -> None:
    loaded = load_study(study(judge={"context_window": 3400}))
    plan = check_study(loaded)
    assert "juror: 1 of 3 cases may be too long for its 3,400 tokens" in plan.text() and plan.calls == 3
    result = run_study(loaded)
    assert len(server.calls) == 3 and result.coverage.unscored == 0


def test_an_endpoint_of_unknown_window_that_seems_to_cut_is_told_of_in_every_run(
    study: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = loopback._envelope

    def cut(*words: Any) -> dict[str, Any]:
        said = whole(*words)
        said["usage"]["prompt_tokens"] = min(1000, said["usage"]["prompt_tokens"])
        return said

    monkeypatch.setattr(loopback, "_envelope", cut)
    loaded = load_study(study(judge={}))
    for _ in range(2):
        result = run_study(loaded)
        assert "1 prompts had more tokens than their endpoint says it read" in result.text()
    assert manifest_of(loaded.file)["coverage"]["perhaps_cut"] == 1 and result.calls == 0

"""The embedded model in every way of judging: whatever it says, the run tells the truth about it.

Its words differ between processors, so nothing here depends on them. Beside its own words it is made to say other
things: what the schema asks for, half of that, something else, nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.studies.embedded_words import VOICES, put_words

from medjury.cli import main
from medjury.instruments import Reason
from medjury.models import Message, Request, weights_file
from medjury.models._embedded_model import EmbeddedModel
from medjury.store.runs import RunFolder
from medjury.studies import load_study, run_study

Rows = list[dict[str, Any]]
Body = dict[str, Any]
GRADES = {"concordant": (0, 1), "preference": (-1, 0, 1)}
INSTRUMENT = """\
name: tiny
version: '1'
title: Tiny
instructions: Compare.
inputs: [{name: context, label: Source}, {name: reference, label: Standard}, {name: candidate, label: Text}]
dimensions:
- {name: concordant, label: Same, definition: Is it the same, grades: {0: No., 1: Yes.}}
"""
PREFERENCE = """\
- {name: preference, label: Better, definition: Which is better, grades: {-1: a, 0: b, 1: c},
   skip: {dimension: concordant, equals: 0}}
"""
CASE = {"id": "c", "system": "a", "candidate": "Take two.", "reference": "Take two daily.",
        "texts": {"context": "Two daily.", "question": "How many?"}}  # fmt: skip
OTHER_WAYS = ("repeats", "adaptive", "deliberation", "concordance")
WAYS: dict[str, Any] = {
    "single": "single",
    "repeats": {"name": "repeats", "n": 2},
    "adaptive": {"name": "adaptive", "rule": {"minimum": 2, "maximum": 2}},
    "deliberation": {"name": "deliberation", "personas": ["high_scorer", "low_scorer"], "max_turns": 1},
    "concordance": "concordance",
    "claims": {"name": "claims", "list_tokens": 60, "most_claims": 1},
    "closed_loop": {"name": "closed_loop", "same_model": True, "rounds": 1},
}


# How often each is asked with other grades, which may lead to another form; 4, where it is not named.
MOODS = {"single": 1, "repeats": 1, "adaptive": 1, "deliberation": 12, "concordance": 12}


@pytest.fixture(scope="module")
def real() -> Iterator[EmbeddedModel]:
    """The model itself, in memory once for all studies of this file."""
    if not weights_file().exists():
        pytest.skip("the weights of the embedded model are not here; run `medjury models pull`")
    model = EmbeddedModel(context_window=2048)
    model._shared()
    yield model


@pytest.fixture(params=VOICES)
def voice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, real: EmbeddedModel) -> str:
    """What the model is made to say, once it is in memory."""
    name = str(request.param)
    put_words(monkeypatch, name)
    return name


def write(folder: Path, *, instrument: str = INSTRUMENT, judge: Body | None = None, **settings: Any) -> Path:
    (folder / "tiny.yaml").write_text(instrument)
    (folder / "cases.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in settings.pop("rows", [CASE]))
    )
    model = {"kind": "embedded", "context_window": 2048, "max_tokens": 40, "reasks": 0}
    study = {"study": "small", "cases": "cases.jsonl", "instrument": "tiny.yaml", "max_unscored": 1.0,
             "judges": [{**model, "name": "juror", **(judge or {})}], **settings}  # fmt: skip
    file = folder / "study.yaml"
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in study.items()))
    return file


def run(file: Path) -> tuple[Rows, list[Body]]:
    """The judge's ratings and the records, of a run that is coherent in itself and asks nothing a second time."""
    result = run_study(load_study(file))
    assert result.status == "complete", result.why
    folder = result.folder
    table = pl.read_parquet(folder / "ratings.parquet")
    rows = table.filter(rater_kind="judge").sort("item", "dimension").to_dicts()
    for row in rows:
        scored, lost = row["status"] == "scored", row["status"] == "unscored"
        assert scored or lost or row["status"] == "not_applicable"
        assert (row["score"] is not None) == scored and (row["reason"] is not None) == lost
        assert not scored or min(GRADES[row["dimension"]]) <= row["score"] <= max(GRADES[row["dimension"]])
        assert not lost or (row["reason"] in {each.value for each in Reason} and row["explanation"])
    states = Counter(row["status"] for row in rows)
    covered = json.loads((folder / "manifest.json").read_text())["coverage"]
    assert covered.pop("replies", {"token": 0})["token"] == 0, "its answers follow the schema by force"
    assert covered == {
        "ratings": len(rows),
        **{name: states[name] for name in ("scored", "not_applicable", "unscored")},
        "unscored_by_reason": Counter(row["reason"] for row in rows if row["reason"]),
    }
    assert 1 <= result.calls <= sum(row["calls"] for row in rows) + drafts(folder)
    assert all(each.sound for each in RunFolder(folder).verify())
    assert run_study(load_study(file)).calls == 0
    assert pl.read_parquet(folder / "ratings.parquet").equals(table)
    lines = folder / "records.jsonl"
    return rows, [
        json.loads(each)["body"] for each in lines.read_text().splitlines()
    ] if lines.exists() else []


def drafts(folder: Path) -> int:
    file = folder / "drafts.jsonl"
    return len(file.read_text().splitlines()) if file.exists() else 0


def said(row: Body) -> tuple[Any, ...]:
    return row["score"], row["status"], row["reason"]


def check_single(rows: Rows, records: list[Body]) -> None:
    assert [row["calls"] for row in rows] == [1] and not records


def check_repeats(rows: Rows, records: list[Body]) -> None:
    [row], [record] = rows, records
    draws = [each["outcomes"]["concordant"] for each in record["draws"]]
    assert row["calls"] == len(draws) == 2
    scores = [each["score"] for each in draws if each["status"] == "scored"]
    assert (row["status"] == "scored") == (len(scores) == 2), "both are more than half of two"
    assert row["status"] != "scored" or row["score"] == sum(scores) / 2


def check_adaptive(rows: Rows, records: list[Body]) -> None:
    [row], [record] = rows, records
    votes = [each["outcomes"]["concordant"] for each in record["calls"]]
    assert row["calls"] == len(votes) == 2 and record["stopped"] in ("settled", "all calls made")
    scores = [each["score"] for each in votes if each["status"] == "scored"]
    assert (row["status"] == "scored") == (len(scores) == 2)
    assert row["status"] != "scored" or row["score"] == sum(scores) / 2


def check_deliberation(rows: Rows, records: list[Body]) -> None:
    [row], [record] = rows, records
    acts = [step["act"] for step in record["steps"]]
    assert row["calls"] == sum(step["calls"] for step in record["steps"]) == len(acts)
    assert acts in (
        ["opening", "opening"],  # an agent's first word could not be used, and both are needed
        ["opening", "opening", "question"],  # the orchestrator's question could not
        ["opening", "opening", "question", "turn"],  # what the agent answered could not
        ["opening", "opening", "decision"],
        ["opening", "opening", "question", "decision"],
        ["opening", "opening", "question", "turn", "decision"],
    )
    assert record["turns"] == acts.count("turn")
    if acts[-1] != "decision":
        assert row["status"] == "unscored" and not record["decided"] and "failure" in repr(record["steps"])
    if row["status"] == "scored":
        assert record["decided"] == {"concordant": row["score"]} and row["explanation"]


def check_concordance(rows: Rows, records: list[Body]) -> None:
    concordant, preference = rows
    [record] = records
    calls = 1 + len(record["orders"])
    assert concordant["calls"] + preference["calls"] == calls
    assert said(record["concordance"]["concordant"]) == said(concordant)
    assert said(record["preference"]) == said(preference)
    if concordant["score"] == 1:
        usable = [each for each in record["orders"] if "prefers" in each]
        assert (preference["status"] == "scored") == (len(usable) == 2) and 1 <= len(record["orders"]) <= 2
    elif concordant["score"] == 0:
        assert preference["status"] == "not_applicable" and not record["orders"]
    else:
        assert preference["reason"] == concordant["reason"] and not record["orders"]


def check_claims(rows: Rows, records: list[Body]) -> None:
    [row], [record] = rows, records
    listing, verifying = record["steps"]
    assert (listing["step"], verifying["step"]) == ("list", "verify")
    assert row["calls"] == listing["calls"] + verifying["calls"] and listing["calls"] == 1
    claims = len(record["claims"])
    assert claims == verifying["claims"] <= 1
    assert claims <= verifying["calls"] <= 2 * claims, "a quotation that is nowhere is handed back once"
    assert said(record["outcome"]) == said(row)
    if listing["failure"]:
        assert row["reason"] == listing["failure"]["reason"] and not record["claims"]


def check_closed_loop(rows: Rows, records: list[Body]) -> None:
    [row], [record] = rows, records
    assert row["system"] == "a+loop" and 1 <= len(record["rounds"]) <= 2
    assert record["rounds"][0]["draft"] == CASE["candidate"]
    if record["stopped"] == "failed":
        assert row["status"] == "unscored" and row["reason"] == record["failure"]["reason"]
        assert not record["final"]
    else:
        first, last = (record["final"][which]["concordant"] for which in ("first", "last"))
        assert (row["status"] == "scored") == (first["status"] == last["status"] == "scored")
        assert row["status"] != "scored" or row["score"] == last["score"]


CHECKS: dict[str, Callable[[Rows, list[Body]], None]] = {
    "single": check_single,
    "repeats": check_repeats,
    "adaptive": check_adaptive,
    "deliberation": check_deliberation,
    "concordance": check_concordance,
    "claims": check_claims,
    "closed_loop": check_closed_loop,
}


def write_way(folder: Path, way: str) -> Path:
    explain = {"explain": False} if way in ("single", "repeats", "concordance") else {}
    instrument = INSTRUMENT + (PREFERENCE if way == "concordance" else "")
    return write(folder, instrument=instrument, judge={"strategy": WAYS[way], **explain})


@pytest.mark.parametrize("way", WAYS)
def test_every_way_goes_through_or_says_why_not(way: str, voice: str, tmp_path: Path) -> None:
    rows, records = run(write_way(tmp_path, way))
    CHECKS[way](rows, records)
    if voice != "what was asked for":
        expected = {"half of that": "truncated", "something else": "parse", "nothing": "empty"}[voice]
        assert {row["reason"] for row in rows} == {expected}


@pytest.mark.parametrize(
    "way",
    # The others with `make test-simulations`: what each asks for is asked of the model by the test below, and what
    # follows from any words by the test above.
    ["single", *(pytest.param(way, marks=pytest.mark.simulation) for way in OTHER_WAYS)],
)
def test_its_own_words_go_through_or_it_says_why_not(way: str, real: EmbeddedModel, tmp_path: Path) -> None:
    CHECKS[way](*run(write_way(tmp_path, way)))


async def test_its_own_words_can_follow_every_form_that_a_way_asks_for(
    real: EmbeddedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The long prompts are left out: what may fail is the form, which the decoder must take."""
    forms: dict[str, Any] = {}
    with monkeypatch.context() as patched:
        for way in (*WAYS, "drafting"):
            for mood in range(MOODS.get(way, 4)):
                heard = put_words(patched, "what was asked for", mood)
                folder = tmp_path / f"{way}-{mood}"
                folder.mkdir()
                await asyncio.to_thread(
                    run_study, load_study(write_way(folder, way) if way in WAYS else write_draft(folder))
                )
                forms |= {json.dumps(each.schema, sort_keys=True): each.schema for each in heard}
    asked_for = {name for form in forms.values() for name in form["properties"]}
    assert asked_for >= {
        "concordant",
        "preferred",
        "speaker",
        "statement",
        "claims",
        "verdicts",
        "text",
        "assessment",
    }
    for form in forms.values():
        reply = await real.ask(Request((Message("user", "Answer."),), schema=form, max_tokens=2))
        assert reply.text.startswith("{") and reply.finish == "length"


@pytest.mark.parametrize("voice", ["what was asked for", "nothing"], indirect=True)
def test_a_page_tells_of_it(voice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`medjury run` to its end, page included."""
    file = write(tmp_path, judge={"strategy": WAYS["deliberation"]}, report={"resamples": 200})
    assert main(["run", str(file), "--quiet"]) == 0
    assert "NOT VALIDATED" in (tmp_path / "runs" / "small" / "report.html").read_text()
    assert "could not be written" not in capsys.readouterr().err


def test_repeats_at_temperature_zero_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, judge={"strategy": WAYS["repeats"], "temperature": None})
    assert main(["run", str(file)]) == 2 and "set `temperature` above 0" in capsys.readouterr().err


def test_it_is_shown_an_example(voice: str, tmp_path: Path) -> None:
    lines = [f"c{n},a,dr-{rater},concordant,{n}" for n in range(2) for rater in range(2)]
    (tmp_path / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
    rows = [{**CASE, "id": f"c{n}", "candidate": f"Take {n}."} for n in range(2)]
    examples = {"shots": 1, "share": 1.0}
    file = write(tmp_path, rows=rows, humans="humans.csv", examples=examples, judge={"explain": False})
    found, _ = run(file)
    assert [row["calls"] for row in found] == [1, 1]


def write_draft(folder: Path) -> Path:
    case = {**CASE, "question": "How many?", "notes": [{"id": "n1", "text": "Two daily, and well. " * 4}]}
    del case["candidate"], case["system"]
    drafting = {"kind": "embedded", "context_window": 2048, "max_tokens": 40, "reasks": 0, "minimum_characters": 50,
                "sections": ["assessment"]}  # fmt: skip
    return write(folder, rows=[case], drafting=drafting, judge={"explain": False})


def test_it_drafts(voice: str, tmp_path: Path) -> None:
    [row], _ = run(write_draft(tmp_path))
    [draft] = [
        json.loads(line) for line in (tmp_path / "runs" / "small" / "drafts.jsonl").read_text().splitlines()
    ]
    assert draft["vendor"] == "Hugging Face"
    assert (draft["status"] == "drafted") == (voice == "what was asked for")
    if draft["status"] == "drafted":
        assert draft["candidate"] and row["calls"] == 1
    else:
        assert draft["status"] == "failed" and draft["reason"] and row["status"] == "unscored"
        assert row["calls"] == 0

"""Stored replies are read again by the present reader and instrument, without a call, into a run of their own."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer

from medjury.cli import main
from medjury.judging import _judge
from medjury.store.ratings import Rating, open_store
from medjury.store.runs import RunFolder
from medjury.studies import load_study, reread_run, run_study

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
GRADES = "{1: bad, 2: poor, 3: fair, 4: good}"


def instrument(grades: str = GRADES, words: str = "Grade it.", extra: str = "") -> str:
    dimensions = "\n".join(
        f"  - {{name: {name}, label: {name.title()}, definition: Is it so, grades: {grades}{extra}}}"
        for name in DIMENSIONS
    )
    return (
        f"name: own\nversion: '1'\ntitle: Own\ninstructions: {words}\n"
        "inputs:\n  - {name: context, label: Notes}\n  - {name: candidate, label: Summary}\n"
        f"dimensions:\n{dimensions}\n"
    )


def answer(*scores: object) -> str:
    given = zip(DIMENSIONS, scores, strict=True)
    return "ok:" + json.dumps({name: {"explanation": "so", "score": score} for name, score in given})


@pytest.fixture
def own_study(write_study: Write, tmp_path: Path) -> Write:
    """A study with an instrument of its own, in a file that a test may correct."""

    def write(**settings: Any) -> Path:
        if not (tmp_path / "own.yaml").exists():
            (tmp_path / "own.yaml").write_text(instrument())
        settings = {"instrument": "own.yaml", "max_unscored": 1.0, "dimensions": None, **settings}
        return write_study(**settings)

    return write


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "small"


@pytest.fixture
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From here on, every model that is asked and every socket that is opened is an error."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nobody may be asked")

    def forbid() -> None:
        from medjury.models import Gate
        from medjury.models._openai.openai import OpenAIModel

        monkeypatch.setattr(Gate, "ask", refuse)
        monkeypatch.setattr(OpenAIModel, "ask", refuse)
        monkeypatch.setattr(OpenAIModel, "count_tokens", refuse)
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket.socket, "connect_ex", refuse)

    return forbid


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a run, but the store, to which the new run is added."""
    files = (each for each in folder.rglob("*") if each.is_file() and "ratings.sqlite" not in each.name)
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def rows(store: str | Path, run: str) -> list[Rating]:
    with open_store(store, create=False) as opened:
        return list(opened.ratings(run))


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def again(folder: Path, number: int = 1) -> Path:
    return folder.with_name(f"{folder.name}-reread-{number}")


def changes(folder: Path) -> list[dict[str, Any]]:
    return pl.read_csv(again(folder) / "changes.csv").to_dicts()


def totals(folder: Path) -> dict[str, int]:
    counted = manifest(again(folder))["reread"]["changes"]
    kinds = ("same", "changed", "gained", "lost", "reason", "added", "removed", "no_reply")
    return {kind: found for kind in kinds if (found := sum(row[kind] for row in counted))}


def test_a_better_reader_reads_what_the_first_one_could_not(
    own_study: Write,
    server: LoopbackServer,
    folder: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.endpoint.behaviours = lambda call: answer(2, "four" if "Note 1" in call.prompt else 4, 1)
    file = own_study(cases=3, store=address)
    assert main(["run", str(file), "--quiet"]) == 0
    asked, before, earlier = len(server.calls), contents(folder), manifest(folder)["run"]
    stored = rows(address, earlier)
    read = _judge.read_answer

    def with_words(instrument: Any, value: Any, *others: Any) -> Any:
        return read(instrument, json.loads(json.dumps(value).replace('"four"', "4")), *others)

    monkeypatch.setattr(_judge, "read_answer", with_words)
    capsys.readouterr()
    assert main(["runs", "reread", str(folder)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "9 ratings read again: 8 the same, 1 scored now and not before"
    assert told[1] == "  juror, completeness: 2 the same, 1 scored now and not before"
    assert len(server.calls) == asked and contents(folder) == before and rows(address, earlier) == stored
    (change,) = changes(folder)
    assert change == {
        "item": "case-1", "system": "a", "rater": "juror", "dimension": "completeness", "repeat": 0,
        "change": "gained", "status_before": "unscored", "score_before": None, "reason_before": "parse",
        "status_after": "scored", "score_after": 4.0, "reason_after": "",
    }  # fmt: skip
    assert totals(folder) == {"same": 8, "gained": 1}
    made = manifest(again(folder))
    assert made["reread"]["from"]["run"] == earlier and made["run"] == f"{earlier}-reread-1" != earlier
    assert made["status"] == "complete" and made["calls"] == 0 and made["prompt_version"]
    assert all(finding.sound for finding in RunFolder(again(folder)).verify())
    table = pl.read_parquet(again(folder) / "ratings.parquet")
    assert table.filter(rater="jury", item="case-1", dimension="completeness")["score"].to_list() == [4.0]
    page = (again(folder) / "report.html").read_text()
    assert "no model was asked. 8 ratings are as they were, 1 changed, 0 are in the earlier run only." in page
    with open_store(address, create=False) as store:
        assert [each.name for each in store.runs()] == [earlier, f"{earlier}-reread-1"]


def test_a_corrected_scale_is_read_from_the_replies_to_the_old_question(
    own_study: Write, server: LoopbackServer, folder: Path, address: str, tmp_path: Path
) -> None:
    server.endpoint.behaviours = lambda call: answer(5 if "Note 0" in call.prompt else 4, 3, 2)
    file = own_study(cases=2, store=address)
    run_study(load_study(file))
    asked = len(server.calls)
    assert asked == 4, "5 is not a grade: it was handed back twice"
    (tmp_path / "own.yaml").write_text(instrument("{1: bad, 2: poor, 3: fair, 4: good, 5: best}"))
    assert reread_run(folder).no_reply == 0
    assert len(server.calls) == asked and totals(folder) == {"same": 5, "gained": 1}
    assert [row["score_after"] for row in changes(folder)] == [5.0]
    then, now = manifest(folder)["instrument"], manifest(again(folder))["instrument"]
    assert then["fingerprint"] != now["fingerprint"] == manifest(again(folder))["instrument"]["fingerprint"]
    assert manifest(again(folder))["reread"]["from"]["instrument"] == then


def test_a_stricter_scale_leaves_open_what_was_never_handed_back(
    own_study: Write,
    server: LoopbackServer,
    folder: Path,
    tmp_path: Path,
    nobody_is_asked: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.endpoint.behaviours = lambda call: answer(4 if "Note 0" in call.prompt else 3, 3, 2)
    run_study(load_study(own_study(cases=2)))
    (tmp_path / "own.yaml").write_text(instrument("{1: bad, 2: poor, 3: fair}"))
    nobody_is_asked()
    capsys.readouterr()
    assert main(["runs", "reread", str(folder)]) == 3
    told = capsys.readouterr().out
    assert "1 scored before and not now" in told.splitlines()[0] and "1 ratings have no stored reply" in told
    (lost,) = changes(folder)
    assert (lost["score_before"], lost["status_after"], lost["reason_after"]) == (
        4.0,
        "unscored",
        "not_stored",
    )
    table = pl.read_parquet(again(folder) / "ratings.parquet").filter(reason="not_stored", rater="juror")
    assert "4 is not a grade" in table["explanation"][0]
    assert manifest(again(folder))["status"] == "incomplete"


def test_without_reasks_a_stricter_scale_simply_reads_otherwise(
    own_study: Write, server: LoopbackServer, folder: Path, tmp_path: Path
) -> None:
    server.endpoint.behaviours = lambda call: answer(4, 3, 2)
    run_study(load_study(own_study(cases=1, judge={"reasks": 0})))
    (tmp_path / "own.yaml").write_text(instrument("{1: bad, 2: poor, 3: fair}"))
    assert reread_run(folder).no_reply == 0
    assert [(row["change"], row["reason_after"]) for row in changes(folder)] == [("lost", "out_of_range")]


def test_what_was_never_answered_keeps_its_reason(
    own_study: Write, server: LoopbackServer, folder: Path, nobody_is_asked: Callable[[], None]
) -> None:
    rows = [
        {"id": "down", "candidate": "x", "texts": {"context": "Note 0."}},
        {"id": "lacks", "candidate": "x"},
        {"id": "good", "candidate": "x", "texts": {"context": "Note 1."}},
    ]
    server.endpoint.behaviours = lambda call: "400:no" if "Note 0" in call.prompt else answer(4, 3, 2)
    file = own_study(cases=rows)
    run_study(load_study(file))
    nobody_is_asked()
    assert reread_run(folder).no_reply == 3
    assert totals(folder) == {"same": 9, "no_reply": 3} and changes(folder) == []
    table = pl.read_parquet(again(folder) / "ratings.parquet").filter(rater="juror")
    assert set(zip(table["item"], table["reason"], strict=True)) == {
        ("down", "provider"), ("lacks", "input"), ("good", None),
    }  # fmt: skip


def test_an_answer_that_was_drawn_anew_is_found(
    own_study: Write,
    server: LoopbackServer,
    folder: Path,
    tmp_path: Path,
    nobody_is_asked: Callable[[], None],
) -> None:
    file = own_study(cases=1)
    server.endpoint.behaviours = lambda call: "refusal"
    run_study(load_study(file))
    server.endpoint.behaviours = lambda call: answer(4, 3, 2)
    run_study(load_study(file), retry_unscored=True)
    (tmp_path / "own.yaml").write_text(instrument(words="Grade it with care."))
    nobody_is_asked()
    assert reread_run(folder).no_reply == 0
    assert totals(folder) == {"same": 3}


def test_a_dimension_that_was_taken_out_or_put_in_is_told_apart(
    own_study: Write, server: LoopbackServer, folder: Path, tmp_path: Path
) -> None:
    server.endpoint.behaviours = lambda call: answer(4, 3, 2)
    run_study(load_study(own_study(cases=1)))
    words = instrument().replace("name: clarity", "name: brevity")
    (tmp_path / "own.yaml").write_text(words)
    found = reread_run(folder)
    assert totals(folder) == {"same": 2, "added": 1, "removed": 1, "no_reply": 1} and found.no_reply == 1
    (new,) = [row for row in changes(folder) if row["change"] == "added"]
    assert (new["dimension"], new["reason_after"]) == ("brevity", "not_stored")


def of_every_way(url: str) -> list[dict[str, Any]]:
    endpoint = {"kind": "openai", "url": url}
    loop = {"name": "closed_loop", "loop_judge": {**endpoint, "model": "m2"}, "pass": {"accuracy": 4}}
    jurors = [{**endpoint, "name": f"juror {n}", "model": f"m{n}"} for n in (3, 4)]
    ways: dict[str, Any] = {
        "one": {},
        "parts": {"per_dimension": True, "seed": 4},
        "talk": {"strategy": "deliberation"},
        "loop": {"strategy": loop},
        "many": {"strategy": {"name": "repeats", "n": 2}, "temperature": 1.0},
        "few": {"strategy": {"name": "adaptive", "jurors": jurors}},
        "short": {"context_window": 2600, "context": {"truncate": "context"}, "seed": 9},
    }
    return [{**endpoint, "model": "m1", "name": name, **way} for name, way in ways.items()]


def talk(call: Call) -> str | None:
    """Raters who disagree, a writer that writes something, and an answer that must be handed back once."""
    names = call.schema["properties"] if call.schema else {}
    if "grades" not in names and "You are low_scorer," in call.prompt:
        return answer(1, 2, 1)
    if "text" in names:
        return 'ok:{"text": "A better summary."}'
    return "ok:nothing yet" if len(call.json["messages"]) == 2 and "Note 1" in call.prompt else "ok"


@pytest.mark.parametrize("words", ["Grade it.", "Grade it with care."], ids=["as it was", "reworded"])
def test_every_way_of_judging_is_read_again_whatever_the_words_of_its_questions(
    own_study: Write,
    server: LoopbackServer,
    folder: Path,
    tmp_path: Path,
    words: str,
    nobody_is_asked: Callable[[], None],
) -> None:
    server.endpoint.behaviours = talk
    cases = [
        {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}.",
         "texts": {"context": f"Note {n}. " + "It was a quiet night. " * (2000 * n)}}
        for n in range(2)
    ]  # fmt: skip
    file = own_study(cases=cases, judges=of_every_way(server.url), repeats=2)
    run_study(load_study(file))
    asked = len(server.calls)
    records = (folder / "records.jsonl").read_text()
    assert '"kind": "context"' in records, "a record was shortened"
    assert '"act": "turn"' in records and '"round": 1' in records, "there was a discussion, and a revision"
    assert any(len(call.json["messages"]) == 4 for call in server.calls), "an answer was handed back"
    (tmp_path / "own.yaml").write_text(instrument(words=words))
    nobody_is_asked()
    assert reread_run(folder).no_reply == 0
    before = pl.read_parquet(folder / "ratings.parquet").filter(rater_kind="judge")
    assert totals(folder) == {"same": before.height} and len(server.calls) == asked
    told = [json.loads(line) for line in (again(folder) / "records.jsonl").read_text().splitlines()]
    bodies = [json.loads(line)["body"] for line in records.splitlines()]
    assert [each["body"] for each in told] == bodies
    columns = [
        "item",
        "system",
        "rater",
        "dimension",
        "repeat",
        "score",
        "status",
        "explanation",
        "tokens_out",
    ]
    after = pl.read_parquet(again(folder) / "ratings.parquet").filter(rater_kind="judge")
    assert after.select(columns).equals(before.select(columns))


@pytest.mark.parametrize("strategy", ["claims", "concordance"])
def test_ways_with_instruments_of_their_own_are_read_again(
    write_study: Write,
    server: LoopbackServer,
    folder: Path,
    strategy: str,
    nobody_is_asked: Callable[[], None],
) -> None:
    def say(call: Call) -> str:
        names = (call.schema or {})["properties"]
        if "claims" in names:
            return 'ok:{"claims": [{"claim": "Take 5 mg.", "importance": 3, "quote": "5 mg daily"}]}'
        if "verdicts" in names:
            quote = "never written" if "looked up" not in call.prompt else "Take 5 mg daily."
            verdict = {"number": 1, "verdict": "supported", "evidence": [quote], "explanation": "so"}
            return "ok:" + json.dumps({"verdicts": [verdict]})
        if "preferred" in names:
            return 'ok:{"reason": "shorter", "preferred": 1}'
        return 'ok:{"concordant": {"explanation": "the same", "score": 1}}'

    server.endpoint.behaviours = say
    case = {
        "id": "a",
        "candidate": "5 mg daily.",
        "reference": "Take 5 mg daily.",
        "texts": {"question": "?"},
    }
    own = {"instrument": "preference", "dimensions": None} if strategy == "concordance" else {
        "instrument": "concordance", "dimensions": ["concordant"]
    }  # fmt: skip
    run_study(load_study(write_study(cases=[case], judge={"strategy": strategy}, **own)))
    nobody_is_asked()
    assert reread_run(folder).no_reply == 0
    assert set(totals(folder)) == {"same"}


def test_a_reading_that_leads_a_discussion_elsewhere_is_open_and_counted(
    own_study: Write, server: LoopbackServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rater whose first grading could not be read had left; now it can be read, and the talk would be another."""

    def say(call: Call) -> str | None:
        first = "You are low_scorer," in call.prompt and "grades" not in (call.schema or {})["properties"]
        return answer("one", "one", "one") if first else talk(call)

    server.endpoint.behaviours = say
    run_study(load_study(own_study(cases=1, judge={"strategy": "deliberation", "reasks": 0})))
    assert pl.read_parquet(folder / "ratings.parquet").filter(rater="juror")["status"].unique()[0] == "scored"
    from medjury.judging._deliberation import answers

    read = answers.read_answer

    def with_words(instrument: Any, value: Any, *others: Any) -> Any:
        return read(instrument, json.loads(json.dumps(value).replace('"one"', "1")), *others)

    monkeypatch.setattr(answers, "read_answer", with_words)
    asked = len(server.calls)
    assert reread_run(folder).no_reply == 3
    assert totals(folder) == {"lost": 3, "no_reply": 3} and len(server.calls) == asked
    assert {row["reason_after"] for row in changes(folder)} == {"not_stored"}


def test_the_pseudonyms_of_clinicians_stay_and_their_ratings_are_read_by_the_instrument(
    own_study: Write, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "humans.csv").write_text(
        "item,system,rater,dimension,score\ncase-0,a,Dr One,accuracy,4\ncase-1,a,Dr Two,accuracy,5\n"
    )
    file = own_study(cases=2, humans={"path": "humans.csv", "on_bad": "unscored"})
    run_study(load_study(file))
    store, earlier = folder / "ratings.sqlite", manifest(folder)["run"]
    stored = rows(store, earlier)
    (tmp_path / "own.yaml").write_text(instrument("{1: bad, 2: poor, 3: fair, 4: good, 5: best}"))
    reread_run(folder)
    said = {row.rater: row.score for row in stored if row.rater_kind == "clinician"}
    now = {
        row.rater: row.score for row in rows(store, f"{earlier}-reread-1") if row.rater_kind == "clinician"
    }
    assert said.keys() == now.keys() and set(said.values()) == {4, None} and set(now.values()) == {4, 5}
    assert rows(store, earlier) == stored


def test_drafts_are_read_as_they_were_judged(
    write_study: Write, server: LoopbackServer, folder: Path, nobody_is_asked: Callable[[], None]
) -> None:
    cases = [
        {"id": f"case-{n}", "texts": {"context": f"Note {n}.", "question": "What now?"}} for n in range(2)
    ]
    drafting = {"kind": "openai", "url": server.url, "model": "writer", "vendor": "Acme"}
    assert run_study(load_study(write_study(cases=cases, drafting=drafting))).status == "complete"
    nobody_is_asked()
    assert reread_run(folder).no_reply == 0
    assert totals(folder) == {"same": 6}
    assert (again(folder) / "drafts.jsonl").read_bytes() == (folder / "drafts.jsonl").read_bytes()
    assert all(finding.sound for finding in RunFolder(again(folder)).verify())


def test_a_case_or_a_judge_that_changed_has_no_stored_reply(
    own_study: Write, folder: Path, tmp_path: Path
) -> None:
    run_study(load_study(own_study(cases=2)))
    cases = (tmp_path / "cases.jsonl").read_text()
    own_study(cases=2, judge={"temperature": 0.5})
    assert reread_run(folder).changes.total("lost") == 6, "they were given at another temperature"
    own_study(cases=2)
    (tmp_path / "cases.jsonl").write_text(cases.replace("Summary 1", "Another summary"))
    found = reread_run(folder)
    assert found.no_reply == found.changes.total("lost") == 3 and found.changes.total("same") == 3
    assert "The cases are not those of the run" in found.text()
    own_study(
        cases=2, judges=[{"kind": "openai", "url": "http://127.0.0.1:9", "name": "another", "model": "m9"}]
    )
    told = reread_run(folder).text()
    assert "6 not in the earlier run, 6 only in the earlier run" in told and "left out: juror" in told


def test_what_cannot_be_read_again_is_told(
    own_study: Write, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*words: str) -> str:
        assert main(["runs", "reread", *words]) == 2
        return capsys.readouterr().err

    assert "manifest.json is missing" in refused(str(tmp_path))
    file = own_study(cases=1)
    run_study(load_study(file))
    assert "is not empty; name another folder" in refused(str(folder), "--out", str(tmp_path))
    moved = file.rename(tmp_path / "moved.yaml")
    assert "which is not there; name it with --study" in refused(str(folder))
    assert main(["runs", "reread", str(folder), "--study", str(moved)]) == 0
    moved.write_text(moved.read_text().replace('"small"', '"other"'))
    assert "is a run of the study 'small'" in refused(str(folder), "--study", str(moved))
    moved.write_text(moved.read_text().replace('"other"', '"small"') + "store: elsewhere.sqlite\n")
    with open_store(tmp_path / "elsewhere.sqlite"):
        pass
    assert "holds no run small@" in refused(str(folder), "--study", str(moved))

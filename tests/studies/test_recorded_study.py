"""A study is recorded and run again with its endpoints gone: the same ratings, tokens, costs and report tables."""

from __future__ import annotations

import gzip
import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
import yaml
from tests.judging.planted_claims import CASES, knowing
from tests.loopback import Call, LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import case_to_row
from medjury.report import write_page
from medjury.studies import load_study, record_run, run_study
from medjury.tables import rating_table
from medjury.validation._registered import standing

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
PRICE = {"input": 3.0, "output": 7.0}
RESAMPLES = 200  # two pages of equal numbers are equal, however often they resample


def replay(study: Path, *, out: str = "answers.jsonl") -> Path:
    """Record the study's run and write it with its models swapped; its run folder is to be called `again`."""
    folder = study.parent
    assert main(["runs", "record", str(folder / "runs" / "small"), "--out", str(folder / out),
                 "--replay", str(folder / "again.yaml")]) == 0  # fmt: skip
    file = folder / "again.yaml"
    assert "output: runs/small-replay\n" in file.read_text()
    file.write_text(file.read_text().replace("runs/small-replay", "runs/again"))
    return file


def run(file: Path, *flags: str) -> int:
    return run_without_report(file, "--no-preflight", *flags)


def ratings(study: Path, name: str) -> polars.DataFrame:
    table = polars.read_parquet(study.parent / "runs" / name / "ratings.parquet")
    return table.drop("created_at")


def steps(study: Path, name: str, of: str = "records") -> list[dict[str, Any]]:
    """The records of a run, without the moment at which each was written."""
    file = study.parent / "runs" / name / f"{of}.jsonl"
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [{key: value for key, value in each.items() if key != "created_at"} for each in found]


def manifest(study: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((study.parent / "runs" / name / "manifest.json").read_text())
    return found


def report_tables(study: Path, name: str) -> dict[str, str]:
    folder = study.parent / "runs" / name
    write_page(folder, resamples=RESAMPLES)
    tables = {
        file.name: re.sub(r"recorded [\d-]+ [\d:]+ UTC", "recorded then", file.read_text())
        for file in sorted((folder / "tables").glob("*.csv"))
    }
    where = {"small": "127.0.0.1", "again": "recorded answers"}[name]  # the one thing that differs
    assert where in tables["judges.csv"]
    return tables | {"judges.csv": tables["judges.csv"].replace(where, "")}


def closed(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint answers nobody any more, and no socket can be opened at all."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a recorded model opens no connection")

    server.endpoint.behaviours = "500"
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def same(study: Path) -> None:
    """The two runs agree in everything but the moment, and the second was given no key and no address."""
    first, again = ratings(study, "small"), ratings(study, "again")
    assert first.height and first.equals(again)
    assert steps(study, "small") == steps(study, "again")
    then, now = manifest(study, "small"), manifest(study, "again")
    for name in ("run", "coverage", "data_hash", "models_answered", "settings_refused", "instrument"):
        assert then.get(name) == now.get(name), name
    told = report_tables(study, "small")
    assert told and told == report_tables(study, "again")


WAYS: dict[str, Any] = {
    "single": "single",
    "one call per dimension": {"judge": {"per_dimension": True, "explain": False}},
    "repeats without a seed": {"strategy": {"name": "repeats", "n": 3}, "judge": {"seed": None}},
    "adaptive with several models": {
        "name": "adaptive",
        "jurors": [{"name": "a", "model": "m1"}, {"name": "b", "model": "m2"}, {"name": "c", "model": "m3"}],
    },
    "deliberation": {"name": "deliberation", "max_turns": 2},
    "closed loop": "closed_loop",
    "examples of the instrument": {"examples": True},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_judging_gives_the_same_without_its_endpoints(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    stated = WAYS[way]
    entry = {"kind": "openai", "url": server.url, "model": "m", "name": "juror", "price": PRICE}
    entry |= stated.get("judge", {}) if isinstance(stated, dict) else {}
    strategy = stated.get("strategy", stated) if isinstance(stated, dict) else stated
    if strategy == "closed_loop":
        strategy = {"name": "closed_loop", "loop_judge": {**entry, "model": "m2"}, "pass": {"accuracy": 5}}
        strategy["loop_judge"].pop("name")
    if isinstance(strategy, str) or "name" in strategy:
        entry["strategy"] = strategy
    study = write_study(
        judges=[entry], cases=4, repeats=2, examples=(isinstance(stated, dict) and stated.get("examples")) or None
    )  # fmt: skip
    assert run(study) == 0
    again = replay(study)
    closed(server, monkeypatch)
    assert run(again) == 0
    same(study)
    assert ratings(study, "again")["cost"].sum() > 0


def test_claims_and_concordance_are_replayed_step_by_step(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(call: Call) -> str:
        return (
            "ok"
            if "Answer 1:" in call.prompt or "concordant" in str(call.schema)
            else "ok:" + knowing()(call.prompt)
        )

    server.endpoint.behaviours = planted
    endpoint = {"kind": "openai", "url": server.url, "price": PRICE}
    judges = [
        {**endpoint, "model": "m1", "name": "claims",
         "strategy": {"name": "claims", "lister": {**endpoint, "model": "small"}}},
        {**endpoint, "model": "m2", "name": "concordance", "strategy": "concordance"},
    ]  # fmt: skip
    study = write_study(
        cases=[case_to_row(each.case) for each in CASES], judges=judges, instrument="concordance",
        dimensions=["concordant"], max_unscored=1.0,
    )  # fmt: skip
    assert run(study) == 0
    again = replay(study, out="answers.jsonl.gz")
    closed(server, monkeypatch)
    assert run(again) == 0
    same(study)
    assert {each["body"]["kind"] for each in steps(study, "again")} >= {"claims"}


def test_drafts_come_from_the_file_too(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"id": f"q{n}", "question": f"What about finding {n}?", "reference": "Repeat it.", "specialty": "x",
         "notes": [{"id": "n1", "date": "2025-01-01", "kind": "Progress note", "text": "Seen. " * 800}]}
        for n in range(3)
    ]  # fmt: skip
    drafting = {"kind": "openai", "url": server.url, "model": "writer-1", "vendor": "Acme"}
    study = write_study(
        cases=rows, instrument="concordance", dimensions=None, drafting=drafting, max_unscored=1.0
    )
    assert run(study) == 0
    again = replay(study)
    closed(server, monkeypatch)
    assert run(again) == 0
    assert len(drafts := steps(study, "small", "drafts")) == 3 and drafts == steps(study, "again", "drafts")
    same(study)


def test_a_record_that_was_shortened_for_its_endpoint_is_shortened_alike(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The endpoint counts tokens and refuses by that count: how much was too much is in the file."""
    sentence = "The patient was seen on the ward and is doing well today. "
    rows = [
        {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}.", "texts": {"context": "Seen."},
         "notes": [{"id": f"n{day}", "date": f"2025-01-0{day}", "text": sentence * times} for day in (1, 2, 3)]}
        for n, times in enumerate((2, 60, 80))
    ]  # fmt: skip
    (tmp_path / "from_notes.yaml").write_text(
        'name: from_notes\nversion: "1"\ntitle: Faithful\ninstructions: Compare.\ninputs:\n'
        "  - {name: notes, label: Notes}\n  - {name: candidate, label: Summary}\ndimensions:\n"
        "  - {name: faithful, label: Faithful, definition: Nothing contradicts., grades: {0: 'no', 1: 'yes'}}\n"
    )
    judge = {"context_window": 2000, "max_tokens": 200, "tokenize": "vllm", "context": {"truncate": "notes"}}
    study = write_study(cases=rows, judge=judge, instrument="from_notes.yaml", dimensions=None)
    assert run(study) == 0
    cut = [each["body"]["context"] for each in steps(study, "small")]
    assert len(cut) == 2
    again = replay(study)
    closed(server, monkeypatch)
    assert run(again) == 0
    same(study)


def test_lasting_failures_are_the_same_and_cost_the_same(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["refusal", "wrong-schema", "context", "empty", "out-of-range", "length", "ok", "ok"]
    rows = [
        {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}. [[loopback:{word}]]",
         "texts": {"context": "Note."}}
        for n, word in enumerate(words)
    ]  # fmt: skip
    study = write_study(cases=rows, judge={"price": PRICE}, max_unscored=1.0)
    assert run(study, "--keep-going") == 0
    votes = ratings(study, "small").filter(polars.col("rater") == "juror")
    assert votes["reason"].drop_nulls().n_unique() >= 5
    again = replay(study)
    closed(server, monkeypatch)
    assert run(again, "--keep-going") == 0
    same(study)


def test_worked_examples_are_drawn_alike(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(cases=12, humans={"path": "humans.csv"}, examples={"shots": 2, "share": 0.5})
    lines = [f"case-{n},a,Dr {rater},{dimension},{n % 5 + 1}" for n in range(12) for rater in "AB"
             for dimension in DIMENSIONS]  # fmt: skip
    (study.parent / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
    assert run(study) == 0
    again = replay(study)
    closed(server, monkeypatch)
    assert run(again) == 0
    first, second = ratings(study, "small"), ratings(study, "again")
    judged = polars.col("rater_kind") != "human"  # clinicians have pseudonyms of their own in each run folder
    assert first.filter(judged).equals(second.filter(judged))


def test_the_swapped_study_names_no_address_and_no_key_and_the_file_holds_no_question(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "not-to-be-seen")
    judge = {"api_key_env": "THE_KEY", "headers": {"X-Site": "ward-7"}, "extra": {"top_p": 0.9}}
    study = write_study(judge=judge, allow_hosts=["gateway.example"], budget={"calls": 100})
    assert run(study) == 0
    again = replay(study)
    swapped = yaml.safe_load(again.read_text())
    assert swapped["judges"] == [{"name": "juror", "model": "m", "kind": "recorded", "file": "answers.jsonl"}]
    assert "allow_hosts" not in swapped and "budget" not in swapped
    file = study.parent / "answers.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    for word in (
        "Summary",
        "Note ",
        "You are one of several",
        "THE_KEY",
        "not-to-be-seen",
        "ward-7",
        "127.0.0.1",
    ):
        assert word not in text, word
    header, *answers = (json.loads(line) for line in text.splitlines())
    (model,) = header["models"]
    assert model["identity"] == {"kind": "openai", "model": "m", "extra": '{"top_p": 0.9}'}
    assert len(answers) == 6
    assert set(answers[0]) == {
        "key", "text", "finish", "tokens_in", "tokens_out", "tokens_cached", "seconds", "model", "cost"
    }  # fmt: skip
    told = manifest(study, "small")
    assert run(again) == 0
    (before,), (now,) = told["judges"][0]["models"], manifest(study, "again")["judges"][0]["models"]
    assert {**now, "recorded_at": ""} == {
        **before, "host": None, "recorded": now["recorded"], "recorded_at": ""
    } and len(now["recorded"]) == 64  # fmt: skip


def test_a_question_that_was_not_recorded_is_unscored_with_advice_and_never_guessed(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(cases=3)
    assert run(study) == 0
    again = replay(study)
    cases = (study.parent / "cases.jsonl").read_text().splitlines()
    changed = json.loads(cases[1]) | {"candidate": "Another summary."}
    (study.parent / "cases.jsonl").write_text("\n".join([cases[0], json.dumps(changed), cases[2]]) + "\n")
    asked = len(server.calls)
    assert run(again) == 3
    told = capsys.readouterr()
    assert "3 ratings have no score: the recorded answers hold none to their question" in told.err
    votes = ratings(study, "again").filter(
        polars.col("rater") == "juror", polars.col("dimension").is_in(DIMENSIONS)
    )
    missing = votes.filter(polars.col("score").is_null())
    assert set(missing["item"]) == {"case-1"} and set(missing["reason"]) == {"not_stored"}
    assert "Put them back, or name a model that can be asked" in missing["explanation"][0]
    assert votes.filter(polars.col("item") != "case-1")["score"].null_count() == 0
    assert missing["cost"].sum() == 0 and len(server.calls) == asked


def test_a_changed_study_is_not_recorded_under_the_old_run(write_study: Write) -> None:
    study = write_study()
    run_study(load_study(study), preflight=False)
    write_study(judge={"temperature": 1.0})
    with pytest.raises(MedjuryError, match="its judges are not those of the run"):
        record_run(study.parent / "runs" / "small", study.parent / "answers.jsonl")
    assert not (study.parent / "answers.jsonl").exists()


def test_the_same_run_is_the_same_file(write_study: Write) -> None:
    study = write_study()
    run_study(load_study(study), preflight=False)
    for name in ("one.jsonl.gz", "two.jsonl.gz", "three.jsonl"):
        record_run(study.parent / "runs" / "small", study.parent / name)
    one, two, three = (study.parent / name for name in ("one.jsonl.gz", "two.jsonl.gz", "three.jsonl"))
    assert one.read_bytes() == two.read_bytes()
    assert gzip.decompress(one.read_bytes()) == three.read_bytes()


@pytest.mark.parametrize("known", [True, False])
def test_rules_that_are_registered_after_the_recording_were_not_stated_before(
    write_study: Write, tmp_path_factory: pytest.TempPathFactory, known: bool
) -> None:
    """Whoever has the recorded answers has seen their scores, in whatever folder they are replayed."""
    study = write_study()
    assert main(["register", str(study)]) == 0
    assert run(study) == 0
    again, elsewhere = replay(study), tmp_path_factory.mktemp("elsewhere")
    for name in ("cases.jsonl", "answers.jsonl", "again.yaml"):
        (elsewhere / name).write_bytes((study.parent / name).read_bytes())
    if not known:
        text = (elsewhere / "answers.jsonl").read_text()
        (elsewhere / "answers.jsonl").write_text(
            re.sub(r'"first_rating": "[^"]+"', '"first_rating": ""', text)
        )
    assert main(["register", str(elsewhere / "again.yaml")]) == 0
    assert run(elsewhere / "again.yaml") == 0
    found = standing(rating_table(elsewhere / "runs" / "again"))
    assert found.met is (False if known else None)
    assert (
        "registered after the first rating" if known else "when the scores were made"
    ) in found.why + found.text
    assert run(again) == 0
    assert standing(rating_table(study.parent / "runs" / "again")).met, "registered before the recorded run"

"""A run whose every answer would be paid for in vain stops after its first ones, and says what cures it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import polars
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.judging._breaker import FIRST_QUESTIONS
from medjury.store.runs import RunFolder

Write = Callable[..., Path]
HOPELESS = 120


class Word:
    """What the server does with every question; a test says what."""

    said = "ok"

    def __call__(self, call: Call) -> str | None:
        return self.said


@pytest.fixture
def word() -> Word:
    return Word()


@pytest.fixture
def server(word: Word) -> Iterator[LoopbackServer]:
    with LoopbackServer(word) as server:
        yield server


def ratings(study: Path) -> polars.DataFrame:
    return polars.read_parquet(study.parent / "runs" / "small" / "ratings.parquet")


@pytest.mark.parametrize(
    ("behaviour", "concurrency", "reason", "cure", "most"),
    [
        ("length", 1, "truncated", "Raise `max_tokens` of this model", 1),
        ("length", 64, "truncated", "Raise `max_tokens` of this model", 1),
        ("refusal", 64, "refusal", "Take another model", 1),
        ("html", 1, "provider", "`medjury models check`", 1),
        ("400:here only images are drawn", 64, "provider", "here only images are drawn", 1),
        ("empty", 1, "empty", "Raise `max_tokens`", 3),
        ("wrong-schema", 64, "missing", "answers do not keep to the form", 3),
    ],
)
def test_the_first_answers_are_paid_and_no_more(
    behaviour: str, concurrency: int, reason: str, cure: str, most: int, word: Word,
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    word.said = behaviour
    study = write_study(cases=HOPELESS, judge={"concurrency": concurrency})
    assert run_without_report(study, "--no-preflight") == 1
    assert len(server.calls) == most * FIRST_QUESTIONS
    told = capsys.readouterr()
    assert f"FAILED: juror: none of its first {FIRST_QUESTIONS} answers can be used" in told.err
    assert f"({reason})" in told.err and cure in told.err and "--keep-going" in told.err
    manifest = RunFolder(study.parent / "runs" / "small").manifest
    assert manifest.status == "failed" and manifest.coverage.scored == 0
    assert ratings(study)["score"].null_count() == ratings(study).height


def test_who_means_it_may_keep_going(word: Word, write_study: Write, server: LoopbackServer) -> None:
    word.said = "length"
    study = write_study(cases=40)
    assert run_without_report(study, "--no-preflight", "--keep-going") == 1
    assert len(server.calls) == 40


def test_one_good_answer_among_the_first_is_enough_to_go_on(tmp_path: Path, write_study: Write) -> None:
    with LoopbackServer(lambda call: "ok" if "Summary 19." in call.prompt else "length") as server:
        judge = {"url": server.url, "concurrency": 1}
        study = write_study(cases=40, judge=judge, max_unscored=1.0)
        assert run_without_report(study, "--no-preflight") == 0
        assert len(server.calls) == 40


@pytest.mark.parametrize("concurrency", [1, 64])
def test_another_kind_of_failure_is_no_answer(
    concurrency: int, write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(lambda call: "refusal" if "Summary 7." in call.prompt else "length") as server:
        study = write_study(
            cases=HOPELESS, judge={"url": server.url, "concurrency": concurrency}, max_unscored=1.0
        )
        assert run_without_report(study, "--no-preflight") == 1
        assert len(server.calls) == FIRST_QUESTIONS
    told = capsys.readouterr().err
    assert "none of its first 20 answers can be used (19 truncated, 1 refusal); the last: " in told
    assert "Raise `max_tokens` of this model" in told, "what cures most of them"


@pytest.mark.parametrize("concurrency", [1, 64])
def test_mixed_garbage_stops_the_run_and_the_way_on_is_named(
    concurrency: int, write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of twenty answers nineteen are `{}` and one is other junk, as of a proxy in front of a broken model."""
    numbers, junk = count(1), ["ok:[]", "empty", "ok:none of it", 'ok:{"accuracy": "very"}']

    def behave(call: Call) -> str:
        number = next(numbers)
        return "ok" if mended else junk[number // 20 % 4] if number % 20 == 0 else "ok:{}"

    mended = False
    with LoopbackServer(behave) as server:
        study = write_study(cases=240, judge={"url": server.url, "concurrency": concurrency})
        assert run_without_report(study, "--no-preflight") == 1
        assert len(server.calls) <= 3 * FIRST_QUESTIONS
        told = capsys.readouterr().err
        assert "FAILED: juror: none of its first 20 answers can be used" in told
        assert "--keep-going" in told and "--retry-unscored" in told
        mended = True
        assert run_without_report(study, "--retry-unscored") == 0
    assert RunFolder(study.parent / "runs" / "small").manifest.coverage.scored == 3 * 240


def test_a_failed_run_whose_endpoint_was_repaired_names_the_way_on(
    word: Word, write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    word.said = "ok:{}"
    study = write_study(cases=30)
    assert main(["run", str(study), "--quiet", "--no-preflight", "--keep-going"]) == 1
    assert "Report: " in capsys.readouterr().out, "a failed run has one too"
    word.said = "ok"
    asked = len(server.calls)
    assert run_without_report(study) == 1
    assert len(server.calls) == asked, "what was answered is not asked again unasked"
    assert f"`medjury run {study} --retry-unscored`" in capsys.readouterr().err
    assert run_without_report(study, "--retry-unscored") == 0
    assert len(server.calls) == asked + 30


def test_each_judge_is_watched_by_itself(write_study: Write, capsys: pytest.CaptureFixture[str]) -> None:
    with LoopbackServer(lambda call: "length" if call.json["model"] == "mute" else "ok") as server:
        judges = [
            {"kind": "openai", "name": name, "url": server.url, "model": name, "concurrency": 4}
            for name in ("fine", "mute")
        ]
        study = write_study(cases=HOPELESS, judges=judges)
        assert run_without_report(study, "--no-preflight") == 1
        assert sum(call.json["model"] == "mute" for call in server.calls) == FIRST_QUESTIONS
    assert "FAILED: mute: none of its first" in capsys.readouterr().err


def test_a_role_of_a_way_of_judging_is_watched_too(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """The draws of repeats are single questions: five of them make one rating."""
    with LoopbackServer("length") as server:
        judge = {"url": server.url, "strategy": {"name": "repeats", "n": 5}}
        study = write_study(cases=HOPELESS, judge=judge)
        assert run_without_report(study, "--no-preflight") == 1
        assert len(server.calls) == FIRST_QUESTIONS
    assert "juror: none of its first 20 answers" in capsys.readouterr().err


def test_the_next_run_after_the_cure_asks_everything(word: Word, write_study: Write) -> None:
    word.said = "length"
    assert run_without_report(write_study(cases=30), "--no-preflight") == 1
    word.said = "ok"
    study = write_study(cases=30, judge={"max_tokens": 4096})
    assert run_without_report(study, "--no-preflight") == 0
    manifest = json.loads((study.parent / "runs" / "small" / "manifest.json").read_text())
    assert manifest["coverage"]["scored"] == 90 and manifest["calls"] == FIRST_QUESTIONS + 30

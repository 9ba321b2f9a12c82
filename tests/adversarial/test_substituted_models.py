"""Who was asked and who answered are both told; another model is an alarm, and with a strict check no rater."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import Call, LoopbackServer

from medjury.cli import main
from medjury.judging._breaker import FIRST_QUESTIONS
from medjury.models import same_model
from medjury.store.runs import Manifest, RunFolder

Write = Callable[..., Path]
CHEAP = "cheap-tiny-model-0.1"
WARNING = f"juror: gpt-4o was asked for, and {CHEAP} reports that it answered"


def run(study: Path, *options: str) -> int:
    return main(["run", str(study), "--quiet", "--no-preflight", *options])


def folder(study: Path) -> Path:
    return study.parent / "runs" / "small"


def manifest(study: Path) -> Manifest:
    return RunFolder(folder(study)).manifest


def votes(study: Path) -> polars.DataFrame:
    return polars.read_parquet(folder(study) / "ratings.parquet").filter(
        polars.col("dimension") != "overall", rater_kind="judge"
    )


def first_screen(study: Path) -> str:
    page = (folder(study) / "report.html").read_text()
    return page[page.index('<section id="verdict"') : page.index("<nav")]


def answering(study: Path) -> list[tuple[str, str, str, int]]:
    return [(each.judge, each.asked, each.answered, each.ratings) for each in manifest(study).models_answered]


def gpt(server: LoopbackServer, **options: Any) -> dict[str, Any]:
    return {"url": server.url, "model": "gpt-4o", "concurrency": 1, **options}


# The rule


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-3.5-turbo", "gpt-3.5-turbo-0125"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("claude-3-5-sonnet", "claude-3-5-sonnet@20241022"),
        ("mistral-large", "mistral-large-2407"),
        ("gemini-2.0-flash", "models/gemini-2.0-flash-001"),
        ("Meta-Llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct"),
        ("llama3", "llama3:latest"),
        ("gpt-4o", "not told"),
    ],
)
def test_a_release_a_path_or_capitals_make_no_other_model(asked: str, answered: str) -> None:
    assert same_model(asked, answered)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-4o", CHEAP),
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
        ("llama-3.1", "llama-3.1-405"),
        ("llama-3.3-70b", "llama-3.3-8b"),
        ("meta/llama-3", "evil/llama-3"),
        ("gpt-4o", "unreadable-name"),
        ("gpt-4", "gpt-4-32"),
    ],
)
def test_anything_else_is_another_model(asked: str, answered: str) -> None:
    assert not same_model(asked, answered)


# Told


def test_asked_and_answered_are_in_rating_manifest_report_and_log(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(f"model:{CHEAP}") as server:
        study = write_study(cases=3, judge=gpt(server))
        assert run(study) == 0
    assert set(votes(study).select("model_asked", "model_answered").iter_rows()) == {("gpt-4o", CHEAP)}
    assert answering(study) == [("juror", "gpt-4o", CHEAP, 9)]
    log = [json.loads(line) for line in (folder(study) / "audit.jsonl").read_text().splitlines()]
    told = [(line["model"], line["answered_by"]) for line in log if line["event"] == "call"]
    assert told == [("gpt-4o", CHEAP)] * 3
    assert WARNING in first_screen(study)
    assert "another model" in (folder(study) / "report.html").read_text()
    assert f"Warning: {WARNING}: 9 ratings rest on that." in capsys.readouterr().out
    assert CHEAP in (folder(study) / "ratings.csv").read_text()


def test_a_release_of_the_model_is_told_without_alarm(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer("model:gpt-4o-2024-08-06") as server:
        study = write_study(cases=2, judge=gpt(server))
        assert run(study) == 0
    assert answering(study) == [("juror", "gpt-4o", "gpt-4o-2024-08-06", 6)]
    assert "Warning" not in capsys.readouterr().out and "gpt-4o" not in first_screen(study)
    assert "gpt-4o-2024-08-06" in (folder(study) / "report.html").read_text()


@pytest.mark.parametrize("later", [CHEAP, "gpt-4o-2024-11-20"])
def test_a_change_in_mid_run_is_a_warning(
    later: str, write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    def behave(call: Call) -> str:
        return "model:gpt-4o-2024-08-06" if call.number < 4 else f"model:{later}"

    with LoopbackServer(behave) as server:
        study = write_study(cases=6, judge=gpt(server))
        assert run(study) == 0
    names = sorted([("gpt-4o-2024-08-06", 12), (later, 6)])
    told = "juror: the model behind gpt-4o changed during the run: " + ", ".join(
        f"{name} ({count} ratings)" for name, count in names
    )
    assert told in first_screen(study) and f"Warning: {told}" in capsys.readouterr().out


def test_a_change_between_two_runs_of_a_study_is_a_change_in_mid_run(write_study: Write) -> None:
    with LoopbackServer(lambda call: "model:gpt-4o-2024-08-06" if call.number < 4 else None) as server:
        assert run(write_study(cases=6, judge=gpt(server), budget={"calls": 4})) == 3
        study = write_study(cases=6, judge=gpt(server))
        assert run(study) == 0
    assert "changed during the run" in first_screen(study)


def test_every_role_of_a_way_of_judging_is_told(write_study: Write) -> None:
    def behave(call: Call) -> str | None:
        return f"model:{CHEAP}" if call.json["model"] == "small" else None

    with LoopbackServer(behave) as server:
        jurors = [{"name": "one"}, {"name": "two", "model": "small"}]
        strategy = {"name": "adaptive", "jurors": jurors, "rule": {"minimum": 2}}
        study = write_study(cases=2, judge=gpt(server, strategy=strategy))
        assert run(study) == 0
    assert answering(study) == [("juror", "gpt-4o", "gpt-4o", 6), ("juror", "small", CHEAP, 6)]
    assert set(votes(study)["model_answered"]) == {f"gpt-4o, {CHEAP}"}


def test_what_an_endpoint_calls_itself_cannot_carry_the_prompt_out(write_study: Write) -> None:
    with LoopbackServer("model:Jane Roe has a cough\n<script>alert(1)</script>, gpt-4o") as server:
        study = write_study(cases=2, judge=gpt(server))
        assert run(study) == 0
    assert answering(study) == [("juror", "gpt-4o", "unreadable-name", 6)]
    for file in ("manifest.json", "audit.jsonl", "ratings.csv", "report.html"):
        assert "Jane Roe" not in (folder(study) / file).read_text()


def test_an_endpoint_that_does_not_say_is_no_alarm(write_study: Write) -> None:
    with LoopbackServer("model:") as server:
        study = write_study(cases=2, judge=gpt(server))
        assert run(study) == 0
    assert answering(study) == [("juror", "gpt-4o", "not told", 6)] and "not told" not in first_screen(study)


def test_a_deployment_has_a_name_of_its_own(write_study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")
    with LoopbackServer("model:gpt-4o-2024-08-06") as server:
        judge = gpt(server, kind="azure", model="our-judge", azure_api_version="1", api_key_env="KEY")
        study = write_study(cases=2, judge=judge, model_check="strict")
        assert run(study) == 0
    assert answering(study) == [("juror", "our-judge", "gpt-4o-2024-08-06", 6)]
    assert "our-judge" not in first_screen(study)


# Strict


@pytest.mark.parametrize("where", ["study", "judge"])
def test_a_strict_check_scores_no_answer_of_another_model(where: str, write_study: Write) -> None:
    def behave(call: Call) -> str | None:
        return f"model:{CHEAP}" if "Summary 1." in call.prompt else "model:gpt-4o-2024-08-06"

    with LoopbackServer(behave) as server:
        strict: dict[str, Any] = {"model_check": "strict"}
        own, whole = (strict, {}) if where == "judge" else ({}, strict)
        price = {"input": 1.0, "output": 1.0}
        study = write_study(cases=3, judge=gpt(server, price=price, **own), max_unscored=1.0, **whole)
        assert run(study) == 1, "the model behind the name changed"
    assert "changed during the run" in manifest(study).why
    lost = votes(study).filter(item="case-1")
    assert set(lost["reason"]) == {"other_model"} and lost["score"].null_count() == 3
    assert all(
        f"gpt-4o was asked for, and {CHEAP} reports that it answered" in each for each in lost["explanation"]
    )
    assert all(cost > 0 for cost in lost["cost"]), "it was paid for"
    assert votes(study).filter(polars.col("item") != "case-1")["score"].null_count() == 0


def test_a_judge_may_be_told_alone_where_the_study_is_strict(write_study: Write) -> None:
    with LoopbackServer(f"model:{CHEAP}") as server:
        study = write_study(cases=2, judge=gpt(server, model_check="tell"), model_check="strict")
        assert run(study) == 0
        assert votes(study)["score"].null_count() == 0


def test_another_release_in_mid_run_fails_a_strict_run(write_study: Write) -> None:
    with LoopbackServer(
        lambda call: f"model:gpt-4o-2024-{'08-06' if call.number < 2 else '11-20'}"
    ) as server:
        study = write_study(cases=4, judge=gpt(server), model_check="strict")
        assert run(study) == 1
    assert "the model behind gpt-4o changed during the run" in manifest(study).why
    assert votes(study)["score"].null_count() == 0


def test_a_strict_run_that_only_another_model_answers_is_stopped(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(f"model:{CHEAP}") as server:
        study = write_study(cases=60, judge=gpt(server, concurrency=16), model_check="strict")
        assert run(study) == 1
        assert len(server.calls) == FIRST_QUESTIONS
    assert "Ask for the model by the name that answers" in capsys.readouterr().err


def test_strictness_is_no_reason_to_pay_again(write_study: Write) -> None:
    with LoopbackServer(f"model:{CHEAP}") as server:
        assert run(write_study(cases=3, judge=gpt(server))) == 0
        study = write_study(cases=3, judge=gpt(server), model_check="strict", max_unscored=1.0)
        assert run(study) == 0
        assert len(server.calls) == 3 and set(votes(study)["reason"]) == {"other_model"}
        server.endpoint.behaviours = lambda call: "model:gpt-4o"
        assert run(study, "--retry-unscored") == 0
        assert len(server.calls) == 6 and votes(study)["score"].null_count() == 0

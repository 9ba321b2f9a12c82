"""Studies whose judges run inside the process: loaded once, before anybody is paid, and failures are no scores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.folder_of_weights import write_weights
from tests.loopback import LoopbackServer
from tests.studies.running import manifest_of, ratings_of, run_without_report
from tests.traced.stand_in import StandIn

from medjury.cli import main
from medjury.models import _transformers
from medjury.studies import load_study

Write = Callable[..., Path]


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of weights for the stand-in of transformers."""
    monkeypatch.setattr(_transformers, "_LIBRARIES", ())
    monkeypatch.setattr(_transformers.TransformersModel, "engine", lambda self: StandIn(self))
    return write_weights(tmp_path / "models" / "judge", window=4000)


def jury(server: LoopbackServer, **local: Any) -> list[dict[str, Any]]:
    paid = {"kind": "openai", "name": "paid", "url": server.url, "model": "m"}
    return [paid, {"kind": "transformers", "name": "local", "weights": "models/judge", **local}]


def test_a_judge_in_process_rates_beside_others_and_is_loaded_once(
    write_study: Write, server: LoopbackServer, weights: Path
) -> None:
    """Its folder lies beside the study file, wherever the command is given."""
    study = write_study(judges=jury(server))
    assert load_study(study).workers["local"] == 2, "twice as many units as the engine takes at a time"
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater="local", dimension="clarity")
    assert rows["score"].to_list() == [1.0] * 6 and set(rows["model_answered"]) == {"judge"}
    assert rows["tokens_out"].min() > 0 and set(rows["cost"]) == {0.0}
    manifest = manifest_of(study)
    [told] = [each for each in manifest["judges"] if each["name"] == "local"]
    assert "transformers" in json.dumps(told)
    assert (weights / "loads.log").read_text().splitlines() == [f"{os.getpid()} {os.getppid()}"]
    assert run_without_report(study) == 0
    assert len((weights / "loads.log").read_text().splitlines()) == 1, "all is stored: nothing is loaded"


def test_a_judge_that_cannot_be_loaded_is_a_refusal_before_anything_is_paid(
    write_study: Write, server: LoopbackServer, weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (weights / "broken").touch()
    study = write_study(judges=jury(server))
    assert run_without_report(study) == 2
    assert "cannot be loaded" in capsys.readouterr().err
    assert not server.calls, "not even the preflight"
    assert main(["run", str(study), "--dry-run"]) == 2, "nor does a dry run say that all is well"
    (weights / "broken").unlink()
    assert run_without_report(study) == 0


def test_a_name_of_the_hub_is_refused_with_what_to_do(
    write_study: Write, server: LoopbackServer, weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(judges=jury(server, weights="owner/some-model"))
    assert run_without_report(study) == 2
    told = capsys.readouterr().err
    assert "nothing is fetched while a study runs" in told and "hf download" in told
    assert not server.calls


def test_answers_that_are_cut_or_do_not_fit_are_unscored(
    write_study: Write, server: LoopbackServer, weights: Path
) -> None:
    cases = [
        {"id": "long", "system": "a", "candidate": "word " * 1800, "texts": {"context": "Note."}},
        {"id": "fits", "system": "a", "candidate": "Well.", "texts": {"context": "Note."}},
    ]
    study = write_study(cases=cases, judges=jury(server, context_window=4000), max_unscored=1)
    assert run_without_report(study) == 0
    found = dict(
        ratings_of(study).filter(rater="local", dimension="clarity").select("item", "reason").iter_rows()
    )
    assert found == {"long": "context", "fits": None}
    cut = write_study(cases=cases[1:], judges=jury(server, max_tokens=5), output="cut", max_unscored=1)
    assert run_without_report(cut) == 0
    rows = polars.read_parquet(cut.parent / "cut" / "ratings.parquet").filter(
        rater="local", dimension="clarity"
    )
    assert set(rows["reason"]) == {"truncated"} and set(rows["score"]) == {None}


def test_a_model_by_transformers_judges_a_study(write_study: Write, server: LoopbackServer) -> None:
    """Real weights, though random ones: what it says cannot be read, and that is no score."""
    pytest.importorskip("torch", reason="judges in process need the `neural` extra")
    from tests.tuning.training.tiny_model import write_tiny_model

    judge = {"kind": "transformers", "name": "local", "weights": "tiny", "max_tokens": 20, "reasks": 1}
    study = write_study(cases=2, judges=[{**judge}], max_unscored=1)
    write_tiny_model(study.parent / "tiny")
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(
        polars.col("dimension").is_in(["accuracy", "completeness", "clarity"]), rater="local"
    )
    assert len(rows) == 6 and set(rows["status"]) == {"unscored"} and set(rows["reason"]) == {"truncated"}
    assert set(rows["model_answered"]) == {"tiny"} and not server.calls
    calls = [json.loads(line) for line in (study.parent / "runs/small/audit.jsonl").read_text().splitlines()]
    assert {each["rater"] for each in calls} == {"local"}, "every question is in the log"

"""Real labels and a real model: a tiny tuning runs to its end and reports what it finds, whatever that is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.loopback import Call, LoopbackServer
from tests.tuning.primock import PRIMOCK, write_primock

from medjury.models import weights_file
from medjury.studies import load_study
from medjury.tuning import plan_study_tuning, read_settings, tune_study

pytestmark = pytest.mark.skipif(
    not PRIMOCK.is_file(), reason="the labelled turns (shared/data/transcript_impact) are not on this machine"
)

TINY = {"split": [1, 1, 1], "group": "none", "budget": 2, "minibatch": 1, "resamples": 200}


def test_the_real_labels_are_split_by_call(tmp_path: Path) -> None:
    study = load_study(write_primock(tmp_path, tuning={"preset": "paper-002", "group": "patient"}))
    text = plan_study_tuning(study, read_settings(study)).text()
    assert "104 labelled cases (312 labels of 3 raters), kept together by patient" in text
    assert "held-out cases are of patients" not in text
    loose = plan_study_tuning(study, read_settings(study, group="none")).text()
    assert "are of patients, items or texts that tuning sees too" in loose


def assert_tuned_to_the_end(file: Path) -> None:
    file.write_text(file.read_text().replace('"max_tokens": 200', '"max_tokens": 30, "explain": false'))
    study = load_study(file)
    result = tune_study(study, read_settings(study))
    assert result.status == "complete" and result.held_out is not None and result.held_out.cases == 1
    said = {row.rater for row in result.held_out.rows}
    assert said >= {"plain", "tuned", "Clinician A", "Clinician B"}


def alarmed(call: Call) -> str:
    """An endpoint whose judge finds every turn changed for the worst, and whose writer is brief."""
    if call.schema is None:
        return "ok:<new text>\nGrade what was heard.\n</new text>"
    return f"ok:{json.dumps({'impact': 2})}"


def test_a_tiny_tuning_runs_to_its_end(tmp_path: Path) -> None:
    with LoopbackServer(alarmed) as server:
        judge = {"kind": "openai", "name": "small", "url": server.url, "model": "m", "max_tokens": 200}
        assert_tuned_to_the_end(write_primock(tmp_path, turns=3, tuning=TINY, judges=[judge]))
        assert {call.schema is None for call in server.calls} == {True, False}, (
            "it judged, and wrote a prompt"
        )


@pytest.mark.simulation  # a minute of processor time: the model reads five long prompts
@pytest.mark.skipif(
    not weights_file().is_file(), reason="the embedded model's weights are not on this machine"
)
def test_a_tiny_tuning_with_the_embedded_model_runs_to_its_end(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    assert_tuned_to_the_end(write_primock(tmp_path, turns=3, tuning=TINY))

"""Trained judges beside the plain one: what the training took is told, and no case that it saw counts."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.intake.cases import Case, content_marks
from medjury.studies import load_study

CASES = [
    {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}.", "texts": {"context": f"Note {n}."}}
    for n in range(40)
]
TRUTH = [1 + n % 5 for n in range(40)]


def training(folder: Path, method: str, seen: range, base: str, **facts: Any) -> None:
    """The files that a finished training leaves, of lessons from two clinicians."""
    folder.mkdir(parents=True)
    rows = [{"item": f"case-{n}", "system": "a", "rater": who} for n in seen for who in ("Ada", "Ben", "Ben")]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = {"method": method, "base": base, "hours": 2.0, "gpus": 2, "device": "H", "cost": 12.5, **facts}
    (folder / "training.json").write_text(json.dumps(made))
    items = [f"case-{n}" for n in seen]
    (folder / "data.json").write_text(json.dumps({"sides": {"training": items, "development": []}}))
    marks = [mark for n in seen for mark in content_marks(Case(**CASES[n]))]
    (folder / "touched.json").write_text(json.dumps({"marks": marks, "items": items, "case_hashes": []}))


@pytest.fixture
def study(write_study: Callable[..., Path], server: LoopbackServer, tmp_path: Path) -> Path:
    """A plain judge who always says 3, one that was trained on four cases and says the same, and one that was
    trained on eight, by DPO after SFT, and says what the clinicians say."""

    def answer(call: Call) -> str:
        if not call.schema:
            return "ok"
        number = next(n for n in range(39, -1, -1) if f"Summary {n}." in json.dumps(call.json))
        score = TRUTH[number] if call.json["model"] == "large" else 1 + 2 * (number % 2)
        return "ok:" + json.dumps(dict.fromkeys(call.schema["properties"], score))

    server.endpoint.behaviours = answer
    elsewhere = tmp_path / "far" / "away"
    training(elsewhere / "four", "sft", range(4), "weights")
    training(elsewhere / "sft", "sft", range(8), "weights", cost=7.5)
    training(elsewhere / "dpo", "dpo", range(8), str(elsewhere / "sft" / "merged"), gpus=0, hours=1.0)
    rows = [["item", "system", "rater", "dimension", "score"]]
    rows += [[f"case-{n}", "a", who, "accuracy", str(TRUTH[n])] for n in range(40) for who in ("Ada", "Ben")]
    (tmp_path / "people.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    judges = [
        {"kind": "openai", "url": server.url, "name": name, "model": model, "explain": False, **more}
        for name, model, more in (
            ("plain", "small", {}),
            ("four", "medium", {"trained": "far/away/four"}),
            ("eight", "large", {"trained": "far/away/dpo"}),
        )
    ]
    return write_study(
        cases=CASES, judges=judges, jury="none", humans="people.csv", dimensions=["accuracy"],
        report={"clinician_minutes_per_case": 3, "resamples": 200},
    )  # fmt: skip


def test_gain_cost_and_hours_of_trained_judges_stand_beside_the_ways(study: Path) -> None:
    assert main(["run", str(study), "--quiet"]) == 0
    run = load_study(study).output
    with (run / "tables" / "tuning.csv").open(newline="") as file:
        four, eight = csv.DictReader(file)
    assert (four["rater"], four["tuned by"], eight["tuned by"]) == ("four", "SFT", "DPO after SFT")
    # Two clinicians' labels of each case, however often they are shown; three minutes each.
    assert [float(row["labels"]) for row in (four, eight)] == [8, 16]
    assert [float(row["clinicians' hours"]) for row in (four, eight)] == [0.4, 0.8]
    hours = [float(row["machine hours"]) for row in (four, eight)]
    assert hours == [4.0, 5.0], "one hour on a CPU, two on two GPUs"
    assert [float(row["cost"]) for row in (four, eight)] == [12.5, 20.0]
    assert float(four["gain on held-out cases"]) == 0 and float(eight["gain on held-out cases low"]) > 0
    page = (run / "report.html").read_text()
    assert "What tuning took" in page
    with (run / "tables" / "verdicts.csv").open(newline="") as file:
        assert {row["cases rated by two"] for row in csv.DictReader(file)} == {"32"}, (
            "eight were learned from"
        )


def test_the_plan_tells_what_trainings_elsewhere_have_seen(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(study), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "the training of a judge (four) has seen 4 of these cases" in told
    assert "the training of a judge (sft) has seen 8 of these cases" in told


def test_a_folder_without_a_training_is_refused_before_anything_is_asked(
    study: Path, capsys: pytest.CaptureFixture[str], server: LoopbackServer
) -> None:
    study.write_text(study.read_text().replace("far/away/four", "far/away"))
    assert run_without_report(study) == 2
    said = capsys.readouterr().err
    assert "judge four" in said and "name the folder of a finished training in `trained`" in said
    assert not server.endpoint.calls

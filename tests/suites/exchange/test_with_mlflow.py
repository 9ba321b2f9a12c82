"""A run in the real MLflow, in a store of files: the verdict and its numbers, and nothing of any case."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.suites.exchange.juries import nothing_leaves

import medjury
from medjury.cli import main
from medjury.studies import Demonstration, load_study, run_study
from medjury.suites import log_to_mlflow
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of

os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", MLFLOW_ALLOW_FILE_STORE="true")
mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed; `make test-interop` brings it")
pytestmark = pytest.mark.filterwarnings("ignore")


def demonstration(folder: Path, **report: object) -> Path:
    """The run of the demonstration: 120 synthetic cases, three judges with recorded answers, two clinicians."""
    Demonstration(folder).copy()
    file = Demonstration(folder).good_jury
    settings = yaml.safe_load(file.read_text())
    file.write_text(json.dumps({**settings, "report": {"resamples": 200, **report}}))
    ran = run_study(load_study(file)).folder
    assert main(["report", str(ran)]) == 0
    return ran


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of files in a folder of its own; nothing leaves the machine."""
    place = tmp_path / "mlruns"
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(place.as_uri())
    with nothing_leaves(monkeypatch) as tried:
        yield place
    assert tried == []


def everything(store: Path) -> str:
    return "".join(each.read_text(errors="replace") for each in store.rglob("*") if each.is_file())


def words_of_cases(folder: Path) -> list[str]:
    """Ids and beginnings of texts: none of them may be found in the store."""
    cases = medjury.open_run(folder).cases
    texts = [
        text for case in cases for text in (case.candidate, case.reference, *case.texts.values()) if text
    ]
    return [*{case.id for case in cases}, *{text[:60] for text in texts}]


def test_the_verdict_and_the_numbers_of_the_gate_are_there_with_their_intervals(
    tmp_path: Path, store: Path
) -> None:
    folder = demonstration(tmp_path / "study")
    found = mlflow.get_run(log_to_mlflow(folder))
    evidence = evidence_of(open_run(folder))
    first = validation_of(evidence).verdicts[0]
    metrics, tags = found.data.metrics, found.data.tags
    assert tags["medjury.verdict"] == "AUXILIARY" and found.info.status == "FINISHED"
    assert tags[f"medjury.verdict.{first.dimension}"] == first.word
    measured = {
        f"{first.dimension}/{rule.id}.{end}": value
        for rule in first.rules
        if rule.line and rule.state != "does not apply"
        for end in ("jury", "colleague", "value", "low", "high")
        if (value := getattr(rule, end)) is not None
    }
    assert len(measured) > 10 and measured == {name: pytest.approx(metrics[name]) for name in measured}
    assert metrics[f"{first.dimension}/coverage"] == evidence.covered(first.dimension)[0]
    assert metrics["ratings/unscored"] == evidence.manifest.coverage.unscored
    verdicts = json.loads(mlflow.artifacts.load_text(f"{found.info.artifact_uri}/verdict.json"))
    assert verdicts[0]["verdict"] == first.word
    # Nothing of a case: neither its words nor its id, and no page that shows them.
    said = everything(store)
    secrets = words_of_cases(folder)
    assert len(secrets) > 120 and not [each for each in secrets if each in said]
    assert tags["medjury.report"].startswith("not logged") and not list(store.rglob("report.html"))


def test_a_report_that_hides_texts_goes_with_it_into_the_run_that_is_open(
    tmp_path: Path, store: Path
) -> None:
    folder = demonstration(tmp_path / "study", hide_texts=True)
    with mlflow.start_run() as run:
        assert log_to_mlflow(folder) == run.info.run_id
        assert mlflow.active_run() is not None  # whoever opened it closes it
    assert len(list(store.rglob("report.html"))) == 1
    said = everything(store)
    assert not [each for each in words_of_cases(folder) if each in said]

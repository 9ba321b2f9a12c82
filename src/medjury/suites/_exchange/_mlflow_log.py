"""A run in MLflow: the verdict, the numbers of the gate with their intervals, and coverage. No patient.

What is written is made of statistics alone. The report goes with it only where the study hides texts, because any
other report shows cases; ratings, records and logs of the run folder never do, for they hold ids and words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from medjury.store.runs import RunFolder, files
from medjury.suites._exchange._jury_elsewhere import wanted
from medjury.tables import open_run
from medjury.validation import Evidence, Validation, evidence_of, validation_of

_NAME = re.compile(r"[^\w\-. /]")


def log_to_mlflow(folder: str | Path) -> str:
    """Write one run folder into MLflow's active run, or into a new one of the active experiment; that run's id.

    An interval is written as NAME, NAME.low and NAME.high. What could not be computed has no metric: the tag
    `medjury.undefined` names it."""
    mlflow = wanted("mlflow", "medjury[mlflow]", "logging a run to MLflow")
    place = Path(folder)
    evidence = evidence_of(open_run(place), checks=RunFolder(place).verify(unlisted=False))
    found = validation_of(evidence)
    if mlflow.active_run() is not None:
        _log(mlflow, place, evidence, found)
        return str(mlflow.active_run().info.run_id)
    with mlflow.start_run(run_name=evidence.manifest.study or None) as run:
        _log(mlflow, place, evidence, found)
        return str(run.info.run_id)


def _log(mlflow: Any, place: Path, evidence: Evidence, found: Validation) -> None:
    numbers, undefined = _numbers(evidence, found)
    report = place / files.REPORT
    hidden = evidence.manifest.report.hide_texts and report.is_file()
    shown = "logged" if hidden else "not logged: it is not there, or shows texts of cases"
    mlflow.log_metrics(numbers)
    mlflow.set_tags(_tags(evidence, found) | undefined | {"medjury.report": shown})
    mlflow.log_text(found.verdicts_json(), "verdict.json")
    mlflow.log_text(found.text() + "\n", "verdict.txt")
    if hidden:
        mlflow.log_artifact(str(report))


def _tags(evidence: Evidence, found: Validation) -> dict[str, str]:
    manifest = evidence.manifest
    tags = {
        "medjury.verdict": found.worst(first=True),
        "medjury.version": manifest.medjury,
        "medjury.study": manifest.study,
        "medjury.data_hash": manifest.data_hash,
        "medjury.study_file_hash": manifest.study_file_hash,
        "medjury.instrument": manifest.instrument.name,
        "medjury.judges": ", ".join(each.name for each in manifest.judges),
        "medjury.reference": f"{len(evidence.clinicians)} clinicians",
    }
    for each in found.verdicts:
        tags[f"medjury.verdict.{_named(each.rater, each.dimension, found)}"] = each.word
    return tags


def _numbers(evidence: Evidence, found: Validation) -> tuple[dict[str, float], dict[str, str]]:
    """The metrics, and under one tag the names of those that are not defined."""
    numbers: dict[str, float] = {}
    undefined = []
    for each in found.verdicts:
        tried = replace(evidence, rater=each.rater)
        before = _named(each.rater, each.dimension, found)
        for rule in each.rules:
            if not rule.line or rule.state == "does not apply":
                continue
            known = {end: getattr(rule, end) for end in ("jury", "colleague", "value", "low", "high")}
            if known["value"] is None:
                undefined.append(f"{before}/{rule.id}")
            numbers |= {
                f"{before}/{rule.id}.{end}": value for end, value in known.items() if value is not None
            }
        share, scored, asked = tried.covered(each.dimension)
        numbers |= {f"{before}/scored": scored, f"{before}/asked": asked}
        numbers |= {} if share is None else {f"{before}/coverage": share}
    counts = evidence.manifest.coverage
    numbers |= {f"ratings/{name}": float(getattr(counts, name)) for name in ("ratings", "scored", "unscored")}
    numbers |= {f"unscored/{_plain(name)}": count for name, count in counts.unscored_by_reason.items()}
    return numbers, {"medjury.undefined": ", ".join(undefined)} if undefined else {}


def _named(rater: str, dimension: str, found: Validation) -> str:
    """The dimension; with the rater before it where several are on trial."""
    return _plain(dimension if len(found.raters) < 2 else f"{rater}/{dimension}")


def _plain(name: str) -> str:
    """What MLflow takes as a name."""
    return _NAME.sub("_", name)

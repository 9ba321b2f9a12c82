"""Several visits of one patient: every interval of the report resamples patients, and the gate counts them once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from tests.report.planted import page_of, planted_frame, write_run

from medjury.foundation.errors import MedjuryError
from medjury.tables import open_run
from medjury.validation import compare_ways, evidence_of, validate

VISITS = 4


def write_visits(folder: Path, *, told: bool) -> Path:
    """Sixty patients whose four visits are rated alike; the run knows the patients where it is `told`."""
    one = planted_frame(cases=60, dimensions=("accuracy",), judges={"judge-a": 0.8, "judge-b": 1.2})
    ratings = pl.concat(
        one.with_columns((pl.col("item") + f" visit {visit}").alias("item")) for visit in range(VISITS)
    )
    write_run(folder, ratings)
    if told:
        rows = [
            f"case-{patient:04d} visit {visit},{patient + 1}"
            for patient in range(60)
            for visit in range(VISITS)
        ]
        (folder / "patients.csv").write_text("\n".join(["item,patient", *rows]) + "\n")
        file = folder / "manifest.json"
        manifest = json.loads(file.read_text())
        manifest["files"]["patients.csv"] = hashlib.sha256((folder / "patients.csv").read_bytes()).hexdigest()
        file.write_text(json.dumps(manifest))
    return folder


def test_four_visits_of_a_patient_prove_no_more_than_one(tmp_path: Path) -> None:
    once = write_run(
        tmp_path / "once",
        planted_frame(cases=60, dimensions=("accuracy",), judges={"judge-a": 0.8, "judge-b": 1.2}),
    )
    told = write_visits(tmp_path / "told", told=True)
    untold = write_visits(tmp_path / "untold", told=False)
    widths = {}
    for folder in (once, told, untold):
        table = open_run(folder, resamples=400)
        evidence = evidence_of(table)
        beside = evidence.beside("accuracy", "jury")["kappa_quadratic"].judge_human
        pair = evidence.estimate("accuracy", "jury", "kappa_quadratic")
        ways = compare_ways(table)
        assert ways is not None and pair is not None
        difference = ways.find(rater="judge-b").difference
        assert difference is not None
        widths[folder.name] = [each.high - each.low for each in (beside, pair, difference)]  # type: ignore[operator]
    for alone, known, unknown in zip(widths["once"], widths["told"], widths["untold"], strict=True):
        assert known == pytest.approx(alone, rel=0.25)
        assert unknown < 0.65 * alone


def test_the_gate_counts_a_patient_once_and_says_so(tmp_path: Path) -> None:
    told = write_visits(tmp_path, told=True)
    found = validate(told, resamples=200).verdicts[0]
    assert (found.clusters, found.doubly) == (60, 240)
    assert found.rule("distinct_cases").found == "60" and found.rule("distinct_cases").met
    assert "240 answers of 60 patients" in page_of(told)


def test_a_file_that_the_run_did_not_write_changes_no_interval(tmp_path: Path) -> None:
    folder = write_visits(tmp_path, told=False)
    (folder / "patients.csv").write_text("item,patient\ncase-0000 visit 0,1\n")
    table = open_run(folder)
    assert not table.by_patient and table.rows["cluster"].str.starts_with("item ").all()


def test_a_lost_file_is_told_and_not_passed_over(tmp_path: Path) -> None:
    folder = write_visits(tmp_path, told=True)
    (folder / "patients.csv").unlink()
    with pytest.raises(MedjuryError, match=r"patients\.csv: cannot be read"):
        open_run(folder)

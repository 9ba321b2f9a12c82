"""Who made the answering systems, as the cases say: kept in the run folder, where audits and the report read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.report.planted import planted_frame, write_run

from medjury.cli import main
from medjury.store.runs import RunFolder
from medjury.studies import load_study, run_study
from medjury.tables import open_run


def case(number: int, system: str, vendor: str) -> dict[str, object]:
    texts = {"context": f"Note {number}."}
    return {
        "id": f"case-{number}",
        "system": system,
        "vendor": vendor,
        "candidate": f"{system} {number}.",
        "texts": texts,
    }


def test_a_run_keeps_the_vendors_that_its_cases_name(write_study: Callable[..., Path]) -> None:
    cases = [case(1, "a", "Ada Inc"), case(2, "a", "Ada Inc"), case(1, "b", "One"), case(2, "b", "Two")]
    folder = run_study(load_study(write_study(cases=cases)), preflight=False).folder
    assert RunFolder(folder).manifest.system_vendors == {"a": "Ada Inc"}  # two names for b: nobody knows
    assert open_run(folder).run.system_vendors == {"a": "Ada Inc"}


def test_what_the_study_file_says_under_report_goes_before(write_study: Callable[..., Path]) -> None:
    study = write_study(cases=[case(1, "a", "Ada Inc")], report={"system_vendors": {"a": "none"}})
    assert open_run(run_study(load_study(study), preflight=False).folder).run.system_vendors == {"a": "none"}


def test_an_audit_of_a_run_folder_knows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = planted_frame(cases=30, systems=("alpha", "beta", "gamma"), dimensions=("accuracy",))
    vendors = {"alpha": "example", "beta": "other", "gamma": "none"}
    run = write_run(tmp_path / "run", frame, system_vendors=vendors)
    assert main(["audit", str(run), "--audit", "self-preference", "--resamples", "200"]) == 0
    said = capsys.readouterr()
    assert "same_vendor" in said.out and "no vendor is known" not in said.err

"""Patients with several cases: the run folder tells which cases go together, and not who the patient is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import RunFolder
from medjury.studies import load_study, run_study
from medjury.tables import open_run

Write = Callable[..., Path]


def case(name: str, patient: str | None, system: str = "a") -> dict[str, Any]:
    return {"id": name, "patient": patient, "system": system, "candidate": "S", "texts": {"context": name}}


def test_visits_of_a_patient_are_one_cluster_and_the_file_is_vouched_for(write_study: Write) -> None:
    cases = [
        case("v1", "MRN-7001"),
        case("v1", "MRN-7001", "b"),
        case("v2", "MRN-7001"),
        case("v3", "MRN-7002"),
        case("v4", None),
    ]
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert (folder / "patients.csv").read_text() == "item,patient\nv1,1\nv2,1\n"
    grid = open_run(folder).grid("accuracy")
    assert dict(zip(grid.items.tolist(), grid.clusters.tolist(), strict=True)) == {
        "v1": "patient 1",
        "v2": "patient 1",
        "v3": "item v3",
        "v4": "item v4",
    }
    assert {each.what: each.sound for each in RunFolder(folder).verify()}["patients.csv"]
    written = [file.read_bytes() for file in folder.iterdir() if file.suffix in (".csv", ".json", ".jsonl")]
    assert not any(b"MRN-" in content for content in written)
    (folder / "patients.csv").write_text("item,patient\nv1,1\n")
    assert not {each.what: each.sound for each in RunFolder(folder).verify()}["patients.csv"]


def test_without_shared_patients_there_is_no_file_and_an_old_one_goes(write_study: Write) -> None:
    run_study(load_study(write_study(cases=[case("v1", "p"), case("v2", "p")])))
    folder = run_study(load_study(write_study(cases=[case("v1", "p"), case("v2", "q")]))).folder
    assert not (folder / "patients.csv").exists()


def test_a_case_of_two_patients_is_refused_before_any_call(write_study: Write) -> None:
    study = load_study(write_study(cases=[case("v1", "p"), case("v1", "q", "b")]))
    with pytest.raises(MedjuryError, match="case 'v1' is of two patients"):
        run_study(study)

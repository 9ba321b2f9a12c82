"""A run's manifest holds what the reader of the cases left out, by reason and with counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.store.runs import ManifestLeftOut, RunFolder

Write = Callable[..., Path]


def test_the_manifest_and_the_plan_hold_what_was_left_out(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(cases=1)
    (study.parent / "cases.csv").write_text(
        "id,ai,context,ward\n1,Summary.,Note.,x\n,,,\n,No id.,Note.,y\n2,Summary.,Note.,z,more\n",
        encoding="utf-8",
    )
    mapping = {"candidate": "ai", "texts": {"context": "context"}}
    content = study.read_text().replace(
        '"cases.jsonl"', json.dumps({"path": "cases.csv", "mapping": mapping})
    )
    study.write_text(content)
    assert main(["run", str(study), "--dry-run", "--skip-bad-cases"]) == 0
    assert "in the cases: column that the mapping does not name, left out: 1" in capsys.readouterr().out
    assert main(["run", str(study), "--quiet", "--skip-bad-cases"]) == 0
    (folder,) = {file.parent for file in study.parent.rglob("manifest.json")}
    manifest = RunFolder(folder).manifest
    assert manifest.cases_skipped == 2
    assert manifest.cases_left_out == ManifestLeftOut(
        rows={
            "id: is empty; every case needs one": 1,
            "row: has more or fewer cells than the header": 1,
        },
        parts={"empty row, left out": 1, "column that the mapping does not name, left out": 1},
    )


def test_nothing_left_out_is_stated_too(write_study: Write) -> None:
    study = write_study()
    assert main(["run", str(study), "--quiet"]) == 0
    (file,) = study.parent.rglob("manifest.json")
    assert json.loads(file.read_text())["cases_left_out"] == {"rows": {}, "parts": {}}

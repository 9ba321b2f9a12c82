"""What a run folder says of itself: enough to be read without the study file and the instrument file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from medjury.store.runs import RunFolder
from medjury.studies import load_study, run_study
from medjury.tables import open_run

Write = Callable[..., Path]
OWN = """\
name: ward
version: "2"
title: Ward
instructions: Grade the summary.
inputs:
  - {name: candidate, label: Summary}
dimensions:
  - {name: accuracy, label: Accuracy, definition: "Is it right?", grades: {1: poor, 2: fair, 3: good}}
  - name: risk
    label: Risk
    definition: Is it a risk?
    grades: {1: none, 2: some, 3: grave}
    higher_is_better: false
reversed:
  - {name: safety, of: risk, label: Safety}
composites:
  - {name: overall, label: Overall, weights: {accuracy: 0.75, safety: 0.25}, needs_every_part: true}
"""


def test_a_run_with_the_sites_own_instrument_tells_its_composites(write_study: Write, tmp_path: Path) -> None:
    (tmp_path / "ward.yaml").write_text(OWN)
    result = run_study(load_study(write_study(instrument="ward.yaml", dimensions=None)))
    (tmp_path / "ward.yaml").unlink()
    said = {each.name: each for each in RunFolder(result.folder).manifest.instrument.dimensions}
    assert said["safety"].of == "risk" and said["overall"].weights == {"accuracy": 0.75, "safety": 0.25}
    assert said["overall"].needs_every_part and said["overall"].derived and not said["risk"].higher_is_better
    table = open_run(result.folder)
    assert table.dimension("overall").weights == {"accuracy": 0.75, "safety": 0.25}
    assert [each.name for each in table.counted] == ["accuracy", "risk"]
    assert all(check.sound for check in RunFolder(result.folder).verify())


def test_a_damaged_manifest_does_not_stop_the_run_that_writes_it_anew(write_study: Write) -> None:
    study = write_study()
    folder = run_study(load_study(study)).folder
    (folder / "manifest.json").write_text("{")
    again = run_study(load_study(study))
    assert again.status == "complete" and again.calls == 0 and RunFolder(folder).manifest.status == "complete"

"""The manifest: typed where it is written and where it is read, and patient with what other versions wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.store.runs import (
    GateRules,
    Manifest,
    ManifestInstrument,
    ManifestJudge,
    ReportSettings,
    RunFolder,
    StatedGate,
)

# As the first versions wrote it: no weights of composites, no names that came later.
OLD: dict[str, Any] = {
    "format": 1,
    "study": "small",
    "run": "small@0123456789ab",
    "status": "complete",
    "why": "",
    "cases": 6,
    "instrument": {
        "name": "own",
        "version": "1",
        "fingerprint": "ab",
        "dimensions": [
            {"name": "accuracy", "label": "Accuracy", "grades": [1, 2, 3], "higher_is_better": True},
            {"name": "overall", "label": "Overall", "derived": True},
        ],
    },
    "humans": None,
    "judges": [{"name": "juror", "models": [{"kind": "openai", "model": "m"}], "temperature": 0.0, "n": 5}],
    "jury": {"name": "jury", "rule": "median", "quorum": 2, "repeats": 3},
    "gate": {"minimum_cases": 40, "floor": 0.5, "stated_at": "2025-01-01T00:00:00+00:00", "earlier": []},
    "report": {"resamples": 200, "system_vendors": {"a": "Acme"}},
    "coverage": {"ratings": 18, "scored": 17, "unscored": 1, "unscored_by_reason": {"parse": 1}},
    "units": {"planned": 6, "done": 6},
    "files": {"ratings.parquet": "cd"},
}  # fmt: skip


def written(folder: Path, content: dict[str, Any]) -> Path:
    (folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_manifest_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    manifest = RunFolder(written(tmp_path, OLD)).manifest
    assert manifest.instrument.dimensions[0].grades == (1, 2, 3)
    assert manifest.instrument.dimensions[1].derived and not manifest.instrument.dimensions[1].weights
    assert (manifest.jury.rule, manifest.jury.quorum, manifest.judges[0].strategy) == ("median", 2, "single")
    assert manifest.judges[0].others == {"temperature": 0.0, "n": 5}
    assert manifest.rules.minimum_cases == 40 and manifest.rules.margin == GateRules().margin
    assert manifest.stated_at == "2025-01-01T00:00:00+00:00" and manifest.earlier_rules == ()
    assert manifest.settings().resamples == 200 and manifest.settings(resamples=50, seed=None).resamples == 50
    assert manifest.drafting is None and manifest.coverage.unscored_by_reason == {"parse": 1}


def test_names_that_this_version_does_not_know_are_kept(tmp_path: Path) -> None:
    newer = {**OLD, "weather": "fine", "report": {**OLD["report"], "colour": "blue"}}
    newer["gate"] = {**OLD["gate"], "patience": 3}
    RunFolder(written(tmp_path, newer)).manifest.write(tmp_path)
    again = json.loads((tmp_path / "manifest.json").read_text())
    assert again.pop("hash") and again == newer


def test_what_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    earlier = StatedGate(floor=0.3, stated_at="2024")
    manifest = Manifest(
        format=Manifest.FORMAT,
        study="Über",
        judges=(ManifestJudge.model_validate({"name": "j", "rule": {"a": (1, 2)}}),),
        gate=StatedGate(minimum_cases=7, stated_at="2025", earlier=(earlier,)),
        report=ReportSettings(seed=4),
        instrument=ManifestInstrument.of(load_instrument("pdsqi9")),
    )
    manifest.write(tmp_path)
    again = RunFolder(tmp_path).manifest
    assert json.dumps(again.replaced(hash="").content()) == json.dumps(manifest.replaced(hash="").content())
    assert again.rules.minimum_cases == 7 and again.earlier_rules[0].floor == 0.3
    assert "Über" in (tmp_path / "manifest.json").read_text() and not list(tmp_path.glob("*.part"))


def test_only_the_same_rules_are_the_same(tmp_path: Path) -> None:
    stated = StatedGate(minimum_cases=7, development_cases=("a",), stated_at="2025")
    assert stated.says(GateRules(minimum_cases=7, development_cases=("a",)))
    assert not stated.says(GateRules(minimum_cases=7, development_cases=("a", "b")))


def test_what_follows_from_dimensions_says_from_which() -> None:
    for name in ("pdsqi9", "note_quality", "diagnosis", "probsum", "transcript_impact"):
        instrument = load_instrument(name)
        said = {each.name: each for each in ManifestInstrument.of(instrument).dimensions}
        for composite in instrument.composites:
            told = said[composite.name]
            assert told.derived and told.weights == dict(composite.weights) and told.grades is None
            assert told.needs_every_part == composite.needs_every_part
        for turned in instrument.reversed:
            told, whose = said[turned.name], said[turned.of]
            assert told.derived and told.of == turned.of and told.grades == whose.grades
            assert told.higher_is_better is not whose.higher_is_better


def test_a_name_that_a_manifest_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="Manifest has no stauts"):
        Manifest().replaced(stauts="complete")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{broken", "is damaged (the whole: Invalid JSON"),
        ("[]", "is damaged (the whole: "),
        ('{"status": "Mrs Smith is dead"}', "is damaged (status: Input should be 'running', 'complete'"),
        ('{"coverage": {"scored": "many"}}', "is damaged (coverage.scored: Input should be a valid integer"),
        ('{"judges": [{"models": []}]}', "is damaged (judges.0.name: Field required"),
    ],
)
def test_a_damaged_manifest_says_what_and_what_to_do(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(MedjuryError, match="run the study again") as refused:
        _ = RunFolder(tmp_path).manifest
    assert told in str(refused.value) and "manifest.json" in str(refused.value)
    assert "Smith" not in str(refused.value) and "many" not in str(refused.value)


def test_a_folder_without_one_is_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="run the study first"):
        _ = RunFolder(tmp_path).manifest


def test_a_newer_format_asks_for_a_newer_version(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="newer version of medjury"):
        _ = RunFolder(written(tmp_path, {**OLD, "format": Manifest.FORMAT + 1, "medjury": "99"})).manifest


FIRST_READERS = """
import json, sys, threading
from medjury.store.runs import Manifest

sys.setswitchinterval(1e-6)
content, together, read = json.loads(sys.stdin.read()), threading.Barrier(8), []

def first():
    together.wait()
    read.append(Manifest.model_validate(content).model_dump(mode="json"))

threads = [threading.Thread(target=first) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(read), all(each == read[0] for each in read))
"""


def test_the_first_manifest_may_be_read_by_many_threads_at_once() -> None:
    """Its reader is built with the first one: a panel that has just started is asked by several people."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_READERS],
        input=json.dumps(OLD),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["8", "True"], done.stderr

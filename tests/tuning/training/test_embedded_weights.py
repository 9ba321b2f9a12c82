"""The embedded model learns: its weights, which lie in a GGUF file, are made whole, trained, and written back.

These need the `train` extra and the weights (`medjury models pull`); `make test-learned` runs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from medjury.errors import MedjuryError
from medjury.models import weights_file
from medjury.studies import load_study
from medjury.tuning.training import TrainSettings, export_gguf, load_trained, make_lessons, train
from medjury.tuning.training._base import load_base, unpack

for library in ("transformers", "peft", "trl", "datasets", "gguf"):
    pytest.importorskip(library, reason="training needs the `train` extra")
torch = pytest.importorskip("torch", reason="training needs the `train` extra")
pytestmark = pytest.mark.filterwarnings("ignore")

INSTRUMENT = """\
name: one
version: "1"
title: Notes
instructions: Grade.
inputs: [{name: candidate, label: Note}]
dimensions: [{name: right, label: Right, definition: "Is it right?", grades: {1: wrong, 2: half, 3: right}}]
"""


@pytest.fixture(scope="module")
def packed() -> Path:
    file = weights_file()
    if not file.is_file():
        pytest.skip("the weights of the embedded model are not here; run `medjury models pull`")
    return file


def test_it_is_trained_for_three_steps_merged_and_written_as_a_file_for_the_embedded_judge(
    packed: Path, write_study: Callable[..., Path], tmp_path: Path
) -> None:
    study = write_study({"ann": {"one": {"right": 3}, "two": {"right": 3}}}, instrument=INSTRUMENT)
    lessons = make_lessons(load_study(study), "sft", held_out=0, development=0)
    settings = TrainSettings("sft", batch=1, rate=1e-3, steps=3, dropout=0.0)
    found = train(lessons, packed, tmp_path / "out", settings)
    losses = [
        float(line.split(",")[2]) for line in (tmp_path / "out" / "curves.csv").read_text().splitlines()[1:]
    ]
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert found.facts["base"] == str(tmp_path / "out" / "unpacked")

    written = export_gguf(tmp_path / "out", packed)
    assert written == tmp_path / "out" / "model.gguf"
    trained = load_trained(tmp_path / "out").model.state_dict()
    again = load_base(unpack(written, tmp_path / "again")).model.state_dict()
    assert trained.keys() == again.keys()
    for name, tensor in trained.items():
        step = tensor.abs().max() / 127  # of eight bits
        assert (again[name] - tensor).abs().max() <= step, name
    base = load_base(tmp_path / "out" / "unpacked").model.state_dict()
    assert any((trained[name] - base[name]).abs().max() > 0 for name in base if "q_proj" in name)
    assert json.loads((tmp_path / "out" / "training.json").read_text())["steps"] == 3


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"there is no file .*lost\.gguf"):
        unpack(tmp_path / "lost.gguf", tmp_path / "out")
    with pytest.raises(MedjuryError, match=r"there is no file .*lost\.gguf"):
        export_gguf(tmp_path, tmp_path / "lost.gguf")

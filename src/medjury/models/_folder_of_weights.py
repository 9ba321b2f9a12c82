"""A folder of weights on this machine: what it is known by, what it takes and lacks, and how it is read.

A model written as `MODEL:4bit` or `MODEL:8bit` takes a quarter or half of the memory, and scores a little otherwise
than the whole one. So the word stays part of the model's name, in keys, in manifests and in what is printed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.models._embedded_weights import file_sha256

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


Bits = Literal[4, 8]
_WORDS: dict[str, Bits] = {"4bit": 4, "8bit": 8}
_NEEDED = ("bitsandbytes", "accelerate")


def split_bits(model: str | Path) -> tuple[str, Bits | None]:
    """The model's own name or folder, and how many bits its weights shall have; None: they stay as they are."""
    name, _, word = str(model).rpartition(":")
    return (name, _WORDS[word]) if name and word in _WORDS else (str(model), None)


def refuse_bits_without_libraries(model: str | Path) -> None:
    """Said before anything is loaded or asked."""
    _, bits = split_bits(model)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if bits is not None and missing:
        raise MedjuryError(
            f"{model}: weights of {bits} bits need {' and '.join(missing)}: pip install 'medjury[quantised]'. Or "
            f"take `:{bits}bit` out"
        )


def loading_options(model: str | Path, torch: Any, transformers: Any, device: str) -> dict[str, Any]:
    """The options of `from_pretrained` by which weights are made small as they are read."""
    _, bits = split_bits(model)
    if bits is None:
        return {}
    refuse_bits_without_libraries(model)
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # else it tells of a cast in every layer
    number = torch.bfloat16 if device != "cpu" else torch.float32
    if bits == 8:
        config = transformers.BitsAndBytesConfig(load_in_8bit=True)
    else:
        config = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=number
        )
    return {"quantization_config": config, "device_map": {"": device}, "dtype": number}


_READING = threading.RLock()
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")


@contextmanager
def reading_weights(transformers: Any) -> Iterator[None]:
    """Every reading of weights happens in here.

    While it reads, the library switches off for all threads that layers share their weights. Two that read at once
    can leave it so for good, and every model read later has an output layer without numbers.
    """
    with _READING, quiet_library(transformers):
        yield


@contextmanager
def quiet_library(transformers: Any) -> Iterator[None]:
    """Without bars and reports, which say nothing to a reader of results."""
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()


def refuse_pickled(place: str | Path) -> None:
    """Weights that are pickled run whatever is written in them when they are read. A folder must hold safetensors;
    of a name of the hub's the library may take nothing else."""
    folder = Path(place)
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        others = sorted(each.name for ending in _PICKLED for each in folder.glob(ending))
        held = f"only {', '.join(others[:3])}, which can run code when it is read" if others else "no weights"
        raise MedjuryError(
            f"{folder}: has no *.safetensors, {held}; take a copy of the model with model.safetensors, or have "
            "somebody who trusts the file convert it (`save_pretrained` of transformers writes safetensors)"
        )


def read_whole(kind: Any, place: str, *, unused: str | None = None, **options: Any) -> Any:
    """A model of which every weight was found, but for those whose names begin with `unused`: nobody asks for them.

    The library would draw the others at random and go on. Weights are read from safetensors or GGUF, which hold
    numbers alone.
    """
    if "gguf_file" not in options:
        refuse_pickled(place)
        options["use_safetensors"] = True
    model, found = kind.from_pretrained(place, output_loading_info=True, **options)
    missing = sorted(name for name in found["missing_keys"] if not (unused and name.startswith(unused)))
    if missing:
        named = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise ValueError(
            f"some of its weights are missing ({named}) and would be drawn at random; copy the model again, whole, "
            "or take one that was made for this"
        )
    return model

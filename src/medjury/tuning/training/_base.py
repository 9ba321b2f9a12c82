"""The model that is trained: from a folder, a name of the hub's that is on this machine, or a GGUF file.

Weights in a GGUF file are 4 to 8 bits each; they are made whole numbers again, as near as they were kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError, first_line
from medjury.foundation.files import private_folder
from medjury.models import read_whole, reading_weights, refuse_pickled
from medjury.tuning.training._libraries import library

ADAPTER, MERGED, UNPACKED = "adapter", "merged", "unpacked"


@dataclass(slots=True)
class Base:
    """A model with its tokenizer, ready to be trained or asked."""

    model: Any
    tokenizer: Any
    device: str

    @property
    def longest(self) -> int:
        """The most tokens it takes, question and answer together."""
        return int(getattr(self.model.config, "max_position_embeddings", 0) or 2048)


def load_base(where: str | Path, *, four_bit: bool = False) -> Base:
    """Load a model on the GPU where there is one. Nothing is fetched."""
    torch, transformers = library("torch"), library("transformers")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options: dict[str, Any] = {"dtype": torch.bfloat16 if device == "cuda" else torch.float32}
    if four_bit:
        options |= {"quantization_config": _quantisation(torch, transformers), "device_map": {"": 0}}
    with _readable(where), reading_weights(transformers):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(where), local_files_only=True)
        model = read_whole(transformers.AutoModelForCausalLM, str(where), local_files_only=True, **options)
    if tokenizer.chat_template is None:
        raise MedjuryError(
            f"the model {str(where)!r} has no chat template, so it cannot be a judge; take an instruct model"
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Base(model if four_bit else model.to(device), tokenizer, device)


def unpack(file: Path, folder: Path) -> Path:
    """The weights of a GGUF file as a folder of whole weights, which alone can be trained. Made once."""
    if (folder / "config.json").is_file():
        return folder
    if not file.is_file():
        raise MedjuryError(f"there is no file {file}; give the path of the weights")
    library("gguf")
    torch, transformers = library("torch"), library("transformers")
    options: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    with _readable(file), reading_weights(transformers):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(file.parent), **options)
        packed = read_whole(
            transformers.AutoModelForCausalLM, str(file.parent), dtype=torch.float32, **options
        )
        # It remembers that it was packed, and is refused by trainers for that: the same weights in a new model.
        config = packed.config
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        whole = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        whole.load_state_dict(packed.state_dict())
        part = folder.with_name(f"{folder.name}.part")
        private_folder(part)
        whole.save_pretrained(str(part))
        tokenizer.save_pretrained(str(part))
        part.replace(folder)
    return folder


def merge(base: str | Path, folder: Path) -> Path:
    """The adapter of a training put into its base, in whole weights, as a folder that any server can load."""
    peft, transformers = library("peft"), library("transformers")
    loaded = load_base(base)
    refuse_pickled(folder / ADAPTER)
    with reading_weights(transformers):
        whole = peft.PeftModel.from_pretrained(loaded.model, str(folder / ADAPTER)).merge_and_unload()
        private_folder(folder / MERGED)
        whole.save_pretrained(str(folder / MERGED))
        loaded.tokenizer.save_pretrained(str(folder / MERGED))
    return folder / MERGED


def base_hash(where: str | Path) -> str | None:
    """SHA-256 of the weights' files, in the order of their names; None where the model is not a file or folder."""
    place = Path(where)
    files = [place] if place.is_file() else sorted([*place.glob("*.safetensors"), *place.glob("*.bin")])
    if not files:
        return None
    found = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def _quantisation(torch: Any, transformers: Any) -> Any:
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


@contextmanager
def _readable(where: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise MedjuryError(
            f"the model {str(where)!r} cannot be loaded: {first_line(error)}. Nothing is fetched by itself: "
            "give a folder, a .gguf file, or a model that is in the hub's cache on this machine"
        ) from None

"""Weights of 4 or 8 bits: a model written as `MODEL:4bit` or `MODEL:8bit` takes a quarter or half of the memory.

It scores a little otherwise than the whole one. So the word stays part of the model's name, in keys, in manifests
and in what is printed.
"""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError

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
    """What `from_pretrained` is told so that weights are made small as they are read."""
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

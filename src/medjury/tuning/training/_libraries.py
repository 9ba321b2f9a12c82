"""The libraries of training, imported when something is trained and not before."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from typing import Any

from medjury.foundation.errors import MedjuryError

NAMES = ("torch", "transformers", "peft", "trl", "datasets", "accelerate", "bitsandbytes", "gguf", "optuna")


def library(name: str) -> Any:
    """A library of the `train` extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MedjuryError(
            f"Training needs {name}, which is not here ({error}). Install it: pip install 'medjury[train]'"
        ) from None


def versions() -> dict[str, str]:
    """Those that are installed, with their versions."""
    return {
        name: importlib.metadata.version(name) for name in NAMES if importlib.util.find_spec(name) is not None
    }


def four_bit_words(wanted: bool) -> tuple[bool, str]:
    """Whether 4-bit weights are trained on, and a sentence that says so and why."""
    if not wanted:
        return False, "plain LoRA on whole weights: 4-bit weights were not asked for"
    if not library("torch").cuda.is_available():
        return False, "plain LoRA on whole weights, not QLoRA: there is no CUDA device here"
    if importlib.util.find_spec("bitsandbytes") is None:
        return False, "plain LoRA on whole weights, not QLoRA: bitsandbytes is not installed"
    return True, "QLoRA: low-rank adaptation of 4-bit weights (nf4, by bitsandbytes)"

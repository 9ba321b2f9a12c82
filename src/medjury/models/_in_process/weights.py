"""Reading weights by transformers: one model after another, in silence, and none with weights drawn at random."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError

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
    of a name of the hub's the library is told to take nothing else."""
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

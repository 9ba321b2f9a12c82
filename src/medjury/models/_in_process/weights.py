"""Reading weights by transformers: one model after another, in silence, and none with weights drawn at random."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_READING = threading.RLock()


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


def read_whole(kind: Any, place: str, *, unused: str | None = None, **options: Any) -> Any:
    """A model of which every weight was found, but for those whose names begin with `unused`: nobody asks for them.

    The library would draw the others at random and go on.
    """
    model, found = kind.from_pretrained(place, output_loading_info=True, **options)
    missing = sorted(name for name in found["missing_keys"] if not (unused and name.startswith(unused)))
    if missing:
        named = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise ValueError(
            f"some of its weights are missing ({named}) and would be drawn at random; copy the model again, whole, "
            "or take one that was made for this"
        )
    return model

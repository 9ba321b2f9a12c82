"""The compiled kernels, called through ctypes: a shared library made from C at installation."""

from __future__ import annotations

import ctypes
import hashlib
import sysconfig
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError

SOURCES = (Path(__file__).with_name("_detector.c"), Path(__file__).with_name("_kernels.c"))
STATUS = {
    -1: "there is not enough memory for texts of this length",
    -2: "the texts do not lie where their offsets say",
    -3: "a text is longer than a billion characters; cut it into turns",
}


def library_file() -> Path:
    """Where the library for this machine stands; its name holds the platform, so that a checkout may move."""
    return Path(__file__).with_name(f"_kernels.{sysconfig.get_platform()}.so")


@cache
def library() -> ctypes.CDLL | None:
    """The loaded library, or None where there is none or it was compiled from another source."""
    return None if why_not() else ctypes.CDLL(str(library_file()))


@cache
def why_not() -> str:
    """Why the compiled kernels cannot be used here; empty where they can."""
    file = library_file()
    if not file.exists():
        return "they were not compiled at installation; install again with a C compiler"
    try:
        loaded = ctypes.CDLL(str(file))
        loaded.medjury_source.restype = ctypes.c_char_p
        source = (loaded.medjury_source() or b"").decode()
    except (OSError, AttributeError, UnicodeDecodeError) as error:
        return f"{file.name} cannot be loaded: {error}"
    if source != source_hash(SOURCES):
        return "they were compiled from another version of their source; install again"
    return ""


def source_hash(sources: Sequence[Path]) -> str:
    """What names a version of the sources in the library compiled from them."""
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def count(
    library: ctypes.CDLL,
    references: Sequence[str],
    hypotheses: Sequence[str],
    wanted: int,
    power: float,
    table: NDArray[np.int64],
    weighted: NDArray[np.float64],
) -> None:
    """Fill `table` and `weighted`, one row per pair."""
    texts, offsets = _joined(references, hypotheses)
    longest = int(np.diff(offsets).max(initial=0))
    weights = np.arange(min(longest // 2 + 4, 10_004), dtype=np.float64) ** power
    check_status(
        library.medjury_count(
            _pointer(texts),
            _length(texts),
            _pointer(offsets),
            _length(table),
            ctypes.c_uint32(wanted),
            _pointer(weights),
            _length(weights),
            _pointer(table),
            _pointer(weighted),
        )
    )


def links(library: ctypes.CDLL, references: Sequence[str], hypotheses: Sequence[str]) -> list[list[int]]:
    """For every word of every reference the place of its equal in the hypothesis, or -1."""
    texts, offsets = _joined(references, hypotheses)
    words = np.empty(len(texts) // 2 + 2 * len(references) + 1, dtype=np.int32)
    starts = np.zeros(len(references) + 1, dtype=np.int64)
    check_status(
        library.medjury_links(
            _pointer(texts),
            _length(texts),
            _pointer(offsets),
            ctypes.c_int64(len(references)),
            _length(words),
            _pointer(words),
            _pointer(starts),
        )
    )
    ends = starts.tolist()
    every = words[: ends[-1]].tolist()
    return [every[start:stop] for start, stop in pairwise(ends)]


def _joined(
    references: Sequence[str], hypotheses: Sequence[str]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    return joined_texts([text for pair in zip(references, hypotheses, strict=True) for text in pair])


def joined_texts(every: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Texts one after another as UTF-32, and where each begins."""
    offsets = np.zeros(len(every) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, every), dtype=np.int64, count=len(every)), out=offsets[1:])
    # An unpaired surrogate is a character like any other here.
    encoded = "".join(every).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, dtype="<u4"), offsets


def _pointer(array: NDArray[np.generic]) -> ctypes.c_void_p:
    if not array.flags.c_contiguous:
        raise ValueError("the kernels need contiguous arrays")
    return ctypes.c_void_p(array.ctypes.data)


def _length(array: NDArray[np.generic]) -> ctypes.c_int64:
    return ctypes.c_int64(len(array))


def check_status(status: int) -> None:
    """Turn a status of the kernels into an error for the reader."""
    if status:
        raise MedjuryError(f"The metrics cannot be counted: {STATUS.get(status, f'status {status}')}.")

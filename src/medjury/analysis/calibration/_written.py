"""Results as JSON and as files: the ending says the format, and what cannot be written is an error to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_part, write_whole

if TYPE_CHECKING:
    import polars


def check_ending(path: str | Path, endings: Iterable[str], what: str = "this") -> str:
    """The ending of the path in small letters; another one is refused, before any work."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise MedjuryError(f"{path}: {what} is written as {', '.join(endings)}; give the file such an ending")
    return ending


def write_text(path: str | Path, text: str) -> None:
    _write(path, lambda: write_whole(path, text))


def write_frame(frame: polars.DataFrame, path: str | Path, *endings: str, what: str = "this") -> int:
    """The table as .csv, .parquet or .jsonl, or as the `endings` allow; how many rows it has."""
    writers: dict[str, Callable[[str | Path], object]] = {
        ".csv": frame.write_csv,
        ".parquet": frame.write_parquet,
        ".jsonl": frame.write_ndjson,
    }
    ending = check_ending(path, endings or writers, what)

    def write() -> None:
        with whole_part(path) as part:
            writers[ending](part)

    _write(path, write)
    return frame.height


def as_json(content: object) -> str:
    """JSON for people and programs; what does not exist is null, never NaN."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def _write(path: str | Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror or error}") from error

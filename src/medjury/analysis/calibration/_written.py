"""Results as JSON and as files: the ending says the format, and what cannot be written is an error to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from medjury.foundation.errors import MedjuryError, no_such
from medjury.foundation.files import whole_part, write_whole
from medjury.version import __version__

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


Made = TypeVar("Made")
FORMAT_VERSION = 1


def check_ending(path: str | Path, endings: Iterable[str], what: str = "this") -> str:
    """The ending of the path in small letters; another one is refused, before any work."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise MedjuryError(f"{path}: {what} is written as {', '.join(endings)}; give the file such an ending")
    return ending


def write_figure(figure: Figure, path: str | Path) -> None:
    """A picture, as the ending says."""

    def write() -> None:
        with whole_part(path) as part:
            figure.savefig(part, format=Path(path).suffix.removeprefix("."))

    _write(path, write)


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


def save_document(path: str | Path, kind: str, content: Mapping[str, Any]) -> None:
    """Numbers that were learnt, as one JSON file that says what it is and what wrote it."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    head = {"format": kind, "format_version": FORMAT_VERSION, "medjury": __version__, "created_at": when}
    _write(path, lambda: write_whole(path, as_json({**head, **content}) + "\n"))


def load_document(path: str | Path, kind: str, read: Callable[[dict[str, Any]], Made], make: str) -> Made:
    """What `read` makes of such a file; one that is damaged, of another kind or another version is refused, with
    the command that makes one."""
    file, what = Path(path), f"a {kind.removeprefix('medjury ')} file"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MedjuryError(no_such(file)) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise MedjuryError(f"{file}: not {what}: {error}") from None
    if not isinstance(content, dict) or content.get("format") != kind:
        raise MedjuryError(f"{file}: not {what}; make one with: {make}")
    if content.get("format_version") != FORMAT_VERSION:
        raise MedjuryError(
            f"{file}: {what} of format {content.get('format_version')!r}; this medjury reads {FORMAT_VERSION}. "
            f"Make it again ({make}), or use the medjury that wrote it."
        )
    try:
        return read(content)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise MedjuryError(f"{file}: {what}, but damaged ({error}); make it again: {make}") from None


def as_json(content: object) -> str:
    """JSON for people and programs; what does not exist is null, never NaN."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def _write(path: str | Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror or error}") from error

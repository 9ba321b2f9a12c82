"""Opens a log of Inspect (`.eval`): a packed folder with a header and one entry for each sample.

The log is given as the document that `inspect log dump` would print, less what happened on the way (`events`), so
that one mapping reads both. Most logs are packed by zstd, which needs an extra.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from medjury.foundation import limits
from medjury.intake._files.reading import FileError

_TOGETHER = 4 * limits.BYTES  # of all entries; one sample is in memory at a time, and less of those before it
_ZSTD = 93
_UNPACKS = (ZIP_STORED, ZIP_DEFLATED)  # step by step; of other methods Python unpacks as much as there is
_SAMPLE = re.compile(r"samples/.+\.json")
_IN_PARTS = re.compile(r"samples/.+_epoch_\d+/.+")
_DUMP = "write it as JSON (inspect log dump FILE > log.json) and read that"
_ON_THE_WAY = ("events", "events_data", "timelines", "attachments", "error_retries")
_WITHDRAWN = "sample that was marked as invalid, left out"
_FAILED = "sample that ended in an error, kept without its scores"


@dataclass(frozen=True, slots=True)
class EvalLog:
    """The document without the samples that somebody withdrew; what its reader should know of how the run ended
    (`reported`), and what was left out, with counts."""

    document: dict[str, Any]
    reported: tuple[str, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, document: object, file: str) -> EvalLog | None:
        """The log that a JSON document is; None where it is something else."""
        is_log = (
            isinstance(document, dict) and isinstance(document.get("eval"), dict) and _has_samples(document)
        )
        return cls._valid(document, file) if is_log and isinstance(document, dict) else None

    @classmethod
    def read(cls, path: Path) -> EvalLog:
        """The whole packed log, its samples in the order of the file."""
        try:
            with ZipFile(path) as packed:
                entries = _entries(packed, path)
                header = _parsed(packed, entries["header.json"], path) if "header.json" in entries else None
                start = entries.get("_journal/start.json")
                if header is None and start is None:
                    raise FileError(
                        f"{path}: is packed, but not a log of Inspect; its header.json is missing"
                    )
                document = (
                    header if header is not None else _parsed(packed, entries["_journal/start.json"], path)
                )
                names = [name for name in entries if _SAMPLE.fullmatch(name)]
                samples = [_without_events(_parsed(packed, entries[name], path)) for name in names]
        except (BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
            locked = "it is locked by a password" if isinstance(error, RuntimeError) else "it is damaged"
            raise FileError(
                f"{path}: is not an .eval log that can be read: {locked}, or cut short; copy it again"
            ) from None
        if not samples:
            raise FileError(f"{path}: holds no samples, only their summary; run it again with log_samples on")
        return cls._valid({**document, "samples": samples}, path.name, is_whole=header is not None)

    @classmethod
    def _valid(cls, document: dict[str, Any], file: str, is_whole: bool = True) -> EvalLog:
        samples = document["samples"]
        valid = [each for each in samples if not each.get("invalidation")]
        counts = {
            _WITHDRAWN: len(samples) - len(valid),
            _FAILED: sum(bool(each.get("error")) for each in valid),
        }
        return cls(
            {**document, "samples": valid},
            tuple(_reported(file, document if is_whole else None, len(samples))),
            {what: count for what, count in counts.items() if count},
        )


def _has_samples(document: dict[str, Any]) -> bool:
    samples = document.get("samples")
    return isinstance(samples, list) and bool(samples) and all(isinstance(each, dict) for each in samples)


def _entries(packed: ZipFile, path: Path) -> dict[str, ZipInfo]:
    """The entries by name, once their sizes and names are found to be those of a log."""
    found: dict[str, ZipInfo] = {}
    for each in packed.infolist():
        if each.filename in found:
            raise FileError(f"{path}: {each.filename} appears twice in it; {_DUMP}")
        if _IN_PARTS.fullmatch(each.filename):
            raise FileError(f"{path}: its samples are stored in parts, which are not read here; {_DUMP}")
        found[each.filename] = each
    wanted = [each for name, each in found.items() if name == "header.json" or _SAMPLE.fullmatch(name)]
    limits.check_directory(
        packed, path, {each.filename for each in wanted}, limit=_TOGETHER, methods=range(100)
    )  # by what method each is packed is looked at when it is unpacked
    largest = max(wanted, key=lambda each: each.file_size, default=None)
    if largest is not None:
        limits.check_unpacked(path, largest.compress_size, largest.file_size, limits.most(limits.BYTES))
    return found


def _parsed(packed: ZipFile, entry: ZipInfo, path: Path) -> dict[str, Any]:
    content = _unpacked(packed, entry, path)
    limits.check_depth(path, content)
    try:
        found = json.loads(content, object_pairs_hook=_each_key_once)
    except _KeyTwiceError:
        raise FileError(f"{path}: {entry.filename} has a key twice in one object; {_DUMP}") from None
    except ValueError:
        raise FileError(
            f"{path}: {entry.filename} is not JSON that can be read; copy the log again"
        ) from None
    if not isinstance(found, dict):
        raise FileError(f"{path}: {entry.filename} is not an object; it is not a log of Inspect")
    return found


def _unpacked(packed: ZipFile, entry: ZipInfo, path: Path) -> bytes:
    """The bytes of an entry, and no more of them than it states."""
    if entry.flag_bits & 1:
        raise RuntimeError("encrypted")
    if entry.compress_type in _UNPACKS:
        with packed.open(entry) as file:
            return file.read(entry.file_size + 1)
    if entry.compress_type != _ZSTD:
        raise FileError(f"{path}: is packed by a method that is not known here; {_DUMP}")
    open_zstd = _zstd(path)
    with packed.open(_as_stored(entry)) as file, open_zstd(file) as unpacked:
        try:
            content = bytes(unpacked.read(entry.file_size + 1))
        except Exception as error:
            raise BadZipFile(str(error)) from None
    if len(content) != entry.file_size or zlib.crc32(content) != entry.CRC:
        raise BadZipFile("does not hold what it states")
    return content


def _as_stored(entry: ZipInfo) -> ZipInfo:
    """The same entry, to be read as the packed bytes that it holds."""
    raw = ZipInfo(entry.filename)
    raw.orig_filename, raw.header_offset = entry.orig_filename, entry.header_offset
    raw.flag_bits, raw.compress_type = entry.flag_bits, ZIP_STORED
    raw.compress_size = raw.file_size = entry.compress_size
    return raw


def _zstd(path: Path) -> Callable[[IO[bytes]], Any]:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise FileError(
            f'{path}: is packed by zstd, which needs an extra: pip install "medjury[inspect]"; or {_DUMP}'
        ) from None
    return lambda file: zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)


def _without_events(sample: dict[str, Any]) -> dict[str, Any]:
    """A sample less what happened on the way; texts that are kept apart are put where they belong."""
    apart = sample.get("attachments")
    kept = {name: value for name, value in sample.items() if name not in _ON_THE_WAY}
    return _put_back(kept, apart) if isinstance(apart, dict) and apart else kept


def _put_back(value: Any, apart: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("attachment://"):
        return apart.get(value.removeprefix("attachment://"), value)
    if isinstance(value, list):
        return [_put_back(each, apart) for each in value]
    return (
        {name: _put_back(each, apart) for name, each in value.items()} if isinstance(value, dict) else value
    )


def _reported(file: str, header: dict[str, Any] | None, samples: int) -> Iterator[str]:
    if header is None:
        yield f"{file}: the run was cut off before it was finished; {samples:,} samples had been written"
        return
    if (status := header.get("status")) not in (None, "success"):
        yield f"{file}: the run ended as {str(status)[:20]!r}, so samples may be missing; {samples:,} are there"
    results = header.get("results")
    stated = results.get("total_samples") if isinstance(results, dict) else None
    if isinstance(stated, int) and stated != samples:
        yield f"{file}: states {stated:,} samples and holds {samples:,}"


class _KeyTwiceError(ValueError):
    pass


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _KeyTwiceError
    return found

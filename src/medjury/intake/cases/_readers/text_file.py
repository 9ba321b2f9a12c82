"""Text files as they come: packed or not, in the encoding that is named or that their first bytes show."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, AnyStr, BinaryIO

from medjury.foundation import limits
from medjury.intake.cases._report import CaseError

# No line of a packed file is unpacked beyond this: kilobytes can be packed that unpack to gigabytes.
LONGEST_LINE = 200_000_000


def ending(path: Path) -> str:
    """The ending that says what a file is; that of a packed one is before `.gz`."""
    return Path(path.stem if is_packed(path) else path.name).suffix.lower()


def stem(path: Path) -> str:
    return Path(path.stem).stem if is_packed(path) else path.stem


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def is_encoding(name: str) -> bool:
    """True for an encoding of text; `base64` is a codec, but none."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def open_bytes(path: Path, limit: int = limits.STREAMED) -> BinaryIO:
    return limits.open_binary(path, is_packed=is_packed(path), limit=limit)


def open_text(path: Path, encoding: str, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_bytes(path), encoding, errors, newline="")


def encoding_of(path: Path, named: str | None) -> str:
    """The encoding that is named, else the one that the first bytes show: UTF-16 or UTF-8."""
    if named is not None:
        return "utf-8-sig" if codecs.lookup(named).name == "utf-8" else named
    with open_bytes(path) as file:
        start = file.read(4)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(start) == 4 and start[1] == start[3] == 0:
        return "utf-16-le"
    return "utf-16-be" if len(start) == 4 and start[0] == start[2] == 0 else "utf-8-sig"


def whole_text(path: Path, named: str | None) -> bytes:
    """The whole content as UTF-8; what is not of the encoding stays as it is, for the reader to refuse."""
    encoding = encoding_of(path, named)
    with open_bytes(path, limits.BYTES) as file:
        content = file.read()
    if encoding == "utf-8-sig":
        return content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeError:
        raise CaseError(
            f"{path.name}: is not valid {encoding}; name the encoding that it was saved in"
        ) from None


def lines_in(file: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """The lines of an open file, none of which may be endless."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise _too_long(path)
        yield line


def _too_long(path: Path) -> CaseError:
    return CaseError(
        f"{path.name}: unpacks to a line of more than {LONGEST_LINE:,} characters; unpack it and look what it holds"
    )

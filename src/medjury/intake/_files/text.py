"""Text files as they come: packed or not, in the encoding that is named or that their first bytes show."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, AnyStr, BinaryIO

from medjury.foundation import limits
from medjury.intake._files.reading import FileError, Reading

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


def open_bytes(path: Path, reading: Reading) -> BinaryIO:
    limit = limits.STREAMED if reading.by_row else limits.BYTES
    return limits.open_binary(path, is_packed=is_packed(path), limit=limit)


def open_text(path: Path, reading: Reading, errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_bytes(path, reading), encoding_of(path, reading), errors, newline="")


def encoding_of(path: Path, reading: Reading) -> str:
    """The encoding that is named, else the one that the first bytes show: UTF-16 or UTF-8."""
    if (named := reading.encoding) is not None:
        return "utf-8-sig" if codecs.lookup(named).name == "utf-8" else named
    with open_bytes(path, reading) as file:
        start = file.read(4)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(start) == 4 and start[1] == start[3] == 0:
        return "utf-16-le"
    return "utf-16-be" if len(start) == 4 and start[0] == start[2] == 0 else "utf-8-sig"


def shown_encoding(encoding: str) -> str:
    """The name of an encoding as people know it."""
    return "UTF-8" if encoding == "utf-8-sig" else "UTF-16" if encoding.startswith("utf-16") else encoding


def byte_lines(path: Path, reading: Reading) -> Iterator[bytes]:
    """The lines as UTF-8; what is not of that encoding stays as it is, for the reader to refuse."""
    encoding = encoding_of(path, reading)
    if encoding == "utf-8-sig":
        with open_bytes(path, reading) as file:
            for number, line in enumerate(lines_in(file, path) if is_packed(path) else file):
                yield line if number else line.removeprefix(codecs.BOM_UTF8)
        return
    number = 0
    with open_text(path, reading, "strict") as text:
        try:
            for words in lines_in(text, path):
                number += 1
                yield words.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
        except UnicodeError:
            raise FileError(f"{path.name}: {_not_beyond('line', number, encoding)}") from None


def whole_text(path: Path, reading: Reading) -> bytes:
    """The whole content as UTF-8; what is not of that encoding stays as it is, for the reader to refuse."""
    encoding = encoding_of(path, reading)
    with limits.open_binary(path, is_packed=is_packed(path), limit=limits.BYTES) as file:
        content = file.read()
    if encoding == "utf-8-sig":
        return content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeError:
        raise FileError(f"{path.name}: {_not_beyond('line', 0, encoding)}") from None


def _not_beyond(what: str, number: int, encoding: str) -> str:
    return (
        f"cannot be read beyond {what} {number}: not valid {shown_encoding(encoding)}; name the encoding that it "
        "was saved in (`encoding: cp1252` in the mapping)"
    )


def lines_in(file: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """The lines of an open file, none of which may be endless."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise FileError(
                f"{path.name}: unpacks to a line of more than {LONGEST_LINE:,} characters; unpack it and check "
                "what it holds"
            )
        yield line

"""Bodies that come compressed, though nobody asked for it."""

from __future__ import annotations

import zlib

from medjury.models._connection import TooLargeError
from medjury.models._http.errors import ResponseError

_WINDOWS = {"gzip": 31, "deflate": 15}


def unpacked(body: bytes, coding: str, largest: int) -> bytes:
    """The body as it was before; it grows no further than is allowed."""
    if coding == "identity" or not body:
        return body
    if coding not in _WINDOWS:
        raise ResponseError("the answer is packed in a way that was not asked for")
    bare = coding == "deflate" and body[0] & 0xF != 8  # many leave its wrapping out
    reader = zlib.decompressobj(-15 if bare else _WINDOWS[coding])
    try:
        plain = reader.decompress(body, largest + 1)
    except zlib.error:
        raise ResponseError("the answer cannot be unpacked") from None
    if len(plain) > largest:
        raise TooLargeError(f"more than {largest:,} bytes")
    if not reader.eof or reader.unused_data:
        raise ResponseError("the answer cannot be unpacked")
    return plain

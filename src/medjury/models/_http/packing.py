"""Bodies that come compressed, though nobody asked for it."""

from __future__ import annotations

import zlib

from medjury.models._connection import TooLargeError
from medjury.models._http.errors import ResponseError

_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_PACKED = ("br", "zstd", "compress", "x-compress", "dcb", "dcz")


def unpacked(body: bytes, coding: str, largest: int) -> bytes:
    """The body as it was before; it grows no further than is allowed. Words that name no way of packing, such as
    `utf-8` or `none`, are passed over: some servers confuse this field with another."""
    words = [word for each in coding.split(",") if (word := each.strip()) in _PACKED or word in _WINDOWS]
    if not words or not body:
        return body
    if len(words) > 1 or words[0] in _PACKED:
        raise ResponseError("the answer is packed in a way that was not asked for")
    window = _WINDOWS[words[0]]
    if window == 15 and body[0] & 0xF != 8:  # many leave the wrapping of `deflate` out
        window = -15
    plain = b""
    while body:  # gzip may come in several parts
        reader = zlib.decompressobj(window)
        try:
            plain += reader.decompress(body, largest + 1 - len(plain))
        except zlib.error:
            raise ResponseError("the answer cannot be unpacked") from None
        if len(plain) > largest:
            raise TooLargeError(f"more than {largest:,} bytes")
        if not reader.eof or (reader.unused_data and window != 31):
            raise ResponseError("the answer cannot be unpacked")
        body = reader.unused_data
    return plain

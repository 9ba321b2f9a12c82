"""One response, read from bytes as they arrive. It is strict about where a response ends: what might be cut off, or
might be followed by another, is an error, so that no part of an answer and no other answer is taken for this one.

Lines of the head may end by a line feed alone, as aiohttp's parser allows; nothing else is read leniently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from medjury.models._connection import TooLargeError
from medjury.models._http.errors import ResponseError
from medjury.models._http.packing import unpacked

_LARGEST_HEAD = 64 * 1024
_LONGEST_SIZE = 4096  # the line that says how long a chunk is
_MOST_CHUNKS = 200_000
_LONGEST_KNOWN = 4096  # bytes of a head that is remembered
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # nothing below is tried in two ways: no line takes long to read
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\x00\r\n]*+)?\r?\n")
_FIELD = re.compile(rb"(" + _TOKEN + rb"):[ \t]*+([^\x00\r\n]*+)\r?\n")
_CHUNK = re.compile(
    rb"(?=[0-9A-Fa-f])(0*+[0-9A-Fa-f]{0,15}) *+(?:;"
    + _TOKEN
    + rb"(?:=(?:"
    + _TOKEN
    + rb'|"[^"\\\x00-\x08\x0a-\x1f\x7f]*+"))?)*+'
)
_ONCE = (b"content-length", b"transfer-encoding", b"content-encoding")


class Response:
    """Fed with bytes until it is `whole`. `reusable` says whether the connection ends in a known place then."""

    __slots__ = (
        "_body", "_chunks", "_closing", "_held", "_largest", "_left", "_seen", "_stage",
        "fields", "reusable", "status", "whole",
    )  # fmt: skip

    def __init__(self, largest_body: int) -> None:
        self.status = 0  # until the head is read
        self.fields: Mapping[bytes, bytes] = {}
        self.whole = self.reusable = False
        self._largest = largest_body
        self._held = b""
        self._seen = 0  # bytes of heads
        self._chunks = 0
        self._left = 0  # bytes of the body, or of its chunk, that are still to come
        self._closing = False  # a chunk is over, but for the end of its line
        self._body: bytes | bytearray = b""
        self._stage = Response._read_head  # a bound method would tie the response to itself

    def feed(self, data: bytes) -> bool:
        """Take what arrived; whether the response is whole."""
        while data and not self.whole:
            data = self._stage(self, data)
        if data:
            self.reusable = False
        return self.whole

    def feed_eof(self) -> None:
        """The server says no more: only a body without a stated length may end so."""
        if self._stage is not Response._read_to_the_end and not self.whole:
            raise ResponseError("the answer was cut off")
        self.whole = True

    def field(self, name: bytes) -> str | None:
        value = self.fields.get(name)
        return None if value is None else value.decode("utf-8", "surrogateescape")

    def body(self) -> bytes:
        body = bytes(self._body)
        coding = self.fields.get(b"content-encoding")
        return body if coding is None else unpacked(body, coding.decode("latin-1").lower(), self._largest)

    def _read_head(self, data: bytes) -> bytes:
        start = max(0, len(self._held) - 3)
        held = self._held + data if self._held else data
        end = _HEAD_END.search(held, start)
        if self._seen + (len(held) if end is None else end.end()) > _LARGEST_HEAD:
            raise ResponseError("the head of the answer is too long")
        self._held = held if end is None else b""
        if end is None:
            return b""
        self._seen += end.end()
        self._begin(held[: end.start() + 1])
        return held[end.end() :]

    def _begin(self, head: bytes) -> None:
        status, newer, fields, lasting = _said(head) if len(head) <= _LONGEST_KNOWN else _read(head)
        if status >= 200:
            self.status, self.fields, self.reusable = status, fields, lasting
            self._frame(newer)
        elif status == 101 or not lasting:
            raise ResponseError("the server announces an answer that cannot follow")

    def _frame(self, newer: bool) -> None:
        """How the body ends, and whether another response may follow it."""
        fields = self.fields
        length, coding = fields.get(b"content-length"), fields.get(b"transfer-encoding")
        if self.status in (204, 304):
            self.whole = True
            self.reusable = self.reusable and coding is None and length in (None, b"0")
        elif coding is not None:
            if length is not None or coding.lower() != b"chunked":
                raise ResponseError("it is not clear where the answer ends")
            self.reusable = self.reusable and newer  # an older server that says so cuts it up all the same
            self._stage = Response._read_chunks
        elif length is not None:
            self._expect(length)
        else:
            self.reusable = False
            self._stage = Response._read_to_the_end

    def _expect(self, length: bytes) -> None:
        if not length.isdigit() or len(length) > 19:
            raise ResponseError("it is not clear where the answer ends")
        self._left = int(length)
        self._bound(self._left)
        self.whole = not self._left
        self._stage = Response._read_length

    def _bound(self, more: int) -> None:
        if more > self._largest:
            raise TooLargeError(f"more than {self._largest:,} bytes")

    def _read_length(self, data: bytes) -> bytes:
        rest = self._take(data)
        self.whole = not self._left
        return rest

    def _take(self, data: bytes) -> bytes:
        """Up to as many bytes as the body still has; what follows them is given back."""
        taken = data if len(data) <= self._left else data[: self._left]
        self._add(taken)
        return data[len(taken) :]

    def _add(self, taken: bytes) -> None:
        self._left -= len(taken)
        if not self._body:
            self._body = taken
        elif isinstance(self._body, bytearray):
            self._body += taken
        else:
            self._body = bytearray(self._body) + taken

    def _read_to_the_end(self, data: bytes) -> bytes:
        self._left = len(data)
        self._bound(len(self._body) + self._left)
        return self._take(data)

    def _read_chunks(self, data: bytes) -> bytes:
        """Chunks, each after a line that says how long it is and before an empty one. There may be very many."""
        held, place = self._held + data, 0
        self._held = b""
        while place < len(held):
            if self._left:
                taken = held[place : place + self._left]
                self._add(taken)
                place += len(taken)
                self._closing = not self._left
                continue
            end = held.find(b"\r\n", place, place + _LONGEST_SIZE)
            if self._closing and held[place : place + 2] not in (b"\r\n", b"\r"):
                raise ResponseError("a chunk is longer than it says")
            if end < 0:
                self._held = _within(held[place:], _LONGEST_SIZE)
                break
            if not self._closing and not self._begin_chunk(held[place:end]):
                return held[end + 2 :]
            self._closing = False
            place = end + 2
        return b""

    def _begin_chunk(self, line: bytes) -> bool:
        """Whether a chunk follows; after the last one come trailers."""
        size = _CHUNK.fullmatch(line)
        if size is None:
            raise ResponseError("the size of a chunk cannot be read")
        self._chunks += 1
        if self._chunks > _MOST_CHUNKS:
            raise ResponseError("the answer comes in too many pieces")
        self._left = int(size[1] or b"0", 16)
        self._bound(len(self._body) + self._left)
        if not self._left:
            self._stage = Response._read_trailers
        return self._left > 0

    def _read_trailers(self, data: bytes) -> bytes:
        """Fields after the last chunk: read for their end alone."""
        start = max(0, len(self._held) - 3)
        held, self._held = self._held + data, b""
        if held[:2] == b"\r\n":
            self.whole = True
            return held[2:]
        end = held.find(b"\r\n\r\n", start)
        if self._seen + (end if end >= 0 else len(held)) > _LARGEST_HEAD:
            raise ResponseError("the end of the answer is too long")
        if end < 0:
            self._held = held
            return b""
        if not _fields(held[: end + 2], 0).keys().isdisjoint(_ONCE):
            raise ResponseError("it is not clear where the answer ends")
        self.whole = True
        return held[end + 4 :]


def _read(head: bytes) -> tuple[int, bool, Mapping[bytes, bytes], bool]:
    """Status, whether it is HTTP/1.1, the fields, and whether the server keeps the connection open."""
    line = _STATUS.match(head)
    if line is None:
        raise ResponseError("the answer does not begin as HTTP/1.1 does")
    fields, newer = _fields(head, line.end()), line[1] == b"1"
    return int(line[2]), newer, MappingProxyType(fields), _is_lasting(fields, newer)


# A server says the same again and again, but for the second and the length.
_said = lru_cache(maxsize=256)(_read)


def _within(held: bytes, most: int) -> bytes:
    if len(held) > most:
        raise ResponseError("a line of the answer is too long")
    return held


def _fields(head: bytes, position: int) -> dict[bytes, bytes]:
    """Names in lower case with their values; of a repeated one the first, as is usual, but where it says how the
    body is to be read."""
    fields: dict[bytes, bytes] = {}
    size = len(head)
    while position < size:
        field = _FIELD.match(head, position)
        if field is None:
            raise ResponseError("a header cannot be read")
        name, value = field[1].lower(), field[2].rstrip(b" \t")
        if name not in fields:
            fields[name] = value
        elif name in _ONCE:
            raise ResponseError(f"{name.decode()} is there twice")
        elif name == b"connection":
            fields[name] += b"," + value
        position = field.end()
    return fields


def _is_lasting(fields: dict[bytes, bytes], newer: bool) -> bool:
    """Whether the server keeps the connection open: HTTP/1.1 unless it says otherwise, HTTP/1.0 if it says so."""
    said = fields.get(b"connection")
    if said is None:
        return newer
    words = [each.strip() for each in said.lower().split(b",")]
    return b"close" not in words and (newer or b"keep-alive" in words)

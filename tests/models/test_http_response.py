"""Where a response ends is known exactly, or it is none: by rule, at every cut, and beside another parser."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from itertools import pairwise
from typing import Any

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.client_exceptions import ClientPayloadError
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import HttpResponseParser
from aiohttp.streams import StreamReader
from hypothesis import example, given
from hypothesis import strategies as st

from medjury.models._connection import TooLargeError
from medjury.models._http.errors import ResponseError
from medjury.models._http.response import Response

LARGEST = 10_000
BODY = b'{"choices": []}'
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n" + BODY
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Empty:\r\n\r\n"
    b'3;a=b;c="d e"\r\n{"c\r\n00C \r\nhoices": []}\r\n0;last\r\nX-Trailer: 1\r\n\r\n'
)
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
WHOLE = {"length": PLAIN, "chunked": CHUNKED, "after interim ones": INTERIM + PLAIN}


def fed(*pieces: bytes, largest: int = LARGEST) -> Response:
    response = Response(largest)
    for piece in pieces:
        response.feed(piece)
    return response


def status_line(*lines: bytes, body: bytes = b"ab") -> bytes:
    return b"\r\n".join((b"HTTP/1.1 200 OK", *lines, b"", body))


@pytest.mark.parametrize("raw", WHOLE.values(), ids=WHOLE.keys())
def test_a_response_is_the_same_wherever_it_is_split(raw: bytes) -> None:
    for cut in range(len(raw) + 1):
        response = fed(raw[:cut], raw[cut:])
        assert (response.whole, response.reusable) == (True, True)
        assert (response.status, response.body()) == (200, BODY)
    assert fed(*(raw[place : place + 1] for place in range(len(raw)))).body() == BODY


@pytest.mark.parametrize("raw", WHOLE.values(), ids=WHOLE.keys())
def test_a_response_that_is_cut_is_an_error_at_every_byte(raw: bytes) -> None:
    for cut in range(len(raw)):
        response = fed(raw[:cut])
        assert not response.whole
        with pytest.raises(ResponseError, match="cut off"):
            response.feed_eof()


def test_a_head_that_is_said_again_is_read_the_same_and_by_nobody_changed() -> None:
    """Heads are remembered: what one response makes of its own must not reach the next."""
    for raw, body in ((PLAIN, BODY), (CHUNKED, BODY), (status_line(b"Content-Length: 0", body=b""), b"")):
        first, again = fed(raw), fed(raw)
        assert first.fields == again.fields and first.body() == again.body() == body
        with pytest.raises(TypeError):
            first.fields[b"content-length"] = b"1"  # type: ignore[index]
    head = PLAIN.removesuffix(BODY)
    assert fed(head + BODY[::-1]).body() == BODY[::-1], "the same head, another body"
    assert not fed(head + BODY[:5]).whole, "the same head, and the body is cut"
    with pytest.raises(TooLargeError):
        fed(PLAIN, largest=len(BODY) - 1)


def test_a_head_that_is_refused_is_refused_each_time() -> None:
    for _ in range(3):
        with pytest.raises(ResponseError):
            fed(status_line(b"Content-Length: 2", b"Content-Length: 3"))


def test_a_body_without_a_length_ends_with_the_connection_which_is_not_used_again() -> None:
    response = fed(b"HTTP/1.1 200 OK\r\n\r\n", BODY[:5], BODY[5:])
    assert not response.whole
    response.feed_eof()
    assert response.whole and not response.reusable and response.body() == BODY


@pytest.mark.parametrize("after", [b"x", b"\r\n", PLAIN])
@pytest.mark.parametrize("raw", WHOLE.values(), ids=WHOLE.keys())
def test_bytes_after_a_response_are_no_part_of_it_and_end_the_connection(raw: bytes, after: bytes) -> None:
    for response in (fed(raw + after), fed(raw, after)):
        assert response.body() == BODY and response.whole and not response.reusable


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n", False),
        (b"HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\n", False),
        (b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n", True),
    ],
)
def test_a_connection_is_used_again_only_where_the_server_agrees(head: bytes, reusable: bool) -> None:
    response = fed(head + b"Content-Length: 2\r\n\r\nab")
    assert response.whole and response.reusable is reusable


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_some_answers_have_no_body_whatever_they_say(status: bytes) -> None:
    head = b"HTTP/1.1 " + status + b"\r\n"
    assert fed(head + b"\r\n").reusable
    for lines in (b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n"):
        response = fed(head + lines + b"\r\n")
        assert response.whole and response.body() == b"" and not response.reusable


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
        b"HTTP/1.1 200\r\nContent-Length: 02 \r\n\r\nab",
        b"HTTP/1.1 200 \r\nContent-Length:2\r\nX: \x01\xff\r\n\r\nab",
        status_line(b"Content-Length: 2", b"Content-Encoding: identity"),
        status_line(b"Transfer-Encoding: Chunked", body=b"2\r\nab\r\n0\r\n\r\n"),
    ],
)
def test_what_is_unusual_and_clear_is_read(raw: bytes) -> None:
    assert fed(raw).whole and fed(raw).body() == b"ab"


UNCLEAR = [
    status_line(b"Content-Length: 2", b"Content-Length: 3"),
    status_line(b"Content-Length: 2", b"Content-Length: 2"),
    status_line(b"Content-Length: 2, 2"),
    status_line(b"Content-Length: +2"),
    status_line(b"Content-Length: 2x"),
    status_line("Content-Length: ²".encode()),
    status_line(b"Content-Length:"),
    status_line(b"Content-Length: " + b"0" * 20 + b"2"),
    status_line(b"Content-Length: 2", b"Transfer-Encoding: chunked"),
    status_line(b"Transfer-Encoding: gzip, chunked"),
    status_line(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    status_line(b"Transfer-Encoding: identity"),
    status_line(b"Transfer-Encoding: xchunked"),
    *(
        status_line(b"Transfer-Encoding: chunked", body=body)
        for body in (
            b"x\r\nab\r\n0\r\n\r\n", b"-2\r\nab\r\n0\r\n\r\n", b"0x2\r\nab\r\n0\r\n\r\n", b"\r\nab\r\n0\r\n\r\n",
            b"2\nab\r\n0\r\n\r\n", b"2\r\nabc\r\n0\r\n\r\n", b"2\r\nab\n0\r\n\r\n", b"2\r\nab0\r\n\r\n",
            b"2;a\nb\r\nab\r\n0\r\n\r\n", b"2\r\nab\r\n0\r\nContent-Length: 5\r\n\r\n",
            b"2\r\nab\r\n0\r\nbad line\r\n\r\n",
            b"f" * 16 + b"\r\n", b"2;" + b"a" * 5000, b"0\r\n" + b"A: b\r\n" * 20_000,
        )
    ),
    status_line(b"A: b", b" folded", b"Content-Length: 2"),
    status_line(b"A : b", b"Content-Length: 2"),
    status_line(b"A b: c", b"Content-Length: 2"),
    status_line(b": b", b"Content-Length: 2"),
    status_line(b"no colon", b"Content-Length: 2"),
    status_line(b"A: b\x00", b"Content-Length: 2"),
    status_line(b"A: b\rX: y", b"Content-Length: 2"),
    status_line(b"A: " + b"b" * 70_000, b"Content-Length: 2"),
    b"A" * 70_000,
    b"HTTP/1.1 100 Continue\r\n\r\n" * 4000,
    b"HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n" + PLAIN,
    b"HTTP/1.0 100 Continue\r\n\r\n" + PLAIN,
    b"\r\n" + PLAIN,
    *(
        line + b"\r\nContent-Length: 2\r\n\r\nab"
        for line in (
            b"HTTP/1.1 101 Switching", b"HTTP/1.1 099 No", b"HTTP/1.1 20 No", b"HTTP/1.1 2000 No",
            b"HTTP/1.1 2x0 No", b"HTTP/2 200 OK", b"HTTP/1.2 200 OK", b"http/1.1 200 OK", b"HTTP/1.1  200 OK",
            b"ICY 200 OK", b"\x16\x03\x01", b"HTTP/1.1 200 O\x00K",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("raw", UNCLEAR, ids=lambda raw: repr(raw[:60]))
def test_what_is_unclear_is_an_error(raw: bytes) -> None:
    with pytest.raises(ResponseError):
        fed(raw)


@pytest.mark.parametrize(
    "raw",
    [
        status_line(b"Content-Length: 10001", body=b""),
        status_line(b"Content-Length: 9999999999999999999", body=b""),
        status_line(b"Transfer-Encoding: chunked", body=b"2711\r\n"),
        status_line(b"Transfer-Encoding: chunked", body=b"2710\r\n" + b"a" * 10_000 + b"\r\n1\r\n"),
        status_line(body=b"a" * 10_001),
    ],
)
def test_a_body_that_is_too_large_is_not_read_to_its_end(raw: bytes) -> None:
    with pytest.raises(TooLargeError):
        fed(raw)


def test_a_server_cannot_make_reading_take_long() -> None:
    many = fed(
        status_line(b"Transfer-Encoding: chunked", body=b"1\r\na\r\n" * 40_000 + b"0\r\n\r\n"), largest=50_000
    )
    assert many.body() == b"a" * 40_000
    blank = b" " * 60_000
    for line in (b"A:" + blank + b"\x00", blank, b"A" * 60_000, b"A:" + b"\t \r" * 20_000):
        with pytest.raises(ResponseError):
            fed(status_line(line))
    with pytest.raises(ResponseError):
        fed(status_line(b"Transfer-Encoding: chunked", body=b"1" + b" " * 4000 + b"x\r\n"))


def packed(coding: bytes, body: bytes) -> Response:
    return fed(
        status_line(b"Content-Encoding: " + coding, b"Content-Length: %d" % len(body), body=body),
        largest=5000,
    )


def test_a_body_that_comes_packed_is_unpacked_and_stays_bounded() -> None:
    bare = zlib.compressobj(wbits=-15)
    kinds = {
        "gzip": gzip.compress(BODY),
        "Deflate": zlib.compress(BODY),
        "deflate": bare.compress(BODY) + bare.flush(),
    }
    for coding, body in kinds.items():
        assert packed(coding.encode(), body).body() == BODY
        assert packed(coding.encode(), b"").body() == b""
    with pytest.raises(TooLargeError):
        packed(b"gzip", gzip.compress(bytes(5_000_000), 9)[:5000]).body()
    for wrong in (gzip.compress(BODY)[:-4], gzip.compress(BODY) + b"x", BODY):
        with pytest.raises(ResponseError, match="cannot be unpacked"):
            packed(b"gzip", wrong).body()
    with pytest.raises(ResponseError, match="cannot be unpacked"):
        packed(b"deflate", zlib.compress(BODY) + b"x").body()
    for other in (b"br", b"zstd", b"gzip, gzip", b"identity, br"):
        with pytest.raises(ResponseError, match="not asked for"):
            packed(other, BODY).body()


def test_a_packed_body_may_come_in_parts_that_stay_bounded_together() -> None:
    assert packed(b"x-gzip", gzip.compress(BODY[:5]) + gzip.compress(BODY[5:])).body() == BODY
    half = gzip.compress(bytes(2_600))
    assert len(packed(b"gzip", half).body()) == 2_600
    with pytest.raises(TooLargeError):
        packed(b"gzip", half + half).body()


@pytest.mark.parametrize("coding", [b"", b"utf-8", b"none", b"identity", b"identity, identity", b"gz\xffip"])
def test_words_that_name_no_way_of_packing_are_passed_over(coding: bytes) -> None:
    assert packed(coding, BODY).body() == BODY


def test_an_older_server_may_cut_its_answer_up_and_is_not_asked_again() -> None:
    response = fed(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
                   b"2\r\nab\r\n0\r\n\r\n")  # fmt: skip
    assert response.body() == b"ab" and response.whole and not response.reusable


def test_a_size_may_begin_with_zeros() -> None:
    body = b"0" * 40 + b"2\r\nab\r\n" + b"0" * 40 + b"\r\n\r\n"
    response = fed(status_line(b"Transfer-Encoding: chunked", body=body))
    assert response.body() == b"ab" and response.whole


def test_an_answer_in_very_many_pieces_is_given_up() -> None:
    with pytest.raises(ResponseError, match="too many pieces"):
        fed(status_line(b"Transfer-Encoding: chunked", body=b"1\r\na\r\n" * 200_001), largest=10**6)


# Beside aiohttp's parser. What ours reads, aiohttp's reads alike. Ours refuses more: folded lines, blank lines
# before the status, codings beside `chunked`, a gzip body that is cut, a body in brotli or zstd, statuses below
# 100, NUL in a reason, a stated coding or length among trailers.

Read = tuple[int, bytes] | None


def ours(raw: bytes) -> Read:
    """Status and body; None where it is refused, or not whole when the server says no more."""
    try:
        response = fed(raw)
        response.feed_eof()
        return response.status, response.body()
    except (ResponseError, TooLargeError):
        return None


def theirs(raw: bytes) -> Read:
    """The first response that is no interim one, read byte by byte: what follows it is not looked at."""
    loop = asyncio.new_event_loop()
    try:
        return _theirs(loop, raw)
    except (HttpProcessingError, ClientPayloadError):
        return None
    finally:
        loop.close()


def _theirs(loop: asyncio.AbstractEventLoop, raw: bytes) -> Read:
    options: dict[str, Any] = {"max_line_size": 65536, "max_field_size": 65536, "read_until_eof": True}
    parser: Any = HttpResponseParser(
        BaseProtocol(loop), loop, 2**16, payload_exception=ClientPayloadError, **options
    )
    final: tuple[int, Any] | None = None
    for place in range(len(raw)):
        for message, payload in parser.feed_data(raw[place : place + 1])[0]:
            if final is None and (message.code == 101 or not 100 <= message.code < 200):
                final = message.code, payload
        if final is not None and (final[0] in (204, 304) or final[1].is_eof()):
            break
    else:
        parser.feed_eof()
    if final is None or final[0] in (204, 304):
        return None if final is None else (final[0], b"")
    stream = final[1]
    if stream.exception() is not None or not stream.is_eof():
        return None
    return final[0], stream.read_nowait() if isinstance(stream, StreamReader) else b""


NAMES = st.sampled_from(
    [b"Content-Type", b"Connection", b"Retry-After", b"X-Note", b"Set-Cookie", b"x!#$%&'*+.^_`|~"]
)
VALUES = st.sampled_from(
    [b"", b"close", b"keep-alive", b"5", b"a b\tc", b"\xc3\xa9", b"application/json; charset=utf-8"]
)
FIELDS = st.lists(st.tuples(NAMES, VALUES).map(lambda pair: pair[0] + b": " + pair[1]), max_size=4)
ENDS = st.sampled_from([b"\r\n", b"\n"])
EXTENSIONS = st.sampled_from([b"", b" ", b";a", b";a=b", b';a="b c"', b" ;a=b;c"])
STATUSES = st.sampled_from([200, 201, 204, 304, 307, 400, 404, 429, 500, 503, 999])
INTERIMS = st.sampled_from([b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Hints\r\nX: y\r\n\r\n"])


@st.composite
def good_responses(draw: st.DrawFn) -> tuple[bytes, int, bytes]:
    """A response that is clear by construction, with its status and body."""
    status, body, end = draw(STATUSES), draw(st.binary(max_size=60)), draw(ENDS)
    lines = [b"HTTP/1.1 %d Some reason" % status, *draw(FIELDS)]
    framing = draw(st.sampled_from(["length", "chunked", "end"]))
    if status in (204, 304):
        sent, body = b"", b""
    elif framing == "length":
        lines.append(b"Content-Length: %d" % len(body))
        sent = body
    elif framing == "chunked":
        lines.append(b"Transfer-Encoding: chunked")
        cuts = [0, *sorted(draw(st.lists(st.integers(0, len(body)), max_size=3))), len(body)]
        parts = [body[start:stop] for start, stop in pairwise(cuts) if start < stop]
        sent = b"".join(b"%X" % len(part) + draw(EXTENSIONS) + b"\r\n" + part + b"\r\n" for part in parts)
        sent += b"0\r\n" + draw(st.sampled_from([b"", b"X-End: 1\r\n", b"A: b\r\nC:\r\n"])) + b"\r\n"
    else:
        sent = body
    return draw(INTERIMS) + end.join((*lines, b"", sent)), status, body


@given(good_responses())
def test_what_is_clear_is_read_as_aiohttp_reads_it(drawn: tuple[bytes, int, bytes]) -> None:
    raw, status, body = drawn
    assert ours(raw) == theirs(raw) == (status, body)


@given(good_responses(), st.data())
def test_a_split_changes_nothing(drawn: tuple[bytes, int, bytes], data: st.DataObject) -> None:
    raw, status, body = drawn
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5))), len(raw)]
    response = fed(*(raw[start:stop] for start, stop in pairwise(cuts)))
    response.feed_eof()
    assert (response.status, response.body()) == (status, body)


PIECES = st.sampled_from(
    [
        b"\r\n", b"\n", b"\r", b" ", b"\t", b"\x00", b":", b";", b",", b"0", b"1", b"f", b"-", b"+", b'"', b"=",
        b"x", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n",
        b"chunked", b"Content-Encoding: gzip\r\n", b"Connection: close\r\n", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0",
        b"\r\n\r\n", b"0\r\n\r\n",
    ]
)  # fmt: skip


@st.composite
def spoiled_responses(draw: st.DrawFn) -> bytes:
    """A good response in which a few places were written over, taken out or added to."""
    raw = draw(good_responses())[0]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(raw)))
        stop = min(len(raw), start + draw(st.integers(0, 4)))
        raw = raw[:start] + draw(st.one_of(st.just(b""), PIECES)) + raw[stop:]
    return raw


@given(spoiled_responses())
@example(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nTransfer-Encoding: x\r\n\r\n")
@example(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc")
def test_what_ours_reads_aiohttp_reads_alike(raw: bytes) -> None:
    read = ours(raw)
    assert read is None or read == theirs(raw)

"""The client on real sockets: which connection is used again, what never leaves, what is never an answer."""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
import zlib
from typing import Any

import pytest
import uvloop
from tests.loopback import LoopbackServer
from tests.models.raw_server import Caller, Handler, answer, client_at, echo, on_both_loops, serving, told
from tests.models.samples import KEY, VARIABLE, model_at, request

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import ModelError, make_model
from medjury.models._connection import ForbiddenHostError, TooLargeError
from medjury.models._faults import LostReplyError, NotSentError
from medjury.models._hosts import hosts_allowed
from medjury.models._http import BrokenError, Client, ConnectError, ConnectTimeoutError
from medjury.version import __version__

# What is sent


async def test_a_request_says_what_it_must_and_connections_are_used_again() -> None:
    async with serving(echo) as (address, callers), client_at(f"{address}?a=b c&ü=%2F#part") as client:
        for body in (b"one", b"", b"three"):
            assert (await client.post(f"{address}?a=b c&ü=%2F#part", body)).body == body
    (caller,) = callers
    lines = caller.heads[0].decode().split("\r\n")
    assert lines[0] == "POST /v1/x?a=b+c&%C3%BC=/ HTTP/1.1"
    assert sorted(lines[1:-2]) == sorted(
        [
            f"Host: {address.split('/')[2]}", "Content-Type: application/json", "Authorization: Bearer secret",
            "Accept: */*", "Accept-Encoding: identity", f"User-Agent: medjury/{__version__}", "Content-Length: 3",
        ]
    )  # fmt: skip
    assert len(caller.heads) == 3


@on_both_loops
async def test_many_requests_at_the_same_time_each_get_their_own_answer() -> None:
    async with serving(echo) as (address, callers), client_at(address) as client:
        bodies = [b"%d" % number for number in range(200)]
        for _ in range(2):
            replies = await asyncio.gather(*(client.post(address, body) for body in bodies))
            assert [reply.body for reply in replies] == bodies
    assert len(callers) == 200


async def test_headers_of_our_own_can_be_replaced_and_any_text_is_sent_as_utf_8() -> None:
    headers = {"User-Agent": "me", "accept-encoding": "gzip", "X-Ward": "Päd"}
    async with serving(echo) as (address, callers), client_at(address, headers=headers) as client:
        await client.post(address, b"")
    sent = callers[0].heads[0]
    for line in (
        b"User-Agent: me",
        b"accept-encoding: gzip",
        "X-Ward: Päd".encode(),
    ):
        assert (
            sent.lower().count(line.split(b":")[0].lower() + b":") == 1 and b"\r\n" + line + b"\r\n" in sent
        )


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "a\x7f"])
async def test_a_header_cannot_smuggle_another(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MedjuryError, match="value of X-Ward holds a line break"):
        Client("http://127.0.0.1:9", 1.0, {"X-Ward": value}, 10)
    if "\x00" in value:
        return  # no variable can hold it
    monkeypatch.setenv("GATEWAY", value)
    model = make_model("openai", url="http://127.0.0.1:9", model="m", headers={"X-Ward": "env:GATEWAY"})
    with pytest.raises(MedjuryError, match="X-Ward holds a line break") as caught:
        model.check()
    assert value not in str(caught.value)
    monkeypatch.setenv(VARIABLE, f"{KEY}{value}")
    with pytest.raises(MedjuryError, match="Authorization holds a line break") as caught:
        model_at("openai", "http://127.0.0.1:9").check()
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["Host", "hOST", "Content-Length", "transfer-encoding", "Content-Encoding", "Connection", "Keep-Alive",
     "Proxy-Connection", "Upgrade", "TE", "Trailer", "Expect", "X Y", "X\r\nY", "", "Ä"],
)  # fmt: skip
async def test_whom_a_request_is_for_and_where_it_ends_is_not_for_others_to_say(name: str) -> None:
    with pytest.raises(MedjuryError, match="cannot be set"):
        Client("http://127.0.0.1:9", 1.0, {name: "5"}, 10)
    with pytest.raises(MedjuryError, match="cannot be set"):
        make_model("openai", url="http://127.0.0.1:9", model="m", headers={name: "5"}).check()


async def test_another_server_never_gets_the_headers() -> None:
    async with serving(echo) as (address, callers), client_at("http://127.0.0.1:9/v1") as client:
        for other in (address, "https://127.0.0.1:9/v1", "http://localhost:9/v1"):
            with pytest.raises(ForbiddenHostError, match="another server"):
                await client.post(other, b"")
    assert not callers


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer secret"}, {"api-key": "secret"}])
async def test_a_proxy_that_only_passes_bytes_on_never_gets_the_headers(headers: dict[str, str]) -> None:
    heads: list[bytes] = []

    async def refuse(caller: Caller) -> None:
        heads.append(await caller.reader.readuntil(b"\r\n\r\n"))
        await caller.say(answer(b"", status=b"403 Forbidden"))

    there = "https://gateway.example/v1"
    async with serving(refuse) as (proxy, _):
        client = Client(there, 5.0, headers, 10, proxy)
        with hosts_allowed(frozenset({"gateway.example"})), pytest.raises(ConnectError):
            await client.post(there, b"a note")
        await client.close()
    (head,) = heads
    assert head.startswith(b"CONNECT gateway.example:443 ") and b"secret" not in head


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:99999/", "http://[::1/", "ftp://127.0.0.1/", "http:///x", "x"]
)
async def test_what_is_no_address_is_asked_nothing(address: str) -> None:
    with pytest.raises(ConnectError):
        Client(address, 1.0, {}, 10)


async def test_localhost_is_tried_at_both_its_addresses() -> None:
    for host, family, other in (("127.0.0.1", socket.AF_INET6, "::1"), ("::1", socket.AF_INET, "127.0.0.1")):
        answer_of: bytes | None = None
        while answer_of is None:
            async with serving(echo, host) as (address, _):
                port, _, path = address.rpartition(":")[2].partition("/")
                with socket.socket(family) as nobody:
                    try:
                        nobody.bind(
                            (other, int(port))
                        )  # held, so that no server of another test is met there
                    except OSError:
                        continue
                    named = f"http://localhost:{port}/{path}"
                    async with client_at(named) as client:
                        answer_of = (await client.post(named, b"x")).body
        assert answer_of == b"x"


async def test_a_host_must_be_allowed_for_every_request_on_a_kept_connection_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up: list[str] = []

    async def look_up(host: str, port: int, **_: Any) -> list[Any]:
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    async with serving(echo) as (address, callers):
        named = address.replace("127.0.0.1", "Gateway.Example")
        async with client_at(named) as client:
            with hosts_allowed(frozenset({"gateway.example"})):
                assert (await client.post(named, b"x")).body == b"x"
                await asyncio.gather(*(client.post(named, b"y") for _ in range(10)))
            with pytest.raises(ForbiddenHostError, match=r"gateway\.example"):
                await client.post(named, b"z")
    assert looked_up == ["gateway.example"], "once for all"
    assert b"z" not in [head for caller in callers for head in caller.heads]


# Which connection is used again


async def test_whoever_states_that_connections_end_has_one_for_each_request() -> None:
    headers = {"connection": "Close"}
    async with serving(echo) as (address, callers), client_at(address, headers=headers) as client:
        for _ in range(2):
            assert (await client.post(address, b"x")).body == b"x"
    assert len(callers) == 2 and b"connection: Close\r\n" in callers[0].heads[0]


@on_both_loops
async def test_bytes_on_an_idle_connection_are_never_the_next_answer() -> None:
    async def handle(caller: Caller) -> None:
        await caller.read()
        await caller.say(answer(b"first" if caller.number == 0 else b"second"))
        await asyncio.sleep(0.02)
        await caller.say(answer(b"poison"))
        await caller.ended()

    async with serving(handle) as (address, callers), client_at(address) as client:
        assert (await client.post(address, b"")).body == b"first"
        await asyncio.sleep(0.08)
        assert (await client.post(address, b"")).body == b"second"
    assert len(callers) == 2


@on_both_loops
async def test_a_request_on_a_kept_connection_that_breaks_is_not_sent_again() -> None:
    async def handle(caller: Caller) -> None:
        await caller.read()
        await caller.say(answer(b"ok"))
        await caller.read()

    async with serving(handle) as (address, callers), client_at(address) as client:
        assert (await client.post(address, b"")).body == b"ok"
        with pytest.raises(BrokenError, match="ServerDisconnectedError"):
            await client.post(address, b"")
    assert len(callers) == 1 and len(callers[0].heads) == 2


@on_both_loops
async def test_a_cancelled_request_ends_its_connection() -> None:
    async def handle(caller: Caller) -> None:
        body = await caller.read()
        if body == b"slow":
            await caller.ended()
        else:
            await caller.say(answer(b"own"))

    async with serving(handle) as (address, callers), client_at(address) as client:
        slow = asyncio.create_task(client.post(address, b"slow"))
        await asyncio.sleep(0.05)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert (await client.post(address, b"quick")).body == b"own"
        await asyncio.wait_for(callers[0].over.wait(), 5)
    assert len(callers) == 2


@on_both_loops
async def test_closing_ends_idle_connections() -> None:
    async with serving(echo) as (address, callers):
        async with client_at(address) as client:
            await client.post(address, b"")
        await asyncio.wait_for(callers[0].over.wait(), 5)
        assert client.closed


def test_a_model_that_nobody_closes_ends_its_connections_with_each_event_loop() -> None:
    loops = [asyncio.new_event_loop, uvloop.new_event_loop]
    with LoopbackServer() as server:
        model = model_at("openai", server.base_url)
        for loop in (*loops, *loops):
            with asyncio.Runner(loop_factory=loop) as runner:
                runner.run(model.ask(request()))
                runner.run(model.ask(request()))
        assert len(server.calls) == 8
        del model
        gc.collect()


@on_both_loops
async def test_a_client_that_nobody_needs_any_more_ends_its_connections() -> None:
    async with serving(echo) as (address, callers):
        client = Client(address, 5.0, {}, 10)
        await client.post(address, b"x")
        del client
        gc.collect()
        await asyncio.wait_for(callers[0].over.wait(), 5)


@on_both_loops
async def test_another_event_loop_that_closes_the_model_ends_no_request_of_this_one() -> None:
    asked, done = asyncio.Event(), asyncio.Event()

    async def handle(caller: Caller) -> None:
        await caller.read()
        if caller.number == 0:
            asked.set()
            await done.wait()
        await caller.say(answer(b"{}"))

    async def elsewhere() -> None:
        with pytest.raises(ModelError, match="not a chat completion"):
            await model.ask(request())
        await model.close()

    async with serving(handle) as (address, callers):
        model = model_at("openai", address)
        mine = asyncio.create_task(model.ask(request()))
        await asyncio.wait_for(asked.wait(), 5)
        await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
        done.set()
        with pytest.raises(ModelError, match="not a chat completion"):
            await mine
        await model.close()
    assert len(callers) == 2


async def test_a_closed_client_sends_nothing() -> None:
    async with serving(echo) as (address, callers):
        client = Client(address, 5.0, {}, 10)
        await client.close()
        with pytest.raises(ConnectError):
            await client.post(address, b"")
    assert not callers


# What is lost


@pytest.mark.parametrize(
    "raw",
    [answer(b"0123456789"), b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\n\r\n"],
    ids=["length", "chunked"],
)
@on_both_loops
async def test_an_answer_that_is_cut_is_an_error_and_never_a_short_one(raw: bytes) -> None:
    cuts = iter(range(len(raw)))

    async def handle(caller: Caller) -> None:
        await caller.read()
        await caller.say(raw[: next(cuts)])

    async with serving(handle) as (address, _), client_at(address) as client:
        for _ in raw:
            with pytest.raises(BrokenError):
                await client.post(address, b"")


@on_both_loops
async def test_a_body_may_end_with_the_connection_but_not_with_a_reset() -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    async with (
        serving(told(head, b"all of it", then_close=True)) as (address, _),
        client_at(address) as client,
    ):
        assert (await client.post(address, b"")).body == b"all of it"

    async def reset(caller: Caller) -> None:
        await caller.read()
        await caller.say(head, b"a part of it")
        raw: socket.socket = caller.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        caller.writer.transport.abort()

    async with serving(reset) as (address, _), client_at(address) as client:
        with pytest.raises(BrokenError, match="ClientOSError"):
            await client.post(address, b"")


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", BrokenError),
        (answer(b"", b"A: b\x00"), BrokenError),
        (answer(b"ok") + b"x", BrokenError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10001\r\n\r\n", TooLargeError),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 10_001, TooLargeError),
    ],
    ids=["no HTTP", "bad header", "surplus", "too long", "too long without a length"],
)
@on_both_loops
async def test_a_bad_answer_ends_its_connection(raw: bytes, error: type[Exception]) -> None:
    async def handle(caller: Caller) -> None:
        await caller.read()
        await caller.say(raw if caller.number == 0 else answer(b"ok"))
        await caller.ended()

    async with serving(handle) as (address, callers), client_at(address) as client:
        with pytest.raises(error):
            await client.post(address, b"")
        await asyncio.wait_for(callers[0].over.wait(), 5)
        assert (await client.post(address, b"")).body == b"ok"


@on_both_loops
async def test_an_answer_before_the_request_was_read_ends_the_connection() -> None:
    async def handle(caller: Caller) -> None:
        await caller.reader.readuntil(b"\r\n\r\n")
        await caller.say(answer(b"too much", status=b"413 Too Large"))
        await asyncio.sleep(1)

    async with serving(handle) as (address, callers), client_at(address) as client:
        for size in (64_000_000, 64_000_000, 10):
            reply = await client.post(address, bytes(size))
            assert (reply.status, reply.body) == (413, b"too much")
    assert len(callers) == 3


BODY = b'{"choices": []}'
BARE = zlib.compressobj(wbits=-15)
PACKED = {
    b"gzip": gzip.compress(BODY, mtime=0),
    b"x-gzip": gzip.compress(BODY[:5], mtime=0) + gzip.compress(BODY[5:], mtime=0),
    b"Deflate": zlib.compress(BODY),
    b"deflate": BARE.compress(BODY) + BARE.flush(),
    b"utf-8": BODY,
    b"identity, none": BODY,
}


@pytest.mark.parametrize(("coding", "packed"), PACKED.items(), ids=PACKED.keys())
async def test_a_body_that_comes_packed_is_unpacked(coding: bytes, packed: bytes) -> None:
    for sent, plain in ((packed, BODY), (b"", b"")):
        said = told(answer(sent, b"Content-Encoding: " + coding))
        async with serving(said) as (address, _), client_at(address) as client:
            assert (await client.post(address, b"")).body == plain


@pytest.mark.parametrize(
    ("coding", "packed", "error"),
    [
        (b"gzip", gzip.compress(bytes(5_000_000), 9, mtime=0)[:9000], TooLargeError),
        (b"gzip", gzip.compress(bytes(6_000), mtime=0) * 2, TooLargeError),
        (b"gzip", gzip.compress(BODY, mtime=0)[:-4], BrokenError),
        (b"gzip", gzip.compress(BODY, mtime=0)[:-12], BrokenError),
        (b"gzip", gzip.compress(BODY, mtime=0) + b"x", BrokenError),
        (b"gzip", BODY, BrokenError),
        (b"deflate", zlib.compress(BODY)[:-4], BrokenError),
        (b"deflate", zlib.compress(BODY) + b"x", BrokenError),
        (b"zstd", BODY, BrokenError),
        (b"gzip, gzip", gzip.compress(gzip.compress(BODY, mtime=0), mtime=0), BrokenError),
    ],
    ids=range(10),
)
async def test_a_packed_body_stays_bounded_and_is_whole(
    coding: bytes, packed: bytes, error: type[Exception]
) -> None:
    said = told(answer(packed, b"Content-Encoding: " + coding))
    async with serving(said) as (address, _), client_at(address) as client:
        with pytest.raises(error):
            await client.post(address, b"")


@on_both_loops
async def test_a_server_that_speaks_before_it_is_asked_is_not_called_again_and_again() -> None:
    async def greet(caller: Caller) -> None:
        await caller.say(b"220 mail.example ready\r\n")
        await caller.ended()

    async with serving(greet) as (address, callers), client_at(address) as client:
        with pytest.raises((ConnectError, BrokenError)):
            await client.post(address, b"")
    assert len(callers) == 1


# Time


@on_both_loops
async def test_a_server_that_reads_or_says_nothing_is_waited_for_no_longer_than_allowed() -> None:
    async def read_nothing(caller: Caller) -> None:
        await asyncio.sleep(20)

    for body, calls in ((b"", 2), (bytes(64_000_000), 1)):
        async with serving(read_nothing) as (address, callers), client_at(address, seconds=1.0) as client:
            for _ in range(calls):
                with pytest.raises(TimeoutError) as caught:
                    await client.post(address, body)
                assert not isinstance(caught.value, ConnectError), "it may have left"
            assert len(callers) == calls


@on_both_loops
async def test_a_connection_that_does_not_come_about_in_time_is_told_apart() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = f"http://127.0.0.1:{full.getsockname()[1]}"
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:  # the queue is full: nobody is let in any more
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        async with client_at(address, seconds=0.3) as client:
            with pytest.raises(ConnectTimeoutError):
                await client.post(address, b"")
        model = model_at("openai", address, timeout=0.3)
        with pytest.raises(
            NotSentError, match=r"no connection to 127\.0\.0\.1: it did not answer in time"
        ) as caught:
            await model.ask(request())
        await model.close()
        for each in waiting:
            each.close()
    assert caught.value.reason is Reason.TIMEOUT and caught.value.retry


# What a model makes of it


@pytest.mark.parametrize(
    ("handler", "kind", "words"),
    [
        (told(b"", then_close=True), LostReplyError, r"to 127\.0\.0\.1 broke \(ServerDisconnectedError\)"),
        (told(b"HTTP/1.1 200 OK\r\n", then_close=True), LostReplyError, "broke"),
        (told(answer(b"x" * 200)), LostReplyError, "larger than 100 bytes"),
        (told(answer(b"x", b"Content-Encoding: br")), LostReplyError, "not asked for"),
        (told(b"HTTP/1.1 200 OK\r\n"), LostReplyError, r"gave no complete answer within 0\.3 s"),
    ],
)  # fmt: skip
async def test_what_was_sent_and_lost_is_told_so(
    handler: Handler, kind: type[ModelError], words: str
) -> None:
    async with serving(handler) as (address, _):
        model = model_at("openai", address, timeout=0.3, largest_body=100)
        with pytest.raises(kind, match=words):
            await model.ask(request())
        await model.close()


@pytest.mark.parametrize(
    ("location", "follows"),
    [("/v1/there", True), ("http://HERE/v1/there", True), ("http://127.0.0.1:9/", False),
     ("http://other.example/", False), ("https://HERE/", False), ("//me:pw@HERE/v1", False), ("", False)],
)  # fmt: skip
@pytest.mark.parametrize("status", [b"302 Found", b"307 Temporary Redirect", b"308 Permanent Redirect"])
async def test_a_redirect_is_followed_to_the_very_same_server_only(
    location: str, follows: bool, status: bytes
) -> None:
    async def handle(caller: Caller) -> None:
        while True:
            await caller.read()
            host = caller.heads[-1].split(b"Host: ")[1].split(b"\r\n")[0]
            there = b"Location: " + location.encode().replace(b"HERE", host)
            moved = b"POST /v1/there" not in caller.heads[-1]
            endless = b"HTTP/1.1 " + status + b"\r\n" + there + b"\r\nContent-Length: 999\r\n\r\nx"
            await caller.say(endless if moved else answer(b"{}"))

    async with serving(handle) as (address, callers):
        model = model_at("openai", address)
        follows = follows and not status.startswith(b"302")
        with pytest.raises(
            ModelError, match="not a chat completion" if follows else "redirects to"
        ) as caught:
            await model.ask(request())
        await model.close()
    assert len(callers) == 1 + follows and "pw" not in caught.value.message


async def test_one_failing_look_up_is_the_answer_to_all_who_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0

    async def fail(*_: object, **__: object) -> None:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0.05)
        raise socket.gaierror(-3, "not now")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", fail)
    address = "http://gateway.example/v1"
    with hosts_allowed(frozenset({"gateway.example"})):
        async with client_at(address) as client:
            found = await asyncio.gather(
                *(client.post(address, b"") for _ in range(20)), return_exceptions=True
            )
            assert {type(each) for each in found} == {ConnectError} and looks == 1
            with pytest.raises(ConnectError):
                await client.post(address, b"")
    assert looks == 2, "a failure is not remembered"

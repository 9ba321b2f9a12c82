"""Local-only unless told otherwise: with `allow_hosts` unset nothing opens a socket to another machine."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.samples import KINDS, model_at, request

from medjury.foundation.errors import MedjuryError
from medjury.models import ChatModel, Gate, MemoryCache, ModelError, Scripted, make_model
from medjury.models._hosts import host_of, is_local, normal_hosts

FAR = "192.0.2.1"  # reserved for documentation: nobody has it


class SocketWatch:
    """Notes every address that this process connects to or looks up, while it is on. Python calls it before
    the system does anything, so that an attempt is seen even where it fails."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[tuple[str, Any]] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in ("socket.connect", "socket.sendto"):
            self.seen.append((event, arguments[1]))
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            self.seen.append((event, arguments[0]))

    @property
    def far(self) -> list[tuple[str, Any]]:
        """What went, or was meant to go, beyond this machine."""
        hosts = [(event, each[0] if isinstance(each, tuple) else each) for event, each in self.seen]
        return [each for each in hosts if not is_local(each[1] if isinstance(each[1], str) else "?")]


_watch: list[SocketWatch] = []  # a hook stays for good: one is enough


@pytest.fixture
def sockets() -> Iterator[SocketWatch]:
    if not _watch:
        _watch.append(SocketWatch())
    watch = _watch[0]
    watch.seen.clear()
    watch.on = True
    yield watch
    watch.on = False


@pytest.fixture(autouse=True)
def proxies_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://{FAR}:3128")
        monkeypatch.setenv(name.upper(), f"http://{FAR}:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)


async def ask(model: ChatModel, *allow_hosts: str) -> str:
    gate = Gate(cache=MemoryCache(), allow_hosts=allow_hosts, attempts=1)
    try:
        return (await gate.ask(model, request(max_tokens=20))).reply.text
    finally:
        await model.close()


def test_the_watch_sees_what_it_must(sockets: SocketWatch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect((FAR, 9))  # a datagram socket sends nothing
    assert sockets.far


@pytest.mark.parametrize("kind", KINDS)
async def test_a_local_endpoint_is_reached_without_the_proxies_of_the_environment(
    kind: str, sockets: SocketWatch
) -> None:
    with LoopbackServer() as server:
        assert await ask(model_at(kind, server.url))
        assert await ask(model_at(kind, server.url.replace("127.0.0.1", "localhost")))
    assert any(event == "socket.connect" for event, _ in sockets.seen), "the watch saw the calls"
    assert not sockets.far


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "target", [f"http://{FAR}/v1", "https://elsewhere.example/v1", "//elsewhere.example/"]
)
async def test_a_redirect_is_not_followed(kind: str, target: str, sockets: SocketWatch) -> None:
    with (
        LoopbackServer(f"redirect:{target}") as server,
        pytest.raises(ModelError, match="redirects to") as caught,
    ):
        await ask(model_at(kind, server.url))
    assert caught.value.fatal and not sockets.far


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "url",
    [
        f"http://{FAR}/v1",
        "https://gateway.example/v1",
        "http://0.0.0.0:9/v1",
        "http://2130706433:9/v1",
        "http://localhost.example/v1",
        "http://127.0.0.1.example/v1",
        "http://[::ffff:192.0.2.1]:9/v1",
    ],
)
async def test_another_host_is_refused_before_any_socket(kind: str, url: str, sockets: SocketWatch) -> None:
    model = model_at(kind, url)
    with pytest.raises(MedjuryError, match="allow_hosts"):
        Gate(cache=MemoryCache()).check([model])
    with pytest.raises(ModelError, match="allow_hosts") as caught:
        await ask(model)
    assert caught.value.fatal and not sockets.far


@pytest.mark.parametrize("kind", ["anthropic", "google"])
async def test_the_vendors_own_hosts_must_be_allowed_too(kind: str, sockets: SocketWatch) -> None:
    model = make_model(kind, model="m", api_key_env="MEDJURY_TEST_KEY")
    with pytest.raises(ModelError, match="allow_hosts"):
        await ask(model)
    assert not sockets.far


@pytest.mark.parametrize("kind", KINDS)
async def test_localhost_is_this_machine_whatever_the_name_service_says(
    kind: str, sockets: SocketWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lying(host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        address = host if isinstance(host, str) and host[0].isdigit() else FAR
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with LoopbackServer() as server:
        monkeypatch.setattr(socket, "getaddrinfo", lying)
        assert await ask(model_at(kind, server.url.replace("127.0.0.1", "localhost")))
    assert not sockets.far


@pytest.mark.parametrize("kind", KINDS)
async def test_an_allowed_host_is_tried_and_only_that_one(kind: str, sockets: SocketWatch) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(model_at(kind, "http://gateway.invalid/v1"), "gateway.invalid")
    assert not caught.value.fatal, "it was let through, and does not exist"
    assert {host for _, host in sockets.far} <= {"gateway.invalid", b"gateway.invalid"}
    assert sockets.far


async def test_outside_a_gate_an_adapter_is_local_only(sockets: SocketWatch) -> None:
    model = model_at("openai", "https://gateway.example/v1")
    with pytest.raises(ModelError, match="allow_hosts"):
        await model.ask(request())
    assert not sockets.far


async def test_a_proxy_must_be_named_and_allowed(sockets: SocketWatch) -> None:
    with LoopbackServer() as server:
        model = model_at("openai", server.base_url, proxy=f"http://{FAR}:3128")
        with pytest.raises(MedjuryError, match=f"proxy of model juror is at {FAR}"):
            Gate(cache=MemoryCache()).check([model])
        with pytest.raises(ModelError, match="proxy"):
            await ask(model)
        assert not sockets.far
        assert await ask(model_at("openai", "http://gateway.example/v1", proxy=server.url), "gateway.example")
        assert server.calls[-1].headers["Host"] == "gateway.example"
    assert not sockets.far


@pytest.mark.skipif(
    not Path("/proc/self/net").exists(), reason="this system does not list a process's sockets"
)
async def test_models_in_this_process_open_no_network_socket(sockets: SocketWatch) -> None:
    assert await ask(Scripted("fine"))
    before = network_sockets()
    model = make_model("embedded")
    gate = Gate(cache=MemoryCache())
    gate.check([model])
    assert (await gate.ask(model, request(max_tokens=4))).reply.tokens_out > 0
    assert network_sockets() == before
    assert not sockets.seen
    await model.close()


def network_sockets() -> set[str]:
    """The TCP and UDP sockets of this process, those opened by compiled code included."""
    own = {str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            found |= {f"{table} {line.split()[1]}"} if f"socket:[{line.split()[9]}]" in own else set()
    return found


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False), ("10.0.0.1", False), ("localhost.example", False), ("2130706433", False), (None, True),
        ("::ffff:10.0.0.1", False), ("169.254.169.254", False),
    ],
)  # fmt: skip
def test_only_loopback_is_local(host: str | None, local: bool) -> None:
    assert is_local(host) is local


def test_allowed_hosts_are_exact_names() -> None:
    assert normal_hosts(["Gateway.Example.", "::1"]) == {"gateway.example", "::1"}
    for wrong in ("*.example", "https://gateway.example", "gateway.example:443", "", "a b", "me@host"):
        with pytest.raises(MedjuryError, match="name each host exactly"):
            normal_hosts([wrong])
    with pytest.raises(MedjuryError, match="password does not belong in a URL"):
        host_of("https://user:pass@gateway.example")
    with pytest.raises(MedjuryError, match="is not an address"):
        host_of("gateway.example/v1")

"""The bytes of a request, all but its body: built once for an address, sent with every call to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from medjury.foundation.errors import MedjuryError
from medjury.models._http.errors import ConnectError
from medjury.version import __version__

if TYPE_CHECKING:
    import yarl

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Whom a request is for, where it ends, how its body is packed and what becomes of the connection is for the client
# alone to say: a server that serves several hosts would take a stated `Host` for another one than was allowed.
_OURS = ("host", "content-length", "transfer-encoding", "content-encoding", "expect", "upgrade", "te", "trailer",
         "keep-alive", "proxy-connection")  # fmt: skip
_DEFAULTS = {"Accept-Encoding": "identity", "User-Agent": f"medjury/{__version__}"}


class Origin(NamedTuple):
    """One server. `name` is its host as a person reads it, `host` as it is looked up."""

    secure: bool
    name: str
    host: str
    port: int


def header_lines(headers: Mapping[str, str]) -> bytes:
    """Headers as they are sent, with ours where none is stated. No value can begin a line of its own: a variable of
    the environment that holds one is refused, and not shown."""
    for name, value in headers.items():
        if _NAME.fullmatch(name) is None or name.lower() in _OURS or not _may_be_stated(name, value):
            raise MedjuryError(
                f"headers: {name!r} cannot be set; take it out. The host, the length and the form of a request "
                "follow from `url` and from what is sent"
            )
        if _CONTROL.search(value) is not None:
            raise MedjuryError(
                f"headers: the value of {name} holds a line break or another control character; correct it, or "
                "the environment variable that it comes from"
            )
    stated = {name.lower() for name in headers}
    added = {name: value for name, value in _DEFAULTS.items() if name.lower() not in stated}
    lines = (f"{name}: {value}\r\n" for name, value in (*headers.items(), *added.items()))
    try:
        return "".join(lines).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise MedjuryError(
            "headers: a value holds half of a sign, which cannot be sent; correct it"
        ) from None


def says_close(headers: Mapping[str, str]) -> bool:
    return any(name.lower() == "connection" and value.lower() == "close" for name, value in headers.items())


def _may_be_stated(name: str, value: str) -> bool:
    """Of a connection may be said that it is kept, or that it ends; nothing else."""
    return name.lower() != "connection" or value.lower() in ("close", "keep-alive")


def head_of(address: str, lines: bytes) -> tuple[Origin, bytes]:
    """The server of an address, and what a request to it begins with: up to the number of its bytes."""
    url = _parsed(address)
    line = f"POST {_clean(url.raw_path_qs)} HTTP/1.1\r\nHost: {_clean(url.host_port_subcomponent)}\r\n"
    origin = Origin(url.scheme == "https", url.host or "", url.raw_host or "", url.port or 0)
    return origin, line.encode("ascii") + lines + b"Content-Length: "


def _parsed(address: str) -> yarl.URL:
    import yarl  # aiohttp brings it: both write an address in the same way

    try:
        url = yarl.URL(address)
        if url.scheme in ("http", "https") and url.raw_host and url.port:
            return url
    except ValueError:
        pass
    raise ConnectError("this is no address")


def _clean(part: str | None) -> str:
    """A part of an address as it is sent. yarl has escaped it: a sign that would end it is not there."""
    if part is None or not part.isascii() or " " in part or _CONTROL.search(part) is not None:
        raise ConnectError("this is no address")
    return part

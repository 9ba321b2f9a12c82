"""Which hosts a call may reach: this machine, and what the user named. The rule holds down to the socket.

The gate opens the allowed hosts for the calls it makes (`hosts_allowed`); outside a gate the list is empty,
and an adapter used on its own talks to this machine only.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from urllib.parse import urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import ModelError

_allowed: ContextVar[frozenset[str]] = ContextVar("medjury_allowed_hosts", default=frozenset())


def host_of(url: str) -> str:
    """The host of a URL, in lower case and without its port."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MedjuryError(f"{url!r} is not an address; write it like https://gateway.hospital.example/v1")
    if parts.username or parts.password:
        raise MedjuryError("a password does not belong in a URL; name an environment variable in api_key_env")
    host = parts.hostname.rstrip(".").lower()
    if "%" in host and ":" not in host:  # a name spelled in escapes is one thing to read and another to reach
        raise MedjuryError(f"{host!r} is not a host name; write it out, without %")
    return host


@lru_cache(maxsize=1024)
def is_loopback_address(address: str) -> bool:
    """Whether an IP address (not a name) is this machine: 127.0.0.0/8 or ::1."""
    try:
        parsed = ipaddress.ip_address(address.split("%")[0] if ":" in address else address)  # ::1%lo
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)


def is_local(host: str | None) -> bool:
    """Whether a host is this machine by its literal name; no other name is looked up to find out."""
    return host is None or host == "localhost" or is_loopback_address(host)


def normal_hosts(hosts: Iterable[str]) -> frozenset[str]:
    """The user's list as exact host names. A pattern or a whole URL is refused: it would allow too much."""
    found = set()
    for host in hosts:
        name = host.strip().rstrip(".").lower()
        if not name or any(sign in name for sign in "*/@ %") or (":" in name and not _is_address(name)):
            raise MedjuryError(
                f"allow_hosts: {host!r} is not a host name; name each host exactly, "
                "without https://, port or wildcard"
            )
        found.add(name)
    return frozenset(found)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class hosts_allowed:  # noqa: N801 - it reads as a function
    """Calls made within may reach these hosts besides this machine."""

    __slots__ = ("_hosts", "_token")

    def __init__(self, hosts: frozenset[str]) -> None:
        self._hosts = hosts

    def __enter__(self) -> None:
        self._token = _allowed.set(self._hosts)

    def __exit__(self, *_: object) -> None:
        _allowed.reset(self._token)


def is_allowed(host: str | None) -> bool:
    return is_local(host) or host in _allowed.get()


def forbidden(host: str, what: str = "a model") -> str:
    """What to tell the reader about a host that is not allowed."""
    return (
        f"{what} is at {host}, which is not this machine. Nothing is sent there unless you allow it: "
        f"add `allow_hosts: [{host}]` to the study"
    )


def require_allowed(host: str | None, what: str = "a model") -> None:
    """Refuse a call to a host that was not allowed; the refusal ends the run."""
    if not is_allowed(host):
        raise ModelError(Reason.PROVIDER, forbidden(host or "", what), fatal=True)

"""The store holds explanations and replies, so its host must be allowed as a model's must."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from medjury.foundation.errors import MedjuryError


def check_store_host(address: str, allow_hosts: Sequence[str]) -> None:
    """Refuse a database on another machine unless its host is named."""
    if not address.startswith("postgresql"):
        return
    from sqlalchemy.engine import make_url

    url = make_url(address)
    named = [url.host, *(url.query.get(key) for key in ("host", "hostaddr"))]
    for value in named:
        for host in [value] if isinstance(value, str) else value or ():
            if host and not _is_local(host) and host not in allow_hosts:
                raise MedjuryError(
                    f"the store is on {host}, and nothing may leave this machine for a host that is not named; "
                    f"add it to the study's `allow_hosts: [{host}]`"
                )


def _is_local(host: str) -> bool:
    if host.startswith(("/", "@")) or host == "localhost":  # a Unix socket, or this machine by name
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

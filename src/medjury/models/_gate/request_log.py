"""What the gate needs of a log: a file of this machine has one, and a store that several machines share another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class RequestLog(Protocol):
    """Takes a line about every request before it leaves, and one about its end."""

    async def announce(self, entry: Mapping[str, Any]) -> int:
        """The number of an entry about what is to be done next; returns when it is safely written."""

    async def append(self, entry: Mapping[str, Any]) -> None:
        """The end of a request that was answered. It is safe no later than the reply that is stored next."""

    def record(self, entry: Mapping[str, Any]) -> object:
        """The end of a request without an answer."""

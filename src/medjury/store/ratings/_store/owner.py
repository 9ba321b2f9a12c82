"""Who works on a store: one process, told apart from a later one with the same number, and if it lives."""

from __future__ import annotations

import os
import platform
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

# An owner on another machine that is watched for so long and not heard of is taken for dead.
STALE_AFTER_SECONDS = 30.0
_LONGEST_GAP = 5.0  # between two looks: while we slept, or the server was away, nobody was watched


@dataclass(frozen=True, slots=True)
class Owner:
    """One worker on one store. `started` and `host` make its process number unambiguous."""

    id: str
    host: str
    pid: int
    started: str


class Claim(Enum):
    """The answer to one who asks for a call without a stored reply."""

    OURS = (
        "ours"  # make the call: nobody else on this store will, until the reply is stored or the claim let go
    )
    BUSY = "busy"  # another living owner is making this very call


def new_owner() -> Owner:
    """An owner for this process. Each desk has its own, even within one process."""
    pid = os.getpid()
    return Owner(uuid.uuid4().hex, this_host(), pid, process_start(pid) or "")


class Heartbeats:
    """For how long each owner has been silent, by our own clock that never jumps. What a heartbeat says of the time
    is not looked at, only whether there was another one since: the clocks of two machines differ, and are set."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[float, float, float]] = {}  # heartbeat, last look, seconds of silence

    def silent_seconds(self, owner: str, heartbeat: float) -> float:
        """The silence that was watched up to this look."""
        now = self._clock()
        before, last, silent = self._seen.get(owner, (heartbeat, now, 0.0))
        silent = silent + min(now - last, _LONGEST_GAP) if heartbeat == before else 0.0
        self._seen[owner] = (heartbeat, now, silent)
        return silent


def is_dead(owner: Owner, silent_seconds: float) -> bool:
    """True where the owner's process has certainly ended; or, where that cannot be known, has been silent for too
    long."""
    silent = silent_seconds > STALE_AFTER_SECONDS
    if owner.host != this_host() or sys.platform == "win32":
        return silent  # only the heartbeat can tell
    try:
        os.kill(owner.pid, 0)  # asks, and does nothing
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # another user's
    started = process_start(owner.pid)
    return silent if started is None else started != owner.started


def process_start(pid: int) -> str | None:
    """When the process started, in the system's words; "" once it has ended; None where that is not known."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    # The name in brackets may hold anything, so the fields are counted from its closing bracket.
    fields = line.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]  # a zombie has ended; nobody has asked for its status


@cache
def this_host() -> str:
    """Name, boot and process-number space: two containers may share a host's name but not its processes."""
    parts = [platform.node()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(Path("/proc/self/ns/pid").readlink().name)
    except OSError:
        pass
    return " ".join(parts)

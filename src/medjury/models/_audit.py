"""The audit log: one line for every call that left, chained by hashes. It holds ids and hashes, never text.

Each line is JSON that ends in its own hash, taken over the line before that field; every line names the hash
of the line before it, so that a line changed, removed or put in later breaks the chain. A line is written
whole, under a lock, when the call's reply has come and before it is stored: a killed process loses nothing
that was written, and no reply is stored that the log does not have. Only a power failure may
lose the last second or so.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError

FIRST = "0" * 64
_SYNC_SECONDS = 1.0
_TAIL = 1 << 16
_HASH = ',"hash":"'
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_CALL = b'"event":"call"'


class AuditError(MedjuryError):
    """The log cannot be written, or its chain is broken."""

    exit_status = 1


class AuditLog:
    """Appends entries to a log that several processes may share."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._descriptor = -1
        self._size = -1  # of the file after our last entry: another size means that others wrote since
        self._number = 0
        self._previous = FIRST
        self._synced = 0.0

    def record(self, entry: Mapping[str, Any]) -> None:
        """Append one entry; `n`, `at`, `previous` and `hash` are added."""
        if self._descriptor < 0:
            self._open()
        try:
            with _locked(self._descriptor):
                self._catch_up()
                self._append(entry)
        except OSError as error:
            raise AuditError(
                f"{self.path}: the audit log cannot be written ({error.strerror}); the run stops"
            ) from None
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self._synced = time.monotonic()
            self._sync()

    def _sync(self) -> None:
        """Put the log on the disk, beside the event loop where there is one: that may take a while."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            _flush(self._descriptor)
        else:
            loop.run_in_executor(None, _flush, self._descriptor)

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _CLOEXEC, 0o600)
        except OSError as error:
            raise AuditError(f"{self.path}: the audit log cannot be opened ({error.strerror})") from None
        weakref.finalize(self, _close, self._descriptor)

    def _catch_up(self) -> None:
        """Find the end of the chain; seal a line that a dying process or a full disk left unfinished."""
        size = os.fstat(self._descriptor).st_size
        if size == self._size:
            return
        if size < self._size:
            raise AuditError(f"{self.path}: the audit log was cut while in use; the run stops")
        start = max(0, size - _TAIL)
        tail = os.pread(self._descriptor, size - start, start)
        lines = tail.split(b"\n")
        torn = lines.pop()
        last = next((line for line in reversed(lines) if _parse(line) is not None), None)
        if last is None and start > 0:
            raise AuditError(f"{self.path}: the end of the log is unreadable; move it aside and run again")
        self._number, self._previous = (0, FIRST) if last is None else _position(last)
        self._size = size
        if torn:  # the end of its line and the seal go out together: no death falls between them
            self._append({"event": "sealed", "torn": hashlib.sha256(torn).hexdigest()}, before="\n")

    def _append(self, entry: Mapping[str, Any], before: str = "") -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        whole = {"n": self._number + 1, "at": now, **entry, "previous": self._previous}
        body = _ENCODER.encode(whole)[:-1]
        digest = hashlib.sha256(body.encode()).hexdigest()
        line = f'{before}{body}{_HASH}{digest}"}}\n'.encode()
        written = os.write(self._descriptor, line)
        if written < len(line):  # the disk is full: leave no half line behind
            os.ftruncate(self._descriptor, self._size)
            raise OSError(28, "no space left on the disk")
        self._size += len(line)
        self._number += 1
        self._previous = digest

    def close(self) -> None:
        """Put everything on the disk."""
        if self._descriptor >= 0:
            _flush(self._descriptor)


def verify_audit_log(path: str | Path) -> int:
    """The number of entries of a log whose chain is whole; `AuditError` names the first broken line."""
    previous, number, torn = FIRST, 0, None
    try:
        with Path(path).open("rb") as file:
            for place, line in enumerate(file, 1):
                entry = _parse(line.rstrip(b"\n"))
                where = f"{path}, line {place}"
                if torn is not None and (
                    entry is None or entry.get("event") != "sealed" or entry.get("torn") != torn[1]
                ):
                    raise AuditError(f"{path}, line {torn[0]}: is damaged, and no later entry seals it")
                if entry is None:
                    torn = (place, hashlib.sha256(line.rstrip(b"\n")).hexdigest())
                    continue
                torn = None
                number += 1
                if entry["n"] != number:
                    raise AuditError(f"{where}: is entry {entry['n']}, {number} was due; lines are missing")
                if entry["previous"] != previous:
                    raise AuditError(f"{where}: does not follow the line before it; the log was changed")
                previous = entry["hash"]
    except OSError as error:
        raise AuditError(f"{path}: the audit log cannot be read ({error.strerror})") from None
    if torn is not None:
        raise AuditError(f"{path}, line {torn[0]}: the last line is damaged; the next run seals it")
    return number


@dataclass(frozen=True, slots=True)
class AuditTotals:
    """What a log's calls come to: all that were sent, failed ones too, the sum of the known costs, the most that
    lost answers may cost on top, and how many prompts their endpoints seem to have cut."""

    calls: int
    money: float
    perhaps: float = 0.0
    perhaps_cut: int = 0


def audit_totals(path: str | Path) -> AuditTotals:
    """What all runs that share a log have used. A line torn by a dying process still tells of a call that was
    sent, at a cost not known. The chain is not verified; a log that is not there has no calls."""
    calls, costs, perhaps, cut = 0, 0.0, 0.0, 0
    try:
        with Path(path).open("rb") as file:
            for line in file:
                if _CALL not in line:
                    continue
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    calls += 1
                    continue
                if isinstance(entry, dict) and entry.get("event") == "call" and not _in_vain(entry):
                    calls += 1
                    costs += _known_cost(entry.get("cost"))
                    perhaps += _known_cost(entry.get("perhaps"))
                    cut += entry.get("perhaps_cut") is True and entry.get("status") != "cut"
    except FileNotFoundError:
        return AuditTotals(0, 0.0)
    except OSError as error:
        raise AuditError(f"{path}: the audit log cannot be read ({error.strerror})") from None
    return AuditTotals(calls, costs, perhaps, cut)


def _in_vain(entry: Mapping[str, Any]) -> bool:
    """A preflight question that nobody answered: it holds no case, and a server that is away costs nothing."""
    return entry.get("preflight") is True and "reply" not in entry


def _known_cost(cost: Any) -> float:
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < math.inf
    return float(cost) if known else 0.0


def _parse(line: bytes) -> dict[str, Any] | None:
    """The entry, or None where the line is not one or its hash is not its own."""
    try:
        text = line.decode()
        body, _, end = text.rpartition(_HASH)
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not {"n", "previous", "hash"} <= entry.keys():
        return None
    whole = end == entry["hash"] + '"}' and hashlib.sha256(body.encode()).hexdigest() == entry["hash"]
    return entry if whole else None


def _position(line: bytes) -> tuple[int, str]:
    entry = json.loads(line)
    return int(entry["n"]), str(entry["hash"])


_CLOEXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _flush(descriptor: int) -> None:
    with suppress(OSError):  # a disk that cannot hold the log says so at the next entry
        os.fsync(descriptor)


def _close(descriptor: int) -> None:
    _flush(descriptor)
    os.close(descriptor)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """One writer at a time, over all processes of this machine."""
    try:
        import fcntl
    except ImportError:  # Windows: lock one byte far beyond the end
        import msvcrt

        os.lseek(descriptor, 1 << 40, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        try:
            yield
        finally:
            os.lseek(descriptor, 1 << 40, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

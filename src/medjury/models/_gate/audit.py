"""The audit log: two lines for every request that left, chained by hashes. It holds ids and hashes, never text.

A request is announced before it leaves (`sent`), and has an end when its reply has come and before that is
stored (`call`, which names the line `of` its announcement). So a killed process leaves announcements without an
end: requests that were perhaps made, and perhaps paid for. A model inside this process sends nothing: its calls
have an end only.

Each line is JSON that ends in its own hash, taken over the line before that field; every line names the hash
of the line before it, so that a line changed, removed or put in later breaks the chain. Lines are written
whole, under a lock, and all that are due at one moment together: a killed process loses nothing that was
written. Only a power failure may lose the last second or so.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.clock import utc_now
from medjury.models._gate.audit_chain import FIRST, HASH, AuditError, entry_of, position

_SYNC_SECONDS = 1.0
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_TAIL = 1 << 16


@dataclass(slots=True, eq=False)
class _Due:
    """An entry that is to be written at the end of this moment."""

    entry: Mapping[str, Any]
    written: asyncio.Future[int]
    announcement: bool


class AuditLog:
    """Appends entries to a log that several processes may share; `mark` is added to each of them."""

    def __init__(self, path: str | Path, mark: Mapping[str, Any] | None = None) -> None:
        self.path = Path(path)
        self._mark = dict(mark or {})
        self._descriptor = -1
        self._size = -1  # of the file after our last entry: another size means that others wrote since
        self._number = 0
        self._previous = FIRST
        self._synced = 0.0
        self._due: list[_Due] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def record(self, entry: Mapping[str, Any]) -> int:
        """Append one entry and return its number; `n`, `at`, `previous` and `hash` are added."""
        return self._write(lambda _: [entry])

    def record_all(self, entries: Callable[[int], Sequence[Mapping[str, Any]]]) -> None:
        """Append several entries in one piece; they are asked for with the number that the first of them has."""
        self._write(entries)

    async def announce(self, entry: Mapping[str, Any]) -> int:
        """The number of an entry about what is to be done next, once it is written. Where the caller is cancelled
        in the meantime, the log says that nothing came of it."""
        due = self._soon(entry, announcement=True)
        try:
            return await due.written
        except asyncio.CancelledError:
            if due.written.done() and not due.written.cancelled() and due.written.exception() is None:
                self.record(
                    {"of": due.written.result(), "event": entry["for"], "status": "cancelled", "left": False}
                )
            raise

    async def append(self, entry: Mapping[str, Any]) -> None:
        """Append one entry together with all others of this moment; returns when it is written."""
        await self._soon(entry).written

    def _soon(self, entry: Mapping[str, Any], announcement: bool = False) -> _Due:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._due, self._loop = [], loop
        due = _Due(entry, loop.create_future(), announcement)
        self._due.append(due)
        if len(self._due) == 1:
            loop.call_soon(self._write_due)
        return due

    def _write_due(self) -> None:
        due, self._due = self._due, []
        due = [each for each in due if not (each.announcement and each.written.cancelled())]
        if not due:
            return
        try:
            last = self._write(lambda _: [each.entry for each in due])
        except AuditError as error:
            for each in due:
                if not each.written.done():
                    each.written.set_exception(error)
            return
        for number, each in enumerate(due, last - len(due) + 1):
            if not each.written.done():
                each.written.set_result(number)

    def _write(self, entries: Callable[[int], Sequence[Mapping[str, Any]]]) -> int:
        """Append entries in one piece; returns the number of the last one."""
        if self._descriptor < 0:
            self._open()
        try:
            with _locked(self._descriptor):
                self._catch_up()
                self._append(entries(self._number + 1))
        except OSError as error:
            raise AuditError(
                f"{self.path}: the audit log cannot be written ({error.strerror}); the run stops"
            ) from None
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self._synced = time.monotonic()
            self._sync()
        return self._number

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
        last = next((line for line in reversed(lines) if entry_of(line) is not None), None)
        if last is None and start > 0:
            raise AuditError(f"{self.path}: the end of the log is unreadable; move it aside and run again")
        self._number, self._previous = (0, FIRST) if last is None else position(last)
        self._size = size
        if torn:  # the end of its line and the seal go out together: no death falls between them
            self._append([{"event": "sealed", "torn": hashlib.sha256(torn).hexdigest()}], before=b"\n")

    def _append(self, entries: Sequence[Mapping[str, Any]], before: bytes = b"") -> None:
        now = utc_now()
        parts, digest = [before], self._previous
        for number, entry in enumerate(entries, self._number + 1):
            whole = {"n": number, "at": now, **entry, **self._mark, "previous": digest}
            body = _bytes(whole)[:-1]
            digest = hashlib.sha256(body).hexdigest()
            parts.append(b'%b%b%b"}\n' % (body, HASH, digest.encode()))
        text = b"".join(parts)
        written = os.write(self._descriptor, text)
        if written < len(text):  # the disk is full: leave no half line behind
            os.ftruncate(self._descriptor, self._size)
            raise OSError(28, "no space left on the disk")
        self._size += len(text)
        self._number += len(entries)
        self._previous = digest

    def close(self) -> None:
        """Put everything on the disk."""
        if self._descriptor >= 0:
            _flush(self._descriptor)


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


def _bytes(entry: Mapping[str, Any]) -> bytes:
    try:
        return _JSON.encode(entry).encode()
    except UnicodeEncodeError:  # half a surrogate pair: only an escape can stand for it
        return json.dumps(entry, separators=(",", ":")).encode()

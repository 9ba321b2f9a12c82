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
import math
import os
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.clock import utc_now
from medjury.foundation.errors import MedjuryError

FIRST = "0" * 64
HASH = b',"hash":"'
_CALL, _SENT = b'"event":"call"', b'"event":"sent"'
_ANNOUNCED = re.compile(rb'\{"n":([1-9][0-9]{0,17}),"at":"[^"\\]*","event":"sent","for":"call",')


class AuditError(MedjuryError):
    """The log cannot be written, or its chain is broken."""

    exit_status = 1


def verify_audit_log(path: str | Path) -> int:
    """The number of entries of a log whose chain is whole; `AuditError` names the first broken line."""
    previous, number, torn = FIRST, 0, None
    for place, line in enumerate(_lines(path), 1):
        entry = entry_of(line.rstrip(b"\n"))
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
            raise AuditError(f"{where}: is entry {entry['n']}, {number} was expected; lines are missing")
        if entry["previous"] != previous:
            raise AuditError(f"{where}: does not follow the line before it; the log was changed")
        previous = entry["hash"]
    if torn is not None:
        raise AuditError(f"{path}, line {torn[0]}: the last line is damaged; the next run seals it")
    return number


def _lines(path: str | Path, *, may_be_absent: bool = False) -> Iterator[bytes]:
    try:
        with Path(path).open("rb") as file:
            yield from file
    except OSError as error:
        if not (may_be_absent and isinstance(error, FileNotFoundError)):
            raise AuditError(f"{path}: the audit log cannot be read ({error.strerror})") from None


@dataclass(frozen=True, slots=True)
class AuditTotals:
    """What a log's calls come to: all that were sent, failed ones too, the sum of the known costs, the most that
    lost answers may cost on top, how many prompts their endpoints seem to have cut, and how many of the calls were
    announced and have no end: a process was killed, or is still at it."""

    calls: int
    money: float
    perhaps: float = 0.0
    perhaps_cut: int = 0
    unended: int = 0


def audit_totals(path: str | Path) -> AuditTotals:
    """What all runs that share a log have used. A torn line still tells of a call that was made, at a cost not
    known. The chain is not verified; a log that is not there has no calls."""
    calls, costs, perhaps, cut = 0, 0.0, 0.0, 0
    announced: dict[object, float] = {}
    for line in _lines(path, may_be_absent=True):
        if number := _plain_announcement(line):
            announced[number] = 0.0
            continue
        if _CALL not in line and _SENT not in line:
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):  # torn: an announcement never left, an end has one before it
            calls += _CALL in line and b'"of":' not in line
            continue
        if not isinstance(entry, dict):
            continue
        if entry.get("event") == "sent" and entry.get("for") == "call":
            announced[entry.get("n")] = _known_cost(entry.get("perhaps"))
        elif entry.get("event") == "call":
            announced.pop(entry.get("of"), None)
            if _in_vain(entry):
                continue
            calls += entry.get("left") is not False
            costs += _known_cost(entry.get("cost"))
            perhaps += _known_cost(entry.get("perhaps"))
            cut += entry.get("perhaps_cut") is True and entry.get("status") != "cut"
    return AuditTotals(calls + len(announced), costs, perhaps + sum(announced.values()), cut, len(announced))


def audit_replies(path: str | Path) -> dict[str, set[str]]:
    """The hashes of the replies that a log tells of, by the keys of their calls; a preflight question has none that
    is kept."""
    found: dict[str, set[str]] = {}
    for line in _lines(path):
        entry = entry_of(line.rstrip(b"\n")) if _CALL in line and b'"reply":' in line else None
        if entry is None or entry.get("preflight") is True:
            continue
        if isinstance(entry.get("reply"), str):
            found.setdefault(str(entry.get("key")), set()).add(entry["reply"])
    return found


def _plain_announcement(line: bytes) -> int:
    """The number of a whole line that announces a call with no money set aside, as half of all lines may; else 0.
    Within a text every quote is escaped, so that none can pass for a part of the line."""
    found = _ANNOUNCED.match(line)
    if found is None or line[-76:-67] != HASH or line[-3:] != b'"}\n' or b'"perhaps"' in line:
        return 0
    return int(found[1])


def _in_vain(entry: Mapping[str, Any]) -> bool:
    """A preflight question that nobody answered: it holds no case, and an unavailable server costs nothing."""
    return entry.get("preflight") is True and "reply" not in entry


def _known_cost(cost: Any) -> float:
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < math.inf
    return float(cost) if known else 0.0


def entry_of(line: bytes) -> dict[str, Any] | None:
    """The entry, or None where the line is not one or its hash is not its own."""
    try:
        entry = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not {"n", "previous", "hash"} <= entry.keys():
        return None
    own = _own_hash(line)
    return entry if own and own == entry["hash"] else None


def entry_hash(line: bytes) -> str:
    """The hash that a line says it has; "" where it is no entry, as a line that was left unfinished. A line that
    ends in its own hash is as it was written, and need not be read; of any other it is not checked."""
    line = line.removesuffix(b"\n")
    if own := _own_hash(line):
        return own
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    hash = entry.get("hash") if isinstance(entry, dict) else None
    return hash if isinstance(hash, str) else ""


def _own_hash(line: bytes) -> str:
    """The hash that a line ends in, where it is that of all before it; else ""."""
    body, _, end = line.rpartition(HASH)
    own = hashlib.sha256(body).hexdigest()
    return own if end == b'%b"}' % own.encode() else ""


def position(line: bytes) -> tuple[int, str]:
    """The number of a whole line, and its hash: what the next one follows."""
    entry = json.loads(line)
    return int(entry["n"]), str(entry["hash"])


_SYNC_SECONDS = 1.0
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_TAIL = 1 << 16


# An entry that is to be written at the end of this moment, what says so then, and whether it is an announcement.
_Due = tuple[Mapping[str, Any], asyncio.Future[int], bool]


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
        written = self._soon(entry, announcement=True)
        try:
            return await written
        except asyncio.CancelledError:
            if written.done() and not written.cancelled() and written.exception() is None:
                self.record(
                    {"of": written.result(), "event": entry["for"], "status": "cancelled", "left": False}
                )
            raise

    async def append(self, entry: Mapping[str, Any]) -> None:
        """Append one entry together with all others of this moment; returns when it is written."""
        await self._soon(entry)

    def _soon(self, entry: Mapping[str, Any], announcement: bool = False) -> asyncio.Future[int]:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._due, self._loop = [], loop
        written = loop.create_future()
        self._due.append((entry, written, announcement))
        if len(self._due) == 1:
            loop.call_soon(self._write_due)
        return written

    def _write_due(self) -> None:
        due, self._due = self._due, []
        due = [each for each in due if not (each[2] and each[1].cancelled())]
        if not due:
            return
        try:
            last = self._write(lambda _: [entry for entry, _, _ in due])
        except AuditError as error:
            for _, written, _ in due:
                if not written.done():
                    written.set_exception(error)
            return
        for number, (_, written, _) in enumerate(due, last - len(due) + 1):
            if not written.done():
                written.set_result(number)

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
            ) from error  # what is raised again while another error is handled forgets all but its cause
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

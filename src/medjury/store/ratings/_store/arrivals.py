"""Replies that have arrived and wait for their transaction: small files beside an SQLite store.

A line written here outlives `kill -9`, and takes a hundredth of the time of a transaction. So a call can leave its
place to the next one at once, while replies gather and are stored together. There are two files, in turn: one for
the transaction at work, one for the next. A file is emptied once its replies are in the store. What a process that
died has left is put into the store by whoever opens it next (see `Store`).

A power cut may cost what arrived within the last twentieth of a second: these files are not put on the disk.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import stat
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args

from medjury.foundation.files import file_mode
from medjury.models import Finish, Reply
from medjury.store.ratings._store.transaction import StoredReply

try:
    import fcntl
except ImportError:  # Windows: no file can be held in the same way, so there are none
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"-arrived-(?P<owner>[0-9a-f]{32})-[0-9a-f]{8}")
_written = json.JSONEncoder(separators=(",", ":")).encode
_FORM = "2"  # of a line
_ATTEMPTS = 3
_AFTER_A_FAILURE = 1_000  # replies that are still written down then: those of calls in flight
_LARGEST_NUMBER = 2**63 - 1  # that the store can keep
_LARGEST_FILE = 2**30  # bytes; what is larger is not ours
_FINISHES = frozenset(get_args(Finish))
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class Arrivals:
    """The files of one owner. As long as it lives, no other process takes them for left behind. `store` is the real
    path of the store."""

    def __init__(self, store: Path, owner: str) -> None:
        self._files = _opened(store, owner)
        self._now = 0  # the file of the batch that gathers
        self._keep = False
        self._room = _AFTER_A_FAILURE
        self._close = weakref.finalize(self, _close, self._files)
        _OPEN.add(self)

    @property
    def works(self) -> bool:
        """False where the system or the folder does not allow it: then replies wait for their transaction."""
        return bool(self._files)

    def note(self, stored: StoredReply) -> bool:
        """Write a reply down; False where that cannot be done, or where the store would not take it later."""
        if not self._files or not self._room or not _can_be_stored(stored):
            return False
        if self._keep:
            self._room -= 1
        line = _line(stored)
        try:
            written = os.write(self._files[self._now][1], line)
        except OSError:  # the disk is full: the transaction will tell
            return False
        if written < len(line):  # so it is, and the next line would run into this one
            self._room = 0
        return written == len(line)

    def turn(self) -> None:
        """The batch leaves; what arrives from now on belongs to the next one."""
        self._now = 1 - self._now

    def stored(self) -> None:
        """The replies of the batch that had left are in the store."""
        if self._files and not self._keep:
            with suppress(OSError):
                os.ftruncate(self._files[1 - self._now][1], 0)

    def keep(self) -> None:
        """Some could not be stored just now: all that is written down stays there until it can be."""
        self._keep = True

    def remove(self) -> None:
        """The end: all of it is in the store."""
        for path, descriptor in self._files:
            _remove(path, descriptor)
        self._close()

    def leave(self) -> None:
        """The end, but not all of it could be stored: whoever opens the store next does that."""
        self._close()


_OPEN: weakref.WeakSet[Arrivals] = weakref.WeakSet()


def _split_off() -> None:
    for each in _OPEN:
        each.leave()  # they are those of the process that this one was split off from


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_split_off)


@contextmanager
def left_behind(store: Path) -> Iterator[list[StoredReply]]:
    """What processes that have ended had written down and not stored, each file for us alone until this block
    ends. Ended well, the files go."""
    held = [(path, descriptor) for path in _all(store) if (descriptor := _taken(path)) >= 0]
    try:
        yield [stored for _, descriptor in held for stored in _read(descriptor)]
        for path, descriptor in held:
            _remove(path, descriptor)
    finally:
        _close(held)


def of_owner(store: Path, owner: str) -> list[StoredReply]:
    """What one owner had written down that has certainly ended, or asks for it itself."""
    found = []
    for path in _all(store, owner):
        if (descriptor := _regular(path)) >= 0:
            found += list(_read(descriptor))
            os.close(descriptor)
    return found


def waiting_beside(store: Path) -> list[Path]:
    """The files that hold something, whoever they belong to."""
    found = []
    for path in _all(store):
        with suppress(OSError):
            if stat.S_ISREG((state := path.lstat()).st_mode) and state.st_size:
                found.append(path)
    return found


def _all(store: Path, owner: str = "") -> list[Path]:
    found = []
    with suppress(OSError), os.scandir(store.parent) as entries:
        for entry in entries:
            name = entry.name.startswith(store.name) and _NAME.fullmatch(entry.name, len(store.name))
            if name and owner in ("", name["owner"]):
                found.append(Path(entry.path))
    return sorted(found)


def _opened(store: Path, owner: str) -> list[tuple[Path, int]]:
    """Two files, new, ours and held; nothing where that cannot be."""
    files: list[tuple[Path, int]] = []
    for _ in range(2 + _ATTEMPTS):
        # A name of its own for each attempt: who took the one before it for left behind may be about to remove it.
        path = store.with_name(f"{store.name}-arrived-{owner}-{secrets.token_hex(4)}")
        if len(files) < 2 and (descriptor := _created(path)) >= 0:
            files.append((path, descriptor))
    if len(files) < 2:
        for path, descriptor in files:
            _remove(path, descriptor)
        _close(files)
    return files


def _created(path: Path) -> int:
    if fcntl is None:
        return -1
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | _SAFELY, 0o600)
    except OSError:
        return -1
    with suppress(OSError):
        os.fchmod(descriptor, file_mode(path.parent))
        # One who looks for what was left behind may have come in between, and removed it.
        if _hold(descriptor) and os.fstat(descriptor).st_nlink:
            return descriptor
    _remove(path, descriptor)
    os.close(descriptor)
    return -1


def _taken(path: Path) -> int:
    """The file, open and held, where nobody else holds it: its process has ended."""
    descriptor = _regular(path)
    if descriptor >= 0 and not _hold(descriptor):
        os.close(descriptor)
        return -1
    return descriptor


def _regular(path: Path) -> int:
    """The file, open to be read; -1 where it is a link, a pipe or anything else that we did not write."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFELY)
    except OSError:
        return -1
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST_FILE:
        return descriptor
    os.close(descriptor)
    return -1


def _hold(descriptor: int) -> bool:
    """Hold a file until it is closed, or its process ends in whatever way; False where another does."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path, descriptor: int) -> None:
    """Remove a file that we have open, and no other that has its name by now."""
    with suppress(OSError):
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            path.unlink()


def _close(files: list[tuple[Path, int]]) -> None:
    for _, descriptor in files:
        with suppress(OSError):
            os.close(descriptor)
    files.clear()


def _line(stored: StoredReply) -> bytes:
    reply = stored.reply
    body = _written([
        _FORM, stored.key, stored.run, stored.cost, reply.text, reply.finish, reply.tokens_in, reply.tokens_out,
        reply.tokens_cached, reply.seconds, reply.model, reply.cost, reply.tokens_written, reply.token,
    ]).encode()  # fmt: skip
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(descriptor: int) -> Iterator[StoredReply]:
    """The whole lines of a file. A line that a dying process has torn is of a call that counts as in flight."""
    with suppress(OSError), os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        for line in file:
            body = line[9:].rstrip(b"\n")
            if line[:9] == b"%08x " % zlib.crc32(body) and (stored := _stored(body)) is not None:
                yield stored


def _stored(body: bytes) -> StoredReply | None:
    """The reply of a line; None where it is not one of ours, or the store would not take it."""
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or (len(values), *values[:1]) != (14, _FORM):
        return None
    _, key, run, cost, *reply = values
    stored = StoredReply(key, Reply(*reply), cost, run)
    return stored if _can_be_stored(stored) else None


def _can_be_stored(stored: StoredReply) -> bool:
    reply = stored.reply
    numbers = (reply.tokens_in, reply.tokens_out, reply.tokens_cached, reply.tokens_written)
    return (
        [*map(type, (stored.key, stored.run, reply.text, reply.model, reply.finish, reply.token))]
        == [str] * 6
        and stored.key != ""
        and reply.finish in _FINISHES
        and [*map(type, numbers)] == [int] * 4
        and min(numbers) >= 0
        and max(numbers) <= _LARGEST_NUMBER
        and _is_finite(reply.seconds)
        and (stored.cost is None or _is_finite(stored.cost))
        and (reply.cost is None or _is_finite(reply.cost))
    )


def _is_finite(value: Any) -> bool:
    kind = type(value)
    return math.isfinite(value) if kind is float else kind is int and abs(value) < _LARGEST_NUMBER

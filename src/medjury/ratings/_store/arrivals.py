"""Replies that have arrived and wait for their transaction: small files beside an SQLite store.

A line written here outlives `kill -9`, and takes a hundredth of the time of a transaction. So a call can leave its
place to the next one at once, while replies gather and are stored together. There are two files, in turn: one for
the transaction at work, one for the next. A file is emptied once its replies are in the store. What a process that
died has left is put into the store by whoever opens it next (see `Store`).

A power cut may cost what arrived within the last twentieth of a second: these files are not put on the disk.
"""

from __future__ import annotations

import json
import os
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from medjury.files import file_mode
from medjury.models import Reply
from medjury.ratings._store.transaction import StoredReply

_MARK = "-arrived-"
_FORM = "1"  # of a line
_ATTEMPTS = 3
_AFTER_A_FAILURE = 1_000  # replies that are still written down then: those of calls in flight
_LARGEST_NUMBER = 2**63 - 1  # that the store can keep
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class Arrivals:
    """The files of one owner. As long as it lives, no other process takes them for left behind."""

    def __init__(self, store: Path, owner: str) -> None:
        self._paths = tuple(_beside(store, f"{owner}-{number}") for number in range(2))
        self._files = _opened(self._paths)
        self._now = 0  # the file of the batch that gathers
        self._keep = False
        self._room = _AFTER_A_FAILURE
        self._close = weakref.finalize(self, _close, self._files)

    @property
    def works(self) -> bool:
        """False where the system or the folder does not allow it: then replies wait for their transaction."""
        return bool(self._files)

    def note(self, stored: StoredReply) -> bool:
        """Write a reply down; False where that cannot be done, or where the store would not take it later."""
        reply = stored.reply
        numbers = (reply.tokens_in, reply.tokens_out, reply.tokens_cached, reply.tokens_written)
        if not self._files or not self._room or max(numbers) > _LARGEST_NUMBER:
            return False
        if self._keep:
            self._room -= 1
        line = _line(stored)
        try:
            return os.write(self._files[self._now], line) == len(line)
        except OSError:  # the disk is full: the transaction will tell
            return False

    def turn(self) -> None:
        """The batch leaves; what arrives from now on belongs to the next one."""
        self._now = 1 - self._now

    def stored(self) -> None:
        """The replies of the batch that had left are in the store."""
        if self._files and not self._keep:
            with suppress(OSError):
                os.ftruncate(self._files[1 - self._now], 0)

    def keep(self) -> None:
        """Some could not be stored: all that is written down stays there, for whoever opens the store next."""
        self._keep = True

    def close(self) -> None:
        """The end. Files with nothing to keep go."""
        if self._files and not self._keep:
            for path in self._paths:
                _remove(path)
        self._files = []
        self._close()


@contextmanager
def left_behind(store: Path) -> Iterator[list[StoredReply]]:
    """What processes that have ended had written down and not stored, each file for us alone until this block
    ends. Ended well, the files go."""
    paths = [path for path in _all(store) if not path.is_symlink()]
    held = [(path, descriptor) for path in paths if (descriptor := _taken(path)) >= 0]
    try:
        yield [stored for path, _ in held for stored in _read(path)]
        for path, _ in held:
            _remove(path)
    finally:
        _close([descriptor for _, descriptor in held])


def of_owner(store: Path, owner: str) -> list[StoredReply]:
    """What one owner, which has certainly ended, had written down."""
    mark = _beside(store, owner).name
    return [stored for path in _all(store) if path.name.startswith(mark) for stored in _read(path)]


def _beside(store: Path, name: str) -> Path:
    real = store.resolve()
    return real.with_name(f"{real.name}{_MARK}{name}")


def _all(store: Path) -> list[Path]:
    first = _beside(store, "")
    with suppress(OSError), os.scandir(first.parent) as entries:
        return sorted(Path(each.path) for each in entries if each.name.startswith(first.name))
    return []


def _opened(paths: tuple[Path, ...]) -> list[int]:
    """Both files, new, ours and held; nothing where that cannot be."""
    files: list[int] = []
    for path in paths:
        for _ in range(_ATTEMPTS):
            if (descriptor := _created(path)) >= 0:
                files.append(descriptor)
                break
    if len(files) == len(paths):
        return files
    _close(files)
    for path in paths:
        _remove(path)
    return []


def _created(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError:
        return -1
    try:
        os.fchmod(descriptor, file_mode(path.parent))
        # One who looks for what was left behind may have come in between, and removed it.
        if _hold(descriptor) and os.fstat(descriptor).st_nlink:
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    _remove(path)
    return -1


def _taken(path: Path) -> int:
    """The file, open and held, where nobody else holds it: its process has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return -1
    if _hold(descriptor):
        return descriptor
    os.close(descriptor)
    return -1


def _hold(descriptor: int) -> bool:
    """Hold a file until it is closed, or its process ends in whatever way; False where another does."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)
    descriptors.clear()


def _line(stored: StoredReply) -> bytes:
    reply = stored.reply
    body = _ENCODER.encode(
        [
            _FORM, stored.key, stored.run, stored.cost, reply.text, reply.finish, reply.tokens_in,
            reply.tokens_out, reply.tokens_cached, reply.seconds, reply.model, reply.cost, reply.tokens_written,
        ]
    ).encode()  # fmt: skip
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(path: Path) -> Iterator[StoredReply]:
    """The whole lines of a file. A line that a dying process has torn is of a call that counts as in flight."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        body = line[9:]
        if line[:9] != b"%08x " % zlib.crc32(body):
            continue
        with suppress(ValueError, TypeError):
            form, key, run, cost, *values = json.loads(body)
            if form == _FORM:
                yield StoredReply(key, Reply(*values), cost, run)

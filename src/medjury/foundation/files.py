"""Files that are there whole or not at all, and that only their owner may read.

What is written here may hold clinical text. So every file is the owner's alone, whatever the umask says, and
whatever the file was before that had its name. One thing opens a file to the owner's group: that the folder it lies
in is open to the group and closed to everybody else, as the run folder of a study that says `share: group` is.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def whole_part(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file to write into, which takes the name `path` only when all is written. Of two that write the same file
    at once each has its own part, and the last to finish has the name. A pipe is written into as it is."""
    target = Path(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    part = target.with_name(f"{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        part.unlink(missing_ok=True)
        create_private(part)
        yield part
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """The same as text; half a surrogate pair, which no file can hold, becomes a question mark."""
    with whole_part(path) as part, part.open("w", encoding="utf-8", errors="replace", newline="") as file:
        yield file


@contextmanager
def whole_binary(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The same as bytes."""
    with whole_part(path) as part, part.open("wb") as file:
        yield file


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """The same at once."""
    with whole_binary(path) as file:
        file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)


def create_private(path: Path) -> None:
    """An empty file for the owner's eyes, or one that is there already made so. A link is not followed."""
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if hasattr(
            os, "fchmod"
        ):  # the umask may have taken rights that are ours, or the file may be an old one
            _narrowed(lambda mode: os.fchmod(descriptor, mode), file_mode(path.parent), os.fstat(descriptor))
    finally:
        os.close(descriptor)


def make_private(path: Path) -> None:
    """A file or folder that another program wrote, for the owner's eyes."""
    found = path.lstat()
    if stat.S_ISREG(found.st_mode):
        _narrowed(path.chmod, file_mode(path.parent), found)
    elif stat.S_ISDIR(found.st_mode):
        _narrowed(path.chmod, 0o750 if _is_shared(path.parent) else 0o700, found)


def private_folder(folder: Path, *, shared: bool | None = None) -> None:
    """Make the folder, and those above it that are not there, for its owner, or for the group too. Where that is
    not said, it is as the folder above. A folder that is there already stays as it is."""
    if folder.is_dir():
        return
    if not folder.parent.is_dir():
        private_folder(folder.parent, shared=shared)
    shared = _is_shared(folder.parent) if shared is None else shared
    with suppress(FileExistsError):  # another process made it meanwhile
        folder.mkdir(mode=0o700)
        folder.chmod(0o750 if shared else 0o700)


def file_mode(folder: Path) -> int:
    """The rights of a file in this folder."""
    return 0o640 if _is_shared(folder) else 0o600


def is_full(error: BaseException | None) -> bool:
    """True where there was no room left for something to be written, whatever was made of that error since."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_shared(folder: Path) -> bool:
    """True where the group may look into the folder and the world may not."""
    rights = folder.stat().st_mode if os.name == "posix" else 0
    return rights & 0o057 == 0o050


def _narrowed(change: Callable[[int], None], mode: int, found: os.stat_result) -> None:
    if os.name == "posix" and stat.S_IMODE(found.st_mode) != mode:
        try:
            change(mode)
        except PermissionError:
            if found.st_uid != os.geteuid():  # else the file system knows no rights
                raise

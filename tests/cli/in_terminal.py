"""Runs a command in a pseudo terminal and returns what its reader saw."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

_MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(*words: str, folder: Path, columns: int = 80, lines: int = 40) -> tuple[int, str]:
    """Exit status, and everything that was written, with line ends as in a file and without colours or moves of the
    cursor: a display that was redrawn is there as often as it was drawn."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    unset = ("COLUMNS", "LINES", "MEDJURY_WIDTH", "NO_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        [sys.executable, "-m", "medjury", *words],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, close_fds=True,
        env={**environment, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # the other end was closed
        while piece := os.read(ours, 65536):
            seen += piece
    os.close(ours)
    status = process.wait(timeout=60)
    return status, _MOVES.sub("", seen.decode()).replace("\r\n", "\n").replace("\r", "\n")

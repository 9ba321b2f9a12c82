"""Files that are there whole or not at all, whoever else writes the same one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Text that takes the name only when all of it is written. Of two that write the same file at once each has
    its own part, and the last to finish has the name."""
    part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)

"""One run at a time where a budget is set: two processes could each spend what is left."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private
from medjury.store.runs import files


class StudyInUseError(MedjuryError):
    """Another process, or another request, is at work on the study."""


@contextlib.contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the run folder; refuse where another process holds it. It is freed when the process ends, however
    it ends. (Windows has no such lock here: there the rule is the user's to keep.)"""
    try:
        import fcntl
    except ImportError:
        yield
        return
    create_private(folder / files.BUDGET_LOCK)
    with (folder / files.BUDGET_LOCK).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StudyInUseError(
                f"{folder}: another process is running this study. With a budget only one may run at a time; "
                "wait for it, or stop it"
            ) from None
        yield

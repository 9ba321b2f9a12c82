"""One include at a time: of two, the one that began earlier would put older ratings over the newer ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private

WAIT_SECONDS = 300
_ASK_AGAIN_SECONDS = 0.1


@contextmanager
def one_at_a_time(file: Path) -> Iterator[None]:
    """Hold what is written to `file`, or wait for whoever does; it is free when a process ends, however it ends.
    (Windows has no such lock here: there the rule is the user's to keep.)"""
    try:
        import fcntl
    except ImportError:
        yield
        return
    place = file.with_suffix(".lock")
    create_private(place)
    with place.open("rb") as held:
        limit = monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if monotonic() > limit:
                    raise MedjuryError(
                        f"{file}: somebody else is including ratings and has not ended; try again then"
                    ) from None
                sleep(_ASK_AGAIN_SECONDS)
        yield

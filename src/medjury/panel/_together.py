"""Many who write at the same moment: the first one writes; those who come meanwhile share the next transaction.

The end of a transaction waits for the disk, and 50 ends wait 50 times. So the first of those who wait does the work
of all of them, one after the other, in one transaction, and nobody is told before it has ended. Where one of them
fails, nothing of the transaction is kept and each is done again alone: it is as if there had been no others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as WaitedTooLong

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

WAIT_SECONDS = 30
MOST = 25  # in one transaction, so that the first of many do not wait for the last


class _Write:
    """What one of them wants written, and what became of it."""

    def __init__(self, work: Callable[[Connection], Any]) -> None:
        self.work = work
        self.woken = Event()  # it is done, or it is now the one who writes
        self.is_done = False
        self.value: Any = None
        self.error: BaseException | None = None


class Together:
    """The queue of those who write in one process. A work may be done twice (the first time in vain), so it touches
    nothing but its connection."""

    def __init__(self, writing: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._writing = writing
        self._waiting: deque[_Write] = deque()
        self._lock = Lock()
        self._is_writing = False

    def __len__(self) -> int:
        """How many wait for the next transaction."""
        return len(self._waiting)

    def do(self, work: Callable[[Connection], Any]) -> Any:
        """What the work returns, once its transaction has ended; or its error."""
        mine = _Write(work)
        with self._lock:
            self._waiting.append(mine)
            leads, self._is_writing = not self._is_writing, True
        if not leads:
            self._wait(mine)
        if not mine.is_done:
            self._lead()
        if mine.error is not None:
            raise mine.error
        return mine.value

    def _wait(self, mine: _Write) -> None:
        if mine.woken.wait(WAIT_SECONDS):
            return
        with self._lock:
            gives_up = mine in self._waiting and not mine.woken.is_set()
            if gives_up:
                self._waiting.remove(mine)
        if gives_up:
            raise WaitedTooLong
        mine.woken.wait()  # it is being written just now

    def _lead(self) -> None:
        """Write for those who wait, oneself the first of them; then the next one leads."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
        self._write(batch)
        with self._lock:
            if self._waiting:
                self._waiting[0].woken.set()
            else:
                self._is_writing = False
        for each in batch:
            each.is_done = True
            each.woken.set()

    def _write(self, batch: list[_Write]) -> None:
        done = 0
        try:
            with self._writing() as connection:
                for each in batch:
                    each.value = each.work(connection)
                    done += 1
        except BaseException as error:
            if len(batch) == 1 or done == len(batch) or _is_gone(error):
                for each in batch:
                    each.error = error
                return
            for each in batch:
                self._write([each])


def _is_gone(error: BaseException) -> bool:
    """The database is out of reach: there is no use in asking once more for each."""
    return isinstance(error, WaitedTooLong) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )

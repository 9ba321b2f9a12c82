"""Many small bootstraps side by side: one worker a core, and one thread of linear algebra each.

The matrices of one pair of raters are too small for threads of their own: on a busy machine those spend most of
the time waiting for one another (measured: 95 s of processor time instead of 21 s for one table). Tasks on
few answers do without workers: most of their time is the interpreter's, of which there is one, and waiting for it
costs more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")
# From this many answers a task spends most of its time outside the interpreter, and workers are worth it.
_MANY_ANSWERS = 2_000


def side_by_side(tasks: Sequence[Callable[[], Result]], *, answers: int = _MANY_ANSWERS) -> list[Result]:
    """The results of independent tasks, in their order; `answers` is how many the largest task reads."""
    with one_thread_each():
        workers = min(
            len(tasks),
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        )
        if workers < 2 or answers < _MANY_ANSWERS:
            return [task() for task in tasks]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda task: task(), tasks))


@contextmanager
def one_thread_each() -> Iterator[None]:
    """While it lasts, linear algebra uses the thread that asks for it and no other."""
    # To look for the libraries anew takes longer than many a bootstrap: the controller looks again only where a
    # module was loaded since.
    from threadpoolctl import get_cached_controller  # type: ignore[import-untyped]

    with get_cached_controller().limit(limits=1, user_api="blas"):
        yield

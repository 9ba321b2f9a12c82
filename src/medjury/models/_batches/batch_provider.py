"""What both providers of batch jobs have in common: in which form each call was asked, and how a result is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from medjury.models._batches.batch_job import JobResult
from medjury.models._batches.batch_wire import Wire
from medjury.models._chat import Reply, Request


class BatchProvider:
    """`made` makes the request of one call, `read` its reply from a result; `dialect`
    tells in which form calls are asked now: what one job has taught is used in the next."""

    def __init__(
        self,
        wire: Wire,
        made: Callable[[Request], Any],
        read: Callable[[Request, JobResult, Any], Reply],
        dialect: Callable[[], Any],
        size: int,
    ) -> None:
        self.size = size
        self._dialect = dialect
        self._asked_in: dict[str, Any] = {}  # the dialect of each call
        self._wire = wire
        self._made = made
        self._read = read

    def _note(self, calls: Sequence[tuple[str, Request]]) -> None:
        """These calls are asked in the dialect of now."""
        self._asked_in.update(dict.fromkeys((key for key, _ in calls), self._dialect()))

    def _results_in(self, payload: bytes, read: Callable[[bytes], JobResult | None]) -> Iterator[JobResult]:
        """The lines of a file of results that can be read."""
        for line in payload.splitlines():
            if (result := read(line)) is not None:
                self._asked_in.setdefault(result.key, self._dialect())
                yield result

    def reply(self, request: Request, result: JobResult) -> Reply:
        return self._read(request, result, self._asked_in.pop(result.key, None))

    async def close(self) -> None:
        await self._wire.close()

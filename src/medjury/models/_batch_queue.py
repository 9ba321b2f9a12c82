"""The queue where calls wait until they make up a batch job, and until that has been answered.

Nothing is paid for twice: a job is written down before it is handed over (the intent), and with the provider's
name for it afterwards. Whoever asks for the same call later, in this process or in another one days after, finds it
there and fetches its answer. A job whose submission was never confirmed is looked for at the provider.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from medjury.instruments import Reason
from medjury.models._batch_jobs import BatchProvider, Job, JobCall, JobJournal, JobResult, PendingError
from medjury.models._chat import ChatModel, ModelError, Reply, Request
from medjury.models._faults import LostReplyError
from medjury.models._gate.sending import Sending

_Answer = TypeVar("_Answer")
LINGER_SECONDS = 1.0
_MOST_SIGNS = 50_000_000  # in the prompts of one job: providers take files of about 200 megabytes


# A call that an earlier process has handed over, its job, and what came of it (None: it never arrived).
Earlier = tuple[Job, JobCall, asyncio.Future[JobResult | None]]


@dataclass(eq=False)
class _Waiting:
    key: str
    request: Request
    sending: Sending
    result: asyncio.Future[JobResult]


@dataclass(eq=False)
class _Queue:
    """What one model is to be asked."""

    model: ChatModel
    endpoint: BatchProvider
    gathering: list[_Waiting] = field(default_factory=list)
    signs: int = 0  # in their prompts
    timer: asyncio.TimerHandle | None = None
    earlier: dict[str, Earlier] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)
    loaded: asyncio.Task[None] | None = None


class Batches:
    """`log` names the audit log of this run. Without `wait` every call that was handed over raises `PendingError`;
    a set `stop` does the same. Calls that arrive with less than `linger` seconds between them share a job; a job is
    looked at every `poll` seconds."""

    def __init__(
        self,
        journal: JobJournal,
        *,
        log: str = "",
        wait: bool = True,
        stop: asyncio.Event | None = None,
        linger: float | None = None,
        poll: float = 30.0,
    ) -> None:
        self.pending: dict[str, int] = {}  # by the provider's name of a job, the calls that wait in it
        self.log = log
        self._journal = journal
        self._wait = wait
        self._stop = stop or asyncio.Event()
        self._linger = LINGER_SECONDS if linger is None else linger
        self._poll = poll
        self._queues: dict[str, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unended: dict[str, tuple[Job, set[str]]] = {}

    # Asked by the gate

    async def ask(self, model: ChatModel, request: Request, key: str, sending: Sending) -> Reply:
        """The reply of a call that is handed over with others."""
        queue = self._queue(model)
        waiting = _Waiting(key, request, sending, asyncio.get_running_loop().create_future())
        queue.gathering.append(waiting)
        queue.signs += sum(len(message.content) for message in request.messages)
        if queue.timer is not None:
            queue.timer.cancel()
        if len(queue.gathering) >= queue.endpoint.size or queue.signs >= _MOST_SIGNS:
            self._leave(queue)
        else:
            queue.timer = asyncio.get_running_loop().call_later(self._linger, self._leave, queue)
        return queue.endpoint.reply(request, await waiting.result)

    async def earlier(self, model: ChatModel, key: str) -> Earlier | None:
        """The call, where an earlier process has handed it over and nobody has heard the end of it."""
        queue = self._queue(model)
        if queue.loaded is None:
            queue.loaded = asyncio.ensure_future(self._load(queue))
        await asyncio.shield(queue.loaded)
        found = queue.earlier.pop(key, None)
        if found is not None and found[0].id not in queue.followed:
            ours, _, result = found
            queue.followed.add(ours.id)
            calls = {call.key: came for job, call, came in queue.earlier.values() if job is ours}
            self._start(self._go_on(queue, ours, {key: result, **calls}))
        return found

    def fetched(self, model: ChatModel, request: Request, result: JobResult) -> Reply:
        """The reply in what an earlier job brought."""
        return self._queue(model).endpoint.reply(request, result)

    async def ended(self, key: str) -> None:
        """The call has an end that is stored: its job need not be looked at again for it."""
        for job, open_keys in list(self._unended.values()):
            open_keys.discard(key)
            if not open_keys and self._unended.pop(job.id, None) is not None:  # only one may tell it
                await self._journal.finished(job.id, [call.key for call in job.calls])

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for queue in self._queues.values():
            await queue.endpoint.close()

    # Jobs

    def _queue(self, model: ChatModel) -> _Queue:
        queue = self._queues.get(model.name)
        if queue is None:
            assert model.batch is not None
            queue = self._queues[model.name] = _Queue(model, cast(BatchProvider, model.batch))
        return queue

    async def _load(self, queue: _Queue) -> None:
        loop = asyncio.get_running_loop()
        for job in await self._journal.open_jobs(_place(queue.model)):
            for call in job.calls:
                queue.earlier[call.key] = job, call, loop.create_future()

    def _leave(self, queue: _Queue) -> None:
        """Hand over what has gathered."""
        if queue.timer is not None:
            queue.timer.cancel()
            queue.timer = None
        calls, queue.gathering, queue.signs = queue.gathering, [], 0
        calls = [each for each in calls if not each.result.done()]
        if calls and self._stop.is_set():  # nothing more is handed over
            _fail({each.key: each.result for each in calls}, PendingError("that was not submitted"))
        elif calls:
            self._start(self._hand_over(queue, calls))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hand_over(self, queue: _Queue, calls: Sequence[_Waiting]) -> None:
        results = {each.key: each.result for each in calls}
        try:
            await asyncio.gather(*(each.sending.announce() for each in calls))
            job = Job(
                uuid.uuid4().hex,
                _place(queue.model),
                self.log,
                datetime.now(UTC).isoformat(timespec="seconds"),
                [JobCall(each.key, each.sending.number, each.sending.set_aside) for each in calls],
            )
            await self._journal.intend(job)
            for each in calls:
                each.sending.entrusted = True
            self._unended[job.id] = job, set(results)
            name = await self._submitted(queue, job, calls)
            if name is None:
                await self._never_arrived(job, calls)
                raise ModelError(Reason.PROVIDER, "the batch job did not arrive at its provider", retry=True)
            await self._journal.submitted(job.id, name)
            await self._follow(queue, job, name, results)
        except Exception as error:
            _fail(results, error)

    async def _submitted(self, queue: _Queue, job: Job, calls: Sequence[_Waiting]) -> str | None:
        """The provider's name for the job; None where it has none such."""
        try:
            return await queue.endpoint.submit(job.id, [(each.key, each.request) for each in calls])
        except LostReplyError:
            return await self._patiently(lambda: queue.endpoint.find(job), job)
        except ModelError as error:  # the job was refused as a whole, which says nothing of the calls in it
            await self._never_arrived(job, calls)
            if error.retry or error.fatal:
                raise
            message = (
                f"{error.message.rstrip('.')}. No batch job was submitted; a smaller `batch_size` may help"
            )
            raise ModelError(Reason.PROVIDER, message, fatal=True) from None

    async def _never_arrived(self, job: Job, calls: Sequence[_Waiting]) -> None:
        for each in calls:
            each.sending.entrusted = False
        self._unended.pop(job.id, None)
        await self._journal.finished(job.id, [call.key for call in job.calls])

    async def _go_on(
        self, queue: _Queue, job: Job, results: dict[str, asyncio.Future[JobResult | None]]
    ) -> None:
        """With a job of an earlier process."""
        try:
            name = job.provider_id or await self._patiently(lambda: queue.endpoint.find(job), job)
            if name is None:
                await self._journal.finished(job.id, [call.key for call in job.calls])
                for each in results.values():
                    if not each.done():
                        each.set_result(None)
                return
            if job.provider_id is None:
                await self._journal.submitted(job.id, name)
            self._unended[job.id] = job, set(results)
            await self._follow(queue, job, name, results)
        except Exception as error:
            _fail(results, error)

    async def _follow(
        self,
        queue: _Queue,
        job: Job,
        name: str,
        results: Mapping[str, asyncio.Future[Any]],
    ) -> None:
        """Wait for the end of a job, and tell everyone what came of it."""
        if not self._wait and job.provider_id is None:  # it was handed over just now
            raise self._left(name, len(results))
        while True:
            state, why = await self._patiently(lambda: queue.endpoint.look(name), job, name)
            if state != "open":
                break
            if not self._wait or self._stop.is_set():
                raise self._left(name, len(results))
            await self._pause()
        if state == "failed":
            said = f"the batch job {name} failed: {why or 'its provider does not say why'}"
            raise ModelError(Reason.PROVIDER, said, fatal=True)

        async def fetch() -> dict[str, JobResult]:
            found: dict[str, JobResult] = {}
            async for result in queue.endpoint.results(name):
                found.setdefault(result.key, result)  # of two for one call the first stays
            return found

        found = await self._patiently(fetch, job, name)
        for key, waiting in results.items():
            if waiting.done():
                continue
            if key in found:
                waiting.set_result(found[key])
            elif state == "expired":
                waiting.set_result(JobResult(key, 0, b"{}", expired=True))
            else:
                message = f"the batch job {name} has ended without a result for this call"
                waiting.set_exception(LostReplyError(Reason.PROVIDER, message, retry=True))

    async def _patiently(self, ask: Callable[[], Awaitable[_Answer]], job: Job, name: str = "") -> _Answer:
        """What the provider tells, however often that has to be asked: a job that was paid for is not given up."""
        wait = min(1.0, self._poll)
        while True:
            try:
                return await ask()
            except ModelError as error:
                if error.fatal or not error.retry:
                    raise
                if self._stop.is_set() or not self._wait:
                    raise self._left(name or job.id, len(job.calls)) from None
            await self._pause(wait)
            wait = min(2 * wait, self._poll)

    async def _pause(self, seconds: float | None = None) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), self._poll if seconds is None else seconds)
        except TimeoutError:
            return

    def _left(self, name: str, calls: int) -> PendingError:
        self.pending[name] = calls
        return PendingError(name)


def _fail(results: Mapping[str, asyncio.Future[Any]], error: Exception) -> None:
    for each in results.values():
        if not each.done():
            each.set_exception(_like(error))
            each.exception()  # nobody may ask for it


def _like(error: Exception) -> Exception:
    """The same error once more: each call raises its own."""
    if not isinstance(error, ModelError):
        return error
    another = ModelError.__new__(type(error))
    another.args = error.args
    another.__dict__.update(error.__dict__)
    return another


def _place(model: ChatModel) -> str:
    """Where a model's jobs are: by this an earlier one is found again."""
    return f"{model.identity.get('kind', '')} {model.host}"

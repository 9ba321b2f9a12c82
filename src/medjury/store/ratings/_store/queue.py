"""The store's front desk for an event loop: everything asked at once is done in one transaction.

One thread owns the connection. While it commits one batch the next one gathers, so that 64 calls at a time
share one commit, each waits a small share of what calls take, and the loop never blocks on the disk. Beside an
SQLite file a reply is written down as it arrives, so that its call need not keep its place meanwhile.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from medjury.instruments import TRANSIENT, Reason
from medjury.models import Job, Reply
from medjury.store.ratings._rating import Question, Rating, StoredRecord
from medjury.store.ratings._store.arrivals import Arrivals
from medjury.store.ratings._store.batch import Answer, Batch, CarryOut, SettledQuestion, Wishes, Write
from medjury.store.ratings._store.owner import Claim, new_owner
from medjury.store.ratings._store.store import Store
from medjury.store.ratings._store.store_error import StoreError, ValueRefused
from medjury.store.ratings._store.transaction import StoredReply, Transaction

_HEARTBEAT_SECONDS = 5.0
# A commit costs about as much as the rows of three calls, so answers that trickle in one by one are better kept
# together: between two batches passes the time that calls take, and no less or more than these seconds. A batch
# after a pause leaves at once. Where replies are not written down as they arrive, a call's place waits half of that
# on average, and only a small share of that time passes.
_LEAST_BETWEEN = 0.005
_SHARE_OF_A_CALL, _MOST_BETWEEN = 1.0, 0.05
_SHARE_WHILE_IT_WAITS, _MOST_WHILE_IT_WAITS = 0.06, 0.025
_LESSON = 0.05  # how much the last call counts for what calls take
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 1.0  # seconds between looks at a call that another process is making

_Value = TypeVar("_Value")


class _YourTurn:
    """Tells a waiting task that the one before it gave up: it must ask the store itself."""


class StoreDesk:
    """Asynchronous use of a store: the cache that the models' gate asks, and where judges leave ratings.

    `run` is the run that pays for the replies put here. Close the desk (or use `async with`): that lets go of
    its claims; the store itself stays open.
    """

    def __init__(self, store: Store, run: str = "") -> None:
        self._store = store
        self._run = run
        self._owner = new_owner()
        self._secret: bytes | None = None
        self._arrivals: Arrivals | None = None  # while it works, and the store is a file
        self._batch = Batch()
        self._gathered = False
        self._working = False
        self._closed = False
        self._next_batch = 0.0
        self._call_seconds = 0.0  # what calls take at present
        self._claimed_at: dict[str, float] = {}
        # Keys that a task of ours asks for or holds, with the tasks that wait for the outcome.
        self._waiting: dict[str, deque[asyncio.Future[Reply | _YourTurn | None]]] = {}
        # Keys whose reply is being stored, and whether they were released meanwhile.
        self._storing: dict[str, bool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._inbox: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()

    # The cache of replies

    async def find_or_claim(self, key: str) -> Reply | None:
        """The stored reply; or None, and then the caller makes the call and must `put` or `release` the key.

        While another task, or another process on this store, makes the same call, this waits for its reply.
        """
        self._refuse_closed()
        waiting = self._waiting.get(key)
        if waiting is None:
            self._waiting[key] = deque()
            return await self._ask(key)
        future: asyncio.Future[Reply | _YourTurn | None] = self._future()
        waiting.append(future)
        try:
            outcome = await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():  # informed, and cancelled before it could act on it
                if future.result() is None:
                    self._hand_over(key)
                elif isinstance(future.result(), _YourTurn):
                    self._next_asks(key)
            raise
        return await self._ask(key) if isinstance(outcome, _YourTurn) else outcome

    async def put(
        self, key: str, reply: Reply, cost: float | None, survives: Callable[[], None] | None = None
    ) -> None:
        """Keep the reply to a call; returns when it is safely stored, and the claim has ended with it. `survives`
        is called before that, as soon as the reply would survive the death of this process, where it can be."""
        stored = StoredReply(key, reply, cost, self._run)
        write = Write(self._future(), replies=[stored], releases=[key])
        self._gather().writes.append(write)
        self._storing[key] = False
        self._learn(key, reply)
        if survives is not None and self._arrivals is not None and self._arrivals.note(stored):
            survives()
        await write.future

    def _learn(self, key: str, reply: Reply) -> None:
        """What calls take: what the reply says, but no more than has passed since the call was claimed. A recorded
        reply says what it took then."""
        now = asyncio.get_running_loop().time()
        took = min(reply.seconds, now - self._claimed_at.pop(key, 0.0))
        self._call_seconds += _LESSON * (took - self._call_seconds)

    async def release(self, key: str) -> None:
        """The call gave no reply, or it could not be stored: let others make it."""
        self._claimed_at.pop(key, None)
        if key in self._storing:  # cancelled while its reply is being stored: that is not undone
            self._storing[key] = True
            return
        self._hand_over(key)
        if key not in self._waiting:
            await self._all_written()

    async def secret(self) -> bytes:
        """What the tokens of questions are derived with; a store that has none yet gets one."""
        if self._secret is None:
            self._refuse_closed()
            self._secret = await asyncio.to_thread(self._store.secret)
        return self._secret

    # Ratings

    async def settled(
        self, keys: Collection[str], retry: Collection[Reason] = TRANSIENT, *, run: str | None = None
    ) -> set[str]:
        """The keys that need no further work; with `run` they join that run, whoever paid for them."""
        question = SettledQuestion(keys, retry, run, self._future())
        self._gather().settled.append(question)
        return await question.future

    async def write_ratings(
        self,
        run: str,
        ratings: Sequence[Rating],
        records: Sequence[StoredRecord] = (),
        questions: Sequence[Question] = (),
    ) -> None:
        """Add ratings as part of a run, with their records and questions; returns when they are safely stored."""
        write = Write(self._future(), ratings=ratings, records=records, questions=questions, run=run)
        self._gather().writes.append(write)
        await write.future

    def together(self, carry_out: CarryOut, wanted: Any) -> asyncio.Future[Any]:
        """One of the wishes that the next transaction carries out at once, before all else; its answer."""
        wishes = self._gather().together.setdefault(carry_out, Wishes())
        future = self._future()
        wishes.wanted.append(wanted)
        wishes.futures.append(future)
        return future

    # The journal of batch jobs: seldom written, each time before anything else happens

    async def open_jobs(self, endpoint: str) -> Sequence[Job]:
        """Jobs with calls of which nobody has heard the end."""
        return await self._at_once(lambda transaction: transaction.find_jobs(endpoint))

    async def intend(self, job: Job) -> None:
        """It is about to be handed over. Returns when that is safely written."""
        await self._at_once(lambda transaction: transaction.add_job(job))

    async def submitted(self, job: str, provider_id: str) -> None:
        """The provider has it, under this name."""
        await self._at_once(lambda transaction: transaction.name_job(job, provider_id))

    async def finished(self, job: str, keys: Sequence[str]) -> None:
        """These calls of it have an end that is stored."""
        await self._at_once(lambda transaction: transaction.drop_job_calls(job, keys))

    async def _at_once(self, work: Callable[[Transaction], _Value]) -> _Value:
        self._refuse_closed()
        return await asyncio.to_thread(self._store.in_transaction, work)

    async def close(self) -> None:
        """Finish what was asked, let go of all claims and end the thread."""
        if self._closed:
            return
        error: Exception | None = None
        while self._thread is not None:
            try:
                await self._all_written()
            except Exception as failure:
                error = failure
            if not self._gathered:  # else another task asked for something meanwhile
                break
        self._closed = True
        for key in list(self._waiting):  # nobody will make these calls any more
            self._next_asks(key)
        if self._thread is not None:
            self._inbox.put(None)
            await asyncio.to_thread(self._thread.join)
        if error is not None:
            raise error

    async def __aenter__(self) -> StoreDesk:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Who holds which key within this process

    async def _ask(self, key: str) -> Reply | None:
        """Ask the store, on behalf of every task here that wants this key."""
        wait = _FIRST_WAIT
        while True:
            future: asyncio.Future[Answer] = self._future()
            try:
                self._gather().find[key] = future
                answer = await future
                if answer is Claim.BUSY:
                    await asyncio.sleep(wait)
            except asyncio.CancelledError:
                if not future.cancelled():  # else the answer is still to come
                    self._left_behind(key, None if future.exception() else future.result())
                raise
            except Exception:
                self._next_asks(key)
                raise
            if answer is Claim.OURS:
                self._claimed_at[key] = asyncio.get_running_loop().time()
                return None
            if isinstance(answer, Reply):
                self._tell_all(key, answer)
                return answer
            wait = min(wait * 1.5, _LONGEST_WAIT)

    def _left_behind(self, key: str, answer: Answer | None) -> None:
        """The task that asked was cancelled; what it was given goes to the next. None: it was given nothing."""
        if isinstance(answer, Reply):
            self._tell_all(key, answer)
        elif answer is Claim.OURS:
            self._hand_over(key)
        else:
            self._next_asks(key)

    def _tell_all(self, key: str, reply: Reply) -> None:
        for future in self._waiting.pop(key, ()):
            if not future.done():
                future.set_result(reply)

    def _next_asks(self, key: str) -> None:
        if not self._tell_next(key, _YourTurn()):
            self._waiting.pop(key, None)

    def _hand_over(self, key: str) -> None:
        """Give our claim to the next task that waits for it, or back to the store."""
        if not self._tell_next(key, None):
            self._waiting.pop(key, None)
            if not self._closed:
                self._gather().releases.append(key)

    def _tell_next(self, key: str, message: _YourTurn | None) -> bool:
        waiting = self._waiting.get(key)
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(message)
                return True
        return False

    # Batches, in the event loop

    def _future(self) -> asyncio.Future[Any]:
        return (self._loop or asyncio.get_running_loop()).create_future()

    async def _all_written(self) -> None:
        """Wait for the batch that gathers now."""
        write = Write(self._future())
        self._gather().writes.append(write)
        await write.future

    def _gather(self) -> Batch:
        """The batch that gathers now; it leaves with this turn of the loop, or after the one at work."""
        self._refuse_closed()
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._arrivals = self._store.arrivals(self._owner)
            self._thread = threading.Thread(target=self._serve, name="medjury-store", daemon=True)
            self._thread.start()
        self._gathered = True
        if not self._working:
            self._working = True
            self._schedule()
        return self._batch

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self._store.place}: this queue is closed")

    def _schedule(self) -> None:
        assert self._loop is not None
        wait = self._next_batch - self._loop.time()
        if wait > 0:
            self._loop.call_later(wait, self._send)
        else:
            self._loop.call_soon(self._send)

    @property
    def seconds_between_batches(self) -> float:
        """What passes at least between two batches, as long as calls take what they take at present."""
        waits = self._arrivals is None or not self._arrivals.works
        share, most = (
            (_SHARE_WHILE_IT_WAITS, _MOST_WHILE_IT_WAITS) if waits else (_SHARE_OF_A_CALL, _MOST_BETWEEN)
        )
        return max(_LEAST_BETWEEN, min(share * self._call_seconds, most))

    def _send(self) -> None:
        batch, self._batch, self._gathered = self._batch, Batch(), False
        if self._arrivals is not None:
            self._arrivals.turn()
        assert self._loop is not None
        self._next_batch = self._loop.time() + self.seconds_between_batches
        self._inbox.put(batch)

    def _finish(self, batches: Sequence[Batch]) -> None:
        """Tell everyone in what was carried out; then send what has gathered since."""
        for batch in batches:
            self._tell(batch)
        if self._arrivals is not None:
            self._arrivals.stored()
        self._working = self._gathered
        if self._gathered:
            self._schedule()

    def _tell(self, batch: Batch) -> None:
        error = batch.error
        later = error is not None and not _is_of_one_request(error)  # else the store will never take it
        if self._arrivals is not None and later and any(write.replies for write in batch.writes):
            self._arrivals.keep()
        for stored in (reply for write in batch.writes for reply in write.replies):
            released = self._storing.pop(stored.key, False)
            if error is None:
                self._tell_all(stored.key, stored.reply)
            elif released:
                self._hand_over(stored.key)
        for key, future in batch.find.items():
            if future.cancelled():
                self._left_behind(key, None if error else batch.found[key])
            else:
                _resolve(future, batch.found.get(key), error)
        for question in batch.settled:
            _resolve(question.future, question.answer, error)
        for write in batch.writes:
            _resolve(write.future, None, error)
        for wishes in batch.together.values():
            for place, future in enumerate(wishes.futures):
                _resolve(future, None if error else wishes.answers[place], error)

    # Batches, in the thread

    def _serve(self) -> None:
        assert self._loop is not None
        next_beat = 0.0
        while True:
            batch: Batch | None = None
            with suppress(queue.Empty):
                batch = self._inbox.get(timeout=_HEARTBEAT_SECONDS)
                if batch is None:
                    break
            beat = time.monotonic() >= next_beat
            if beat:
                next_beat = time.monotonic() + _HEARTBEAT_SECONDS
            if batch is None:
                if self._loop.is_closed():  # without closing the desk: nobody will use our claims
                    break
                with suppress(StoreError):  # a beat that fails is followed by another
                    self._store.in_transaction(lambda transaction: transaction.beat(self._owner))
                continue
            carried_out = self._carry_out(batch, beat)
            try:
                self._loop.call_soon_threadsafe(self._finish, carried_out)
            except RuntimeError:  # the loop was closed without closing the desk
                break
        self._end()

    def _end(self) -> None:
        """Nothing more comes. What could not be stored before is tried once more, ours and what others left."""
        ended = False
        try:
            with suppress(StoreError):
                self._store.end_owner(self._owner)
                ended = True
        finally:
            if self._arrivals is not None:
                self._arrivals.remove() if ended else self._arrivals.leave()
        if ended:  # else the store would only be waited for once more
            with suppress(StoreError):
                self._store.take_over()

    def _carry_out(self, batch: Batch, beat: bool) -> list[Batch]:
        """Do all of it at once; or one by one where a value of one request spoils it for the others."""
        try:
            self._attempt(batch, beat)
        except Exception as error:
            batch.error = error
        if not _is_of_one_request(batch.error):
            return [batch]
        parts = list(batch.parts())
        failure: Exception | None = None
        for part in parts:
            try:
                if failure is None:
                    self._attempt(part, beat)
            except Exception as error:
                part.error = error
                if not _is_of_one_request(error):  # nor will the store take the rest
                    failure = error
            part.error = part.error or failure
        return parts

    def _attempt(self, batch: Batch, beat: bool) -> None:
        def work(transaction: Transaction) -> None:
            if beat:
                transaction.beat(self._owner)
            batch.carry_out(transaction, self._owner)

        self._store.in_transaction(work, write=beat or not batch.only_reads())


def _is_of_one_request(error: Exception | None) -> bool:
    """True where the store is well: something in the request itself cannot be stored."""
    return error is not None and (isinstance(error, ValueRefused) or not isinstance(error, StoreError))


def _resolve(future: asyncio.Future[_Value], value: Any, error: Exception | None) -> None:
    if future.done():  # its task was cancelled
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)

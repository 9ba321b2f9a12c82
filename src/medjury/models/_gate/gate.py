"""The one gate that every call passes: privacy, cache, budget, pace, retry, price, audit."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace

from medjury.foundation.errors import MedjuryError
from medjury.instruments import VERDICT, Reason, Way
from medjury.models._answers import Answer, asked_name
from medjury.models._batch_jobs import PendingError
from medjury.models._batch_queue import Batches
from medjury.models._chat import ChatModel, ModelError, Reply, Request, no_images, takes_images
from medjury.models._faults import LostReplyError, NotSentError
from medjury.models._gate.budget import Budget, Reservation
from medjury.models._gate.cache import ReplyCache, call_token, request_key
from medjury.models._gate.context import (
    ContextError,
    cut_by_endpoint,
    perhaps_cut,
    plainly_fits,
    refused_by_endpoint,
    require_fit,
)
from medjury.models._gate.limits import (
    Bucket,
    Clock,
    Lane,
    Limits,
    MakePace,
    Sleep,
    Stopped,
    require_going_on,
    wait_unless,
)
from medjury.models._gate.sending import Counting, RequestLog, Sending, announced_to, log_entry
from medjury.models._hosts import forbidden, hosts_allowed, is_local, normal_hosts, require_allowed
from medjury.models._prices import PriceList
from medjury.models._secrets import Mask
from medjury.models._tokens import most_tokens, request_tokens

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_MOST_PATIENCE = 600.0  # a provider that asks for a longer pause is as good as down


class Gate:
    """Asks models on behalf of everybody. `limits` are by the model's name; `attempts` is how often a call
    that may succeed later is tried; `before` is awaited ahead of every call that is really made. `batches` takes
    the calls of models that are asked through batch jobs; without it each of their calls is made by itself, at the
    full price. `pace` makes the limits by the minute, where others keep them too. Once `stopped` says so, no call
    begins any more: `StoppedError`. `clock`, `sleep` and `chance` are there for tests.
    """

    def __init__(
        self,
        *,
        cache: ReplyCache,
        allow_hosts: Iterable[str] = (),
        budget: Budget | None = None,
        prices: PriceList | None = None,
        audit: RequestLog | None = None,
        limits: Mapping[str, Limits] | None = None,
        attempts: int = 5,
        before: Callable[[ChatModel], Awaitable[None]] | None = None,
        batches: Batches | None = None,
        pace: MakePace | None = None,
        stopped: Stopped | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        chance: random.Random | None = None,
    ) -> None:
        self.calls = 0  # requests really sent by this gate, whatever came of them
        self.tokens_in = self.tokens_cached = 0  # of the replies that were paid for
        self._spent = 0.0
        self._spent_is_known = True
        self._cache = cache
        self._allowed = normal_hosts(allow_hosts)
        self._budget = budget or Budget()
        self._prices = prices
        self._audit = audit
        self._limits = dict(limits or {})
        self._attempts = max(1, attempts)
        self._before = before
        self._batches = batches
        self._stopped = stopped
        self._clock = clock
        self._sleep = sleep
        self._pace_of: MakePace = pace or (lambda _, per_minute: Bucket(per_minute, clock, sleep))
        self._chance = chance or random.Random()
        self._lanes: dict[str, Lane] = {}
        self._mask = Mask()
        self._unkept: Exception | None = None  # why a reply that was paid for could not be logged or stored

    @property
    def money(self) -> float | None:
        """What the calls of this gate cost so far; None where the price of one of them is not known."""
        return self._spent if self._spent_is_known else None

    def concurrency(self, model: ChatModel) -> tuple[int, int]:
        """Calls in flight and calls allowed at a time, as found so far."""
        places = self._lane(model).places
        return places.in_flight, places.limit

    def check(self, models: Iterable[ChatModel]) -> None:
        """Everything that can be refused before the first call is refused here."""
        for model in models:
            for host, what in (
                (model.host, f"model {model.name}"),
                (model.proxy_host, f"the proxy of model {model.name}"),
            ):
                if host is not None and not is_local(host) and host not in self._allowed:
                    raise MedjuryError(forbidden(host, what))
            unknown = self._prices is None or self._prices.price(model) is None
            if self._budget.money is not None and unknown and not model.recorded:
                raise MedjuryError(
                    f"a budget in money is set, but the price of model {model.name} is not known: add "
                    "`price: {input: ..., output: ...}` (per million tokens) to that judge, or cap calls"
                )
            model.check()
            self._mask.add(model.secrets())

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        """The reply, from the cache or from the model; `ModelError` where there is none. `name` is what the
        question is called within its piece of work, for gates that keep account of it; this one does not."""
        if any(each.images for each in request.messages) and not takes_images(model):
            raise NotSentError(Reason.INPUT, no_images(model), fatal=True)
        key = request_key(model.identity, request, repeat)
        found = await self._cache.find_or_claim(key)
        if found is not None:
            return Answer(found, 0.0, True, 0, self.price(model, found), key, asked_name(model, found))
        try:
            require_going_on(self._stop(model))
            if self._before is not None:
                await self._before(model)
            token = await self._token(model, request, key)
            return await self._call(model, replace(request, draw=repeat, token=token), key)
        except BaseException:
            await asyncio.shield(self._cache.release(key))
            raise

    def was_read(self, key: str, way: Way) -> None:
        """How the reply to the call of this key was read, for gates that keep account of it; this one does not."""

    async def _token(self, model: ChatModel, request: Request, key: str) -> str:
        """What the answer is to prove itself by; "" where nothing is to be read from it, or in one way alone."""
        if request.schema is None or request.plain or not model.shows_token:
            return ""
        if VERDICT in request.schema.get("properties", ()):  # the key has a meaning of its own there
            return ""
        return request.token or call_token(await self._cache.secret(), key)

    async def _call(self, model: ChatModel, request: Request, key: str) -> Answer:
        lane = self._lane(model)
        if self._in_batch(model) and (answer := await self._fetched(model, request, key)) is not None:
            return answer
        fits = True if plainly_fits(model, request) else None  # None: not looked at yet
        for attempt in range(1, self._attempts + 1):
            try:
                require_going_on(self._stop(model))
                if fits is None:
                    fits = await self._fit(model, request, key, attempt)
                return await self._attempt(lane, model, request, key, attempt, fits)
            except ModelError as error:
                self._mask.failure(error)
                if fits is False and error.reason is Reason.CONTEXT and not isinstance(error, ContextError):
                    raise refused_by_endpoint(model, request) from None
                wait = self._wait(error, attempt)
                if wait is None:
                    raise
                if error.reason is Reason.RATE_LIMIT and error.retry_after is not None:
                    lane.close(wait)
                await wait_unless(self._stop(model), self._sleep(wait))
        raise AssertionError("the last attempt returns or raises")

    def _stop(self, model: ChatModel) -> Stopped | None:
        """What says that nothing more is to be begun. A batch job is handed over as a whole."""
        return None if self._in_batch(model) else self._stopped

    async def _turn(self, lane: Lane, model: ChatModel, tokens: int) -> None:
        if lane.may_wait:
            await wait_unless(self._stop(model), lane.turn(tokens))
        else:
            require_going_on(self._stop(model))

    def _in_batch(self, model: ChatModel) -> bool:
        return self._batches is not None and model.batch is not None

    async def _fetched(self, model: ChatModel, request: Request, key: str) -> Answer | None:
        """The answer to a call that an earlier process has handed over in a batch job; None where there is none of
        it, or none that counts: then it is made anew."""
        assert self._batches is not None
        with hosts_allowed(self._allowed):
            earlier = await self._batches.earlier(model, key)
        if earlier is None:
            return None
        job, call, came = earlier
        ours = job.log == self._batches.log
        perhaps, calls = (call.perhaps, 0) if ours else (0.0, 1)
        about = log_entry(model, key, 1)
        sending = Sending.earlier(self._audit, self._budget, about, call.announced if ours else None)
        try:
            result = await came
            reply = (
                None
                if result is None
                else self._received(self._batches.fetched(model, request, result), request)
            )
        except PendingError:
            raise
        except ModelError as error:
            self._mask.failure(error)
            self._budget.resolve(perhaps, cost=0.0, calls=calls)
            sending.ended(error.reason.value)
            await self._batches.ended(key)
            if error.fatal or not error.retry:
                raise
            return None
        if reply is None:  # it never arrived there
            self._budget.resolve(perhaps, cost=0.0, calls=-1 if ours else 0)
            if ours:
                sending.ended("not_sent", left=False)
            return None
        cost = self._counted(model, reply)
        self._budget.resolve(perhaps, cost=cost, calls=calls)
        cut = None if plainly_fits(model, request) else cut_by_endpoint(model, request, reply)
        answer = Answer(reply, cost, False, 1, cost, key, asked_name(model, reply))
        await self._keep(sending, model, request, answer, cut is not None)
        if cut is not None:
            cut.paid = answer
            raise cut
        return answer

    async def _keep(
        self,
        sending: Sending,
        model: ChatModel,
        request: Request,
        answer: Answer,
        cut: bool,
        survives: Callable[[], None] | None = None,
    ) -> None:
        """The reply into the log and the store; where it cannot be kept, nothing more is asked."""
        reply, cost, leave = answer.reply, answer.cost, None
        try:
            try:  # first in the log: a process that dies in between has paid, and its totals say so
                doubtful = perhaps_cut(request, reply)
                await sending.finish("cut" if cut else reply.finish, reply, cost, doubtful)
                leave = survives  # where the log cannot be written, no other call may have the place
            finally:  # the reply is paid for: it is stored even where the log cannot be written
                if not cut:
                    await self._cache.put(answer.key, reply, cost, leave)
            if self._batches is not None and model.batch is not None:
                await self._batches.ended(answer.key)
        except Exception as error:
            self._unkept = error
            raise

    async def _fit(self, model: ChatModel, request: Request, key: str, attempt: int) -> bool:
        """A prompt too long for its model is refused here; an endpoint that counts it sees the text: logged.
        False where only the endpoint can tell."""
        about = log_entry(model, key, attempt)
        with hosts_allowed(self._allowed):
            if self._audit is None or model.host is None:
                return await require_fit(model, request)
            counting = Counting(self._audit, about)
            try:
                with announced_to(counting.announce):
                    return await require_fit(model, request, None if model.announces else counting)
            except NotSentError:
                counting.end("not_sent", left=False)
                raise
            finally:
                counting.end("counted")

    def _wait(self, error: ModelError, attempt: int) -> float | None:
        """Seconds until the next attempt; None where there is none."""
        if error.fatal or not error.retry or attempt >= self._attempts:
            return None
        if error.retry_after is not None:
            if error.retry_after > _MOST_PATIENCE:
                return None
            return error.retry_after + self._chance.uniform(0.0, min(1.0, 0.1 * error.retry_after))
        most = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
        return self._chance.uniform(most / 2, most)  # spread out, so that calls refused together return apart

    async def _attempt(
        self, lane: Lane, model: ChatModel, request: Request, key: str, attempt: int, fits: bool
    ) -> Answer:
        """One call. Its place among the calls in flight is kept until the reply would survive the death of this
        process, so that a killed run has paid for no more lost replies than it had places. Where one cannot be kept
        at all, its place is never given to another call: what that one answers would be lost too."""
        expected = request_tokens(request) + request.max_tokens if lane.tokens else 0
        started = await lane.places.acquire()
        good = overloaded = paced = left = False

        def leave() -> None:
            nonlocal left
            left = True
            lane.places.release(started, good=True)

        try:
            if self._unkept is not None:
                raise self._unkept
            require_going_on(self._stop(model))
            reservation = await self._budget.reserve(self._worst(model, request))  # no room, no waiting
            sending = self._sending(lane, model, request, key, attempt, reservation)
            try:
                await self._turn(lane, model, expected)
            except BaseException:
                sending.unsent()
                raise
            paced = True
            reply, cost = await self._paid(model, request, key, sending)
            if lane.tokens:
                lane.tokens.give_back(expected - reply.tokens_in - reply.tokens_out)
            cut = None if fits else cut_by_endpoint(model, request, reply)
            answer = Answer(reply, cost, False, attempt, cost, key, asked_name(model, reply))
            await self._keep(sending, model, request, answer, cut is not None, leave)
            good = True
            if cut is not None:
                cut.paid = answer
                raise cut
            return answer
        except ModelError as error:
            overloaded = error.reason is Reason.RATE_LIMIT
            if lane.tokens and paced and not good and not isinstance(error, LostReplyError):
                lane.tokens.give_back(expected)
            raise
        finally:
            if not left:
                lane.places.release(started, good=good, overloaded=overloaded)

    def _sending(
        self,
        lane: Lane,
        model: ChatModel,
        request: Request,
        key: str,
        attempt: int,
        reservation: Reservation,
    ) -> Sending:
        async def another() -> Reservation:
            """A further request of the same attempt, in another dialect: its own place in the budget and pace."""
            further = await self._budget.reserve(self._worst(model, request))
            try:
                await self._turn(lane, model, 0)
            except BaseException:
                self._budget.settle(further, cost=0.0, sent=False)
                raise
            return further

        return Sending(self._audit, self._budget, log_entry(model, key, attempt), reservation, another)

    def _worst(self, model: ChatModel, request: Request) -> float:
        """The most a call may cost, where a cap in money needs to know."""
        if self._budget.money is None or self._prices is None:
            return 0.0
        tokens = most_tokens(request), request.max_tokens
        return self._prices.worst(model, *tokens, batch=self._in_batch(model)) or 0.0

    async def _paid(
        self, model: ChatModel, request: Request, key: str, sending: Sending
    ) -> tuple[Reply, float | None]:
        """The call itself, between setting its worst case aside and counting what it cost."""
        try:
            with hosts_allowed(self._allowed), announced_to(sending.announce):
                if self._batches is not None and model.batch is not None:
                    asked = await self._batches.ask(model, request, key, sending)
                else:
                    if model.host is not None and not model.announces:
                        await sending.announce()
                    asked = await model.ask(request)
                reply = self._received(asked, request)
        except BaseException as error:
            if sending.entrusted and not _has_ended(error):
                sending.leave()
            elif sending.open or (model.host is None and not isinstance(error, MedjuryError)):
                self._failed(error, sending)
            else:  # a key or the weights are missing, a host is not allowed, the budget ends: nothing was sent
                sending.unsent()
            self.calls += sending.left
            if sending.entrusted and _has_ended(error) and self._batches is not None:
                await self._batches.ended(key)
            raise
        cost = self._counted(model, reply)
        sending.settle(cost)
        self.calls += sending.left
        return reply, cost

    def _received(self, reply: Reply, request: Request) -> Reply:
        """A reply as it is kept: without secrets, and with the token of its question."""
        reply = self._mask.reply(reply)
        return replace(reply, token=request.token) if request.token else reply

    def _counted(self, model: ChatModel, reply: Reply) -> float | None:
        """What a reply that has come now costs, counted."""
        cost = self.price(model, reply)
        self.tokens_in += reply.tokens_in
        self.tokens_cached += min(reply.tokens_cached, reply.tokens_in)
        if cost is None:
            self._spent_is_known = False
        else:
            self._spent += cost
        return cost

    @staticmethod
    def _failed(error: BaseException, sending: Sending) -> None:
        reason = error.reason.value if isinstance(error, ModelError) else type(error).__name__
        left = not isinstance(error, NotSentError | MedjuryError)
        lost = left and (not isinstance(error, ModelError) or isinstance(error, LostReplyError))
        sending.fail(reason, left=left, lost=lost)

    def price(self, model: ChatModel, reply: Reply) -> float | None:
        """What a reply costs: by the price list, else as its endpoint says; None where that is not known. A reply
        that was recorded costs what it cost then."""
        if model.recorded:
            return reply.cost
        if model.host is None and not self._prices:
            return 0.0
        listed = self._prices.cost(model, reply, batch=self._in_batch(model)) if self._prices else None
        return reply.cost if listed is None else listed

    def _lane(self, model: ChatModel) -> Lane:
        lane = self._lanes.get(model.name)
        if lane is None:
            with hosts_allowed(self._allowed):
                require_allowed(model.host, f"model {model.name}")
            self._mask.add(model.secrets())
            limits = self._limits.get(model.name, Limits())
            lane = self._lanes[model.name] = Lane(model, limits, self._pace_of, self._clock, self._sleep)
        return lane


def _has_ended(error: BaseException) -> bool:
    """Whether a call in a batch job is over with this; else its job goes on without us."""
    return isinstance(error, ModelError) and not isinstance(error, PendingError)

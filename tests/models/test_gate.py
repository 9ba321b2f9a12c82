"""The gate: every call is cached, paced, paid for once, tried again where that may help, and written down."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.samples import HandClock, model_at, request, served

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import (
    AuditError,
    AuditLog,
    Budget,
    Gate,
    Limits,
    MemoryCache,
    ModelError,
    PriceList,
    Reply,
    Request,
    Scripted,
    audit_totals,
    make_model,
    request_key,
    verify_audit_log,
)
from medjury.models._gate.limits import FIRST_CONCURRENCY
from medjury.models._gate.sending import Sending
from medjury.models._openai.openai import OpenAIModel

BROKEN = ModelError(Reason.PROVIDER, "broken", retry=True)


def gate(clock: HandClock | None = None, **options: Any) -> Gate:
    clock = clock or HandClock()
    options.setdefault("cache", MemoryCache())
    return Gate(clock=clock, sleep=clock.sleep, chance=random.Random(1), **options)


async def test_the_same_question_is_asked_once() -> None:
    model = Scripted(["first", "second"])
    the_gate = gate()
    asked = [await the_gate.ask(model, request()) for _ in range(3)]
    assert [answer.reply.text for answer in asked] == ["first"] * 3
    assert [answer.from_cache for answer in asked] == [False, True, True]
    assert [answer.cost for answer in asked] == [0.0, 0.0, 0.0]
    assert (await the_gate.ask(model, request(), repeat=1)).reply.text == "second"
    assert the_gate.calls == 2


async def test_the_same_question_asked_at_the_same_time_is_one_call() -> None:
    async with served(LoopbackServer(latency=0.05)) as (server, model):
        the_gate = gate()
        await asyncio.gather(*(the_gate.ask(model, request()) for _ in range(20)))
        assert len(server.calls) == the_gate.calls == 1


@pytest.mark.parametrize(
    "other",
    [
        request("another text"),
        request(seed=1),
        request(temperature=0.1),
        request(max_tokens=9),
        Request(request().messages),
    ],
)
def test_all_that_determines_a_reply_is_in_its_key(other: Request) -> None:
    identity = {"kind": "k", "model": "m"}
    key = request_key(identity, request(), 0)
    assert key == request_key(dict(reversed(identity.items())), request(), 0)
    assert key != request_key(identity, other, 0)
    assert key != request_key(identity, request(), 1)
    assert key != request_key({"kind": "k", "model": "n"}, request(), 0)


async def test_what_may_succeed_later_is_tried_again_after_growing_waits() -> None:
    clock = HandClock()
    answer = await gate(clock).ask(Scripted([BROKEN, BROKEN, BROKEN, "fine"]), request())
    assert (answer.reply.text, answer.attempts) == ("fine", 4)
    assert [0.5 <= clock.slept[0] <= 1, 1 <= clock.slept[1] <= 2, 2 <= clock.slept[2] <= 4] == [True] * 3


async def test_after_the_last_attempt_the_reason_stands() -> None:
    model = Scripted([BROKEN] * 9)
    with pytest.raises(ModelError, match="broken") as caught:
        await gate(attempts=3).ask(model, request())
    assert caught.value.reason is Reason.PROVIDER and len(model.requests) == 3


@pytest.mark.parametrize("fatal", [True, False])
async def test_what_cannot_succeed_is_not_tried_again(fatal: bool) -> None:
    model = Scripted([ModelError(Reason.CONTEXT, "too long", fatal=fatal), "never"])
    with pytest.raises(ModelError):
        await gate().ask(model, request())
    assert len(model.requests) == 1


async def test_a_call_that_failed_can_be_made_again() -> None:
    the_gate = gate(attempts=1)
    model = Scripted([BROKEN, "fine"])
    with pytest.raises(ModelError):
        await the_gate.ask(model, request())
    assert (await the_gate.ask(model, request())).reply.text == "fine"


async def test_a_cancelled_call_lets_go_of_its_claim() -> None:
    started = asyncio.Event()

    class Slow(Scripted):
        async def ask(self, request: Request) -> Reply:
            if not self.requests:
                self.requests.append(request)
                started.set()
                await asyncio.sleep(60)
            return await super().ask(request)

    the_gate = gate(limits={"scripted": Limits(concurrency=1)})
    model = Slow("fine")
    first = asyncio.create_task(the_gate.ask(model, request()))
    await started.wait()
    second = asyncio.create_task(the_gate.ask(model, request()))
    first.cancel()
    assert (await asyncio.wait_for(second, 60)).reply.text == "fine"
    assert the_gate.concurrency(model) == (0, 1)


async def test_the_wait_an_endpoint_asks_for_is_kept_by_every_call_to_it() -> None:
    clock = HandClock()
    model = Scripted([ModelError(Reason.RATE_LIMIT, "busy", retry=True, retry_after=20.0), "a", "b"])
    the_gate = gate(clock)
    began = clock()
    await the_gate.ask(model, request("one"))
    assert 20 <= clock() - began <= 22
    unasked = Scripted([ModelError(Reason.RATE_LIMIT, "busy", retry=True, retry_after=3600.0), "never"])
    with pytest.raises(ModelError):
        await the_gate.ask(unasked, request("two"))


async def test_no_call_that_waits_for_its_turn_breaks_the_pause() -> None:
    clock = HandClock()
    times: list[float] = []
    script = iter([ModelError(Reason.RATE_LIMIT, "busy", retry=True, retry_after=20.0), *["fine"] * 5])

    def answer(_: Request) -> Any:
        times.append(clock())
        return next(script)

    the_gate = gate(clock, limits={"scripted": Limits(concurrency=1)})
    await asyncio.gather(*(the_gate.ask(Scripted(answer), request(f"{n}")) for n in range(5)))
    assert len(times) == 6 and min(times[1:]) >= times[0] + 20


async def test_nothing_that_was_never_sent_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDJURY_MODELS", str(tmp_path))
    budget = Budget(calls=5)
    the_gate = gate(budget=budget, audit=AuditLog(tmp_path / "audit.jsonl"))
    with pytest.raises(MedjuryError, match="models pull"):
        await the_gate.ask(make_model("embedded"), request())
    with pytest.raises(ModelError, match="allow_hosts"):
        await the_gate.ask(model_at("openai", "https://gateway.example/v1"), request())
    assert the_gate.calls == budget.spent_calls == 0 and not (tmp_path / "audit.jsonl").exists()


async def test_concurrency_never_exceeds_what_was_stated() -> None:
    async with served(LoopbackServer(together=5)) as (server, model):
        the_gate = gate(limits={"juror": Limits(concurrency=5)})
        await asyncio.gather(*(the_gate.ask(model, request(f"{n}")) for n in range(60)))
        assert server.endpoint.peak_in_flight == 5


async def test_concurrency_finds_what_the_endpoint_bears() -> None:
    the_gate = gate(limits={"juror": Limits(concurrency=64)})
    # It refuses while more than six are on their way, however quickly or slowly they come to it.
    async with served(LoopbackServer(lambda _: "429" if the_gate.concurrency(model)[0] > 6 else None)) as (
        server,
        model,
    ):
        answers = await asyncio.gather(*(the_gate.ask(model, request(f"{n}")) for n in range(150)))
        assert len(answers) == 150
        assert the_gate.concurrency(model)[1] <= 12
        assert server.endpoint.answered < 400, "refusals stay few"


async def test_without_a_stated_limit_it_starts_slowly_and_grows() -> None:
    the_gate, on_their_way = gate(), []

    def count(_: object) -> None:
        on_their_way.append(the_gate.concurrency(model)[0])

    async with served(LoopbackServer(count)) as (_server, model):
        await asyncio.gather(*(the_gate.ask(model, request(f"{n}")) for n in range(120)))
    assert on_their_way[0] <= FIRST_CONCURRENCY < 16 < max(on_their_way)
    assert the_gate.concurrency(model)[1] > 16


async def test_a_place_is_kept_until_the_reply_is_stored() -> None:
    storing, peak = 0, 0

    class SlowStore(MemoryCache):
        async def put(self, key: str, reply: Reply, cost: float | None, survives: Any = None) -> None:
            nonlocal storing, peak
            storing += 1
            peak = max(peak, storing + server.endpoint.in_flight)
            await asyncio.sleep(0.02)
            storing -= 1
            await super().put(key, reply, cost, survives)

    async with served() as (server, model):
        the_gate = gate(cache=SlowStore(), limits={"juror": Limits(concurrency=3)})
        await asyncio.gather(*(the_gate.ask(model, request(f"{n}")) for n in range(12)))
    assert peak <= 3


async def test_a_reply_that_is_written_down_leaves_its_place_and_counts_once() -> None:
    stored = asyncio.Event()

    class WritesDown(MemoryCache):
        async def put(self, key: str, reply: Reply, cost: float | None, survives: Any = None) -> None:
            survives()
            await stored.wait()
            await super().put(key, reply, cost)

    async with served() as (server, model):
        the_gate = gate(cache=WritesDown(), limits={"juror": Limits(concurrency=2)})
        asked = [asyncio.create_task(the_gate.ask(model, request(f"{n}"))) for n in range(8)]
        async with asyncio.timeout(60):
            while len(server.calls) < 8:  # noqa: ASYNC110 - the endpoint runs in a thread
                await asyncio.sleep(0.005)
        assert not any(task.done() for task in asked), "nobody is answered before the reply is stored"
        stored.set()
        await asyncio.gather(*asked)
        assert the_gate.concurrency(model) == (0, 2)


async def test_where_the_log_fails_no_other_call_has_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WritesDown(MemoryCache):
        async def put(self, key: str, reply: Reply, cost: float | None, survives: Any = None) -> None:
            if survives is not None:
                survives()
            await asyncio.sleep(0.05)
            await super().put(key, reply, cost)

    async def fail(*_: object) -> None:
        raise AuditError("the log cannot be written")

    monkeypatch.setattr(Sending, "finish", fail)
    async with served() as (server, model):
        the_gate = gate(
            cache=WritesDown(),
            audit=AuditLog(tmp_path / "audit.jsonl"),
            limits={"juror": Limits(concurrency=1)},
        )
        asked = (the_gate.ask(model, request(f"{n}")) for n in range(6))
        found = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(each, AuditError) for each in found)
    assert len(server.calls) == 1


@pytest.mark.parametrize("places", [1, 3])
async def test_the_place_of_a_reply_that_cannot_be_stored_is_given_to_no_other_call(places: int) -> None:
    class FullStore(MemoryCache):
        async def put(self, key: str, reply: Reply, cost: float | None, survives: Any = None) -> None:
            raise MedjuryError("the store is full")

    async with served() as (server, model):
        the_gate = gate(cache=FullStore(), limits={"juror": Limits(concurrency=places)})
        asked = (the_gate.ask(model, request(f"{n}")) for n in range(12))
        found = await asyncio.gather(*asked, return_exceptions=True)
    assert [str(each) for each in found] == ["the store is full"] * 12
    assert 1 <= len(server.calls) <= places, "paid for, and lost"


async def test_requests_and_tokens_per_minute_are_kept() -> None:
    clock = HandClock()
    the_gate = gate(clock, limits={"scripted": Limits(requests_per_minute=60)})
    model = Scripted("fine")
    for number in range(30):
        await the_gate.ask(model, request(f"{number}"))
    assert 28 <= clock() - 1000 <= 31
    clock = HandClock()
    reply = Reply("fine", tokens_in=900, tokens_out=100)
    the_gate = gate(clock, limits={"scripted": Limits(tokens_per_minute=60_000)})
    for number in range(30):
        await the_gate.ask(Scripted([reply]), request(f"{number}", max_tokens=2000))
    assert 26 <= clock() - 1000 <= 34, "the true use counts, not the estimate"


async def test_an_answer_costs_what_the_price_list_says() -> None:
    reply = Reply("fine", tokens_in=1_000_000, tokens_out=100_000, tokens_cached=400_000)
    model = Scripted([reply])
    prices = PriceList.shipped().with_price(model, input=2.0, output=10.0, cached_input=0.5)
    the_gate = gate(prices=prices)
    answer = await the_gate.ask(model, request())
    assert answer.cost == pytest.approx(1.2 + 1.0 + 0.2)
    assert the_gate.money == answer.cost


async def test_a_cost_that_is_not_known_is_not_zero() -> None:
    async with served() as (_server, model):
        the_gate = gate(prices=PriceList.shipped())
        answer = await the_gate.ask(model, request())
    assert answer.cost is None and the_gate.money is None


async def test_the_budget_in_calls_is_never_exceeded_whatever_runs_at_once() -> None:
    async with served(LoopbackServer(latency=0.01)) as (server, model):
        the_gate = gate(budget=Budget(calls=10, spent_calls=3))
        results = await asyncio.gather(
            *(the_gate.ask(model, request(f"{n}")) for n in range(40)), return_exceptions=True
        )
        assert len(server.calls) == 7
    refused = [each for each in results if isinstance(each, ModelError)]
    assert len(refused) == 33 and {each.reason for each in refused} == {Reason.OVER_BUDGET}
    assert "10 of 10 calls" in refused[0].message


async def test_the_budget_in_money_is_never_exceeded_whatever_runs_at_once() -> None:
    async with served(LoopbackServer(latency=0.01)) as (_server, model):
        prices = PriceList.shipped().with_price(model, input=1000.0, output=2000.0)
        the_gate = gate(prices=prices, budget=Budget(money=5.0, spent_money=1.0))
        results = await asyncio.gather(
            *(the_gate.ask(model, request(f"{n}", max_tokens=50)) for n in range(80)), return_exceptions=True
        )
    answered = [each for each in results if not isinstance(each, BaseException)]
    spent = sum(each.cost or 0 for each in answered)
    assert 0 < spent <= 4.0 and the_gate.money == pytest.approx(spent)
    assert {each.reason for each in results if isinstance(each, ModelError)} == {Reason.OVER_BUDGET}
    assert spent > 2.5, "calls wait for others to settle before they give up"


async def test_cached_answers_are_free_even_over_budget() -> None:
    the_gate = gate(budget=Budget(calls=1))
    model = Scripted("fine")
    await the_gate.ask(model, request())
    assert (await the_gate.ask(model, request())).from_cache
    with pytest.raises(ModelError):
        await the_gate.ask(model, request("another"))


async def test_a_call_the_budget_has_no_room_for_does_not_wait_for_its_turn() -> None:
    clock = HandClock()
    limits = Limits(concurrency=4, requests_per_minute=60, tokens_per_minute=6000)
    the_gate = gate(clock, budget=Budget(calls=1), limits={"scripted": limits})
    model = Scripted("fine")
    asked = (the_gate.ask(model, request(f"{n}")) for n in range(20))
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert [getattr(each, "reason", None) for each in results] == [None] + [Reason.OVER_BUDGET] * 19
    assert sum(clock.slept) < 1


async def test_a_call_cancelled_before_its_turn_gives_its_room_in_the_budget_back() -> None:
    asleep = asyncio.Event()

    async def sleep(_: float) -> None:
        asleep.set()
        await asyncio.sleep(60)

    budget, model = Budget(calls=2), Scripted("fine")
    the_gate = Gate(
        cache=MemoryCache(), budget=budget, sleep=sleep, limits={"scripted": Limits(requests_per_minute=1)}
    )
    await the_gate.ask(model, request("one"))
    waiting = asyncio.create_task(the_gate.ask(model, request("two")))
    await asleep.wait()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert budget.spent_calls == 1
    assert (await gate(budget=budget).ask(model, request("three"))).reply.text == "fine"


def test_a_budget_in_money_needs_prices_before_the_first_call() -> None:
    model = make_model("openai", url="http://127.0.0.1:1", model="home-made")
    with pytest.raises(MedjuryError, match="price of model home-made is not known"):
        gate(prices=PriceList.shipped(), budget=Budget(money=1.0)).check([model])
    gate(prices=PriceList.shipped(), budget=Budget(calls=1)).check([model, Scripted("x")])


async def test_an_invalid_key_stops_at_once() -> None:
    async with served(LoopbackServer(api_key="right")) as (server, model):
        with pytest.raises(ModelError, match="Check the key") as caught:
            await gate().ask(model, request())
        assert caught.value.fatal and len(server.calls) == 1


async def test_every_attempt_is_in_the_audit_log_without_any_text(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with LoopbackServer(["500", "ok:The patient is well."]) as server:
        model = OpenAIModel(url=server.base_url, model="m", name="juror")
        the_gate = gate(audit=AuditLog(log))
        await the_gate.ask(model, request("Mrs Example has a cough."))
        await the_gate.ask(model, request("Mrs Example has a cough."))
        await model.close()
    assert verify_audit_log(log) == 4
    entries = [json.loads(line) for line in log.read_text().splitlines() if '"event":"call"' in line]
    assert [(each["status"], each["attempt"]) for each in entries] == [("provider", 1), ("stop", 2)]
    assert entries[1]["host"] == "127.0.0.1" and entries[1]["tokens_out"] > 0
    assert "Example" not in log.read_text() and "patient" not in log.read_text()


async def test_a_paid_reply_is_kept_where_the_log_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache, model = MemoryCache(), Scripted(["paid for", "never"])
    with pytest.raises(AuditError) as caught:
        await gate(cache=cache, audit=AuditLog(tmp_path / "file" / "audit.jsonl")).ask(model, request())
    assert caught.value.exit_status == 1, "the machine failed, not the input"
    again = await gate(cache=cache).ask(model, request())
    assert (again.reply.text, again.from_cache) == ("paid for", True)


async def test_a_call_is_in_the_audit_log_even_where_its_reply_cannot_be_stored(tmp_path: Path) -> None:
    class FullStore(MemoryCache):
        async def put(self, key: str, reply: Reply, cost: float | None, survives: Any = None) -> None:
            raise MedjuryError("the store is full")

    with pytest.raises(MedjuryError, match="full"):
        await gate(cache=FullStore(), audit=AuditLog(tmp_path / "audit.jsonl")).ask(Scripted("x"), request())
    assert verify_audit_log(tmp_path / "audit.jsonl") == 1


async def test_a_reply_is_in_the_log_before_it_is_in_the_store(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    seen: list[int] = []

    class Watching(MemoryCache):
        async def put(self, key: str, reply: Reply, cost: float | None, survives: Any = None) -> None:
            seen.append(verify_audit_log(log))

    await gate(cache=Watching(), audit=AuditLog(log)).ask(Scripted("x"), request())
    assert seen == [1], "a process that dies between the two has its call in the totals"


async def test_the_next_run_still_sets_aside_what_a_lost_answer_may_cost(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    async with served(LoopbackServer("slow:9"), timeout=1) as (server, model):
        prices = PriceList.shipped().with_price(model, input=1000.0, output=2000.0)
        first = Budget(money=500.0)
        with pytest.raises(ModelError):
            await gate(prices=prices, budget=first, audit=AuditLog(log), attempts=1).ask(model, request())
        spent = audit_totals(log)
        assert (spent.calls, spent.money) == (1, 0.0) and 0 < spent.perhaps == first.perhaps_spent
        second = Budget(money=spent.perhaps * 1.5, perhaps_spent=spent.perhaps)
        with pytest.raises(ModelError, match="perhaps") as refused:
            await gate(prices=prices, budget=second, audit=AuditLog(log)).ask(model, request("another"))
        assert refused.value.reason is Reason.OVER_BUDGET and len(server.calls) == 1

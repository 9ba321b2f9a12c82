"""The desk: many tasks, few transactions; one call per key, whoever asks and whoever gives up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.ratings.samples import rating, unscored

from medjury.instruments import Reason
from medjury.models import Reply
from medjury.store.ratings import Question, Rating, Store, StoreDesk, open_store
from medjury.store.ratings._store.store_error import StoreError, StoreLocked
from medjury.store.ratings._store.transaction import Transaction


@pytest.fixture
async def desk(store: Store) -> AsyncIterator[StoreDesk]:
    async with StoreDesk(store, "first") as desk:
        yield desk


async def test_a_call_is_made_once_and_found_ever_after(store: Store, desk: StoreDesk) -> None:
    assert await desk.find_or_claim("a") is None
    await desk.put("a", Reply("yes"), 0.5)
    assert await desk.find_or_claim("a") == Reply("yes", cost=0.5)
    assert store.spent("first") == (0.5, 1)


async def test_ratings_are_stored_when_write_returns(store: Store, desk: StoreDesk) -> None:
    await desk.write_ratings("first", [rating(), rating(dimension="useful")])
    assert len(list(store.ratings("first"))) == 2
    assert await desk.settled(["key-1", "key-2"]) == {"key-1"}


async def test_settled_keys_join_the_run_that_asks(store: Store, desk: StoreDesk) -> None:
    await desk.write_ratings("first", [rating(), unscored(Reason.TIMEOUT, key="key-2", item="case-2")])
    assert await desk.settled(["key-1", "key-2"], run="second") == {"key-1"}
    assert await desk.settled(["key-1", "key-2"], retry=(), run="third") == {"key-1", "key-2"}
    assert [row.key for row in store.ratings("second")] == ["key-1"]
    assert [row.key for row in store.ratings("third")] == ["key-1", "key-2"]


async def test_of_many_who_ask_at_once_one_makes_the_call(desk: StoreDesk) -> None:
    calls = 0

    async def ask() -> Reply:
        nonlocal calls
        reply = await desk.find_or_claim("a")
        if reply is None:
            calls += 1
            await asyncio.sleep(0.01)
            reply = Reply("yes")
            await desk.put("a", reply, None)
        return reply

    assert await asyncio.gather(*(ask() for _ in range(20))) == [Reply("yes")] * 20
    assert calls == 1


async def test_a_call_that_failed_passes_to_the_next_who_waits(desk: StoreDesk) -> None:
    assert await desk.find_or_claim("a") is None
    second, third = (asyncio.create_task(desk.find_or_claim("a")) for _ in range(2))
    await asyncio.sleep(0.01)
    await desk.release("a")
    assert await second is None
    assert not third.done()
    await desk.put("a", Reply("yes"), None)
    assert await third == Reply("yes")


@pytest.mark.parametrize("pauses", range(0, 12, 2))
async def test_a_cancelled_task_leaves_no_claim_behind(store: Store, desk: StoreDesk, pauses: int) -> None:
    """Cancelled at any moment: before the store is asked, while it answers, just after."""
    first = asyncio.create_task(desk.find_or_claim("a"))
    for _ in range(pauses):
        await asyncio.sleep(0.0005)
    second = asyncio.create_task(desk.find_or_claim("a"))
    await asyncio.sleep(0)
    if first.cancel():
        with pytest.raises(asyncio.CancelledError):
            await first
    else:
        await desk.release("a")
    assert await asyncio.wait_for(second, 60) is None
    await desk.release("a")
    async with StoreDesk(store) as other:
        assert await asyncio.wait_for(other.find_or_claim("a"), 60) is None


@pytest.mark.parametrize("late", [False, True], ids=["before it fails", "as it is told"])
async def test_a_task_cancelled_while_the_store_fails_leaves_the_question_to_the_next(
    desk: StoreDesk, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    told = desk._finish

    def fail(*_: object, **__: object) -> None:
        raise StoreError("the disk is away")

    def tell(batches: Any) -> None:
        told(batches)
        first.cancel()

    with monkeypatch.context() as broken:
        broken.setattr(desk._store, "in_transaction", fail)
        if late:
            broken.setattr(desk, "_finish", tell)
        first, second = (asyncio.create_task(desk.find_or_claim("a")) for _ in range(2))
        await asyncio.sleep(0)
        if not late:
            first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(StoreError, match="the disk is away"):
            await asyncio.wait_for(second, 60)
    assert await asyncio.wait_for(desk.find_or_claim("a"), 60) is None


@pytest.mark.parametrize("number", [1, 7, 8, 9, 40, 41, 87, 88, 130])
async def test_any_number_of_rows_is_stored_whole_and_in_order(
    store: Store, desk: StoreDesk, number: int
) -> None:
    """SQLite takes several by one statement."""
    given = [
        rating(key=f"key-{place:03d}", item=f"case-{place:03d}", score=place / 7, explanation=f"e{place}")
        for place in range(number)
    ]
    replies = {f"call-{place}": Reply(f"text {place}", seconds=place / 3) for place in range(number)}
    assert set(await asyncio.gather(*map(desk.find_or_claim, replies))) == {None}
    await asyncio.gather(
        desk.write_ratings(
            "first", given, (), [Question(each.key, "q", f"call-{n}") for n, each in enumerate(given)]
        ),
        *[desk.put(key, reply, 0.5) for key, reply in replies.items()],
    )
    await desk.write_ratings("first", given, (), [Question(given[0].key, "q", "another")])  # nothing new
    assert list(store.ratings("first")) == given
    found = await asyncio.gather(*map(desk.find_or_claim, replies))
    assert found == [replace(reply, cost=0.5) for reply in replies.values()]
    questions = store.in_transaction(lambda each: each.find_questions([row.key for row in given]))
    assert sorted((each.unit, each.reply) for each in questions) == [
        (each.key, f"call-{place}") for place, each in enumerate(given)
    ]


async def test_a_waiting_task_that_is_cancelled_is_passed_over(desk: StoreDesk) -> None:
    assert await desk.find_or_claim("a") is None
    second, third = (asyncio.create_task(desk.find_or_claim("a")) for _ in range(2))
    await asyncio.sleep(0.01)
    second.cancel()
    await desk.release("a")
    assert await third is None


async def test_a_task_that_is_told_and_cancelled_at_once_passes_the_claim_on(desk: StoreDesk) -> None:
    assert await desk.find_or_claim("a") is None
    second, third = (asyncio.create_task(desk.find_or_claim("a")) for _ in range(2))
    await asyncio.sleep(0.01)
    await desk.release("a")
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await asyncio.wait_for(third, 60) is None


async def test_two_desks_on_one_store_share_the_calls(store: Store, store_address: str) -> None:
    calls: list[str] = []

    async def work(desk: StoreDesk) -> None:
        async def one(key: str) -> None:
            if await desk.find_or_claim(key) is None:
                calls.append(key)
                await asyncio.sleep(0.005)
                await desk.put(key, Reply(key), 1.0)

        await asyncio.gather(*(one(f"key-{number}") for number in range(40)))

    with open_store(store_address) as other_store:
        async with StoreDesk(store, "first") as first, StoreDesk(other_store, "second") as second:
            await asyncio.gather(work(first), work(second))
    assert sorted(calls) == sorted(f"key-{number}" for number in range(40))
    assert store.spent("first").calls + store.spent("second").calls == 40


async def test_a_desk_waits_for_anothers_call_and_takes_it_over_when_released(store: Store) -> None:
    async with StoreDesk(store) as first, StoreDesk(store) as second:
        assert await first.find_or_claim("a") is None
        waiting = asyncio.create_task(second.find_or_claim("a"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await first.release("a")
        assert await asyncio.wait_for(waiting, 60) is None


async def test_closing_a_desk_lets_go_of_its_claims(store: Store) -> None:
    async with StoreDesk(store) as first:
        assert await first.find_or_claim("a") is None
    async with StoreDesk(store) as second:
        assert await asyncio.wait_for(second.find_or_claim("a"), 60) is None
    with pytest.raises(StoreError, match="closed"):
        await first.find_or_claim("a")
    await first.close()


def test_a_desk_that_was_left_open_lets_go_when_its_loop_is_gone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medjury.store.ratings._store.queue._HEARTBEAT_SECONDS", 0.05)

    async def forget_to_close() -> StoreDesk:
        desk = StoreDesk(store)
        assert await desk.find_or_claim("a") is None
        return desk

    async def claim() -> None:
        async with StoreDesk(store) as desk:
            assert await asyncio.wait_for(desk.find_or_claim("a"), 60) is None

    forgotten = asyncio.run(forget_to_close())
    asyncio.run(claim())
    assert forgotten._thread is not None
    forgotten._thread.join(60)
    assert not forgotten._thread.is_alive()


async def test_what_is_asked_at_once_is_one_transaction(
    store: Store, desk: StoreDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    transactions = 0
    original = Store.in_transaction

    def counted(*arguments: object, **options: object) -> object:
        nonlocal transactions
        transactions += 1
        return original(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "in_transaction", counted)
    await asyncio.gather(*(desk.find_or_claim(str(number)) for number in range(100)))
    await asyncio.gather(*(desk.put(str(number), Reply("x"), 0.0) for number in range(100)))
    assert transactions == 2


@pytest.mark.parametrize(
    ("seconds", "file", "server"),
    [(0.0, 0.005, 0.005), (0.02, 0.02, 0.005), (0.2, 0.05, 0.012), (60.0, 0.05, 0.025)],
)
async def test_batches_are_as_far_apart_as_calls_are_long_within_limits(
    store: Store, desk: StoreDesk, seconds: float, file: float, server: float
) -> None:
    between = server if store.path is None else file
    assert desk.seconds_between_batches == 0.005, "nothing is known of the calls yet"
    await asyncio.gather(*(desk.put(str(number), Reply("x", seconds=seconds), 0.0) for number in range(200)))
    assert desk.seconds_between_batches == pytest.approx(between, rel=0.01)
    await asyncio.gather(
        *(desk.put(str(number), Reply("x", seconds=0.004), 0.0) for number in range(200, 500))
    )
    assert desk.seconds_between_batches == 0.005, "the endpoint is quick now"


async def test_what_a_recorded_reply_took_then_keeps_nobody_waiting_now(desk: StoreDesk) -> None:
    for number in range(30):
        assert await desk.find_or_claim(str(number)) is None
        await desk.put(str(number), Reply("x", seconds=60.0), 0.0)
    assert desk.seconds_between_batches == 0.005, "it was there at once"


async def test_a_failing_store_tells_everyone_who_waits_and_recovers(
    store: Store, desk: StoreDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await desk.find_or_claim("a") is None
    waiting = asyncio.create_task(desk.find_or_claim("a"))
    await asyncio.sleep(0.01)

    def fail(*_: object) -> None:
        raise StoreError("no room left")

    with monkeypatch.context() as broken:
        broken.setattr(Transaction, "add_replies", fail)
        with pytest.raises(StoreError, match="no room left"):
            await desk.put("a", Reply("yes"), 1.0)
    assert not waiting.done()
    await desk.release("a")
    assert await asyncio.wait_for(waiting, 60) is None, "the next who waits may make the call"
    await desk.put("a", Reply("yes"), 1.0)
    assert store.spent("first").calls == 1


@pytest.mark.parametrize(
    "impossible",
    [{"tokens_in": 10**30}, {"key": "k" * 601}, {"status": "unscored"}],
    ids=["number", "name", "contradiction"],
)
async def test_an_impossible_value_is_the_error_of_the_one_who_gave_it(
    store: Store, desk: StoreDesk, impossible: dict[str, Any]
) -> None:
    bad = rating()
    for name, value in impossible.items():
        object.__setattr__(bad, name, value)  # a rating refuses some of these itself
    for key in ("a", "b"):
        assert await desk.find_or_claim(key) is None
    waiting = asyncio.create_task(desk.find_or_claim("a"))
    await asyncio.sleep(0)
    results = await asyncio.gather(
        desk.write_ratings("first", [rating(key="good", item="case-2")]),
        desk.write_ratings("first", [bad]),
        desk.write_ratings("second", [rating(key="good too", item="case-3")]),
        desk.put("a", Reply("yes"), 0.5),
        desk.put("b", Reply("x", tokens_out=10**30), 0.5),
        desk.find_or_claim("c"),
        desk.settled(["good"], run="third"),
        desk.settled(["good", bad.key]),
        return_exceptions=True,
    )
    assert isinstance(results[1], StoreError | OverflowError)
    assert isinstance(results[4], StoreError | OverflowError)
    assert results[:1] + results[2:4] + results[5:] == [None, None, None, None, {"good"}, {"good"}]
    assert await asyncio.wait_for(waiting, 60) == Reply("yes")
    assert [row.key for row in store.ratings()] == ["good", "good too"]
    assert [row.key for row in store.ratings("third")] == ["good"]
    assert store.spent("first") == (0.5, 1)
    await desk.release("b")
    assert await desk.find_or_claim("b") is None, "the call whose reply could not be kept may be made again"


async def test_a_store_that_fails_halfway_is_not_asked_once_for_each_who_waits(
    desk: StoreDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def fail(_: object, ratings: list[Rating], *more: object) -> int:
        nonlocal asked
        asked += 1
        if len(ratings) > 1:
            raise OverflowError
        raise StoreLocked("locked")

    monkeypatch.setattr(Transaction, "add_ratings", fail)
    writes = [desk.write_ratings("first", [rating(key=str(number))]) for number in range(20)]
    results = await asyncio.gather(*writes, return_exceptions=True)
    assert all(isinstance(result, StoreLocked) for result in results)
    assert asked == 2


async def test_a_reply_is_kept_though_its_task_is_cancelled_and_releases_the_call(
    store: Store, desk: StoreDesk
) -> None:
    assert await desk.find_or_claim("a") is None
    waiting = asyncio.create_task(desk.find_or_claim("a"))
    await asyncio.sleep(0.01)
    storing = asyncio.create_task(desk.put("a", Reply("yes"), 1.0))
    await asyncio.sleep(0)
    storing.cancel()
    await desk.release("a")
    assert await asyncio.wait_for(waiting, 60) == Reply("yes"), "the call is not made again"
    assert store.spent("first").calls == 1

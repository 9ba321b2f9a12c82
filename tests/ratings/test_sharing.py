"""Workers on several machines share one log, one budget and one pace through PostgreSQL. Each desk is a worker."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.models import AuditLog, AuditTotals, ModelError, Reply, audit_totals, verify_audit_log
from medjury.store.ratings import Account, LogDrain, Store, StoreDesk, copy_store, open_store
from medjury.store.ratings._sharing import SharedBudget, SharedPace

LOG = "the log"
CALL = {"event": "sent", "for": "call", "key": "k", "rater": "juror"}
END = {"event": "call", "key": "k", "rater": "juror", "status": "stop", "reply": "hash", "cost": 0.25}


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with open_store(postgres_url, wait_seconds=5) as store:
        Account.begin(store, LOG, AuditTotals(0, 0.0))
        yield store


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


async def test_requests_of_all_workers_come_into_the_log_of_the_run_folder(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    AuditLog(file).record({"event": "reread"})
    drain = LogDrain(store, LOG, AuditLog(file))
    async with StoreDesk(store) as one, StoreDesk(store) as other:
        first, second = (Account(desk, LOG).log(claimed=False) for desk in (one, other))
        numbers = [await first.announce(CALL), await second.announce({**CALL, "perhaps": 2.0})]
        drain.pull()  # in the middle of a call: its end must find its line again
        await first.append({**END, "of": numbers[0]})
    drain.finish()
    assert [each["event"] for each in lines(file)] == ["reread", "sent", "sent", "call"]
    assert lines(file)[3]["of"] == 2, "an end names the line of its announcement in this log"
    assert verify_audit_log(file) == 4
    assert audit_totals(file) == AuditTotals(2, 0.25, perhaps=2.0, unended=1)


async def test_a_log_that_was_copied_in_part_is_gone_on_with(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    async with StoreDesk(store) as desk:
        log = Account(desk, LOG).log(claimed=False)
        numbers = [await log.announce(CALL), await log.announce(CALL)]
        LogDrain(store, LOG, AuditLog(file)).pull()  # and the one who did so was killed: nothing was deleted
        await log.append({**END, "of": numbers[1]})
    with file.open("a") as half:
        half.write('{"n":3,"event":"call","shared":3,"co')  # in the middle of a line
    drain = LogDrain(store, LOG, AuditLog(file))
    drain.finish()
    whole = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]
    assert [each["event"] for each in whole] == ["sent", "sent", "sealed", "call"], "each line once"
    assert whole[3]["of"] == 2
    drain.finish()
    assert len(file.read_text().splitlines()) == 5


async def test_what_requests_cost_is_counted_as_the_log_counts_it(store: Store, tmp_path: Path) -> None:
    ends = [
        END,
        {**END, "cost": None},
        {"event": "call", "status": "timeout", "perhaps": 0.5},
        {"event": "call", "status": "not_sent", "left": False},
        {"event": "count", "status": "counted"},
    ]
    async with StoreDesk(store) as desk:
        account = Account(desk, LOG)
        log, preflight = account.log(claimed=False), account.log({"preflight": True}, claimed=False)
        for end in ends:
            kind = "count" if end["event"] == "count" else "call"
            number = await log.announce({**CALL, "for": kind, "perhaps": 0.5})
            log.record({**end, "of": number})
        log.record({**END, "cost": 1.0})  # a model inside the process sends nothing, and has an end only
        number = await preflight.announce(CALL)
        preflight.record({"event": "call", "status": "provider", "of": number})
        await log.announce({**CALL, "perhaps": 4.0})
        budget = SharedBudget(account, money=100.0)
        await budget.reserve(1.0)
    drain = LogDrain(store, LOG, AuditLog(tmp_path / "audit.jsonl"))
    drain.finish()
    told = audit_totals(tmp_path / "audit.jsonl")
    assert (budget.spent_calls, budget.spent_money, budget.perhaps_spent) == (
        told.calls, told.money, told.perhaps,
    )  # fmt: skip
    assert told == AuditTotals(5, 1.25, perhaps=4.5, unended=1)


async def test_workers_cannot_exceed_a_budget_together(store: Store) -> None:
    async with StoreDesk(store) as one, StoreDesk(store) as other:
        accounts = [Account(one, LOG), Account(other, LOG)]
        sent = refused = 0

        async def ask(account: Account, budget: SharedBudget) -> None:
            nonlocal sent, refused
            log = account.log(claimed=False)
            try:
                reservation = await budget.reserve(1.0)
            except ModelError as error:
                assert "9.5 of 10 in money is spent" in error.message
                refused += 1
                return
            number = await log.announce({**CALL, "perhaps": 1.0})
            budget.announced(reservation)
            sent += 1
            await asyncio.sleep(0.001)
            log.record({**END, "of": number, "cost": 0.5})
            budget.settle(reservation, cost=0.5)

        await asyncio.gather(
            *(ask(account, budget) for account in accounts
              for budget in [SharedBudget(account, money=10.0)] for _ in range(40))
        )  # fmt: skip
    assert (sent, refused) == (19, 61), "calls that turned out cheaper than feared make room for others"


async def test_a_cap_of_calls_holds_too(store: Store) -> None:
    async with StoreDesk(store) as one, StoreDesk(store) as other:
        budgets = [SharedBudget(Account(desk, LOG), calls=3) for desk in (one, other)]
        held = [await budgets[0].reserve(0.0), await budgets[1].reserve(0.0), await budgets[0].reserve(0.0)]
        waiting = asyncio.create_task(budgets[1].reserve(0.0))
        await asyncio.sleep(0.1)
        assert not waiting.done(), "a call that is not sent after all would make room"
        budgets[0].settle(held[0], cost=0.0, sent=False)
        await asyncio.wait_for(waiting, 5)


_DIES = """
import asyncio, os, sys
from medjury.store.ratings import Account, StoreDesk, open_store
from medjury.store.ratings._sharing import SharedBudget
async def work():
    desk = StoreDesk(open_store(sys.argv[1]))
    account = Account(desk, "the log")
    budget = SharedBudget(account, money=10.0)
    await desk.find_or_claim("key")
    reservation = await budget.reserve(4.0)
    await account.log().announce({"event": "sent", "for": "call", "key": "key", "perhaps": 4.0})
    budget.announced(reservation)
    await budget.reserve(5.0)
    os._exit(9)
asyncio.run(work())
"""


async def test_a_dead_worker_frees_its_keys_and_what_it_had_not_sent(store: Store, postgres_url: str) -> None:
    died = await asyncio.create_subprocess_exec(sys.executable, "-c", _DIES, postgres_url)
    assert await died.wait() == 9
    async with StoreDesk(store) as desk:
        account = Account(desk, LOG)
        assert await asyncio.wait_for(desk.find_or_claim("key"), 10) is None, "its work is taken over"
        budget = SharedBudget(account, money=10.0)
        await asyncio.wait_for(budget.reserve(6.0), 10)
        assert budget.perhaps_spent == 4.0, "the call that was on its way counts at its worst case"


async def test_a_worker_that_slept_too_long_does_not_pay_for_what_another_has_taken_over(
    store: Store,
) -> None:
    async with StoreDesk(store) as sleeper, StoreDesk(store) as other:
        await sleeper.find_or_claim("mine")
        await sleeper.find_or_claim("taken")
        await sleeper.find_or_claim("answered")
        store.end_owner(sleeper._owner)  # as others do when nothing was heard of it for half a minute
        await other.find_or_claim("taken")
        await other.find_or_claim("answered")
        await other.put("answered", Reply("yes"), 0.5)
        log = Account(sleeper, LOG).log()
        for key in ("taken", "answered"):
            with pytest.raises(ModelError, match="another worker has taken this call over"):
                await log.announce({**CALL, "key": key})
        assert await log.announce({**CALL, "key": "mine"}), "nobody else was at it: it goes on"


async def test_a_line_that_is_sent_twice_counts_once(store: Store, tmp_path: Path) -> None:
    """A connection may be lost after the server has stored what was sent: then it is sent again."""
    async with StoreDesk(store) as desk:
        account = Account(desk, LOG)
        line = account.announcement(CALL, claimed=False)
        for _ in range(2):
            await desk.together(account.write, line)
        budget = SharedBudget(account, calls=9)
        await budget.reserve(0.0)
    assert budget.spent_calls == 1
    drain = LogDrain(store, LOG, AuditLog(tmp_path / "audit.jsonl"))
    drain.finish()
    assert len(lines(tmp_path / "audit.jsonl")) == 1


async def test_an_announcement_that_is_given_up_says_that_nothing_left(store: Store, tmp_path: Path) -> None:
    async with StoreDesk(store) as desk:
        asking = asyncio.create_task(Account(desk, LOG).log(claimed=False).announce(CALL))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.1)
    LogDrain(store, LOG, AuditLog(tmp_path / "audit.jsonl")).finish()
    assert audit_totals(tmp_path / "audit.jsonl") == AuditTotals(0, 0.0)


async def test_workers_keep_one_pace(store: Store) -> None:
    async with StoreDesk(store) as one, StoreDesk(store) as other:
        paces = [SharedPace(Account(desk, LOG), "juror: requests", 1200.0) for desk in (one, other)]
        started = time.monotonic()
        await asyncio.gather(*(paces[place % 2].take(1) for place in range(40)))
        seconds = time.monotonic() - started
        assert seconds >= 0.95, "20 at once, and 20 in the second that follows, over both workers"
        paces[0].give_back(20)
        await paces[0].take(0)  # it is given back by then
        started = time.monotonic()
        await asyncio.gather(*(paces[1].take(1) for _ in range(20)))
        assert time.monotonic() - started < 0.9


async def test_a_store_is_not_copied_while_it_holds_lines_that_no_run_folder_has(
    store: Store, tmp_path: Path
) -> None:
    async with StoreDesk(store) as desk:
        await Account(desk, LOG).log(claimed=False).announce(CALL)
    with (
        open_store(tmp_path / "s.sqlite") as target,
        pytest.raises(MedjuryError, match="holds 1 lines about requests"),
    ):
        copy_store(store, target)

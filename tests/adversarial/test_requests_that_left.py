"""Every request that leaves is in the log and in the budget first: first tries, retries and dialects alike."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import KINDS, HandClock, model_at, request

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import (
    AuditLog,
    Budget,
    Gate,
    Limits,
    MemoryCache,
    ModelError,
    PriceList,
    Scripted,
    audit_totals,
    verify_audit_log,
)


def gate(log: Path, **options: Any) -> Gate:
    clock = HandClock()
    return Gate(
        cache=MemoryCache(), audit=AuditLog(log), clock=clock, sleep=clock.sleep, chance=random.Random(1),
        **options,
    )  # fmt: skip


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def events(log: Path) -> Counter[str]:
    return Counter(each["event"] for each in lines(log))


async def test_an_endpoint_that_refuses_both_json_forms_gets_no_more_requests_than_the_cap(
    tmp_path: Path,
) -> None:
    log = tmp_path / "audit.jsonl"
    with LoopbackServer(rejects=("response_format",)) as server:
        model = model_at("openai", server.base_url)
        budget = Budget(calls=30)
        the_gate = gate(log, budget=budget, limits={"juror": Limits(concurrency=30)})
        asked = (the_gate.ask(model, request(f"note {number}")) for number in range(30))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        await model.close()
        left = len(server.calls)
    assert left == 30 and budget.spent_calls == the_gate.calls == audit_totals(log).calls == 30
    assert events(log) == {"sent": 30, "call": 30} and verify_audit_log(log) == 60
    refused = [each for each in answers if isinstance(each, ModelError)]
    assert refused and {each.reason for each in refused} == {Reason.OVER_BUDGET}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "behaviour",
    [
        ["400:response schema json_schema response_format is not supported", "ok"],
        ["500", "429:0", "reset", "ok"],
        ["401"],
        ["truncated-json", "not-json", "html"],
        ["slow:9", "ok"],
    ],
    ids=lambda words: "-".join(word.partition(":")[0] for word in words),
)
async def test_each_request_has_a_line_before_it_leaves_and_one_after(
    kind: str, behaviour: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "audit.jsonl"
    before: list[int] = []
    queue = iter(behaviour)

    def answer(_: object) -> str:
        before.append(events(log)["sent"])
        return next(queue, "ok")

    with LoopbackServer(answer) as server:
        # Short only where the answer is to come too late: elsewhere a busy machine may take its time.
        model = model_at(kind, server.url, timeout=1 if "slow:9" in behaviour else 60)
        the_gate = gate(log)
        await asyncio.gather(the_gate.ask(model, request()), return_exceptions=True)
        await model.close()
        left = len(server.calls)
    assert before == list(range(1, left + 1)), "the line was there when the request arrived"
    sent = [each["n"] for each in lines(log) if each["event"] == "sent"]
    ended = [each["of"] for each in lines(log) if each["event"] == "call"]
    assert sent == ended and len(sent) == left == the_gate.calls == audit_totals(log).calls
    assert verify_audit_log(log) == 2 * left


async def test_a_redirect_within_the_server_is_two_requests(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"

    def moved(call: Any) -> str | None:
        old = call.path.startswith("/old")
        return f"redirect:http://{call.headers['Host']}/v1/chat/completions" if old else None

    with LoopbackServer(moved) as server:
        model = model_at("openai", f"{server.url}/old")
        await gate(log).ask(model, request())
        await model.close()
        assert len(server.calls) == events(log)["sent"] == audit_totals(log).calls == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refused_connection_costs_no_budget_but_has_its_line(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    model = model_at(kind, "http://127.0.0.1:9")
    budget = Budget(calls=2)
    the_gate = gate(log, budget=budget)
    with pytest.raises(ModelError, match="is the endpoint running"):
        await the_gate.ask(model, request())
    await model.close()
    assert events(log) == {"sent": 5, "call": 5} and budget.spent_calls == the_gate.calls == 0
    assert all(each["left"] is False for each in lines(log) if each["event"] == "call")
    assert audit_totals(log).calls == 0


@pytest.mark.parametrize(("server_kind", "requests"), [("vllm", 1), ("llama.cpp", 2)])
async def test_a_prompt_that_leaves_to_be_counted_has_a_line_for_every_request(
    server_kind: str, requests: int, tmp_path: Path
) -> None:
    log = tmp_path / "audit.jsonl"
    long = "The patient was seen again and is well. " * 400
    with LoopbackServer() as server:
        model = model_at("openai", server.base_url, context_window=3829, tokenize=server_kind)
        budget = Budget(calls=9)
        await gate(log, budget=budget).ask(model, request(long, max_tokens=600))
        await model.close()
        assert len(server.calls) == events(log)["sent"] == requests + 1
    assert events(log) == {"sent": requests + 1, "count": requests, "call": 1}
    assert audit_totals(log).calls == budget.spent_calls == 1, "counting is no call that is paid for"


async def test_an_announced_request_without_an_end_counts_as_perhaps_made(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with LoopbackServer("slow:30") as server:
        model = model_at("openai", server.base_url)
        prices = PriceList.shipped().with_price(model, input=1000.0, output=2000.0)
        asking = asyncio.create_task(
            gate(log, prices=prices, budget=Budget(money=500.0)).ask(model, request())
        )
        while not server.calls:  # noqa: ASYNC110 - the server runs in a thread of its own
            await asyncio.sleep(0.01)
        killed = audit_totals(log)  # what the next run would read, were this one killed now
        assert (killed.calls, killed.unended, killed.money) == (1, 1, 0.0) and killed.perhaps > 0
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await model.close()
    ended = audit_totals(log)
    assert (ended.calls, ended.unended, ended.perhaps) == (1, 0, killed.perhaps)
    resumed = Budget(calls=1, spent_calls=killed.calls, perhaps_calls=killed.unended)
    with pytest.raises(ModelError, match=r"1 of 1 calls are made, 1 of them perhaps"):
        await resumed.reserve(0.0)


async def test_a_call_cancelled_before_it_left_is_not_left_open(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with LoopbackServer() as server:
        model = model_at("openai", server.base_url)
        budget = Budget(calls=100)
        the_gate = gate(log, budget=budget)
        for ticks in range(12):  # cancelled at every step on its way out
            asking = asyncio.create_task(the_gate.ask(model, request(f"{ticks}")))
            for _ in range(ticks):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await the_gate.ask(model, request("one that is let go"))
        await model.close()
        assert len(server.calls) <= audit_totals(log).calls == budget.spent_calls == the_gate.calls
    assert audit_totals(log).unended == 0 and events(log)["sent"] == events(log)["call"]
    assert verify_audit_log(log) > 2


async def test_a_model_in_this_process_sends_nothing_and_announces_nothing(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    await gate(log).ask(Scripted("fine"), request())
    assert events(log) == {"call": 1} and audit_totals(log).calls == 1


class Foreign(Scripted):
    """A model of somebody else's making, which announces nothing by itself."""

    host = "127.0.0.1"  # type: ignore[assignment]


async def test_the_gate_announces_for_a_model_that_does_not(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    budget = Budget(calls=5)
    the_gate = gate(log, budget=budget, attempts=1)
    model = Foreign(["fine", MedjuryError("no key"), ModelError(Reason.PROVIDER, "broken")])
    asked = [the_gate.ask(model, request(f"{number}")) for number in range(3)]
    await asyncio.gather(*asked, return_exceptions=True)
    ends = [each for each in lines(log) if each["event"] == "call"]
    assert events(log) == {"sent": 3, "call": 3} and {each["of"] for each in ends} == {1, 2, 3}
    assert [each.get("left", True) for each in sorted(ends, key=lambda end: end["of"])] == [True, False, True]
    assert budget.spent_calls == audit_totals(log).calls == 2 and audit_totals(log).unended == 0


async def test_requests_that_start_together_are_announced_in_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    log, writes = tmp_path / "audit.jsonl", []
    real = os.write

    def counted(descriptor: int, data: bytes) -> int:
        if b'"event":"sent"' in data:
            writes.append(data.count(b"\n"))
        return real(descriptor, data)

    with LoopbackServer(latency=0.05) as server:
        model = model_at("openai", server.base_url)
        the_gate = gate(log, limits={"juror": Limits(concurrency=40)})
        monkeypatch.setattr("os.write", counted)
        await asyncio.gather(*(the_gate.ask(model, request(f"{number}")) for number in range(40)))
        await model.close()
    assert sum(writes) == 40 and len(writes) < 10

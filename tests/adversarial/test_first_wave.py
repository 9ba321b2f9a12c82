"""A setting that an endpoint refuses costs no answer, however many calls are in flight when it is found out."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import KINDS, HandClock, model_at, request

from medjury.models import Gate, Limits, MemoryCache

TOGETHER = 24
REFUSALS = {
    "temperature": "temperature is not supported by this model",
    "seed": "Unknown name \"seed\" at 'generation_config': Cannot find field.",
    "schema": "response_format / output_config.format: json_schema is not supported (response_json_schema)",
}


def settings(call: Call) -> set[str]:
    body = call.json | (call.json.get("generationConfig") or {})
    schema = {"response_format", "output_config", "responseJsonSchema"} & body.keys()
    return {name for name in ("temperature", "seed") if name in body} | ({"schema"} if schema else set())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "refused", [("temperature",), ("schema",), ("seed",), ("seed", "temperature", "schema")]
)
async def test_no_call_of_the_first_wave_is_lost(kind: str, refused: tuple[str, ...]) -> None:
    def answer(call: Call) -> str | None:
        found = next((name for name in refused if name in settings(call)), None)
        return None if found is None else f"400:{REFUSALS[found]}"

    clock = HandClock()
    with LoopbackServer(answer, together=TOGETHER) as server:
        model = model_at(kind, server.url)
        the_gate = Gate(
            cache=MemoryCache(), clock=clock, sleep=clock.sleep, chance=random.Random(1),
            limits={"juror": Limits(concurrency=TOGETHER)},
        )  # fmt: skip
        asked = (the_gate.ask(model, request(f"note {number}", seed=3)) for number in range(TOGETHER))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        learnt = len(server.calls)
        await the_gate.ask(model, request("one more", seed=3))
        await model.close()
        assert server.endpoint.peak_in_flight == TOGETHER
        assert len(server.calls) == learnt + 1, "it is remembered"
    assert [each for each in answers if isinstance(each, BaseException)] == []
    dropped = {"temperature", "seed"} & set(refused) - ({"seed"} if kind == "anthropic" else set())
    assert set(model.dropped) == dropped


def quota(delay: str) -> dict[str, Any]:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    return {
        "error": {
            "code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": [info],
        }
    }  # fmt: skip


@pytest.mark.parametrize(("delay", "least"), [("25s", 25.0), ("2.5s", 2.5)])
async def test_the_wait_that_google_asks_for_is_kept(delay: str, least: float) -> None:
    import json

    clock = HandClock()
    with LoopbackServer([f"raw:429 {json.dumps(quota(delay))}"]) as server:
        model = model_at("google", server.url)
        the_gate = Gate(cache=MemoryCache(), clock=clock, sleep=clock.sleep, chance=random.Random(1))
        answer = await the_gate.ask(model, request())
        await model.close()
    assert answer.attempts == 2 and least <= sum(clock.slept) <= least * 1.2

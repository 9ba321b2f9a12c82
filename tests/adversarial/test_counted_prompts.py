"""A prompt that was sent to be counted has left this machine, and nobody is told otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import model_at, request

from medjury.models import ContextError, Gate, MemoryCache

LONG = "The patient was seen again and is well. " * 400


async def told(raw_count: int | None = None, **options: Any) -> tuple[str, int]:
    with LoopbackServer() as server:
        if raw_count is not None:
            from aiohttp import web

            server.endpoint.counted = lambda _: web.json_response({"count": raw_count})  # type: ignore[method-assign]
        model = model_at("openai", server.base_url, context_window=300, **options)
        with pytest.raises(ContextError) as caught:
            await Gate(cache=MemoryCache()).ask(model, request(LONG, max_tokens=100))
        await model.close()
        return caught.value.message, len(server.calls)


@pytest.mark.parametrize(
    "count", [None, 3, 9000], ids=["in words", "a count that cannot be", "a large count"]
)
async def test_a_prompt_that_the_tokenizer_saw_was_sent(count: int | None) -> None:
    message, calls = await told(count, tokenize="vllm")
    assert calls == 1 and "it was sent to 127.0.0.1 to be counted, and nowhere else" in message
    assert "nothing was sent" not in message


async def test_a_prompt_that_nobody_counted_was_not() -> None:
    message, calls = await told()
    assert calls == 0 and "nothing was sent" in message

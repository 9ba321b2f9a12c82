"""A trained model as an ordinary judge: a small endpoint on this machine that speaks OpenAI chat completions.

It listens on 127.0.0.1 alone. A question is put to the model by its own chat template, as in training, and nothing
is added to it: a JSON schema in the request is not enforced, since what was trained is to answer in that form.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.models import reading_weights, refuse_pickled
from medjury.tuning.training._model import ADAPTER, MERGED, Base, library, load_base
from medjury.tuning.training._record import TRAINING, read_trained

_LARGEST_BODY = 32 * 1024 * 1024
_MOST_TOKENS = 1024


class TooLongError(ValueError):
    """Question and answer do not fit the model's window."""


def load_trained(folder: str | Path) -> Base:
    """The model of a training's folder (merged, or its adapter on its base), or any model that can be asked."""
    place = Path(folder)
    if not (place / TRAINING).is_file():
        return load_base(folder)
    if (place / MERGED).is_dir():
        return load_base(place / MERGED)
    base = load_base(read_trained(place)["base"])
    refuse_pickled(place / ADAPTER)
    with reading_weights(library("transformers")):
        base.model = library("peft").PeftModel.from_pretrained(base.model, str(place / ADAPTER))
    return base


def answer(base: Base, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]) -> dict[str, Any]:
    """Put a conversation to the model: what a chat completion holds of its answer. A temperature of 0 takes the
    likeliest word each time; a seed makes another repeatable."""
    torch = library("torch")
    asked = base.tokenizer.apply_chat_template(
        list(messages), add_generation_prompt=True, return_tensors="pt", return_dict=True
    ).to(base.model.device)
    before = int(asked["input_ids"].shape[1])
    most = int(options.get("max_completion_tokens") or options.get("max_tokens") or _MOST_TOKENS)
    if before + most > base.longest:
        raise TooLongError(
            f"This model's maximum context length is {base.longest} tokens. However, you requested {before + most} "
            f"tokens ({before} in the messages, {most} in the completion)."
        )
    temperature = float(options.get("temperature") or 0.0)
    drawing: dict[str, Any] = {"do_sample": False}
    if temperature > 0:
        drawing = {"do_sample": True, "temperature": temperature, "top_p": float(options.get("top_p") or 1.0),
                   "top_k": int(options.get("top_k") or 0)}  # fmt: skip
        torch.manual_seed(int(options.get("seed") or 0))
    with torch.inference_mode():
        said = base.model.generate(
            **asked, max_new_tokens=most, pad_token_id=base.tokenizer.pad_token_id, **drawing
        )[0][before:]
    text = base.tokenizer.decode(said, skip_special_tokens=True)
    after = int(said.shape[0])
    finish = "stop" if after < most else "length"
    message = {"role": "assistant", "content": text}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after},
    }


def application(base: Base, name: str) -> Any:
    """The endpoint: /v1/chat/completions and /v1/models. One question is answered at a time."""
    from aiohttp import web

    turn = asyncio.Lock()

    async def chat(request: web.Request) -> Any:
        try:
            asked = await request.json()
            messages = [
                {"role": str(each["role"]), "content": str(each["content"])} for each in asked["messages"]
            ]
        except (ValueError, KeyError, TypeError):
            return _refused("the body must be a JSON object with `messages`")
        try:
            async with turn:
                said = await asyncio.to_thread(answer, base, messages, asked)
        except TooLongError as error:
            return _refused(str(error), "context_length_exceeded")
        except (ValueError, TypeError) as error:
            return _refused(f"the model does not take this request: {error}")
        completion = {"id": f"chatcmpl-{time.time_ns()}", "object": "chat.completion"}
        return web.json_response({**completion, "created": int(time.time()), "model": name, **said})

    async def models(_: web.Request) -> Any:
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"}]})

    served = web.Application(client_max_size=_LARGEST_BODY)
    served.add_routes([web.post("/v1/chat/completions", chat), web.get("/v1/models", models)])
    return served


@asynccontextmanager
async def serving(base: Base, name: str, port: int = 0) -> AsyncIterator[str]:
    """The endpoint while it runs; what is given is its address."""
    from aiohttp import web

    runner = web.AppRunner(application(base, name), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        try:
            await site.start()
        except OSError as error:
            raise MedjuryError(
                f"port {port} cannot be listened on ({error}); name another with --port"
            ) from None
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _refused(message: str, code: str = "invalid_request_error") -> Any:
    from aiohttp import web

    body = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
    return web.Response(status=400, text=json.dumps(body), content_type="application/json")

"""Does an endpoint work? One tiny question, asked as a run asks, and what its answer shows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from medjury.foundation.errors import MedjuryError
from medjury.instruments import closed_object
from medjury.models._chat import ChatModel, Message, ModelError, Reply, Request
from medjury.models._finish import why_unfinished
from medjury.models._gate.cache import MemoryCache
from medjury.models._gate.gate import Gate

_SEASONS = ("winter", "carrot", "seven")
_INSTRUCTIONS = "You answer questions about words. Answer with one JSON object."
_QUESTION = f"Which of these is a season: {', '.join(_SEASONS)}?"
_SCHEMA = closed_object({"answer": {"type": "string", "enum": list(_SEASONS)}})
_MODES = {
    "json_schema": "The endpoint accepts a JSON schema itself.",
    "json_object": "The endpoint accepts no schema, but promises JSON: the schema is spelled out in the prompt.",
    "text": "The endpoint accepts no schema: it is spelled out in the prompt, and answers are parsed.",
}


async def check_endpoint(
    model: ChatModel, allow_hosts: Sequence[str] = (), *, temperature: float = 0.0
) -> tuple[bool, list[str]]:
    """Whether an endpoint can be used, and what was seen. It is asked one question with all that a judge sends:
    instructions, schema, seed, temperature, and the room that an answer has if the study does not say otherwise. A
    host that is not allowed is an error; what the endpoint itself does wrong is reported."""
    gate = Gate(cache=MemoryCache(), allow_hosts=allow_hosts, attempts=1)
    try:
        gate.check([model])
    except MedjuryError as error:
        hint = f" (here: --allow-host {model.host})" if "allow_hosts" in str(error) else ""
        raise MedjuryError(f"{error}{hint}") from None
    try:
        messages = (Message("system", _INSTRUCTIONS), Message("user", _QUESTION))
        request = Request(messages, schema=_SCHEMA, seed=0, temperature=temperature)
        answer = await gate.ask(model, request)
    except ModelError as error:
        return False, [f"Does not work ({error.reason}): {error.message}"]
    finally:
        await model.close()
    return _seen(model, answer.reply, request.max_tokens)


def _seen(model: ChatModel, reply: Reply, max_tokens: int) -> tuple[bool, list[str]]:
    lines = [f"It answers: {reply.model or model.name} in {reply.seconds:.2f} s, {reply.tokens_out} tokens."]
    if mode := _MODES.get(model.answers_in):
        lines.append(mode)
    if model.dropped:
        lines.append(f"It does not accept {' and '.join(model.dropped)}: a run leaves that out and says so.")
    if (why := why_unfinished(reply.finish, max_tokens)) is not None:
        lines.append(f"But it gave no whole answer: {why[1]}.")
        return False, lines
    try:
        followed = json.loads(reply.text).get("answer") in _SEASONS
    except (ValueError, AttributeError):
        followed = False
    lines.append(
        "The answer follows the schema." if followed else "But the answer does not follow the schema."
    )
    return followed, lines

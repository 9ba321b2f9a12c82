"""Does an endpoint work? One tiny question, and what its answer shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from medjury.errors import MedjuryError
from medjury.models._cache import MemoryCache
from medjury.models._chat import ChatModel, Message, ModelError, Reply, Request
from medjury.models._gate import Gate

_SEASONS = ("winter", "carrot", "seven")
_QUESTION = f"Which of these is a season: {', '.join(_SEASONS)}? Answer in JSON."
_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": list(_SEASONS)}},
    "required": ["answer"],
    "additionalProperties": False,
}
_MODES = {
    "json_schema": "The endpoint takes a JSON schema itself.",
    "json_object": "The endpoint takes no schema, but promises JSON: the schema is spelled out in the prompt.",
    "text": "The endpoint takes no schema: it is spelled out in the prompt, and answers are parsed.",
}


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """Whether an endpoint can be used, and what was seen."""

    works: bool
    lines: tuple[str, ...]

    def text(self) -> str:
        return "\n".join(self.lines)


async def check_endpoint(model: ChatModel, allow_hosts: Sequence[str] = ()) -> EndpointCheck:
    """Ask the endpoint one question with a schema. A host that is not allowed is an error; what the endpoint itself
    does wrong is told."""
    gate = Gate(cache=MemoryCache(), allow_hosts=allow_hosts, attempts=1)
    try:
        gate.check([model])
    except MedjuryError as error:
        hint = f" (here: --allow-host {model.host})" if "allow_hosts" in str(error) else ""
        raise MedjuryError(f"{error}{hint}") from None
    try:
        request = Request((Message("user", _QUESTION),), schema=_SCHEMA, max_tokens=256, seed=0)
        answer = await gate.ask(model, request)
    except ModelError as error:
        return EndpointCheck(False, (f"Does not work ({error.reason}): {error.message}",))
    finally:
        await model.close()
    return _seen(model, answer.reply)


def _seen(model: ChatModel, reply: Reply) -> EndpointCheck:
    lines = [f"It answers: {reply.model or model.name} in {reply.seconds:.2f} s, {reply.tokens_out} tokens."]
    if mode := _MODES.get(model.answers_in):
        lines.append(mode)
    if reply.finish != "stop":
        lines.append(f"But the answer ended with {reply.finish!r}: raise max_tokens for this model.")
        return EndpointCheck(False, tuple(lines))
    try:
        followed = json.loads(reply.text).get("answer") in _SEASONS
    except (ValueError, AttributeError):
        followed = False
    lines.append(
        "The answer follows the schema." if followed else "But the answer does not follow the schema."
    )
    return EndpointCheck(followed, tuple(lines))

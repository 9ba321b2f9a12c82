"""A stand-in for the engine of transformers, whose library is too large for these tests.

It answers with the smallest JSON object that its schema allows; every two signs are a token. A file `broken` beside
the weights says that they cannot be loaded. Every load is written down in `loads.log`, with the process and its
parent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import Message, ModelError, Reply, Request

_SCHEMA = "follows this JSON schema, and nothing else: "


class StandIn:
    def __init__(self, model: Any) -> None:
        self.label, self.window = model.label, model.context_window
        with (model.folder / "loads.log").open("a") as log:
            log.write(f"{os.getpid()} {os.getppid()}\n")
        if (model.folder / "broken").exists():
            raise MedjuryError(f"model {self.label}: {model.folder} cannot be loaded")

    def count(self, messages: Sequence[Message]) -> int:
        return sum(len(each.content) for each in messages) // 2

    def answer(self, request: Request) -> Reply:
        asked = self.count(request.messages)
        if asked >= self.window:
            raise ModelError(Reason.CONTEXT, f"the prompt does not fit {self.label}")
        _, _, schema = request.messages[-1].content.partition(_SCHEMA)
        whole = json.dumps(_filled(json.JSONDecoder().raw_decode(schema)[0]))
        text = whole[: 2 * request.max_tokens]
        finish = "stop" if text == whole else "length"
        return Reply(text, finish, asked, len(text) // 2, model=self.label)  # type: ignore[arg-type]


def _filled(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: _filled(part) for name, part in schema["properties"].items()}
    return "as the text says"


def put_in(module: Any) -> None:
    """In the place of the real engine, in the module that holds it, where the folder is one of `write_weights`."""
    real = module.TransformersModel.engine

    def engine(model: Any) -> Any:
        return StandIn(model) if (model.folder / "stand_in").exists() else real(model)

    module.TransformersModel.engine = engine

"""A model that answers from a script: for tests and for documentation that must run anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.models._chat import ModelError, PlainModel, Reply, Request
from medjury.models._sampling import stated_sampling, with_sampling
from medjury.models._tokens import estimate_tokens, request_tokens

Line = str | Reply | Exception
Script = str | Sequence[Line] | Mapping[str, Line] | Callable[[Request], Line]


class Scripted(PlainModel):
    """Answers from a script, which is one text for every question, a list used up in order, a mapping from a
    text in the prompt to the answer (`"*"` for any other prompt), or a function of the request. An answer is
    a text, a whole `Reply`, or an exception that is raised. `requests` keeps what was asked.
    """

    host = None

    takes_images = True

    def __init__(
        self,
        answers: Script,
        *,
        name: str = "scripted",
        vendor: str = "",
        context_window: int | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.vendor = vendor
        self.context_window = context_window
        self.requests: list[Request] = []
        self._answers = answers
        self._next = 0
        known = {"kind": "scripted", "script": _script_hash(answers)}
        self._identity = with_sampling(known, stated_sampling(top_p, top_k, sampling))

    @property
    def identity(self) -> Mapping[str, str]:
        return self._identity

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        line = self._line(request)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        return Reply(
            line, tokens_in=request_tokens(request), tokens_out=estimate_tokens(line), model="scripted"
        )

    def _line(self, request: Request) -> Line:
        script = self._answers
        if isinstance(script, str):
            return script
        if callable(script):
            return script(request)
        if isinstance(script, Mapping):
            prompt = "\n".join(message.content for message in request.messages)
            for text, line in script.items():
                if text != "*" and text in prompt:
                    return line
            if "*" not in script:
                raise MedjuryError(f"the scripted model {self.name!r} has no answer to this and no '*'")
            return script["*"]
        if self._next >= len(script):
            raise MedjuryError(f"the scripted model {self.name!r} was asked more than {len(script)} times")
        self._next += 1
        return script[self._next - 1]

    async def close(self) -> None:
        return None


def _script_hash(script: Script) -> str:
    if callable(script):
        text = f"{getattr(script, '__module__', '')}.{getattr(script, '__qualname__', repr(script))}"
    elif isinstance(script, str):
        text = script
    else:
        pairs = script.items() if isinstance(script, Mapping) else enumerate(script)
        text = json.dumps([[key, _plain(line)] for key, line in pairs])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _plain(line: Line) -> str:
    if isinstance(line, ModelError):
        return f"{line.reason} {line.message} {line.retry} {line.fatal}"
    return line if isinstance(line, str) else repr(line)

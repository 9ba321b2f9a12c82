"""A model whose answers were given before: a study is run again, or shared, without its endpoints and keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._answer_file import AnswerFile, Recorded, RecordedAs
from medjury.models._chat import ChatModel, ModelError, PlainModel, Reply, Request
from medjury.models._faults import NotSentError
from medjury.models._gate.cache import request_key
from medjury.models._gate.context import ContextError, context_window
from medjury.models._sampling import stated_sampling
from medjury.models._tokens import least_request_tokens


def failure_text(error: ModelError, key: str) -> str:
    """Why the call of this key has no reply, as a JSON object."""
    stated: dict[str, object] = {"reason": error.reason.value, "message": error.message, "key": key}
    if isinstance(error, ContextError):  # a record that is too long is shortened by as much
        stated |= {"excess": error.excess, "sent": error.sent}
    return json.dumps(stated)


def failure_of(text: str, model: ChatModel) -> ModelError:
    """The same failure again."""
    stated = json.loads(text)
    if "excess" not in stated:
        return ModelError(Reason(stated["reason"]), stated["message"])
    error = ContextError(model, "", stated["excess"], 0, 0, exact=True, sent=stated["sent"])
    error.message = stated["message"]
    return error


class RecordedModel(PlainModel):
    """Answers from the `file` that `medjury runs record` wrote, and asks nobody.

    It is the recorded model in everything that determines a question or an answer: its identity, its window, its
    maker. So the same study asks the same questions, under the same keys. `model` says which of the file's models
    it is; without it the one that had this name in the run, or the only one. A question that is not in the file has
    no answer, and is never guessed.
    """

    host = None
    shows_token = False  # what was asked was asked then
    takes_images = True

    def __init__(
        self,
        *,
        file: str,
        name: str | None = None,
        model: str | None = None,
        vendor: str | None = None,
        context_window: int | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name or model or "recorded"
        self._path = Path(file).expanduser()
        self._model, self._vendor, self._window = model, vendor, context_window
        self._sampling = stated_sampling(top_p, top_k, sampling)
        self._opened: tuple[AnswerFile, RecordedAs] | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        return self._was.identity

    @property
    def vendor(self) -> str:
        return self._was.vendor if self._vendor is None else self._vendor

    @property
    def context_window(self) -> int | None:  # type: ignore[override]
        return self._window or self._was.context_window

    @property
    def dropped(self) -> Sequence[str]:
        return self._was.dropped

    @property
    def recorded(self) -> str:
        return self._open()[0].hash

    @property
    def recorded_at(self) -> str:
        return self._open()[0].first_rating

    def check(self) -> None:
        """The file is there, and the model is in it."""
        self._open()

    async def count_tokens(self, request: Request) -> int | None:
        """What was answered did fit, however it was counted; what was too long then is too long now."""
        answer = self._find(request)
        if isinstance(answer, str):
            raise failure_of(answer, self)
        if answer is None:
            return None
        room = (context_window(self) or answer.tokens_in) - request.max_tokens
        return max(least_request_tokens(request), min(answer.tokens_in, room))

    async def ask(self, request: Request) -> Reply:
        answer = self._find(request)
        if isinstance(answer, Reply):
            return answer
        if answer is not None:
            raise failure_of(answer, self)
        raise NotSentError(
            Reason.NOT_STORED,
            f"no answer to this question is in {self._path.name}: the cases, the instrument or a setting are not "
            "those of the recorded run. Put them back, or name a model that can be asked",
        )

    def _find(self, request: Request) -> Recorded | None:
        file, was = self._open()
        return file.answers.get(request_key(was.identity, request, request.draw))

    @property
    def _was(self) -> RecordedAs:
        return self._open()[1]

    def _open(self) -> tuple[AnswerFile, RecordedAs]:
        if self._opened is None:
            file = AnswerFile.open(self._path)
            was = self._chosen(file)
            then = json.loads(was.identity.get("sampling", "{}"))
            if self._sampling and self._sampling != then:
                raise MedjuryError(
                    f"{self._path}: {was.title} was recorded with sampling {then or 'not stated'}, and the study "
                    f"says {self._sampling}; take it out, or state it as it was"
                )
            self._opened = file, was
        return self._opened

    def _chosen(self, file: AnswerFile) -> RecordedAs:
        found = [each for each in file.models if self._model in (None, each.title)]
        if len(found) > 1:
            found = [each for each in found if self.name in each.names] or found
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"{each.title} (as {', '.join(each.names)})" for each in file.models) or "none"
        asked = f"holds no answers of {self._model}" if self._model else "does not say which model this is"
        stated = asked if not found else f"holds several models that could be {self.name}"
        raise MedjuryError(
            f"{self._path}: {stated}; its models are {there}. Name one with `model:`, and give the judge the name "
            "that it had in the recorded run"
        )

    async def close(self) -> None:
        return None

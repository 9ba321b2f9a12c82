"""A lasting failure as it is kept, and the same failure again: for replies that are read or given a second time."""

from __future__ import annotations

import json

from medjury.instruments import Reason
from medjury.models._chat import ChatModel, ModelError
from medjury.models._gate.context import ContextError


def failure_text(error: ModelError, key: str) -> str:
    """Why the call of this key has no reply, as a JSON object."""
    told: dict[str, object] = {"reason": error.reason.value, "message": error.message, "key": key}
    if isinstance(error, ContextError):  # a record that is too long is shortened by as much
        told |= {"excess": error.excess, "sent": error.sent}
    return json.dumps(told)


def failure_of(text: str, model: ChatModel) -> ModelError:
    """The same failure again."""
    told = json.loads(text)
    if "excess" not in told:
        return ModelError(Reason(told["reason"]), told["message"])
    error = ContextError(model, "", told["excess"], 0, 0, exact=True, sent=told["sent"])
    error.message = told["message"]
    return error

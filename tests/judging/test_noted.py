"""What is noted of a question: the call that answered it, or the lasting failure that ended it."""

from __future__ import annotations

import pytest

from medjury.instruments import Reason
from medjury.judging._around import Noted
from medjury.models import (
    ContextError,
    Gate,
    MemoryCache,
    Message,
    ModelError,
    Request,
    Scripted,
    failure_of,
    request_key,
)
from medjury.store.ratings import Question

REQUEST = Request((Message("user", "Is it so?"),))


def noted() -> Noted:
    return Noted(Gate(cache=MemoryCache(), attempts=1), "unit-1")


async def test_a_question_is_noted_with_the_key_of_its_call_also_where_the_reply_was_stored() -> None:
    gate, model = Gate(cache=MemoryCache()), Scripted("yes")
    for _ in range(2):
        watched = Noted(gate, "unit-1")
        await watched.ask(model, REQUEST, 3, "first.0")
        assert watched.questions == (Question("unit-1", "first.0", request_key(model.identity, REQUEST, 3)),)
    assert len(model.requests) == 1


async def test_a_lasting_failure_is_noted_and_comes_back_as_it_was() -> None:
    watched, model = noted(), Scripted("yes", context_window=40)
    with pytest.raises(ContextError) as raised:
        await watched.ask(model, Request((Message("user", "word " * 5000),)), 0, "first.0")
    (question,) = watched.questions
    again = failure_of(question.failure, model)
    assert question.reply is None and isinstance(again, ContextError)
    same = ("reason", "message", "excess", "sent", "fatal")
    assert [getattr(again, name) for name in same] == [getattr(raised.value, name) for name in same]


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.OVER_BUDGET, Reason.NOT_STORED])
async def test_a_failure_that_may_pass_is_not_how_a_question_ended(reason: Reason) -> None:
    watched = noted()
    with pytest.raises(ModelError):
        await watched.ask(Scripted([ModelError(reason, "for now")]), REQUEST, 0, "first.0")
    assert watched.questions == ()


async def test_a_question_without_a_name_is_not_noted() -> None:
    watched = noted()
    await watched.ask(Scripted("yes"), REQUEST)
    assert watched.questions == ()

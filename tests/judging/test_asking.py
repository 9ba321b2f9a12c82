"""One step of a strategy: read, complained about, asked again, and never turned into a value that is not there."""

from __future__ import annotations

from typing import Any

import pytest

from medjury.instruments import Reason, Unscored
from medjury.judging import Asked, Speaker, Unusable, ask_for
from medjury.models import Gate, MemoryCache, Message, ModelError, PriceList, Reply, Scripted

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
QUESTION = [Message("user", "Is it supported?")]


def read(value: Any) -> str:
    if not isinstance(value, dict) or value.get("verdict") not in ("yes", "no"):
        raise Unusable("the verdict must be yes or no")
    return str(value["verdict"])


async def ask(answers: list[Any], gate: Gate | None = None, **settings: Any) -> tuple[Asked[str], Scripted]:
    model = Scripted(answers, name="verifier")
    speaker = Speaker(model, **settings)
    return await ask_for(gate or Gate(cache=MemoryCache()), speaker, QUESTION, SCHEMA, read), model


async def test_a_good_answer_is_read_and_its_call_counted() -> None:
    asked, model = await ask(['{"verdict": "yes"}'])
    assert (asked.value, asked.failure, len(asked.answers)) == ("yes", None, 1)
    assert len(model.requests) == 1


async def test_a_wrong_answer_is_handed_back_with_what_was_wrong() -> None:
    asked, model = await ask(['{"verdict": "perhaps"}', "no JSON at all", '```json\n{"verdict": "no"}\n```'])
    assert asked.value == "no" and len(asked.answers) == 3
    told = [message.content for message in model.requests[-1].messages if message.role == "user"]
    assert "the verdict must be yes or no" in told[1] and "no JSON object" in told[2]


async def test_after_the_last_try_the_failure_of_that_try_stands() -> None:
    asked, model = await ask(["x", "y", '{"verdict": 4}', '{"verdict": "yes"}'])
    assert asked.value is None and len(model.requests) == 3
    assert asked.failure == Unscored(Reason.PARSE, "the verdict must be yes or no")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("I cannot", finish="refusal"), Reason.REFUSAL),
        (Reply('{"ver', finish="length"), Reason.TRUNCATED),
    ],
)
async def test_what_telling_does_not_mend_is_not_asked_again(reply: Reply, reason: Reason) -> None:
    asked, model = await ask([reply, '{"verdict": "yes"}'])
    assert asked.failure is not None and asked.failure.reason is reason and len(model.requests) == 1


async def test_a_passing_failure_keeps_its_reason_and_the_answers_before_it() -> None:
    asked, _ = await ask(["x", ModelError(Reason.TIMEOUT, "no answer in 60 s")])
    assert asked.failure == Unscored(Reason.TIMEOUT, "no answer in 60 s") and len(asked.answers) == 1


async def test_a_fatal_failure_is_raised() -> None:
    with pytest.raises(ModelError, match="key"):
        await ask([ModelError(Reason.PROVIDER, "the key is not valid", fatal=True)])


async def test_the_same_step_again_is_answered_from_the_cache_and_keeps_its_worth() -> None:
    model = Scripted([Reply('{"verdict": "yes"}', tokens_in=1_000_000, tokens_out=0)], name="verifier")
    prices = PriceList.shipped().with_price(model, input=2.0, output=8.0)
    gate = Gate(cache=MemoryCache(), prices=prices)
    first, again = [await ask_for(gate, Speaker(model), QUESTION, SCHEMA, read) for _ in range(2)]
    assert again.value == "yes" and len(model.requests) == 1
    assert [answer.cost for answer in (*first.answers, *again.answers)] == [2.0, 0.0]
    assert [answer.worth for answer in (*first.answers, *again.answers)] == [2.0, 2.0]


async def test_an_answer_asked_for_anew_has_another_seed_that_every_endpoint_takes() -> None:
    model = Scripted(['{"verdict": "yes"}'] * 3, name="verifier")
    for draw in (0, 2, 1_763_000_000 * 1_000_000):
        await ask_for(Gate(cache=MemoryCache()), Speaker(model, seed=7), QUESTION, SCHEMA, read, draw)
    plain, repeat, anew = [request.seed or 0 for request in model.requests]
    assert (plain, repeat) == (7, 9) and anew not in (7, 9) and 0 <= anew < 2**31

"""One step of a strategy: read, complained about, asked again, and never turned into a value that is not there."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from medjury.instruments import Reason, Unscored
from medjury.judging import Asked, Sample, Speaker, Unusable, ask_for
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


@pytest.mark.parametrize(
    "answers",
    [
        ["x", "no JSON", '{"verdict": 4}'],
        ["x", ModelError(Reason.TIMEOUT, "no answer in 60 s")],
        [ModelError(Reason.PROVIDER, "down")],
        ['{"verdict": "yes"}'],
    ],
    ids=["unusable", "broken off", "failed", "answered"],
)
async def test_a_question_leaves_nothing_that_only_a_search_for_cycles_would_free(answers: list[Any]) -> None:
    """Its prompt and replies would stay in memory until then, and a judge may fail on thousands of cases."""

    def texts() -> int:
        return sum(isinstance(each, (Message, Reply)) for each in gc.get_objects())

    await ask(list(answers))
    gc.collect()
    gc.disable()
    try:
        before = texts()
        for _ in range(20):
            await ask(list(answers))
        assert texts() <= before
    finally:
        gc.enable()


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
        await ask_for(Gate(cache=MemoryCache()), Speaker(model, seed=7), QUESTION, SCHEMA, read, Sample(draw))
    plain, repeat, anew = [request.seed or 0 for request in model.requests]
    assert (plain, repeat) == (7, 9) and anew not in (7, 9) and 0 <= anew < 2**31


async def test_a_lasting_failure_of_a_reask_leaves_the_fault_of_the_answer_standing() -> None:
    asked, _ = await ask(['{"verdict": "perhaps"}', ModelError(Reason.CONTEXT, "it does not fit any more")])
    assert asked.failure == Unscored(Reason.PARSE, "the verdict must be yes or no")


async def test_of_answers_that_are_not_whole_the_one_that_lacks_least_is_kept() -> None:
    def in_parts(value: Any) -> list[str]:
        found = [each for each in value["verdict"] if each in ("yes", "no")]
        if len(found) < 3:
            raise Unusable("three verdicts are needed", so_far=found, lacking=3 - len(found))
        return found

    model = Scripted([json.dumps({"verdict": each}) for each in (["yes"], ["yes", "no"], [])])
    asked = await ask_for(Gate(cache=MemoryCache()), Speaker(model), QUESTION, SCHEMA, in_parts)
    assert (asked.value, asked.so_far, asked.lacking, len(asked.answers)) == (None, ["yes", "no"], 1, 3)


async def again(gate: Gate, model: Scripted, *, anew: bool = True) -> Asked[str]:
    speaker = Speaker(model, reasks=0)
    return await ask_for(gate, speaker, QUESTION, SCHEMA, read, Sample(anew=anew))


async def test_only_what_was_stored_before_is_drawn_anew() -> None:
    gate, model = Gate(cache=MemoryCache()), Scripted(["x", "y", '{"verdict": "no"}'])
    for asked_before in (1, 2):
        asked = await again(gate, model)
        assert asked.value is None and len(model.requests) == asked_before, (
            "what fails now is not asked again now"
        )
    assert (await again(gate, model)).value == "no"
    assert (await again(gate, model)).value == "no" and len(model.requests) == 3, "all three are stored"
    assert (await again(gate, model, anew=False)).value is None, (
        "without being told to, it draws nothing anew"
    )
    assert len({request.seed for request in model.requests}) == 3


async def test_a_draw_that_a_passing_failure_broke_off_is_gone_on_with() -> None:
    gate = Gate(cache=MemoryCache(), attempts=1)
    model = Scripted(["x", ModelError(Reason.TIMEOUT, "slow"), '{"verdict": "yes"}'])
    await again(gate, model)
    broken = await again(gate, model)
    assert broken.failure is not None and broken.failure.reason is Reason.TIMEOUT
    assert (await again(gate, model)).value == "yes"
    assert model.requests[1] == model.requests[2]

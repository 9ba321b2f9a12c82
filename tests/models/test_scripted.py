"""The scripted model answers from a text, a list, a mapping or a function."""

from __future__ import annotations

import pytest
from tests.models.samples import request

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import ModelError, Reply, Scripted


async def test_a_list_is_used_up_in_order() -> None:
    model = Scripted(["a", Reply("b", finish="length"), ModelError(Reason.TIMEOUT, "late")])
    assert (await model.ask(request())).text == "a"
    assert (await model.ask(request())).finish == "length"
    with pytest.raises(ModelError, match="late"):
        await model.ask(request())
    with pytest.raises(MedjuryError, match="asked more than 3 times"):
        await model.ask(request())
    assert len(model.requests) == 4


async def test_a_mapping_answers_by_what_the_prompt_holds() -> None:
    model = Scripted({"fever": "hot", "*": "other"})
    assert (await model.ask(request("a fever"))).text == "hot"
    assert (await model.ask(request("a cough"))).text == "other"
    with pytest.raises(MedjuryError, match="no answer"):
        await Scripted({"fever": "hot"}).ask(request("a cough"))


async def test_a_function_sees_the_request_and_one_text_answers_everything() -> None:
    model = Scripted(lambda asked: asked.messages[-1].content.upper())
    assert (await model.ask(request("loud"))).text == "LOUD"
    assert [(await Scripted("same").ask(request())).text for _ in range(2)] == ["same", "same"]


def test_another_script_is_another_model() -> None:
    scripts = ["a", ["a"], {"a": "a"}, ["a", "b"], [ModelError(Reason.TIMEOUT, "a")]]
    assert len({Scripted(script).identity["script"] for script in scripts}) == len(scripts)
    assert Scripted(["a"]).identity == Scripted(["a"], name="other").identity

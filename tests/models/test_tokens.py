"""Token estimates: near the truth for clinical English, never below it where a budget depends on them."""

from __future__ import annotations

import json
from importlib import resources

from hypothesis import given
from hypothesis import strategies as st

from medjury.models import Message, Request, estimate_tokens, make_model
from medjury.models._tokens import most_tokens


def summaries() -> list[str]:
    text = resources.files("medjury.studies").joinpath("demo/cases.jsonl").read_text("utf-8")
    return [json.loads(line)["candidate"] for line in text.splitlines()[:3]]


async def test_the_estimate_is_near_a_real_tokenizer_and_the_bound_above_it() -> None:
    model = make_model("embedded")
    bare = Request((Message("system", "x"), Message("user", "")), max_tokens=1)
    empty = (await model.ask(bare)).tokens_in
    for text in summaries():
        asked = Request((Message("system", "x"), Message("user", text)), max_tokens=1)
        true = (await model.ask(asked)).tokens_in - empty
        assert 0.67 < estimate_tokens(text) / true < 1.5
        assert most_tokens(asked) > true + empty
    await model.close()


@given(st.text())
def test_an_estimate_is_between_nothing_and_a_token_per_byte(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")
    assert estimate_tokens(text) <= len(text.encode("utf-8", "replace")) + 1
    assert most_tokens(Request((Message("user", text),))) >= len(text.encode("utf-8", "replace"))


def test_letters_outside_ascii_count_one_by_one() -> None:
    assert estimate_tokens("شكرا") == 4
    assert estimate_tokens("thank you") == 3

"""A reply yields the judge's own score or none, whatever it is made of; `make bench` makes more."""

from __future__ import annotations

import json
import re
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.adversarial.replies import MadeReply, made_reply

from medjury.instruments import AnswerForm, AnswerReader, Outcome, Score, Unscored, read_answer

REPLIES = 2_000


def outcomes(made: MadeReply) -> dict[str, Outcome]:
    reader = AnswerReader(AnswerForm.of(made.instrument), made.texts)
    return read_answer(made.instrument, made.reply, None, reader)


def is_wrong(made: MadeReply, found: dict[str, Outcome]) -> bool:
    """A score, or "not applicable", that is not the judge's own."""
    read = {
        name: outcome.value if isinstance(outcome, Score) else None
        for name, outcome in found.items()
        if not isinstance(outcome, Unscored)
    }
    return any(name not in made.own or made.own[name] != value for name, value in read.items())


def is_read(found: dict[str, Outcome]) -> bool:
    return not any(isinstance(outcome, Unscored) for outcome in found.values())


@settings(max_examples=REPLIES, derandomize=True, deadline=None, database=None)
@given(st.integers(0, 2**48).map(lambda seed: made_reply(Random(seed))))
def test_a_reply_yields_the_judges_own_score_or_none(made: MadeReply) -> None:
    found = outcomes(made)
    assert not is_wrong(made, found)
    assert is_read(found) or not made.clean, (
        "one object and nothing else, with reasons of its own, has to be read"
    )


def test_that_is_not_held_by_refusing_good_answers() -> None:
    made = [made_reply(Random(f"reply {number}")) for number in range(REPLIES)]
    assert sum(each.clean for each in made) > 200
    framed = [is_read(outcomes(each)) for each in made if each.framed]
    assert len(framed) > 80 and sum(framed) >= 0.99 * len(framed)


def test_a_reader_that_does_not_know_the_texts_would_be_caught() -> None:
    """So would one that takes the last object, or the first: the replies are hard enough to tell."""
    made = [made_reply(Random(f"reply {number}")) for number in range(1_000)]
    assert sum(is_wrong(each, read_answer(each.instrument, each.reply)) for each in made) > 20
    for place in (0, -1):
        assert sum(is_wrong(each, _by_place(each, place)) for each in made) > 50


def _by_place(made: MadeReply, place: int) -> dict[str, Outcome]:
    objects = []
    for found in re.findall(r"\{.*?\}+", made.reply, re.DOTALL):
        try:
            objects.append(json.loads(found))
        except ValueError:
            continue
    return read_answer(made.instrument, objects[place] if objects else {})

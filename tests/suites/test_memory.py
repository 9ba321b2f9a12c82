"""Whether a model knows a benchmark by heart: scripted models that do and do not."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import completion_probe, exchangeability_test
from medjury.suites._memory import comes_back

WORDS = [
    "fever",
    "cough",
    "rash",
    "pain",
    "dose",
    "tablet",
    "nurse",
    "ward",
    "blood",
    "urine",
    "heart",
    "liver",
    "kidney",
    "child",
    "adult",
    "night",
    "morning",
]


def text_of(seed: int, length: int = 30) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(length))


ITEMS = [f"Question {number}: {text_of(number, 8)}" for number in range(60)]


def unseen(text: str) -> float:
    """A model without memory: what it says of a text depends on its words and on chance."""
    return -2.0 * len(text) + random.Random(text).gauss(0, 5)


def memorised(text: str) -> float:
    """A model that finds every item likelier right behind the one that came before it in the file."""
    found = text.split("\n\n")
    follows = sum(ITEMS.index(one) + 1 == ITEMS.index(other) for one, other in pairwise(found))
    return unseen(text) + 4.0 * follows


def test_a_model_that_knows_the_published_order_is_found() -> None:
    found = exchangeability_test(ITEMS, memorised)
    assert found.p_value <= 0.001
    assert found.memorised() is True
    assert found.advantage > 10
    assert found.text().startswith("memorised: ")


def test_a_model_without_memory_is_not_accused() -> None:
    found = exchangeability_test(ITEMS, unseen)
    assert found.p_value > 0.05
    assert found.memorised() is False
    assert "would not be noticed" in found.text()


def test_the_false_alarms_are_as_many_as_the_level_says() -> None:
    values = [
        exchangeability_test(
            ITEMS[:12], lambda text, seed=seed: random.Random(f"{seed}{text}").random(), shards=3, shuffles=4
        ).p_value
        for seed in range(400)
    ]
    assert 0.02 <= sum(value <= 0.05 for value in values) / len(values) <= 0.09
    assert min(values) == pytest.approx(1 / 125)


def test_the_texts_asked_for_are_counted_and_hold_every_item() -> None:
    asked: list[str] = []
    found = exchangeability_test(ITEMS, lambda text: asked.append(text) or 0.0, shards=4, shuffles=3)
    assert found.calls == len(asked) == 16
    assert sorted("\n\n".join(asked[::4]).split("\n\n")) == sorted(ITEMS)
    assert "\n\n".join(asked[::4]).split("\n\n") == ITEMS  # the first of each shard is the published order
    assert found.p_value == 1  # all are alike


def test_too_few_orders_cannot_tell() -> None:
    found = exchangeability_test(ITEMS[:6], memorised, shards=1, shuffles=9)
    assert found.smallest == 0.1
    assert found.memorised() is None
    assert "cannot be told" in found.text()


def test_a_shard_of_one_or_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(MedjuryError, match="too few orders"):
        exchangeability_test(ITEMS[:1], unseen)
    with pytest.raises(MedjuryError, match="not a finite number"):
        exchangeability_test(ITEMS, lambda text: math.nan)
    with pytest.raises(MedjuryError, match="at least one other order"):
        exchangeability_test(ITEMS, unseen, shuffles=0)


KNOWN = [text_of(number) for number in range(20)]
CONTROL = [text_of(number) for number in range(100, 120)]


def knows(first_half: str) -> str:
    """Continues what it knows word for word, and makes something up otherwise."""
    return next(
        (text[len(first_half) :] for text in KNOWN if text.startswith(first_half)), " and so on and on"
    )


def test_items_that_come_back_word_for_word_are_found() -> None:
    found = completion_probe(KNOWN, CONTROL, knows)
    assert (found.returned, found.control_returned) == (20, 0)
    assert found.memorised() is True
    assert found.text().startswith("memorised: 20 of 20 items came back")


def test_a_model_that_makes_things_up_is_not_accused_and_the_power_is_told() -> None:
    found = completion_probe(CONTROL, KNOWN[:20], lambda first_half: "nothing of the kind was ever said here")
    assert found.memorised() is False
    assert found.detectable == 5  # of 20 against none of 20: 2 · C(20, 5) / C(40, 5) = 0.047
    assert "Up to 17 % of all such items" in found.text()


def test_what_anybody_could_continue_is_no_memory() -> None:
    texts = [
        f"{text_of(number, 10)} take one tablet in the morning and one tablet at night with a glass of water"
        for number in range(15)
    ]
    others = [
        f"{text_of(number, 10)} take one tablet in the morning and one tablet at night with a glass of water"
        for number in range(50, 65)
    ]
    ending = "tablet in the morning and one tablet at night with a glass of water"
    found = completion_probe(texts, others, lambda first_half: ending)
    assert found.returned == found.control_returned == 15
    assert found.memorised() is not True


def test_a_model_that_repeats_the_first_half_is_read_behind_it() -> None:
    assert comes_back(KNOWN[0], lambda first_half: first_half + knows(first_half)) == 1


def test_short_texts_are_left_out_and_counted() -> None:
    found = completion_probe([*KNOWN, "too short"], CONTROL, knows)
    assert (found.items, found.too_short) == (20, 1)
    with pytest.raises(MedjuryError, match="at least 16 words"):
        completion_probe(["too short"], CONTROL, knows)


def test_so_few_texts_that_nothing_could_be_found_cannot_tell() -> None:
    found = completion_probe(KNOWN[:2], CONTROL[:2], knows)
    assert found.memorised() is None
    assert "cannot be told" in found.text()

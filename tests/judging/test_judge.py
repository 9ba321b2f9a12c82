"""A judge gives one row per dimension, whatever the model says; what it says wrongly never becomes a score."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from medjury.instruments import Dimension, Input, Instrument, Reason, SkipRule
from medjury.intake.cases import Case
from medjury.judging import Expected, Judge, Used
from medjury.models import (
    Gate,
    MemoryCache,
    ModelError,
    Reply,
    Request,
    Scripted,
    estimate_tokens,
    most_tokens,
)
from medjury.store.ratings import Rating

INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.",
    (Input("candidate", "Summary"),),
    (
        Dimension("accuracy", "Accuracy", "Right?", {1: "no", 2: "partly", 3: "yes"}),
        Dimension("clarity", "Clarity", "Clear?", {1: "no", 2: "partly", 3: "yes"}),
    ),
)  # fmt: skip
CASE = Case("case-1", "A summary.", system="system-a")
GOOD = json.dumps(
    {"accuracy": {"explanation": "fine", "score": 3}, "clarity": {"explanation": "ok", "score": 2}}
)


async def rate(answers: list[Any], **settings: Any) -> tuple[list[Rating], Scripted]:
    model = Scripted(answers, name="juror")
    judge = Judge(model, INSTRUMENT, **settings)
    gate = Gate(cache=MemoryCache())
    (unit,) = judge.units(CASE, 0)
    return list((await judge.rate(unit, gate)).ratings), model


def scores(ratings: list[Rating]) -> dict[str, float | Reason | None]:
    return {rating.dimension: rating.score if rating.reason is None else rating.reason for rating in ratings}


async def test_a_good_answer_gives_a_scored_row_per_dimension() -> None:
    ratings, _ = await rate([Reply(GOOD, tokens_in=101, tokens_out=21, seconds=2.0)])
    assert scores(ratings) == {"accuracy": 3, "clarity": 2}
    assert ratings[0].explanation == "fine" and ratings[0].instrument == "small@1.0"


async def test_the_shares_of_a_call_sum_to_the_call() -> None:
    ratings, _ = await rate([Reply(GOOD, tokens_in=101, tokens_out=21, seconds=2.0)])
    assert sum(rating.tokens_in or 0 for rating in ratings) == 101
    assert sum(rating.tokens_out or 0 for rating in ratings) == 21
    assert sum(rating.seconds or 0 for rating in ratings) == 2.0


async def test_an_unusable_answer_is_handed_back_with_what_was_wrong() -> None:
    ratings, model = await rate(["I would say 3.", GOOD])
    assert scores(ratings) == {"accuracy": 3, "clarity": 2}
    assert len(model.requests) == 2
    assert [message.role for message in model.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert "could not be used" in model.requests[1].messages[-1].content


async def test_after_two_reasks_it_is_unscored() -> None:
    ratings, model = await rate(["no", "no", "no", GOOD])
    assert scores(ratings) == {"accuracy": Reason.PARSE, "clarity": Reason.PARSE}
    assert len(model.requests) == 3


async def test_the_answer_with_the_most_scores_is_kept() -> None:
    half = json.dumps(
        {"accuracy": {"explanation": "", "score": 3}, "clarity": {"explanation": "", "score": 9}}
    )
    ratings, _ = await rate([half, "nonsense", "nonsense"])
    assert scores(ratings) == {"accuracy": 3, "clarity": Reason.OUT_OF_RANGE}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("I cannot help", finish="refusal"), Reason.REFUSAL),
        (Reply(GOOD, finish="refusal"), Reason.REFUSAL),
        (Reply(GOOD, finish="length"), Reason.TRUNCATED),
        (Reply(""), Reason.EMPTY),
        (Reply("{}"), Reason.MISSING),
        (Reply('{"accuracy": 7, "clarity": 0}'), Reason.OUT_OF_RANGE),
        (Reply('{"accuracy": 3, "clarity": 2'), Reason.PARSE),
    ],
)
async def test_no_fault_becomes_a_score(reply: Reply, reason: Reason) -> None:
    ratings, _ = await rate([reply] * 3)
    assert all(rating.score is None and rating.reason is reason for rating in ratings)
    assert all(rating.explanation for rating in ratings)


async def test_a_refusal_is_not_asked_again() -> None:
    _, model = await rate([Reply("no", finish="refusal")] * 3)
    assert len(model.requests) == 1


async def test_a_failed_call_is_unscored_and_its_cost_unknown() -> None:
    ratings, _ = await rate([ModelError(Reason.CONTEXT, "the prompt does not fit")])
    assert {rating.reason for rating in ratings} == {Reason.CONTEXT}
    assert all(rating.cost is None and rating.tokens_in is None for rating in ratings)


def test_every_thing_that_determines_the_answer_changes_the_key() -> None:
    model = Scripted([GOOD], name="juror")
    base = Judge(model, INSTRUMENT)
    other_words = Instrument(**{**_fields(INSTRUMENT), "instructions": "Grade it strictly."})
    variants = [
        base.units(CASE, 0),
        base.units(CASE, 1),
        base.units(Case("case-1", "Another summary.", system="system-a"), 0),
        Judge(model, other_words).units(CASE, 0),
        Judge(model, INSTRUMENT, temperature=0.5).units(CASE, 0),
        Judge(model, INSTRUMENT, seed=1).units(CASE, 0),
        Judge(model, INSTRUMENT, max_tokens=99).units(CASE, 0),
        Judge(model, INSTRUMENT, explain=False).units(CASE, 0),
        Judge(Scripted([GOOD], name="other"), INSTRUMENT).units(CASE, 0),
    ]
    keys = {unit.key for units in variants for unit in units}
    assert len(keys) == len(variants)


def test_a_key_is_the_hash_of_settings_name_case_repeat_and_dimensions() -> None:
    """Stored answers are found by it: however it is computed, it stays what it was."""
    judge = Judge(Scripted([GOOD], name="jürör"), INSTRUMENT, per_dimension=True)
    for repeat in (0, 3):
        for unit in judge.units(CASE, repeat):
            stem = f"{judge.settings_hash()} {judge.name} {CASE.fingerprint()} {repeat}"
            told = stem.encode() + "\0".join(unit.dimensions).encode()
            assert unit.key == hashlib.sha256(told).hexdigest()


def test_per_dimension_keeps_a_skip_rule_with_the_dimension_it_looks_at() -> None:
    dimensions = (
        *INSTRUMENT.dimensions,
        Dimension("needed", "Needed", "?", {0: "no", 1: "yes"}),
        Dimension("made", "Made", "?", {1: "badly", 2: "well"}, skip=SkipRule("needed", 0)),
    )
    instrument = Instrument(**{**_fields(INSTRUMENT), "dimensions": dimensions})
    judge = Judge(Scripted([GOOD], name="juror"), instrument, per_dimension=True)
    assert judge.groups == (("accuracy",), ("clarity",), ("needed", "made"))
    assert len({unit.key for unit in judge.units(CASE, 0)}) == 3


def _fields(instrument: Instrument) -> dict[str, Any]:
    return {name: getattr(instrument, name) for name in instrument.__dataclass_fields__}


async def test_a_reask_stopped_by_the_budget_leaves_the_rating_open() -> None:
    ratings, _ = await rate(["not JSON", ModelError(Reason.OVER_BUDGET, "no room")])
    assert {rating.reason for rating in ratings} == {Reason.OVER_BUDGET}
    half = '{"accuracy": {"explanation": "", "score": 3}, "clarity": {"explanation": "", "score": 9}}'
    ratings, _ = await rate([half, ModelError(Reason.TIMEOUT, "too slow")])
    assert scores(ratings) == {"accuracy": 3, "clarity": Reason.TIMEOUT}


@pytest.mark.parametrize(
    "text", ["A summary.", "Température 38 °C, 咳嗽\n", "half \ud800 a pair, \x00", "x" * 5_000]
)
@pytest.mark.parametrize("per_dimension", [False, True])
def test_what_is_expected_is_counted_as_on_the_question_that_is_asked(text: str, per_dimension: bool) -> None:
    judge = Judge(
        Scripted([], name="juror"), INSTRUMENT, reasks=0, max_tokens=50, per_dimension=per_dimension
    )
    for unit in judge.units(Case("case-1", text), 0):
        request, expected = judge.request(unit), judge.expected(unit)
        assert isinstance(request, Request) and isinstance(expected, Expected)
        assert expected.tokens_in == sum(estimate_tokens(each.content) for each in request.messages)
        assert expected.most == Used(1, most_tokens(request), 50)

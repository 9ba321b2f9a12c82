"""Repeats as one judge: one score from several draws, the spread told, and nothing lost on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from medjury.instruments import Dimension, Input, Instrument, Reason
from medjury.intake.cases import Case
from medjury.judging import Judge, Repeats
from medjury.judging._rater import Rated
from medjury.models import Gate, MemoryCache, ModelError, Reply, Request, Scripted, StoppedError

SCALE = {1: "bad", 2: "poor", 3: "fair", 4: "good", 5: "best"}
INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.",
    (Input("candidate", "Summary"),),
    (
        Dimension("accuracy", "Accuracy", "Right?", SCALE),
        Dimension("clarity", "Clarity", "Clear?", SCALE, may_be_not_applicable=True),
    ),
)  # fmt: skip
CASE = Case("case-1", "A summary.", system="system-a")


def answer(accuracy: int, clarity: int | None = 3) -> str:
    return json.dumps(
        {
            "accuracy": {"explanation": f"it is {accuracy}", "score": accuracy},
            "clarity": {"explanation": "clear", "score": clarity},
        }
    )


def repeats(
    script: Any, *, n: int = 5, rule: Any = "median", quorum: int | None = None, **judge: Any
) -> Repeats:
    model = Scripted(script, name="juror")
    return Repeats(Judge(model, INSTRUMENT, **{"temperature": 0.7, "seed": 10, **judge}), n, rule, quorum)


async def rate(rater: Repeats, *, repeat: int = 0, gate: Gate | None = None) -> Rated:
    (unit,) = rater.units(CASE, repeat)
    return await rater.rate(unit, gate or Gate(cache=MemoryCache()))


def outcomes(rated: Rated) -> dict[str, float | Reason | None]:
    return {row.dimension: row.score if row.reason is None else row.reason for row in rated.ratings}


def asked(rater: Repeats) -> list[Request]:
    model = rater.judge.model
    assert isinstance(model, Scripted)
    return model.requests


@pytest.mark.parametrize(("rule", "score"), [("median", 4), ("mean", 3.6), ("majority", 4)])
async def test_several_draws_become_one_rating_by_the_rule(rule: str, score: float) -> None:
    rated = await rate(repeats([answer(each) for each in (4, 2, 4, 4, 4)], rule=rule))
    assert outcomes(rated) == {"accuracy": score, "clarity": 3}


async def test_every_draw_has_a_seed_of_its_own() -> None:
    rater = repeats([answer(4)] * 10)
    await rate(rater)
    await rate(rater, repeat=1)
    assert [request.seed for request in asked(rater)] == list(range(10, 20))


async def test_the_row_tells_the_scores_their_spread_and_the_words_of_the_draw_nearest_to_it() -> None:
    rated = await rate(repeats([answer(each) for each in (5, 3, 4)], n=3))
    told = rated.ratings[0].explanation
    assert told == "scores 3, 4, 5 (of 3), standard deviation 1.00. A draw of 4 said: it is 4"


async def test_the_record_keeps_every_draw_word_for_word() -> None:
    rated = await rate(repeats([answer(5), answer(3, None), "no", "no", "no"], n=3))
    assert rated.record is not None
    record = json.loads(json.dumps(rated.record.content()))
    assert next(iter(record)) == "kind" and record["kind"] == "repeats"
    first, second, third = record["draws"]
    assert first["seed"] == 10 and third["draw"] == 3
    assert first["outcomes"]["accuracy"] == {
        "status": "scored", "score": 5, "reason": None, "explanation": "it is 5",
    }  # fmt: skip
    assert second["outcomes"]["clarity"]["status"] == "not_applicable"
    assert third["outcomes"]["accuracy"]["reason"] == "parse" and third["outcomes"]["accuracy"]["explanation"]
    spread = record["spread"]["accuracy"]
    assert (
        spread["scores"] == [5, 3]
        and spread["mean"] == 4
        and spread["standard_deviation"] == pytest.approx(2**0.5)
    )
    assert "clarity" not in record["spread"]  # one score has no spread


async def test_calls_tokens_and_cost_of_all_draws_and_reasks_are_in_the_rows() -> None:
    replies = [Reply("no", tokens_in=50, tokens_out=1), *[Reply(answer(4), tokens_in=101, tokens_out=21)] * 3]
    rated = await rate(repeats(replies, n=3))
    assert sum(row.calls or 0 for row in rated.ratings) == 4
    assert sum(row.tokens_in or 0 for row in rated.ratings) == 353
    assert sum(row.tokens_out or 0 for row in rated.ratings) == 64


async def test_draws_that_fail_are_counted_and_without_a_quorum_there_is_no_score() -> None:
    refusal = Reply("I cannot.", finish="refusal")
    rated = await rate(repeats([answer(4), refusal, answer(2), refusal, answer(2)]))
    assert outcomes(rated)["accuracy"] == 2
    assert rated.ratings[0].explanation.startswith("scores 2, 2, 4; 2 unscored (of 5)")
    rated = await rate(repeats([answer(4), refusal, answer(2), refusal, refusal]))
    assert outcomes(rated)["accuracy"] is Reason.NO_QUORUM
    assert rated.ratings[0].explanation.endswith("3 scores are needed (3 refusal)")
    rated = await rate(repeats([answer(4), refusal, answer(2), refusal, refusal], quorum=2))
    assert outcomes(rated)["accuracy"] == 3


async def test_a_tie_of_the_majority_rule_is_unscored() -> None:
    rated = await rate(repeats([answer(4), answer(4), answer(2), answer(2)], n=4, rule="majority"))
    assert outcomes(rated)["accuracy"] is Reason.TIE


async def test_where_every_draw_failed_in_the_same_way_that_is_the_reason() -> None:
    rated = await rate(repeats([Reply("I cannot.", finish="refusal")] * 5))
    assert set(outcomes(rated).values()) == {Reason.REFUSAL}
    assert rated.ratings[0].explanation.startswith("each of 5 draws: ")


async def test_a_failure_for_now_leaves_the_whole_unit_open_and_the_next_run_asks_only_the_rest() -> None:
    gate = Gate(cache=MemoryCache(), attempts=1)
    script = [answer(4), answer(4), ModelError(Reason.TIMEOUT, "too slow"), answer(2), answer(2), answer(2)]
    rater = repeats(script)
    first = await rate(rater, gate=gate)
    assert set(outcomes(first).values()) == {Reason.TIMEOUT}
    assert first.ratings[0].explanation == "draw 3 of 5: too slow"
    assert len(asked(rater)) == 3
    second = await rate(rater, gate=gate)
    assert outcomes(second)["accuracy"] == 2 and len(asked(rater)) == 6


async def test_asking_anew_asks_only_for_the_draws_that_could_not_be_used() -> None:
    gate = Gate(cache=MemoryCache())
    refusal = Reply("I cannot.", finish="refusal")
    rater = repeats([answer(4), refusal, refusal, answer(5), answer(5)], n=3)
    (unit,) = rater.units(CASE, 0)
    assert set(outcomes(await rater.rate(unit, gate)).values()) == {Reason.NO_QUORUM}
    again = await rater.rate(replace(unit, again=True), gate)
    assert outcomes(again)["accuracy"] == 5 and len(asked(rater)) == 5


async def test_the_draws_are_those_the_judge_alone_would_give_and_are_paid_for_once() -> None:
    rater = repeats([answer(each) for each in (4, 3, 5)], n=3)
    gate = Gate(cache=MemoryCache())
    for repeat in range(3):
        (unit,) = rater.judge.units(CASE, repeat)
        await rater.judge.rate(unit, gate)
    assert outcomes(await rate(rater, gate=gate))["accuracy"] == 4
    assert len(asked(rater)) == 3


def test_everything_that_determines_the_rating_changes_its_hash() -> None:
    variants: list[Callable[[], Repeats]] = [
        lambda: repeats("{}"),
        lambda: repeats("{}", n=3),
        lambda: repeats("{}", rule="mean"),
        lambda: repeats("{}", quorum=5),
        lambda: repeats("{}", temperature=0.1),
        lambda: repeats("{}", seed=11),
    ]
    hashes = {made().settings_hash() for made in variants} | {repeats("{}").judge.settings_hash()}
    assert len(hashes) == len(variants) + 1
    assert repeats("{}").describe()["strategy"] == "repeats" and repeats("{}").describe()["n"] == 5


@pytest.mark.parametrize("made", range(5))
async def test_a_stop_among_the_draws_gives_no_rating_and_nothing_is_asked_twice(made: int) -> None:
    """A quorum of one would be content with the draws that there are: a stop is no failure to be counted so."""
    script = [answer(each) for each in (4, 2, 5, 4, 1)]
    cache, rater = MemoryCache(), repeats(script, quorum=1)
    with pytest.raises(StoppedError):
        await rate(rater, gate=Gate(cache=cache, stopped=lambda: len(asked(rater)) >= made))
    assert len(asked(rater)) == made
    rated = await rate(rater, gate=Gate(cache=cache))
    assert len(asked(rater)) == 5 and outcomes(rated) == outcomes(await rate(repeats(script, quorum=1)))

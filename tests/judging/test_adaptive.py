"""The adaptive jury: it stops where nothing is open, goes on where jurors differ, and never hides a failure."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.judging.test_repeats import CASE, INSTRUMENT, answer

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason, Unscored
from medjury.judging import AdaptiveBody, AdaptiveJury, AdaptiveRule, Judge, Used, Widths
from medjury.judging._rater import Rated
from medjury.models import Gate, MemoryCache, ModelError, Reply, Scripted

REFUSAL = Reply("I cannot.", finish="refusal")


def jury(*scripts: Any, rule: AdaptiveRule | None = None, **judge: Any) -> AdaptiveJury:
    """Jurors a, b, c… with a script each."""
    jurors = [
        Judge(Scripted(script, name=name), INSTRUMENT, **{"seed": 10 + place, **judge})
        for place, (name, script) in enumerate(zip("abcdef", scripts, strict=False))
    ]
    return AdaptiveJury("jury", jurors, rule or AdaptiveRule(0.125))


async def rate(rater: AdaptiveJury, *, repeat: int = 0, gate: Gate | None = None) -> Rated:
    (unit,) = rater.units(CASE, repeat)
    return await rater.rate(unit, gate or Gate(cache=MemoryCache()))


def outcomes(rated: Rated) -> dict[str, float | Reason | None]:
    return {row.dimension: row.score if row.reason is None else row.reason for row in rated.ratings}


def asked(rater: AdaptiveJury) -> list[int]:
    """How often each juror was asked."""
    return [len(juror.model.requests) for juror in rater.jurors]  # type: ignore[attr-defined]


async def test_one_juror_is_enough_where_others_have_no_room_to_differ() -> None:
    rater = jury(answer(5, 5), answer(1), answer(1))
    rated = await rate(rater)
    assert outcomes(rated) == {"accuracy": 5, "clarity": 5} and asked(rater) == [1, 0, 0]
    assert isinstance(rated.record, AdaptiveBody) and rated.record.stopped == "settled"


async def test_a_second_juror_who_agrees_is_enough_for_a_middling_case() -> None:
    rater = jury(answer(3, 5), answer(3, 5), answer(1))
    rated = await rate(rater)
    assert outcomes(rated) == {"accuracy": 3, "clarity": 5} and asked(rater) == [1, 1, 0]


async def test_jurors_who_disagree_make_it_go_on_to_the_last() -> None:
    rater = jury(answer(5, 4), answer(2, 4), answer(4, 4))
    rated = await rate(rater)
    assert outcomes(rated)["accuracy"] == pytest.approx(11 / 3) and asked(rater) == [1, 1, 1]
    assert isinstance(rated.record, AdaptiveBody) and rated.record.stopped == "all calls made"


async def test_the_record_holds_every_vote_and_what_was_open_after_it() -> None:
    rated = await rate(jury(answer(3, 5), answer(3, 5), answer(1)))
    assert rated.record is not None
    record = json.loads(json.dumps(rated.record.content()))
    assert next(iter(record)) == "kind" and record["kind"] == "adaptive"
    first, second = record["calls"]
    assert (first["juror"], second["juror"]) == ("a", "b")
    assert first["outcomes"]["accuracy"] == {
        "status": "scored", "score": 3, "reason": None, "explanation": "it is 3",
    }  # fmt: skip
    assert first["open"] == ["accuracy"] and second["open"] == []
    assert first["doubt"] == {"accuracy": 0.25, "clarity": 0.0} and second["doubt"]["accuracy"] == 0.125
    assert record["rule"]["tolerance"] == 0.125 and record["jurors"] == ["a", "b", "c"]


async def test_a_row_tells_the_votes_the_calls_and_the_words_of_the_nearest_juror() -> None:
    rated = await rate(jury(answer(5, 5), answer(2, 5), answer(4, 5), rule=AdaptiveRule(0.0, minimum=3)))
    told = rated.ratings[0].explanation
    assert told == "scores 2, 4, 5 (of 3); 3 of at most 3 calls. c, who gave 4, said: it is 4"


async def test_a_juror_who_fails_gives_no_vote_and_the_next_is_asked() -> None:
    rater = jury([REFUSAL], answer(5, 5), answer(1))
    rated = await rate(rater)
    assert outcomes(rated) == {"accuracy": 3, "clarity": 4} and asked(rater) == [1, 1, 1]
    assert "no vote from a: refusal, the model declined to answer" in rated.ratings[0].explanation
    assert rated.record is not None
    calls: Any = rated.record.content()["calls"]
    assert calls[0]["outcomes"]["accuracy"]["reason"] == "refusal" and calls[0]["doubt"]["accuracy"] is None


async def test_a_dimension_that_a_juror_left_out_is_open() -> None:
    partly = json.dumps({"accuracy": {"explanation": "good", "score": 5}})
    rater = jury([partly] * 3, answer(5, 5), answer(5, 5))
    assert outcomes(await rate(rater)) == {"accuracy": 5, "clarity": 5} and asked(rater) == [3, 1, 1]


async def test_too_few_votes_are_no_score_and_the_reasons_are_told() -> None:
    rated = await rate(jury([REFUSAL], answer(5, 5), ["no", "no", "no"], rule=AdaptiveRule(0.1, minimum=2)))
    assert set(outcomes(rated).values()) == {Reason.NO_QUORUM}
    told = rated.ratings[0].explanation
    assert told.startswith("votes: 1 where 2 are needed (a: refusal") and "c: parse" in told


async def test_without_any_vote_the_reason_is_the_last_jurors() -> None:
    rated = await rate(jury([REFUSAL], ["no", "no", "no"]))
    assert set(outcomes(rated).values()) == {Reason.PARSE}
    assert rated.ratings[0].explanation.startswith("no juror gave a usable vote (a: refusal")


async def test_a_failure_that_may_pass_leaves_the_unit_open_and_the_next_run_asks_only_the_rest() -> None:
    gate = Gate(cache=MemoryCache(), attempts=1)
    rater = jury([answer(3)], [ModelError(Reason.TIMEOUT, "too slow"), answer(1)], [answer(2)])
    first = await rate(rater, gate=gate)
    assert set(outcomes(first).values()) == {Reason.TIMEOUT}
    assert first.ratings[0].explanation == "juror b: too slow" and asked(rater) == [1, 1, 0]
    second = await rate(rater, gate=gate)
    assert outcomes(second)["accuracy"] == 2 and asked(rater) == [1, 2, 1]


async def test_asking_anew_asks_only_the_jurors_whose_answers_could_not_be_used() -> None:
    gate = Gate(cache=MemoryCache())
    rater = jury([answer(5, 5)], [REFUSAL, answer(4, 4)], rule=AdaptiveRule(0.1, minimum=2))
    (unit,) = rater.units(CASE, 0)
    assert set(outcomes(await rater.rate(unit, gate)).values()) == {Reason.NO_QUORUM}
    again = await rater.rate(replace(unit, again=True), gate)
    assert outcomes(again) == {"accuracy": 4.5, "clarity": 4.5} and asked(rater) == [1, 2]


async def test_where_all_say_not_applicable_it_is_and_where_some_do_the_jury_goes_on() -> None:
    rater = jury(answer(5, None), answer(1))
    assert outcomes(await rate(rater)) == {"accuracy": 5, "clarity": None} and asked(rater) == [1, 0]
    rater = jury(answer(5, 4), answer(5, None), answer(5, None), rule=AdaptiveRule(0.1, minimum=2))
    rated = await rate(rater)
    assert outcomes(rated)["clarity"] is None and asked(rater) == [1, 1, 1]
    assert rated.ratings[1].status == "not_applicable"


async def test_repeats_come_after_the_last_juror_and_a_jurors_votes_count_as_one() -> None:
    rule = AdaptiveRule(0.01, maximum=5)
    rater = jury([answer(5), answer(3), answer(3)], [answer(1), answer(3)], rule=rule, temperature=0.7)
    rated = await rate(rater)
    assert asked(rater) == [3, 2]
    assert outcomes(rated)["accuracy"] == pytest.approx(((5 + 3 + 3) / 3 + (1 + 3) / 2) / 2)
    seeds = [[request.seed for request in juror.model.requests] for juror in rater.jurors]  # type: ignore[attr-defined]
    assert seeds == [[10, 11, 12], [11, 12]]


async def test_stored_votes_of_the_jurors_as_single_judges_are_not_paid_for_again() -> None:
    rater, gate = jury([answer(3)], [answer(4)]), Gate(cache=MemoryCache())
    for juror in rater.jurors:
        (unit,) = juror.units(CASE, 0)
        await juror.rate(unit, gate)
    assert outcomes(await rate(rater, gate=gate))["accuracy"] == 3.5 and asked(rater) == [1, 1]


def test_the_plan_expects_half_of_the_calls_beyond_the_minimum_and_bounds_them_all() -> None:
    rater = jury(answer(4), answer(4, 4), answer(4, 5))
    (unit,) = rater.units(CASE, 0)
    one, all_of_them = rater.jurors[0].expected(unit), rater.expected(unit)
    assert not isinstance(one, Unscored) and not isinstance(all_of_them, Unscored)
    assert (all_of_them.calls, all_of_them.tokens_in) == (2, 2 * one.tokens_in)
    assert one.most.calls == 3 and all_of_them.most == Used().plus(one.most, 3)


def test_everything_that_determines_the_rating_changes_its_hash() -> None:
    widths = Widths({"accuracy": ({},), "clarity": ({},)}, {"accuracy": (0.3,), "clarity": (0.3,)})
    made = [
        jury("{}", "[]"),
        jury("[]", "{}"),
        jury("{}", "[]", "1"),
        jury("{}", "[]", temperature=0.5),
        *(
            jury("{}", "[]", rule=rule)
            for rule in (
                AdaptiveRule(0.2),
                AdaptiveRule(0.125, 2),
                AdaptiveRule(0.125, maximum=1),
                AdaptiveRule(0.125, threshold=3.0),
                AdaptiveRule(0.125, widths=widths),
            )
        ),
    ]
    assert len({each.settings_hash() for each in made}) == len(made)
    told = made[-1].describe()
    assert told["strategy"] == "adaptive" and json.dumps(told)


@pytest.mark.parametrize(
    ("scripts", "rule", "told"),
    [
        ((), AdaptiveRule(), "needs jurors"),
        (("{}",), AdaptiveRule(0.1, minimum=2), "cannot give the minimum of 2"),
        (("{}", "[]"), AdaptiveRule(maximum=3), "at temperature 0 a model gives the same answer again"),
        (("{}", "[]"), AdaptiveRule(widths=Widths({}, {})), "no widths for accuracy, clarity"),
    ],
)
def test_a_jury_that_cannot_work_is_refused(scripts: Any, rule: AdaptiveRule, told: str) -> None:
    with pytest.raises(MedjuryError, match=told):
        jury(*scripts, rule=rule)


def test_jurors_are_told_apart_and_asked_the_same() -> None:
    first = Judge(Scripted("{}", name="a"), INSTRUMENT)
    with pytest.raises(MedjuryError, match="same name"):
        AdaptiveJury("jury", [first, first])
    other = Judge(Scripted("{}", name="b"), replace(INSTRUMENT, version="2.0"))
    with pytest.raises(MedjuryError, match="not asked the same questions"):
        AdaptiveJury("jury", [first, other])

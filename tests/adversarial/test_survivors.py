"""What was lost on the way is seen in the rating: silence is no agreement, and no text without claims."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.judging.test_adaptive import REFUSAL, asked, jury, outcomes
from tests.judging.test_adaptive import rate as rate_adaptively
from tests.judging.test_deliberation import Room, graded, scores, three
from tests.judging.test_repeats import answer

from medjury.instruments import NotApplicable, Reason, load_instrument
from medjury.intake.cases import Case, Note
from medjury.judging import AdaptiveRule, Claims, Speaker
from medjury.judging._rater import Rated
from medjury.models import Gate, MemoryCache, Reply, Request, Scripted

GROUNDING, CONCORDANCE = load_instrument("grounding"), load_instrument("concordance")
PLAIN = "The patient was given aspirin 75 mg and went home with a letter to her doctor."
EMPTY = '{"claims": []}'
ONE = json.dumps(
    {"claims": [{"quote": "given aspirin 75 mg", "claim": "She was given aspirin 75 mg.", "importance": 3}]}
)
UPHELD = json.dumps(
    {"verdicts": [{"number": 1, "explanation": "So it says.", "verdict": "supported", "evidence": [PLAIN]}]}
)


# A lister that lists nothing


async def rate(instrument: Any, case: Case, *lists: str, reasks: int = 2) -> list[Rated]:
    left = list(lists)

    def line(request: Request) -> str:
        return left.pop(0) if "Text to take apart" in request.messages[1].content else UPHELD

    speaker = Speaker(Scripted(line), reasks=reasks)
    rater = Claims("judge", instrument, speaker, speaker)
    gate = Gate(cache=MemoryCache())
    return [await rater.rate(unit, gate) for unit in rater.units(case, 0)]


async def test_a_plain_text_of_which_no_claim_is_listed_is_unscored_and_says_so() -> None:
    case = Case("c1", PLAIN, PLAIN, notes=(Note("n1", PLAIN),))
    unsupported, omitted = await rate(GROUNDING, case, EMPTY, EMPTY, EMPTY, EMPTY)
    for rated, words in (
        (unsupported, "it lists no claim of a text of 16 words"),
        (omitted, "record of 16 words"),
    ):
        (row,) = rated.ratings
        assert row.status == "unscored" and row.reason is Reason.MISSING
        assert words in row.explanation
    assert [sum(row.calls or 0 for row in each.ratings) for each in (unsupported, omitted)] == [3, 1]


async def test_a_lister_that_is_told_so_may_still_list_them() -> None:
    (rated,) = await rate(CONCORDANCE, Case("c1", PLAIN, PLAIN), EMPTY, ONE)
    assert rated.ratings[0].score == 1 and rated.ratings[0].calls == 3


async def test_a_part_of_a_text_that_is_left_out_leaves_no_score() -> None:
    text = " ".join([PLAIN] * 80)  # two parts
    (rated,) = await rate(CONCORDANCE, Case("c1", text, PLAIN), ONE, EMPTY, reasks=0)
    (row,) = rated.ratings
    assert row.reason is Reason.MISSING and "part 2 of 2: it lists no claim of a text of" in row.explanation


async def test_parts_of_a_record_without_a_fact_are_told() -> None:
    quiet = "He likes his garden, reads much and sleeps well at night."
    notes = Note("n0", quiet), Note("n1", PLAIN), Note("n2", f"{quiet} So he says.")
    _, omitted = await rate(GROUNDING, Case("c1", PLAIN, notes=notes), ONE, EMPTY, ONE, EMPTY)
    (row,) = omitted.ratings
    assert row.score == 0
    assert row.explanation.endswith("no fact was listed from 2 of 3 parts of the record")


@pytest.mark.parametrize("text", ["See above.", "Thank you for this interesting question."])
async def test_a_text_that_says_nothing_is_not_applicable_as_before(text: str) -> None:
    unsupported, omitted = await rate(GROUNDING, Case("c1", text, notes=(Note("n1", text),)), EMPTY, EMPTY)
    for rated in (unsupported, omitted):
        assert isinstance(rated.ratings[0].outcome, NotApplicable) and rated.ratings[0].calls == 1


# A juror who gives no vote


async def test_the_votes_that_an_adaptive_jury_lost_are_told_among_its_votes() -> None:
    rule = AdaptiveRule(0.0, minimum=2)
    whole = await rate_adaptively(jury(answer(5, 4), answer(3, 4), answer(2, 4), rule=rule))
    assert outcomes(whole)["accuracy"] == pytest.approx(10 / 3)
    rated = await rate_adaptively(jury(answer(5, 4), answer(3, 4), [REFUSAL], rule=rule))
    assert outcomes(rated)["accuracy"] == 4
    told = rated.ratings[0].explanation
    assert told.startswith("scores 3, 5; 1 unscored (of 3); 3 of at most 3 calls; no vote from c: refusal")


async def test_it_goes_on_until_more_than_half_of_those_asked_have_voted() -> None:
    rater = jury([REFUSAL], answer(5, 5), answer(1, 5))
    rated = await rate_adaptively(rater)
    assert outcomes(rated) == {"accuracy": 3, "clarity": 5} and asked(rater) == [1, 1, 1]
    assert rated.record is not None
    calls: Any = rated.record.content()["calls"]
    assert list(calls[1]["open"]) == ["accuracy", "clarity"], "one vote of two is no majority"


@pytest.mark.parametrize(
    "scripts",
    [
        ([REFUSAL], answer(5, 5)),
        (answer(5, 3), [REFUSAL]),
        ([REFUSAL], answer(5, 5), [REFUSAL]),
        (answer(4, 4), [REFUSAL], answer(2, 2), [REFUSAL]),
    ],
)
async def test_half_of_the_votes_are_no_score(scripts: Sequence[Any]) -> None:
    rated = await rate_adaptively(jury(*scripts, rule=AdaptiveRule(0.01)))
    assert set(outcomes(rated).values()) == {Reason.NO_QUORUM}
    assert "refusal" in rated.ratings[0].explanation and "more than half" in rated.ratings[0].explanation


async def test_a_jurors_lost_draws_count_against_it() -> None:
    rule = AdaptiveRule(0.0, minimum=3, maximum=5)
    replies = [answer(5, 3), Reply("I cannot.", finish="refusal"), Reply("I can not.", finish="refusal")]
    rater = jury([*replies, answer(3, 3), answer(4, 3)], rule=rule, temperature=0.7)
    assert outcomes(await rate_adaptively(rater))["accuracy"] == 4
    rater = jury(
        [*replies, Reply("No.", finish="refusal"), answer(4, 3)],
        rule=AdaptiveRule(0.0, 2, 5),
        temperature=0.7,
    )
    assert outcomes(await rate_adaptively(rater))["accuracy"] is Reason.NO_QUORUM


# An agent who left a deliberation


async def test_an_agent_who_was_lost_is_named_in_the_rating() -> None:
    lost = three([graded(5, 3)], [Reply("no", finish="refusal")], [graded(5, 3)])
    rated = await Room([graded(5, 3)], lost).rate()
    assert scores(rated) == {"accuracy": 5, "clarity": 3}
    for row in rated.ratings:
        assert row.explanation.startswith(
            "Decided by 2 of 3 agents, without low_scorer (first grading: refusal, the model declined to answer). "
        )


async def test_nothing_is_said_where_all_agents_took_part() -> None:
    rated = await Room([graded(5, 3)], three(*[[graded(5, 3)]] * 3)).rate()
    assert all(row.explanation == "it says so" for row in rated.ratings)


async def test_a_decision_that_failed_names_the_lost_agents_too() -> None:
    lost = three([graded(5, 3)], ["no"] * 3, [graded(5, 3)])
    rated = await Room(["?"] * 3, lost).rate()
    assert {row.status for row in rated.ratings} == {"unscored"}
    assert all("without low_scorer" in row.explanation for row in rated.ratings)

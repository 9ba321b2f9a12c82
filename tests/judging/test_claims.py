"""Decompose, then verify, with a model that answers by the planted claims: every step and every failure of one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.judging.planted_claims import (
    ALL_WELL,
    CASES,
    COURTESY,
    DOSE,
    FACTS,
    GROUNDED,
    MIXED,
    NEGATED,
    NOTES,
    ON_THE_LINE,
    REFERENCE,
    START,
    STATEMENTS,
    SUMMARY,
    SUPPORTED,
    PlantedCase,
    knowing,
)

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Reason, Unscored, load_instrument
from medjury.intake.cases import Case, Note
from medjury.judging import (
    ClaimReading,
    Claims,
    ClaimsBody,
    ClaimStatistics,
    Judge,
    ShareRule,
    Speaker,
    claim_cases,
)
from medjury.judging._claims.claim import RecordedClaim
from medjury.judging._claims.listing import without_repeats
from medjury.judging._claims.steps import together
from medjury.judging._rater import Rated
from medjury.models import Gate, MemoryCache, ModelError, Reply, Request, Scripted
from medjury.store.ratings import Rating
from medjury.store.runs import Record

CONCORDANCE, GROUNDING = load_instrument("concordance"), load_instrument("grounding")


def scripted(answer: Callable[[str], Any]) -> Scripted:
    def line(request: Request) -> Any:
        return answer("\n".join(message.content for message in request.messages))

    return Scripted(line, name="judge")


def judge(answer: Callable[[str], Any], instrument: Any = CONCORDANCE, **settings: Any) -> Claims:
    speaker = Speaker(scripted(answer), reasks=1)
    return Claims("judge", instrument, speaker, speaker, **settings)


def rate(rater: Claims, case: Case, gate: Gate | None = None, repeat: int = 0) -> list[Rated]:
    async def work() -> list[Rated]:
        open_gate = gate or Gate(cache=MemoryCache())
        return [await rater.rate(unit, open_gate) for unit in rater.units(case, repeat)]

    return asyncio.run(work())


def only(rated: list[Rated]) -> tuple[Rating, dict[str, Any]]:
    [one] = rated
    [rating] = one.ratings
    return rating, told(one)


def told(rated: Rated) -> dict[str, Any]:
    """What is kept, as JSON has it."""
    assert rated.record is not None
    return dict(json.loads(json.dumps(rated.record.content())))


def counted(record: dict[str, Any]) -> ClaimStatistics:
    found = ClaimStatistics()
    found.note(ClaimsBody.model_validate(record))
    return found


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("planted", CASES, ids=lambda each: each.case.id)
def test_the_planted_answers_come_out_exactly(planted: PlantedCase, batch: int) -> None:
    rating, record = only(rate(judge(knowing(), batch=batch), planted.case))
    assert rating.dimension == "concordant"
    assert rating.score == planted.vetoed
    assert record["share"] == (None if planted.share is None else float(planted.share))
    assert [each["verdict"] for each in record["claims"]] == [each.verdict for each in planted.claims]
    assert rating.calls == 1 + -(-len(planted.claims) // batch)
    if planted.vetoed is None:
        assert rating.reason is Reason.MISSING
        assert "no claim is left" in rating.explanation


def test_every_claim_keeps_where_it_stands_and_what_shows_it() -> None:
    _, record = only(rate(judge(knowing()), MIXED.case))
    candidate = MIXED.case.candidate or ""
    for claim, planted in zip(record["claims"], MIXED.claims, strict=True):
        assert candidate[claim["place"]["start"] : claim["place"]["end"]] == planted.quote
        assert claim["weight"] == {1: 1.0, 2: 2.0, 3: 4.0}[planted.importance]
        for evidence in claim["evidence"]:
            found = REFERENCE[evidence["place"]["start"] : evidence["place"]["end"]]
            assert found.rstrip(".") == planted.evidence.rstrip(".")
        assert claim["seen"] == "whole"
    assert next(iter(record)) == "kind"
    assert record["kind"] == "claims"


def test_an_answer_without_a_claim_is_no_perfect_score() -> None:
    rating, record = only(rate(judge(knowing()), COURTESY.case))
    assert rating.score is None
    assert rating.reason is Reason.MISSING
    assert "makes no claim" in rating.explanation
    assert rating.calls == 1
    assert record["claims"] == []


# --- invented evidence


@pytest.mark.parametrize("planted", [DOSE, NEGATED, START, SUPPORTED], ids=lambda each: each.claim)
def test_an_invented_quotation_is_told_once_and_may_be_mended(planted: Any) -> None:
    model = knowing(quotes={planted.claim: [planted.wrong, planted.evidence]})
    case = next(each for each in CASES if planted in each.claims)
    rating, record = only(rate(judge(model), case.case))
    assert rating.score == case.vetoed
    assert rating.calls == 1 + len(case.claims) + 1
    [claim] = [each for each in record["claims"] if each["claim"] == planted.claim]
    assert claim["told"]
    assert claim["verdict"] == planted.verdict
    assert [each["quote"] for each in claim["invented"]] == [planted.wrong]
    assert not any(each["told"] for each in record["claims"] if each["claim"] != planted.claim)


@pytest.mark.parametrize("batch", [1, 10])
def test_one_that_stays_invented_leaves_no_verdict_and_is_counted(batch: int) -> None:
    model = knowing(quotes={SUPPORTED.claim: [SUPPORTED.wrong, "Hypertension was plainly confirmed."]})
    rating, record = only(rate(judge(model, batch=batch), ALL_WELL.case))
    [claim] = [each for each in record["claims"] if each["claim"] == SUPPORTED.claim]
    assert claim["verdict"] is None
    assert claim["first_verdict"] == "supported"
    assert claim["failure"]["reason"] == "unfounded"
    assert len(claim["invented"]) == 2
    # 10 of 12 are supported and the rest is open: at least 0.8 whatever it is.
    assert rating.score == 1.0
    assert record["share"] == 1.0
    assert record["share_low"] == 10 / 12
    assert "1 not verified" in rating.explanation
    found = counted(record)
    assert (found.quotations, found.refused, found.told, found.unfounded) == (5, 2, 1, 1)
    assert found.count("unverified") == 1


def test_where_it_matters_the_rating_has_no_score() -> None:
    model = knowing(quotes={START.claim: [START.wrong]})
    rating, record = only(rate(judge(model), ON_THE_LINE.case))
    assert rating.score is None
    assert rating.reason is Reason.UNFOUNDED
    assert record["outcome"]["reason"] == "unfounded"


def test_a_verdict_without_any_quotation_is_told_too() -> None:
    model = knowing(quotes={START.claim: ["", START.evidence]})
    rating, record = only(rate(judge(model), ON_THE_LINE.case))
    assert rating.score == 1.0
    claim = record["claims"][0]
    assert claim["invented"] == [{"quote": "", "why": "it quotes nothing"}]
    assert counted(record).refused == 0


def test_the_complaint_holds_no_clinical_text_and_asks_only_for_what_was_wrong() -> None:
    model = scripted(knowing(quotes={SUPPORTED.claim: [SUPPORTED.wrong, SUPPORTED.evidence]}))
    speaker = Speaker(model)
    rate(Claims("judge", CONCORDANCE, speaker, speaker, batch=10), ALL_WELL.case)
    told = model.requests[-1].messages[-1].content
    assert "hypertension" not in told.casefold()
    assert "- Claim 2: a quotation: it does not occur in the text" in told
    numbers = model.requests[-1].schema["properties"]["verdicts"]["items"]["properties"]["number"]
    assert numbers["enum"] == [2]


def test_a_model_that_gives_in_when_told_is_taken_at_its_word() -> None:
    def answer(prompt: str) -> str:
        if "were looked up" in prompt:
            return json.dumps({"verdicts": [
                {"number": 1, "explanation": "", "verdict": "not_addressed", "evidence": []}
            ]})  # fmt: skip
        return knowing(quotes={START.claim: [START.wrong]})(prompt)

    _, record = only(rate(judge(answer), ON_THE_LINE.case))
    assert record["claims"][0]["verdict"] == "not_addressed"
    assert record["claims"][0]["first_verdict"] == "supported"


# --- listing


def listing(*claims: dict[str, object]) -> Callable[[str], str]:
    def answer(prompt: str) -> str:
        if "Text to take apart" in prompt:
            return json.dumps({"claims": list(claims)})
        return knowing()(prompt)

    return answer


def entry(planted: Any, **changes: object) -> dict[str, object]:
    return {"quote": planted.quote, "claim": planted.claim, "importance": planted.importance, **changes}


def test_repeated_claims_count_once_with_the_higher_importance() -> None:
    again = entry(SUPPORTED, claim="the home reading confirms hypertension", importance=3)
    other_dose = entry(START, claim=DOSE.claim)
    model = listing(entry(SUPPORTED), again, entry(START), other_dose)
    _, record = only(rate(judge(model), ALL_WELL.case))
    assert [each["claim"] for each in record["claims"]] == [SUPPORTED.claim, START.claim, DOSE.claim]
    assert record["claims"][0]["importance"] == 3
    assert record["repeats"] == [
        {"claim": again["claim"], "importance": 3, "source": "candidate", "repeats": 1}
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [("The patient smokes", "The patient smoked"), ("The patient is pregnant", "The patient was pregnant")],
)
def test_a_habit_and_a_history_are_two_claims(one: str, other: str) -> None:
    kept, repeats = without_repeats(
        [RecordedClaim(number=1, claim=each, importance=2) for each in (one, other)]
    )
    assert [each.claim for each in kept] == [one, other] and repeats == []


def test_an_importance_of_thousands_of_digits_is_refused_and_breaks_nothing() -> None:
    model = listing(entry(START, importance="3" * 5000))
    rating, _ = only(rate(judge(model), ALL_WELL.case))
    assert rating.reason is Reason.PARSE


async def test_calls_in_flight_are_kept_when_another_one_ends_the_run() -> None:
    kept: list[str] = []

    async def answered() -> str:
        await asyncio.sleep(0.01)
        kept.append("answered")
        return "answered"

    async def fatal() -> str:
        raise ModelError(Reason.PROVIDER, "the key is not valid", fatal=True)

    with pytest.raises(ModelError, match="key"):
        await together([fatal(), answered()])
    assert kept == ["answered"]


def test_a_claim_whose_words_are_not_in_the_answer_is_kept_and_counted() -> None:
    model = listing(entry(START), entry(SUPPORTED, quote="These words are nowhere"))
    rating, record = only(rate(judge(model), ALL_WELL.case))
    assert rating.score == 1.0
    assert [each["place"] is None for each in record["claims"]] == [False, True]
    assert counted(record).unlocated == 1


def test_a_number_that_the_answer_does_not_have_is_shown() -> None:
    _, record = only(rate(judge(listing(entry(START, claim=DOSE.claim))), ALL_WELL.case))
    assert record["claims"][0]["stray_numbers"] == ["10"]
    assert counted(record).with_stray_numbers == 1


@pytest.mark.parametrize(
    "wrong",
    [
        '{"claims": "none"}',
        '{"claims": [{"claim": "", "quote": "x", "importance": 1}]}',
        '{"claims": [{"claim": "x", "quote": "x", "importance": 4}]}',
        '{"claims": [{"claim": "x", "quote": 3, "importance": 1}]}',
        '{"claims": ["x"]}',
        "[]",
        "I would rather not say.",
    ],
)
def test_a_list_that_cannot_be_read_is_handed_back_and_then_unscored(wrong: str) -> None:
    model = scripted(lambda prompt: wrong)
    speaker = Speaker(model, reasks=1)
    rating, record = only(rate(Claims("judge", CONCORDANCE, speaker, speaker), ALL_WELL.case))
    assert rating.reason is Reason.PARSE
    assert rating.explanation.startswith("listing the claims, ")
    assert len(model.requests) == 2
    assert "could not be used" in model.requests[1].messages[-1].content
    assert record["steps"][0]["failure"]["reason"] == "parse"
    assert counted(record).failed == 1


def test_a_bound_on_the_claims_is_asked_for_and_kept() -> None:
    model = scripted(listing(entry(START), entry(SUPPORTED)))
    bounded = ClaimReading(claims=1)
    rater = Claims("judge", CONCORDANCE, Speaker(model, reasks=0), Speaker(model), reading=bounded)
    rating, _ = only(rate(rater, ALL_WELL.case))
    assert rating.reason is Reason.PARSE
    assert "at most 1" in rating.explanation
    assert "List at most 1 claims" in model.requests[0].messages[0].content
    schema: Any = model.requests[0].schema
    assert schema["properties"]["claims"]["maxItems"] == 1


# --- verdicts that fail


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (Reply("", finish="refusal"), Reason.REFUSAL),
        (Reply('{"verdicts": [', finish="length"), Reason.TRUNCATED),
        (Reply(""), Reason.EMPTY),
        ('{"verdicts": [{"number": 7, "verdict": "supported", "evidence": []}]}', Reason.PARSE),
        ('{"verdicts": [{"number": 1, "verdict": "perhaps", "evidence": []}]}', Reason.PARSE),
        ('{"verdicts": []}', Reason.MISSING),
        (ModelError(Reason.CONTEXT, "too long"), Reason.CONTEXT),
    ],
)
def test_a_claim_that_could_not_be_verified_has_no_verdict_and_says_why(line: Any, reason: Reason) -> None:
    def answer(prompt: str) -> Any:
        return line if START.claim in prompt else knowing()(prompt)

    rating, record = only(rate(judge(answer), ON_THE_LINE.case))
    assert rating.score is None
    assert rating.reason is reason
    assert record["claims"][0]["failure"]["reason"] == reason.value
    assert record["claims"][1]["verdict"] == "contradicted"


@pytest.mark.parametrize("when", ["first", "told"])
def test_a_fault_that_may_pass_leaves_the_whole_unit_open(when: str) -> None:
    def answer(prompt: str) -> Any:
        if START.claim in prompt and ("were looked up" in prompt) == (when == "told"):
            return ModelError(Reason.TIMEOUT, "no answer in time")
        return knowing(quotes={START.claim: [START.wrong]})(prompt)

    # The other three claims alone would decide nothing, but even a veto may not hide an open call.
    rating, _ = only(rate(judge(answer), ALL_WELL.case))
    assert rating.reason is Reason.TIMEOUT
    assert rating.explanation == "verifying claim 1 of 4: no answer in time"


def test_repeats_draw_anew() -> None:
    model = scripted(knowing())
    rater = Claims("judge", CONCORDANCE, Speaker(model), Speaker(model))
    gate = Gate(cache=MemoryCache())
    for repeat in range(2):
        rate(rater, ON_THE_LINE.case, gate, repeat)
    assert [request.seed for request in model.requests] == [0, 0, 0, 1, 1, 1]


# --- grounding: both ways, and long records


def test_a_summary_is_held_against_its_notes_and_the_notes_against_it() -> None:
    rater = judge(by_direction, GROUNDING)
    unsupported, omitted = rate(rater, GROUNDED)
    [rating] = unsupported.ratings
    assert (rating.dimension, rating.score) == ("unsupported", 2.0)
    assert "2 of 4 claims not supported" in rating.explanation
    [rating] = omitted.ratings
    assert (rating.dimension, rating.score) == ("omitted", 2.0)
    assert FACTS[1].claim in rating.explanation
    record: Any = told(omitted)
    claims: Any = record["claims"]
    assert [each["source"] for each in claims] == ["n1", "n1", "n2", "n3"]
    set_aside: Any = record["set_aside"]
    assert [each["claim"] for each in set_aside] == ["He likes gardening."]
    evidence: Any = told(unsupported)["claims"]
    assert evidence[1]["evidence"][0]["source"] == "n2"
    assert record["share"] is None


def by_direction(prompt: str) -> str:
    """Lists facts where a record is taken apart and statements where the summary is; verifies both."""
    if "Text to take apart" not in prompt:
        return knowing(*STATEMENTS, *FACTS)(prompt)
    return knowing(*(FACTS if "part of a patient's record" in prompt else STATEMENTS))(prompt)


def test_kind_and_date_of_a_note_are_shown_with_it() -> None:
    model = scripted(by_direction)
    rate(Claims("judge", GROUNDING, Speaker(model), Speaker(model)), GROUNDED)
    assert any(
        "[n1] (admission, 2024-03-01)\nAdmitted" in each.messages[-1].content for each in model.requests
    )


def test_nothing_to_verify_is_not_applicable_where_the_instrument_has_that() -> None:
    case = Case("empty", "See above.", notes=(Note("n1", "He likes gardening."),))
    unsupported, omitted = rate(judge(by_direction, GROUNDING), case)
    for rated, words in ((unsupported, "makes no claim"), (omitted, "no fact of importance 2 or more")):
        [rating] = rated.ratings
        assert isinstance(rating.outcome, NotApplicable)
        assert words in rating.explanation


@pytest.mark.parametrize("batch", [1, 3])
def test_of_a_long_record_each_claim_sees_the_passages_that_fit_it(batch: int) -> None:
    filler = " ".join(f"Nursing round {n}: comfortable, drank tea." for n in range(200))
    notes = (
        Note("n0", filler),
        NOTES[0],
        replace(NOTES[1], text=f"{filler} {NOTES[1].text} {filler}"),
        NOTES[2],
    )
    model = scripted(by_direction)
    reading = ClaimReading(whole=2_000, most=2, sentences=2, overlap=1)
    rater = Claims("judge", GROUNDING, Speaker(model), Speaker(model), reading=reading, batch=batch)
    [rated, _] = rate(rater, replace(GROUNDED, notes=notes))
    assert rated.ratings[0].score == 2.0
    claims: Any = told(rated)["claims"]
    dose = claims[1]
    assert dose["evidence"][0]["source"] == "n2"
    place = dose["evidence"][0]["place"]
    assert notes[2].text[place["start"] : place["end"]] == "levofloxacin 500 mg once daily for seven days"
    assert dose["seen"][0]["source"] == "n2"
    assert len(dose["seen"]) <= 2
    verifying = [
        each.messages[-1].content for each in model.requests if "Claim 2:" in each.messages[-1].content
    ]
    assert len(verifying[0]) < 2_500
    assert "500 mg" in verifying[0]


def test_a_claim_that_shares_no_word_with_the_record_is_not_called_unsupported() -> None:
    case = replace(GROUNDED, notes=(Note("n1", "Xyz qrs. " * 50),))
    rater = judge(by_direction, replace(GROUNDING, dimensions=GROUNDING.dimensions[:1]),
                  reading=ClaimReading(whole=100))  # fmt: skip
    rating, _ = only(rate(rater, case))
    assert rating.reason is Reason.MISSING


def test_a_long_text_is_listed_in_pieces_and_a_lost_piece_leaves_no_list() -> None:
    filler = " ".join("This sentence says nothing that could be verified." for _ in range(12))
    case = replace(ALL_WELL.case, candidate=f"{START.quote}. {filler} {SUPPORTED.quote}.")
    model = scripted(knowing())
    reading = ClaimReading(piece=500)
    rater = Claims("judge", CONCORDANCE, Speaker(model), Speaker(model), reading=reading)
    rating, record = only(rate(rater, case))
    assert rating.score == 1.0
    assert record["steps"][0]["parts"] == 2
    assert [each["claim"] for each in record["claims"]] == [START.claim, SUPPORTED.claim]

    def losing(prompt: str) -> str:
        return "no" if "What comes before" in prompt else knowing()(prompt)

    rating, _ = only(rate(judge(losing, reading=reading), case))
    assert rating.explanation.startswith("listing the claims, part 2 of 2: ")


# --- settings


def test_a_case_without_what_is_needed_is_unscored_before_any_call() -> None:
    rater = judge(lambda prompt: pytest.fail("asked"))
    for case in (Case("a", "x", None), Case("a", None, "x"), Case("a", "  ", "x")):
        [unit] = rater.units(case, 0)
        expected = rater.expected(unit)
        assert isinstance(expected, Unscored)
        [rated] = rate(rater, case)
        assert rated.ratings[0].reason is Reason.INPUT
        assert rated.ratings[0].cost == 0.0
        assert rated.record is None


def test_the_plan_counts_both_steps() -> None:
    rater = judge(knowing())
    [unit] = rater.units(MIXED.case, 0)
    expected = rater.expected(unit)
    assert not isinstance(expected, Unscored)
    assert 3 <= expected.calls <= 12
    [unit] = judge(knowing(), batch=100).units(MIXED.case, 0)
    fewer = unit.rater.expected(unit)
    assert not isinstance(fewer, Unscored)
    assert fewer.calls == 2
    assert fewer.tokens_in < expected.tokens_in


def test_only_what_claims_can_say_is_rated() -> None:
    rater = judge(knowing())
    assert rater.groups == (("concordant",),)
    assert rater.describe()["not_rated"] == ["concordance_grade"]
    with pytest.raises(MedjuryError, match="one case is one claim"):
        judge(knowing(), load_instrument("claims"))
    with pytest.raises(MedjuryError, match="claims cannot rate the instrument note_quality"):
        judge(knowing(), load_instrument("note_quality"))
    with pytest.raises(MedjuryError, match="gives the grades 0, 1"):
        judge(knowing(), load_instrument("note_quality"), measures={"accuracy": "support"})
    with pytest.raises(MedjuryError, match="has no dimension 'agreement'"):
        judge(knowing(), measures={"agreement": "support", "concordant": "support"})


def test_another_setting_is_another_hash() -> None:
    rater = judge(knowing())
    others = [
        judge(knowing(), batch=2),
        judge(knowing(), rule=ShareRule(threshold=0.7)),
        judge(knowing(), rule=ShareRule(weights={1: 1, 2: 1, 3: 1})),
        judge(knowing(), reading=ClaimReading(most=3)),
        judge(knowing(), reading=ClaimReading(embed=lambda texts: [], embed_name="mini")),
        judge(knowing(), rubric=replace(load_instrument("claims"), instructions="Otherwise.")),
        judge(knowing(), against="notes"),
        Claims("judge", CONCORDANCE, rater.lister, replace(rater.verifier, temperature=1.0)),
        Claims("judge", CONCORDANCE, replace(rater.lister, max_tokens=9), rater.verifier),
    ]
    assert len({each.settings_hash() for each in (rater, *others)}) == len(others) + 1
    assert judge(knowing()).settings_hash() != ""
    json.dumps(rater.describe())


# --- claims as cases


def test_every_claim_becomes_a_case_that_tells_nothing_of_the_verdict() -> None:
    _, record = only(rate(judge(knowing()), MIXED.case))
    line = Record("key", "mixed", "drafter", "judge", 0, ClaimsBody.model_validate(record))
    made = list(claim_cases([MIXED.case], [line]))
    assert [each.candidate for each in made] == [each.claim for each in MIXED.claims]
    assert made[0].id == "mixed/concordant/judge/0#1"
    assert {each.reference for each in made} == {REFERENCE}
    assert {each.patient for each in made} == {"mixed"}, "claims of one answer are resampled together"
    assert not any(each.metadata for each in made)
    single = Judge(Scripted("{}"), load_instrument("claims"))
    assert all(
        not isinstance(single.request(unit), Unscored) for each in made for unit in single.units(each, 0)
    )


def test_claims_of_a_summary_go_with_all_its_notes_and_a_strange_record_is_refused() -> None:
    unsupported, omitted = rate(judge(by_direction, GROUNDING), GROUNDED)
    bodies = [ClaimsBody.model_validate(told(each)) for each in (unsupported, omitted)]
    lines = [Record("key", "stay", "summariser", "judge", 0, body) for body in bodies]
    made = list(claim_cases([GROUNDED], lines))
    assert "[n2]\nTreated with levofloxacin" in (made[0].reference or "")
    assert made[-1].reference == SUMMARY
    assert len({each.id for each in made}) == len(made)
    with pytest.raises(MedjuryError, match="no case among those given"):
        list(claim_cases([MIXED.case], lines[:1]))

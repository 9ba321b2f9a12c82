"""The drafter: sections in, a text out, every citation looked up, every failure with its reason."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.intake.cases import Case, Note, case_from_row
from medjury.judging import (
    DraftBody,
    Drafter,
    DraftingRules,
    SelectionRules,
    Speaker,
    Truncation,
    drafted_case,
)
from medjury.judging._rater import Rated
from medjury.models import Gate, MemoryCache, ModelError, Reply, Scripted

RULES = DraftingRules(SelectionRules(minimum_characters=10))
CASE = Case(
    "7",
    texts={
        "question": "Does this isolated high RDW need a workup?",
        "labs": '{"name": "RDW", "value": 16.2, "unit": "%", "date": "2025-02-03", "flag": "H"}',
    },
    metadata={"specialty": "Hematology", "age": 71},
    notes=(
        Note("p1", "Fatigue for a month. No bleeding. Hemoglobin normal.", "2025-02-01", "Progress note"),
        Note("h1", "Known to haematology. Ferritin was low last year.", "2024-02-01", "Hematology"),
    ),
)
GOOD: dict[str, Any] = {
    "assessment": "Probably a past deficiency.",
    "recommendations": [{"recommendation": "Repeat ferritin.", "rationale": "It was low last year."}],
    "contingency": "Refer if anaemia appears.",
    "citations": [
        {"note": "h1", "quote": "Ferritin was low last year."},
        {"note": "p1", "quote": "Hemoglobin was 12.1 yesterday"},
        {"note": "zz", "quote": "No bleeding."},
    ],
}


def drafter(answers: Any, rules: DraftingRules = RULES, window: int | None = None, **options: Any) -> Drafter:
    model = Scripted(answers, name="drafting", vendor="Acme", context_window=window)
    return Drafter(Speaker(model, max_tokens=300), "acme-drafts", rules, **options)


async def draft(writer: Drafter, case: Case = CASE, gate: Gate | None = None) -> tuple[Rated, dict[str, Any]]:
    (unit,) = writer.units(case, 0)
    rated = await writer.rate(unit, gate or Gate(cache=MemoryCache()))
    assert rated.record is not None
    return rated, json.loads(json.dumps(rated.record.content()))


async def test_a_draft_is_written_from_question_notes_and_values() -> None:
    writer = drafter(json.dumps(GOOD))
    rated, record = await draft(writer)
    (row,) = rated.ratings
    assert row.status == "not_applicable" and row.system == "acme-drafts" and row.calls == 1
    (asked,) = writer.speaker.model.requests  # type: ignore[attr-defined]
    prompt = asked.messages[1].content
    for words in (
        "isolated high RDW",
        "Hematology",
        "Note h1 (Hematology, 2024-02-01)",
        "2025-02-03 RDW 16.2 % H",
    ):
        assert words in prompt
    assert prompt.index("Note h1") < prompt.index("Note p1"), "the consulted specialty comes first"
    assert "RDW" not in asked.messages[0].content, "nothing of the case stands among the instructions"
    assert record["candidate"] == (
        "Assessment\nProbably a past deficiency.\n\nRecommendations\n1. Repeat ferritin.\n"
        "   Rationale: It was low last year.\n\nContingency\nRefer if anaemia appears.\n\nCitations\n"
        '- Note h1: "Ferritin was low last year."\n- Note p1: "Hemoglobin was 12.1 yesterday"\n'
        '- Note zz: "No bleeding."'
    )
    assert record["notes_given"] == ["h1", "p1"] and record["counts"]["labs_given"] == 1


async def test_every_citation_is_looked_up_and_invented_ones_are_counted() -> None:
    _, record = await draft(drafter(json.dumps(GOOD)))
    assert [(each["given"], each["found"]) for each in record["citations"]] == [
        (True, True),
        (True, False),
        (False, False),
    ]
    assert record["citations_invented"] == 2


async def test_a_note_that_was_not_given_cannot_be_cited() -> None:
    rules = DraftingRules(SelectionRules(notes=1, minimum_characters=10))
    _, record = await draft(drafter(json.dumps(GOOD), rules))
    assert record["notes_given"] == ["h1"] and record["citations"][1]["given"] is False


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"assessment": " "}, "assessment is missing or empty"),
        ({"recommendations": []}, "recommendations is empty"),
        ({"recommendations": "rest"}, "recommendations is not a list"),
        ({"citations": [{"note": "h1"}]}, r"citations\[1\].quote is missing"),
        ({"citations": ["h1"]}, r"citations\[1\] is not an object"),
    ],
)
async def test_an_answer_of_another_form_is_handed_back_and_then_fails(
    change: dict[str, Any], told: str
) -> None:
    writer = drafter([json.dumps({**GOOD, **change})] * 3)
    rated, record = await draft(writer)
    assert rated.ratings[0].reason is Reason.PARSE and rated.ratings[0].calls == 3
    assert record["status"] == "failed" and record["reason"] == "parse"
    assert re.search(told, record["message"])
    mended = drafter([json.dumps({**GOOD, **change}), json.dumps(GOOD)])
    assert (await draft(mended))[1]["status"] == "drafted"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Reply("no", finish="refusal"), Reason.REFUSAL),
        (Reply('{"assess', finish="length"), Reason.TRUNCATED),
        (ModelError(Reason.TIMEOUT, "late"), Reason.TIMEOUT),
    ],
)
async def test_a_failure_keeps_its_reason(answer: Any, reason: Reason) -> None:
    rated, record = await draft(drafter([answer]))
    assert rated.ratings[0].reason is reason and record["reason"] == reason.value
    assert "candidate" not in record


async def test_a_case_without_a_question_or_a_day_is_not_asked_about() -> None:
    writer = drafter([])
    rated, record = await draft(writer, Case("1", texts={"labs": "Hb 9"}))
    assert rated.ratings[0].reason is Reason.INPUT and rated.ratings[0].cost == 0.0
    assert "question" in record["message"]
    dated = drafter([], DraftingRules(as_of="asked_on"))
    rated, record = await draft(dated)
    assert rated.ratings[0].reason is Reason.INPUT and "asked_on" in record["message"]


async def test_what_does_not_fit_is_refused_free_of_charge_or_shortened_and_recorded() -> None:
    long = "The patient was seen on the ward and is doing well today. " * 100
    case = Case(
        "1", texts={"question": "Well?"}, notes=(Note("a", long, "2025-01-01"), Note("b", long, "2025-01-02"))
    )
    answer = json.dumps({**GOOD, "citations": [{"note": "b", "quote": "is doing well today"}]})
    rated, record = await draft(drafter([answer], RULES, 2450), case)
    assert (
        rated.ratings[0].reason is Reason.CONTEXT
        and rated.ratings[0].cost == 0.0
        and rated.ratings[0].calls == 0
    )
    rated, record = await draft(drafter([answer], RULES, 2450, truncation=Truncation()), case)
    assert record["context"]["notes_left_out"] == ["a"] and record["citations_invented"] == 0
    assert record["notes_given"] == ["b"] and record["counts"]["notes_given"] == 1
    with pytest.raises(MedjuryError, match="context_window"):
        drafter([answer], truncation=Truncation())
    with pytest.raises(MedjuryError, match="not written from a text 'labs'"):
        drafter([answer], RULES, 2450, truncation=Truncation("labs"))


async def test_sections_and_the_sites_own_instructions_are_parameters() -> None:
    rules = DraftingRules(
        SelectionRules(notes=0, labs=0),
        sections=("assessment",),
        instructions="Answer in Welsh.",
        inputs=("age",),
    )
    writer = drafter(json.dumps({"assessment": "Iawn."}), rules)
    _, record = await draft(writer)
    asked = writer.speaker.model.requests[0]  # type: ignore[attr-defined]
    assert "Answer in Welsh." in asked.messages[0].content and "contingency" not in asked.messages[0].content
    assert "Note" not in asked.messages[1].content and "71" in asked.messages[1].content
    assert record["candidate"] == "Assessment\nIawn."
    assert list(asked.schema["properties"]) == ["assessment"]
    with pytest.raises(MedjuryError, match="sections"):
        DraftingRules(sections=("assessment", "poem"))


def test_everything_that_determines_a_draft_is_in_its_hash() -> None:
    hashes = {
        drafter("x").settings_hash(),
        drafter("y").settings_hash(),
        drafter("x", DraftingRules(SelectionRules(labs=3))).settings_hash(),
        drafter("x", DraftingRules(instructions="Be brief.")).settings_hash(),
        drafter("x", RULES, 9000, truncation=Truncation()).settings_hash(),
    }
    assert len(hashes) == 5


async def test_a_draft_becomes_the_answer_under_judgement_and_names_its_vendor() -> None:
    writer = drafter(json.dumps(GOOD))
    _, record = await draft(writer)
    judged = drafted_case(CASE, writer, DraftBody.model_validate(record))
    assert (
        judged.candidate == record["candidate"] and judged.system == "acme-drafts" and judged.vendor == "Acme"
    )
    assert judged.notes == CASE.notes and judged.id == CASE.id


@pytest.mark.parametrize("name", ["reference", "candidate", "notes", "labs"])
@pytest.mark.parametrize("place", ["question", "specialty", "inputs"])
def test_what_the_draft_is_judged_against_can_never_be_shown_to_its_writer(name: str, place: str) -> None:
    with pytest.raises(MedjuryError, match=r"never shown|rules of their own"):
        DraftingRules(**{place: (name,) if place == "inputs" else name})  # type: ignore[arg-type]


async def test_neither_reference_nor_other_texts_reach_the_writer() -> None:
    writer = drafter([json.dumps(GOOD)])
    case = replace(CASE, reference="REFERENCE-1", texts={**CASE.texts, "reply": "REPLY-1"})
    _, record = await draft(writer, replace(case, metadata={**case.metadata, "outcome": "OUTCOME-1"}))
    (asked,) = writer.speaker.model.requests  # type: ignore[attr-defined]
    prompt = "".join(message.content for message in asked.messages)
    assert "RDW" in prompt and not any(word in prompt for word in ("REFERENCE-1", "REPLY-1", "OUTCOME-1"))
    assert record["counts"]["inputs_absent"] == 0


async def test_a_conversation_is_given_to_the_writer_with_who_said_what() -> None:
    writer = drafter(json.dumps(GOOD), replace(RULES, inputs=("conversation",)))
    messages = [
        {"role": "user", "content": "May I stop iron?"},
        {"role": "assistant", "content": "Since when?"},
    ]
    told = case_from_row({"id": "7", "messages": messages}).messages
    await draft(writer, replace(CASE, messages=told))
    (asked,) = writer.speaker.model.requests  # type: ignore[attr-defined]
    assert "Turn 1, user:\nMay I stop iron?\n\nTurn 2, assistant:\nSince when?" in asked.messages[1].content

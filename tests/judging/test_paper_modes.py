"""What the papers did otherwise, as settings: the exact words that are asked, and ours where nothing is stated."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.judging.planted_claims import CASES, knowing

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument, output_schema
from medjury.intake.cases import Case, Note
from medjury.judging import (
    CLAIM_EXAMPLES,
    CLAIM_LABELS,
    PERSONA_GROUPS,
    PERSONAS,
    Agent,
    Claims,
    ClaimsBody,
    Concordance,
    Deliberation,
    Drafter,
    DraftingRules,
    Judge,
    SelectionRules,
    ShareRule,
    Speaker,
    WorkedClaims,
)
from medjury.judging._claims.prompts import listing_system, verifying_schema, verifying_system
from medjury.judging._claims.worked import WorkedClaim
from medjury.judging._draft_sources import select_sources
from medjury.models import Gate, MemoryCache, Request, Scripted, make_model
from medjury.studies._study.setup import prompt_version

MODEL = make_model("openai", url="http://127.0.0.1:1/v1", model="m", name="juror")
SPEAKER = Speaker(MODEL)
PLAIN = Speaker(MODEL, token=False)
NOTE_QUALITY, CONCORDANCE = load_instrument("note_quality"), load_instrument("concordance")
# As they were before there were paper modes and tokens: stored ratings are found again.
HASHES = {
    "single": "27936ba88ae1e5124e5cd6ded8e7fd4cb664f11ee2837a59e162716fc1204ee7",
    "bare": "f6de071a72d97a8f67eb56191e61e3a729daf8929923132d16a28c5a9fd40b40",
    "claims": "0a3d0ef80165f8cc59efc608c96b35bb8cba075764be1e50a013ed4e6d6cf5c7",
    "concordance": "e5f99ec4ed0443e981eb0158f904bf92fecf0f17d3a3cd042c9f051e9685a8c3",
    "preference": "868ff687e92cac2e90810a094b51ba4acb3b67581428df51d1fadcdd935acfbd",
    "deliberation": "0a3c8e507142e527325c328a9589349ff722cdb12f4cadd1d3f1715175e4976f",
    "drafter": "4f5a5a48bfccd1f0f313d075a00c7d1232ad8cdb9d55bfccafb4804d369fa3df",
}


def raters(speaker: Speaker, prompt: str | None) -> dict[str, Any]:
    scorers = [Agent(PERSONAS[name], speaker) for name in PERSONA_GROUPS["scorers"]]
    examples = NOTE_QUALITY.examples
    return {
        "single": Judge(MODEL, NOTE_QUALITY, prompt=prompt),
        "bare": Judge(MODEL, NOTE_QUALITY, explain=False, examples=examples, prompt=prompt),
        "claims": Claims("c", CONCORDANCE, speaker, speaker),
        "concordance": Concordance(speaker, CONCORDANCE),
        "preference": Concordance(speaker, load_instrument("preference"), explain=False),
        "deliberation": Deliberation("d", NOTE_QUALITY, speaker, scorers),
        "drafter": Drafter(speaker, "w"),
    }


@pytest.mark.parametrize("name", HASHES)
def test_without_a_token_nothing_that_is_stored_is_asked_again(name: str) -> None:
    assert raters(PLAIN, "1")[name].settings_hash() == HASHES[name]
    asked = raters(SPEAKER, None)[name]
    assert asked.settings_hash() != HASHES[name], "another prompt is another way of asking"
    if name != "drafter":
        assert prompt_version([asked]) == "3" and prompt_version([raters(PLAIN, "1")[name]]) == "1"


# The grade before its reasons, or without any


def last_lines(judge: Judge) -> str:
    (prompt,) = judge._prompts.values()
    return prompt.opening[0].content.split("# Your answer\n\n")[1]


def test_the_grade_can_be_asked_for_before_its_reasons() -> None:
    judge = Judge(MODEL, CONCORDANCE, explain="after", examples=CONCORDANCE.examples[:1])
    assert last_lines(judge) == (
        "One JSON object of this form, every dimension present:\n{\n"
        '  "concordant": {"score": 0 | 1, "explanation": "<one or two sentences>"},\n'
        '  "concordance_grade": {"score": 1 | 2 | 3 | 4 | 5, "explanation": "<one or two sentences>"}\n}'
    )
    schema = output_schema(CONCORDANCE, explain="after")["properties"]["concordant"]
    assert list(schema["properties"]) == schema["required"] == ["score", "explanation"]
    (prompt,) = judge._prompts.values()
    shown = json.loads(prompt.opening[2].content)
    assert list(shown["concordant"]) == ["score", "explanation"] and shown["concordant"]["score"] == 1
    assert (
        len({Judge(MODEL, CONCORDANCE, explain=each).settings_hash() for each in (True, False, "after")}) == 3
    )


async def test_an_answer_with_its_grade_first_is_read() -> None:
    answer = {
        "concordant": {"score": 1, "explanation": "same"},
        "concordance_grade": {"score": 4, "explanation": "x"},
    }
    model = Scripted(json.dumps(answer))
    judge = Judge(model, CONCORDANCE, explain="after")
    case = Case("1", "Start it.", reference="Start it.", texts={"question": "Start?"})
    (unit,) = judge.units(case, 0)
    rated = await judge.rate(unit, Gate(cache=MemoryCache()))
    assert [row.score for row in rated.ratings] == [1, 4]


@pytest.mark.parametrize(
    ("explain", "form"),
    [
        (True, '{"reason": "<one or two sentences>", "preferred": 1 | 2 | 0}'),
        ("after", '{"preferred": 1 | 2 | 0, "reason": "<one or two sentences>"}'),
        (False, '{"preferred": 1 | 2 | 0}'),
    ],
)
def test_a_preference_follows_the_same_order(explain: Any, form: str) -> None:
    rater = Concordance(SPEAKER, load_instrument("preference"), explain=explain)
    assert f"One JSON object: {form}. 1 is answer 1" in rater._opening()
    assert list(rater._schema()["properties"]) == re.findall(r'"(\w+)":', form)


# Instruments as their studies asked them


# Claims


def test_the_label_not_supported_takes_the_place_of_contradicted() -> None:
    rubric, labels = load_instrument("claims"), CLAIM_LABELS["not_supported"]
    system = verifying_system(rubric, labels)
    assert "contradicted" not in system
    assert (
        '- "not_supported": Not supported: the reference speaks of the matter, and what it says does not bear'
        in system
    )
    assert '- "not_addressed": Not addressed: the reference neither supports' in system
    assert 'Evidence: for "supported" and "not_supported" quote the passage' in system
    assert '"verdict": "supported | not_supported | not_addressed"' in system
    item = verifying_schema([1], labels)["properties"]["verdicts"]["items"]
    assert item["properties"]["verdict"]["enum"] == ["supported", "not_supported", "not_addressed"]


def test_two_labels_leave_no_word_for_silence() -> None:
    rubric, labels = load_instrument("claims"), CLAIM_LABELS["two"]
    system = verifying_system(rubric, labels)
    assert "not_addressed" not in system and "contradicted" not in system
    assert 'A claim of which only a part is covered is "not_supported".' in system
    assert 'Evidence: for "supported" quote the passage' in system
    assert 'For "not_supported" give no quotation.' in system
    assert '"verdict": "supported | not_supported"' in system
    with pytest.raises(MedjuryError, match="say `denominator: all`"):
        Claims("c", CONCORDANCE, SPEAKER, SPEAKER, labels=labels)


def renamed(words: dict[str, str]) -> Any:
    """The planted model in the words of other labels."""
    known = knowing()

    def answer(request: Request) -> str:
        found = json.loads(known(request.messages[-1].content))
        for each in found.get("verdicts", ()):
            each["verdict"] = words.get(each["verdict"], each["verdict"])
            if each["verdict"] == words.get("not_addressed"):
                each["evidence"] = []
        return json.dumps(found)

    return answer


EQUAL = {1: 1.0, 2: 1.0, 3: 1.0}
PAPER = {
    "contradicted": (ShareRule(weights=EQUAL, decisive="weight"), {}),
    "not_supported": (ShareRule(weights=EQUAL, decisive="weight"), {"contradicted": "not_supported"}),
    "two": (
        ShareRule(weights=EQUAL, decisive="weight", denominator="all"),
        {"contradicted": "not_supported", "not_addressed": "not_supported"},
    ),
}


@pytest.mark.parametrize("name", PAPER)
async def test_every_claim_weighs_the_same_and_none_decides_alone(name: Any) -> None:
    rule, words = PAPER[name]
    for planted in CASES:
        model = Scripted(renamed(words))
        speaker = Speaker(model, max_tokens=4096)
        rater = Claims("c", CONCORDANCE, speaker, speaker, rule=rule, labels=CLAIM_LABELS[name])
        (unit,) = rater.units(planted.case, 0)
        rated = await rater.rate(unit, Gate(cache=MemoryCache()))
        body = rated.record
        assert isinstance(body, ClaimsBody)
        verdicts = [each.verdict for each in planted.claims]
        counted = [each for each in verdicts if rule.denominator == "all" or each != "not_addressed"]
        share = verdicts.count("supported") / len(counted) if counted else None
        assert body.share == pytest.approx(share) if share is not None else body.share is None
        if share is not None:
            outcome = rated.ratings[0]
            assert outcome.score == float(share >= 0.8), planted.case.id


def test_worked_examples_stand_in_both_prompts() -> None:
    (example,) = CLAIM_EXAMPLES
    for label in CLAIM_LABELS.values():
        question, answer = example.verifying(label)
        assert "Reference text (1):" in question.content and example.reference in question.content
        verdicts = json.loads(answer.content)["verdicts"]
        assert [each["verdict"] for each in verdicts] == [label.word(each.verdict) for each in example.claims]
        assert all(bool(each["evidence"]) == (each["verdict"] != label.unquoted) for each in verdicts)
    question, answer = example.listing()
    assert example.text in question.content and "Text to take apart:" in question.content
    listed = json.loads(answer.content)["claims"]
    assert [each["importance"] for each in listed] == [3, 3, 2, 3, 1]
    assert all(each["quote"] in example.text for each in listed)
    facts = json.loads(example.listing(least=3)[1].content)["claims"]
    assert [each["importance"] for each in facts] == [3, 3, 3]


async def test_both_steps_are_asked_with_the_examples_between_rules_and_question() -> None:
    model = Scripted(renamed({}))
    speaker = Speaker(model, max_tokens=4096)
    rater = Claims("c", CONCORDANCE, speaker, speaker, examples=CLAIM_EXAMPLES)
    assert rater.settings_hash() != Claims("c", CONCORDANCE, speaker, speaker).settings_hash()
    (unit,) = rater.units(CASES[0].case, 0)
    rated = await rater.rate(unit, Gate(cache=MemoryCache()))
    assert rated.ratings[0].status == "scored"
    first, *others = model.requests
    (example,), rubric = CLAIM_EXAMPLES, rater.rubric
    assert first.messages[:3] == (first.messages[0], *example.listing())
    assert first.messages[0].content == listing_system(rubric)
    assert len(others) == len(CASES[0].claims)
    for request in others:
        assert request.messages[0].content == verifying_system(rubric)
        assert request.messages[1:3] == example.verifying(rater.labels) and len(request.messages) == 4


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (WorkedClaim("not there", "x", 2, "not_addressed"), "`quote` is not in the text"),
        (WorkedClaim("Start it", "x", 4, "not_addressed"), "`importance` 1, 2 or 3"),
        (WorkedClaim("Start it", "x", 2, "supported"), "`evidence` is needed"),
        (WorkedClaim("Start it", "x", 2, "not_addressed", evidence=("Wait",)), "for these alone"),
        (WorkedClaim("Start it", "x", 2, "contradicted", evidence=("Go",)), "is not in the reference"),
    ],
)
def test_an_example_that_teaches_a_fault_is_refused(claim: WorkedClaim, words: str) -> None:
    with pytest.raises(MedjuryError, match=f"example of claims, claim 1: .*{words}"):
        WorkedClaims("Start it now.", "Wait a week.", (claim,))


# Deliberation and drafting


def test_a_moderator_can_take_the_place_of_the_one_who_weighs() -> None:
    assert PERSONA_GROUPS["moderated"] == ("high_scorer", "low_scorer", "moderator")
    agents = [Agent(PERSONAS[name], SPEAKER) for name in PERSONA_GROUPS["moderated"]]
    told = Deliberation("d", NOTE_QUALITY, SPEAKER, agents).describe()["personas"]
    assert [each["name"] for each in told] == ["high_scorer", "low_scorer", "moderator"]
    assert "reach a grade that all of them can carry" in told[2]["text"]


def test_a_draft_can_be_written_from_progress_notes_alone() -> None:
    kinds = ["Progress Note", "Telephone encounter", "Hematology progress note", None, "Progress summary"]
    notes = tuple(Note(f"n{n}", "long " * 800, kind=kind) for n, kind in enumerate(kinds))
    case = Case("1", notes=notes)
    everything = select_sources(case, SelectionRules(notes=9))
    assert len(everything.notes) == 5 and "notes_of_another_kind" not in everything.counts
    chosen = select_sources(case, SelectionRules(notes=9, kinds=("progress note",)))
    assert [note.id for note in chosen.notes] == ["n0", "n2"]
    assert chosen.counts["notes_of_another_kind"] == 3 and chosen.counts["notes_too_short"] == 0
    stated = DraftingRules(SelectionRules(kinds=("progress note",)))
    assert Drafter(SPEAKER, "w", stated).settings_hash() != HASHES["drafter"]

"""The word lists: broad, well formed, and found by any of their forms."""

from __future__ import annotations

import pytest

from medjury.texts.metrics._lexicons import CATEGORIES, entries, lexicons
from medjury.texts.metrics._reading import read
from medjury.texts.transcripts import normalise

OTHER_FILES = (
    "administrative", "answers_no", "answers_short", "answers_yes", "closing", "courtesy", "function_words",
    "greetings", "negations",
)  # fmt: skip


@pytest.mark.parametrize("file", [*CATEGORIES.values(), *OTHER_FILES, "drug_endings"])
def test_every_list_is_written_as_the_normaliser_writes(file: str) -> None:
    terms = list(entries(file))
    assert len(terms) >= 8
    assert all(term == normalise(term) and term for term in terms)


def test_the_lists_are_broad() -> None:
    least = {
        "drugs": 350,
        "symptoms": 250,
        "conditions": 180,
        "anatomy": 150,
        "history": 80,
        "times": 80,
        "family": 40,
    }
    for file, count in least.items():
        assert len(set(entries(file))) >= count, file


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("wheezing", "symptom"), ("shortness of breath", "symptom"), ("vomited", "symptom"), ("rashes", "symptom"),
        ("atorvastatin", "drug"), ("telmisartan", "drug"), ("pantoprazole", "drug"), ("Nurofen", "drug"),
        ("diabetes", "condition"), ("kidney stones", "condition"), ("knees", "anatomy"),
        ("my right elbow", "laterality"),
        ("on the left", "laterality"), ("my grandmother's", "family"), ("twice a day", "frequency"),
        ("three weeks", "time"), ("ten milligrams", "dose"), ("40mg", "dose"), ("blood test", "history"),
        ("penicillin", "drug"), ("shellfish", "exposure"), ("worse", "qualifier"),
    ],
)  # fmt: skip
def test_terms_are_found_in_any_form(said: str, category: str) -> None:
    assert category in {concept.category for concept in read(said, lexicons()).concepts.values()}


@pytest.mark.parametrize("said", ["that's all right", "right, okay", "alright then", "right now"])
def test_right_is_not_always_a_side(said: str) -> None:
    assert not [c for c in read(said, lexicons()).concepts.values() if c.category == "laterality"]


def test_equivalent_wordings_read_the_same() -> None:
    lists = lexicons()
    for one, other in (
        ("yeah I don't", "yes i do not"),
        ("my mum's", "my mother"),
        ("mm-hmm", "yes"),
        ("I'm short of breath", "i am breathless"),
        ("um I, I can't", "i cannot"),
    ):
        assert read(one, lists).words == read(other, lists).words, (one, other)


def test_unknown_words_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    canon = lexicons().canon
    monkeypatch.setattr("medjury.texts.metrics._lexicons.MOST_WORDS", len(canon))
    before = len(canon)
    assert canon["zyzzyvas"] == ("zyzzyva",)
    assert len(canon) == before

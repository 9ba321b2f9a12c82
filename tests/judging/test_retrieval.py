"""Passages are found by their words, with the note and the place they come from."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.judging._quotations import Source
from medjury.judging._retrieval import Index, passages, sentences

TEXT = (
    "Seen in clinic. BP was 150/90 today. Started amlodipine 5 mg.\nPlan: review in 4 weeks. Call if dizzy."
)


def passage(text: str) -> Source:
    return Source("n", text)


def test_sentences_and_lines_have_their_places() -> None:
    assert [TEXT[start:end] for start, end in sentences(TEXT)] == [
        "Seen in clinic.",
        "BP was 150/90 today.",
        "Started amlodipine 5 mg.",
        "Plan: review in 4 weeks.",
        "Call if dizzy.",
    ]


def test_windows_overlap_and_keep_note_and_place() -> None:
    found = passages(Source("n7", TEXT), size=2, overlap=1)
    assert [each.text for each in found] == [
        "Seen in clinic. BP was 150/90 today.",
        "BP was 150/90 today. Started amlodipine 5 mg.",
        "Started amlodipine 5 mg.\nPlan: review in 4 weeks.",
        "Plan: review in 4 weeks. Call if dizzy.",
    ]
    assert all(each.id == "n7" and TEXT[each.offset : each.end] == each.text for each in found)


@given(st.text(alphabet="ab. \n!?", max_size=300), st.integers(1, 5), st.integers(0, 4))
def test_no_word_of_a_text_is_lost_between_passages(text: str, size: int, overlap: int) -> None:
    found = passages(Source("n", text), size=size, overlap=min(overlap, size - 1))
    covered = {place for each in found for place in range(each.offset, each.end)}
    assert all(place in covered for place, sign in enumerate(text) if sign in "ab")


def test_a_dump_without_sentences_is_cut() -> None:
    found = sentences("x " * 5_000)
    assert len(found) > 5
    assert max(end - start for start, end in found) <= 1_000


def test_the_score_is_that_of_the_formula_worked_by_hand() -> None:
    """Three passages of 2, 4 and 3 words, mean 3; "pain" in two of them (once, twice), "chest" in one."""
    index = Index([passage("pain gone"), passage("chest pain worse pain"), passage("knee swollen red")])
    idf_pain, idf_chest = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)

    def part(idf: float, count: int, length: int) -> float:
        return idf * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * length / 3))

    assert index.scores("chest pain") == pytest.approx(
        [part(idf_pain, 1, 2), part(idf_pain, 2, 4) + part(idf_chest, 1, 4), 0.0], abs=1e-12
    )


def test_scores_are_those_of_an_independent_implementation() -> None:
    """rank_bm25 0.2.2, BM25Okapi (k1 1.5, b 0.75) with the idf given; computed once."""
    index = Index(
        [
            passage("fever cough sputum fever"),
            passage("cough resolved"),
            passage("blood culture negative fever resolved today"),
            passage("discharged home"),
        ]
    )
    assert index.scores("fever cough") == pytest.approx([1.59801684, 0.85876642, 0.52454381, 0.0], abs=1e-8)


def test_the_best_come_first_and_what_shares_no_word_is_no_hit() -> None:
    index = Index(
        [passage("no fever"), passage("aspirin 75 mg"), passage("aspirin stopped, aspirin allergy")]
    )
    assert [each.text for each, _ in index.search("aspirin", 5)] == [
        "aspirin stopped, aspirin allergy",
        "aspirin 75 mg",
    ]
    assert index.search("cholesterol", 5) == []
    assert Index([]).search("aspirin", 5) == []


def test_plural_and_singular_find_each_other_and_common_words_find_nothing() -> None:
    index = Index([passage("two seizures"), passage("the patient was well")])
    assert [each.text for each, _ in index.search("a seizure of the patient", 5)] == ["two seizures"]


def test_embeddings_bring_what_words_do_not() -> None:
    meaning = {
        "heart attack in 2010": (1.0, 0.0),
        "sprained ankle": (0.0, 1.0),
        "myocardial infarction": (0.9, 0.1),
    }
    index = Index(
        [passage("sprained ankle"), passage("heart attack in 2010")],
        embed=lambda texts: [meaning[text] for text in texts],
    )
    assert Index(index.passages).search("myocardial infarction", 1) == []
    assert index.search("myocardial infarction", 1)[0][0].text == "heart attack in 2010"

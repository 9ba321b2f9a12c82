"""The hashes of answers by which two studies of the same answers are known."""

from __future__ import annotations

import hashlib
import json

from hypothesis import example, given
from hypothesis import strategies as st

from medjury.intake.cases import Case, Note
from medjury.studies._study.material import AnswerHashes

LONG = "Reports no chest pain. " * 20
ODD = st.text(st.sampled_from('ab   \n\t\v\f\r\x1c\x1f"\\\x00\x7f\x85\xa0\u2028é😀\ud800'), max_size=8)
TEXT = st.text(max_size=20) | st.text("ab  ", max_size=12) | ODD | ODD.map(lambda text: LONG + text + LONG)
NAMED = st.dictionaries(st.sampled_from(["question", "a"]), TEXT, max_size=2)
NOTES = st.lists(st.builds(Note, st.just("1"), TEXT), max_size=1).map(tuple)


def hashed(case: Case) -> str:
    texts = [case.candidate, case.reference, *(text for _, text in sorted(case.texts.items()))]
    texts += [note.text for note in case.notes]
    words = json.dumps([" ".join((text or "").split()) for text in texts], ensure_ascii=False)
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@given(st.builds(Case, st.just("1"), st.none() | TEXT, st.none() | TEXT, NAMED, NOTES))
@example(Case("1", "   "))
@example(Case("1", f"  {LONG}   {LONG} ", LONG))
@example(Case("1", LONG, texts={"question": f"{LONG}\x7f"}))
def test_an_answer_is_hashed_by_its_words_alone(case: Case) -> None:
    hashes = AnswerHashes()
    hashes.add(case)
    assert hashes.kept == (hashed(case),)


@given(st.lists(st.integers(0, 400), max_size=300))
def test_the_smallest_hashes_are_kept_once_each_in_order(numbers: list[int]) -> None:
    hashes, cases = AnswerHashes(), [Case("1", f"answer {number}") for number in numbers]
    for case in cases:
        hashes.add(case)
    assert hashes.kept == tuple(sorted({hashed(case) for case in cases})[: AnswerHashes.MOST])

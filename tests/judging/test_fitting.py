"""Shortening a record: whole notes first, then between sentences; all that is left out is counted and marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.intake.cases import Case, Note
from medjury.judging import Truncation, shorten
from medjury.judging._shortening import Keep
from medjury.models import cautious_tokens

SENTENCE = "The patient was seen on the ward and is doing well today. "


def note(name: str, sentences: int = 10, date: str | None = None) -> Note:
    return Note(name, f"{name}: " + SENTENCE * sentences, date)


def ids(case: Case) -> list[str]:
    return [each.id for each in case.notes]


def tokens(case: Case) -> int:
    return sum(cautious_tokens(each.text) for each in case.notes)


RECORD = Case(
    "1",
    candidate="A summary.",
    notes=(note("c", date="2025-03-01"), note("a", date="2025-01-01"), note("b", date="2025-02-01")),
)


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ("newest", ["left-out", "c", "b"]),
        ("oldest", ["a", "b", "left-out"]),
        ("both_ends", ["c", "a", "left-out"]),
    ],
)
def test_whole_notes_go_first_by_their_dates(keep: Keep, left: list[str]) -> None:
    found = shorten(RECORD, Truncation(keep=keep), 40)
    assert found is not None
    case, cut = found
    assert ids(case) == left
    gone = ({"a", "b", "c"} - set(left)).pop()
    assert cut.notes_left_out == (gone,) and cut.shortened is None and cut.order == "date"
    assert cut.characters_left_out == len(next(each.text for each in RECORD.notes if each.id == gone))
    assert cut.characters == sum(len(each.text) for each in RECORD.notes)
    marker = next(each for each in case.notes if each.id == "left-out")
    assert (
        f"1 of 3 notes, {cut.characters_left_out} characters" in marker.text and f": {gone}." in marker.text
    )
    assert case.candidate == RECORD.candidate


def test_without_readable_dates_the_place_in_the_record_counts() -> None:
    record = Case("1", notes=(note("x", date="2025-03-01"), note("y"), note("z", date="03/04/2025")))
    found = shorten(record, Truncation(keep="newest"), 40)
    assert found is not None
    assert found[1].order == "position" and found[1].notes_left_out == ("x",)


@pytest.mark.parametrize("keep", ["newest", "oldest", "both_ends"])
def test_the_last_note_is_cut_between_sentences(keep: Keep) -> None:
    text = "".join(f"Sentence {number} is here. " for number in range(40))
    found = shorten(Case("1", notes=(Note("n", text),)), Truncation(keep=keep), 100)
    assert found is not None
    case, cut = found
    (left,) = case.notes
    assert cut.shortened == "n" and not cut.notes_left_out
    assert f"[... {cut.characters_left_out} characters were left out here" in left.text
    assert ("Sentence 39 is here." in left.text) == (keep != "oldest")
    assert ("Sentence 0 is here." in left.text) == (keep != "newest")
    for line in left.text.split("\n"):
        assert line.startswith("[...") or (line.startswith("Sentence") and line.strip().endswith("here."))


def test_what_would_leave_nothing_is_not_cut_at_all() -> None:
    assert shorten(Case("1", notes=(Note("n", "One sentence."),)), Truncation(), 1) is None
    assert shorten(Case("1"), Truncation(), 1) is None
    assert shorten(RECORD, Truncation(), 100_000) is None
    assert shorten(RECORD, Truncation("context"), 10) is None, "there is no such text"


def test_another_text_can_be_named() -> None:
    case = Case("1", candidate="x", texts={"context": SENTENCE * 30, "question": SENTENCE})
    found = shorten(case, Truncation("context", "oldest"), 50)
    assert found is not None
    shorter, cut = found
    assert cut.truncate == cut.shortened == "context" and len(shorter.texts["context"]) < len(
        case.texts["context"]
    )
    assert shorter.texts["question"] == case.texts["question"] and shorter.candidate == "x"


def test_a_text_without_sentences_is_cut_all_the_same() -> None:
    for text in ("word " * 2000, "x" * 9000):
        found = shorten(Case("1", notes=(Note("n", text),)), Truncation(keep="oldest"), 500)
        assert found is not None and len(found[0].notes[0].text) < len(text)


@given(
    st.lists(st.text(alphabet="abc .!\n1", min_size=1, max_size=300), min_size=1, max_size=6),
    st.sampled_from(["newest", "oldest", "both_ends"]),
    st.integers(1, 400),
)
def test_as_much_goes_as_was_asked_for_and_every_character_is_accounted_for(
    texts: list[str], keep: Keep, wanted: int
) -> None:
    case = Case("1", notes=tuple(Note(str(place), text) for place, text in enumerate(texts)))
    found = shorten(case, Truncation(keep=keep), wanted)
    if found is None:
        return
    shorter, cut = found
    assert 0 < cut.characters_left_out < cut.characters == sum(map(len, texts))
    kept = [each for each in shorter.notes if each.id not in ("left-out", cut.shortened)]
    assert all(each in case.notes for each in kept)
    assert len(cut.notes_left_out) + len(kept) + (cut.shortened is not None) == len(texts)
    assert found == shorten(case, Truncation(keep=keep), wanted), "the same rule gives the same record"


def test_notes_with_one_id_are_told_apart_and_each_is_counted() -> None:
    first, second = (
        Note("n", "Seen on the ward and well. " * 40, "2025-01-01"),
        Note("n", "Home today. " * 40),
    )
    found = shorten(Case("1", notes=(first, second)), Truncation(), 50)
    assert found is not None
    shorter, cut = found
    assert second in shorter.notes and cut.notes_left_out == ("n",)
    assert cut.characters_left_out == len(first.text)

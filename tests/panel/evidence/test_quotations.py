"""A quotation is shown where its words stand, whatever their case and spacing; one that stands nowhere is named."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.panel.evidence.planted_run import Reader, explained, plant_study, small_ratings

from medjury.panel._evidence._quotations import Found, Quotable, Quotation, locate, pieces, quoted_in
from medjury.panel._evidence._run import EvidenceRun

TEXT = Quotable("n1", "Start  Amlodipine\n5 mg once daily; REVIEW in four weeks.")


def test_the_very_words_are_found() -> None:
    place = TEXT.place("once daily; REVIEW in")
    assert place is not None
    assert TEXT.text[slice(*place)] == "once daily; REVIEW in"


def test_case_and_spacing_do_not_matter() -> None:
    place = TEXT.place("“start amlodipine   5 mg Once Daily”.")
    assert place is not None
    assert TEXT.text[slice(*place)] == "Start  Amlodipine\n5 mg once daily"


def test_other_words_are_not_found() -> None:
    assert TEXT.place("start amlodipine 10 mg") is None
    assert TEXT.place("") is None


def test_letters_that_become_two_move_no_place() -> None:
    text = Quotable("n1", "İstanbul İİ Clinic: no FEVER at night")
    place = text.place("no fever AT night")
    assert place is not None
    assert text.text[slice(*place)] == "no FEVER at night"


def test_quotations_of_an_explanation_are_those_between_marks() -> None:
    said = 'It says "no known drug allergies" and “the INR was 3.4”, but "mild" is a term.'
    assert [each.words for each in quoted_in(said, "judge-a")] == [
        "no known drug allergies",
        "the INR was 3.4",
    ]


@given(st.text(max_size=200), st.lists(st.tuples(st.integers(0, 220), st.integers(0, 220)), max_size=6))
def test_pieces_are_the_whole_text_whatever_is_quoted(text: str, spans: list[tuple[int, int]]) -> None:
    found = [
        Found(Quotation("words", f"judge-{number}"), number, 0, min(span), max(span))
        for number, span in enumerate(spans)
    ]
    assert "".join(each.text for each in pieces(text, found)) == text


@given(st.text(st.characters(codec="utf-8"), max_size=120), st.integers(0, 119), st.integers(1, 60))
def test_every_part_of_a_text_is_found_in_it(text: str, start: int, length: int) -> None:
    part = " ".join(text[start : start + length].split())
    words = "".join(sign.swapcase() if sign.isascii() else sign for sign in part)
    (found,) = locate([Quotation(words, "judge-a")], [Quotable("n1", text)])
    if wanted := words.strip(" \t\r\n\"'“”‘’«»….,;:"):
        assert found.text == 0
        shown = " ".join(text[found.start : found.end].split())
        assert shown.lower() == " ".join(wanted.split()).lower()


def test_two_signs_for_one_thing_are_one() -> None:
    text = Quotable("n1", "Levothyroxine 50 µg – the patient's own dose")
    place = text.place("50 μg - the patient’s own")
    assert place is not None
    assert text.text[slice(*place)] == "50 µg – the patient's own"


def test_the_page_links_a_quotation_to_its_place_and_names_an_invented_one(tmp_path: Path) -> None:
    words = "The note says “the inr WAS 3.4 on monday” and “no bleeding was ever seen”."
    run = plant_study(tmp_path, explained(small_ratings(), "judge-a", words))
    page = Reader(EvidenceRun(run)).text("/case/case-0001/alpha")
    assert 'title="quoted by judge-a">The INR was 3.4 on Monday</mark>' in page
    assert '<span id="q1" class="anchor"></span><mark' in page
    assert '<a class="quoted" href="#q1"' in page
    assert "no bleeding was ever seen <strong>not found in the source</strong>" in page
    assert "1 quotation is" in page


def test_a_quotation_far_down_a_long_note_leads_to_its_page(tmp_path: Path) -> None:
    note = "All was well that day. " * 5_000 + "A lone fever of 39.4 came at night."
    ratings = explained(small_ratings(), "judge-a", "It says “a lone fever of 39.4” there.")
    run = plant_study(tmp_path, ratings, texts={"case-0001": {"notes": [{"id": "n1", "text": note}]}})
    reader = Reader(EvidenceRun(run))
    page = reader.text("/case/case-0001/alpha")
    assert "The first 60,000 of 115,035 characters." in page
    link = page.split('<a class="quoted" href="')[1].split('"')[0]
    assert ">A lone fever of 39.4</mark>" in reader.text(link.split("#")[0])

"""The normaliser: what is said alike is written alike."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import fillers, normalise

PRIMOCK = Path(__file__).parents[3] / "shared" / "data" / "transcript_impact" / "primock_dev.csv"


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("1st", "first"),
        ("2nd 3rd 5th 8th 9th 12th 20th", "second third fifth eighth ninth twelfth twentieth"),
        ("the 21ST", "the twenty first"),
        ("100th", "one hundredth"),
        ("23", "twenty three"),
        ("0", "zero"),
        ("101", "one hundred and one"),
        ("999", "nine hundred and ninety nine"),
        ("1066", "one thousand and sixty six"),
        ("1,250,000", "one million two hundred and fifty thousand"),
        ("1000001", "one million and one"),
        ("2.5", "two point five"),
        (".5", "zero point five"),
        ("10mg", "ten mg"),
        ("0.05%", "zero point zero five percent"),
        ("120/80", "one hundred and twenty eighty"),
        ("3-4 days", "three four days"),
        ("it was -5 outside", "it was minus five outside"),
        ("07700 900123", "zero seven seven zero zero nine hundred thousand one hundred and twenty three"),
        ("I am 23.", "i am twenty three"),
        ("in 2.", "in two"),
        ("٢٣ ٠٧", "twenty three zero seven"),
        ("9" * 40, " ".join(["nine"] * 40)),
    ],
)
def test_numbers_become_british_words(said: str, written: str) -> None:
    assert normalise(said) == written


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("Well-being, OK?", "well being ok"),
        ("It's  the\tSAME\n", "its the same"),
        ("it’s", "its"),
        ("8 a.m.", "eight am"),
        ("and/or", "and or"),
        ("this,that", "this that"),
        ("A&E", "a and e"),
        ("caf\u0065\u0301", "café"),
        ("боль в груди, 2 дня", "боль в груди two дня"),
        ("頭痛、二日", "頭痛 二日"),
        ("", ""),
        (" ... ", ""),
    ],
)
def test_case_signs_and_spaces_do_not_matter(said: str, written: str) -> None:
    assert normalise(said) == written


def test_fillers_are_removed_only_on_request() -> None:
    assert normalise("Uh, no, um, mm-hmm") == "uh no um mm hmm"
    assert normalise("Uh, no, um, mm-hmm", remove_fillers=True) == "no"


def test_the_filler_list_is_what_the_normaliser_writes() -> None:
    assert {"um", "uh", "hmm"} <= fillers()
    assert all(normalise(token) == token for token in fillers())
    assert not {"no", "yes", "yeah", "okay", "not", "like"} & fillers(), "words that carry meaning stay"


@settings(deadline=None)
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=10**27 - 1))
def test_every_number_is_spelled_in_words_alone(number: int) -> None:
    words = normalise(str(number)).split()
    assert all(word.isalpha() for word in words)
    assert words == normalise(f"{number:,}").split()


def test_it_writes_what_the_published_pairs_write() -> None:
    if not PRIMOCK.exists():
        pytest.skip(f"{PRIMOCK.name} is not on this machine")
    with PRIMOCK.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert normalise(row["patient_ground_truth"]) == row["norm_ground_truth"]
            assert normalise(row["patient_hypothesis"]) == row["norm_hypothesis"]


def test_the_published_list_of_fillers_stands_beside_ours() -> None:
    """The paper speaks of 43 tokens; the list that its authors published has 41."""
    assert len(fillers("ellis")) == 41
    assert fillers() == fillers("ours") != fillers("ellis")
    assert normalise("Oh, um, aahh no.", remove_fillers=True) == "aahh no"
    assert normalise("Oh, um, aahh no.", remove_fillers=True, filler_list="ellis") == "oh no"


def test_a_filler_with_a_hyphen_goes_as_a_whole_and_only_as_written() -> None:
    def clean(text: str) -> str:
        return normalise(text, remove_fillers=True, filler_list="ellis")

    assert clean("Uh-oh, the M-hm pills") == "the pills"
    assert clean("oh dear, a ha") == "oh dear a ha"
    assert clean("a b-a-ha c") == "a b a ha c"


def test_an_unknown_list_of_fillers_is_refused() -> None:
    with pytest.raises(MedjuryError, match="`ours` and `ellis`"):
        normalise("um", remove_fillers=True, filler_list="theirs")  # type: ignore[arg-type]

"""Context, sampling, and the way from an alignment to cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.studies._transcript_pairs import context_before, impact_cases, sample_by_band
from medjury.texts.transcripts import Transcript, align
from medjury.texts.transcripts._turn import Turn

TALK = Transcript(tuple(
    Turn(number, text, speaker)
    for number, (speaker, text) in enumerate([
        ("Doctor", "Good morning."),
        ("Patient", "Hello."),
        ("Doctor", "Any pain?"),
        ("Doctor", "In the chest?"),
        ("Patient", "No, none."),
        ("Doctor", "Do you smoke?"),
        ("Patient", "Five a day."),
        ("Patient", "Sometimes ten."),
        ("Patient", "Bye."),
    ])
))  # fmt: skip


def test_two_doctor_turns_and_the_latest_patient_turn() -> None:
    whole = "Doctor: Any pain? In the chest?\nPatient: No, none.\nDoctor: Do you smoke?"
    assert context_before(TALK, 6) == whole
    assert context_before(TALK, 0) == ""
    assert context_before(TALK, 8).endswith("\nPatient: Five a day. Sometimes ten.")
    assert context_before(Transcript((Turn(0, "a"), Turn(1, "b"))), 1) == ""


def test_cases_from_an_alignment() -> None:
    golden = TALK.of_speaker("patient")
    heard = Transcript(tuple(
        Turn(number, text) for number, text in enumerate(["hello", "no nun", "five a day sometimes ten", "um what"])
    ))  # fmt: skip
    alignment = align(golden.turns, heard.turns)
    cases = impact_cases(TALK, golden, heard, alignment, call="day1", system="heard")
    assert [(case.id, case.metadata["match_type"]) for case in cases] == [
        ("day1-0", "exact"), ("day1-1", "fuzzy"), ("day1-2-3", "multi_golden"), ("day1-4", "missed"),
    ]  # fmt: skip
    assert cases[1].reference == "No, none." and cases[1].candidate == "no nun"
    assert (
        cases[1].texts["context"] == "Doctor: Good morning.\nPatient: Hello.\nDoctor: Any pain? In the chest?"
    )
    assert (
        cases[2].candidate == "five a day sometimes ten"
        and cases[2].reference == "Five a day. Sometimes ten."
    )
    assert cases[3].candidate == "[nothing was recognised]" and "similarity" not in cases[3].metadata
    assert {case.patient for case in cases} == {"day1"} and {case.system for case in cases} == {"heard"}


def test_a_few_of_each_band_and_the_same_ones_again() -> None:
    rates = [0.1] * 10 + [0.3] * 2 + [0.5] * 4 + [0.0, None, 1.0, 7.0]
    bands = sample_by_band(rates, per_band=3, seed=5)
    assert [(found, len(chosen)) for _, found, chosen in bands] == [(10, 3), (2, 2), (4, 3), (2, 2)]
    assert bands == sample_by_band(rates, per_band=3, seed=5)
    assert sample_by_band(rates, keep_perfect=True)[0][1] == 11


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(0, 3)), st.integers(1, 4))
def test_bands_never_overlap_and_never_exceed_the_number(rates: list[float | None], per_band: int) -> None:
    bands = sample_by_band(rates, per_band=per_band)
    chosen = [place for _, _, own in bands for place in own]
    assert len(chosen) == len(set(chosen)) and all(len(own) <= per_band for _, _, own in bands)
    assert sum(found for _, found, _ in bands) == sum(rate is not None and rate > 0 for rate in rates)


def test_bands_that_make_no_sense() -> None:
    for edges in ([0.4, 0.2], [0.0, 1.0], [0.2, 0.2]):
        with pytest.raises(MedjuryError, match="rising numbers"):
            sample_by_band([0.1], edges=edges)
    with pytest.raises(MedjuryError, match="at least 1"):
        sample_by_band([0.1], per_band=0)

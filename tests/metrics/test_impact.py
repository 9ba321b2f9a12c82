"""The critical-difference detector: what changed, in words, and what it is likely to mean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import impact
from medjury.texts.metrics._impact import MODEL_FEATURES, Impact, impact_features

SYMPTOM_QUESTION = "Have you had any chest pain or trouble breathing?"


def one(said: str | None, heard: str | None, asked: str | None = SYMPTOM_QUESTION) -> Impact:
    return impact([said], [heard], [asked])[0]


@pytest.mark.parametrize(
    ("said", "heard", "reason"),
    [
        ("Not throat, but lips.", "not so but lips", "'not throat' became 'not so': denial of a part of the body"),
        ("I'm dizzy today", "i'm busy today", "'dizzy' became 'busy': symptom lost"),
        ("about six weeks ago", "about two weeks ago", "'six weeks' became 'two weeks': time or duration changed"),
        ("I take 15 mg", "i take fifty mg", "'fifteen mg' became 'fifty mg': dose or quantity changed"),
        ("in my left arm", "in my arm", "'left' was not recognised: side or place lost"),
        ("I took some ibuprofen", "i took some i've brought in", "'ibuprofen' became 'ive brought in': drug lost"),
        ("my mother has diabetes", "my brother has diabetes", "'mother' became 'brother': family history changed"),
        ("twice a day", "a day", "'twice a day' became 'a day': frequency lost"),
        ("I don't have gout", "i have gout", "'gout' was denied and now reads as affirmed: denial of a condition"),
        ("I don't eat nuts", "i don't eat much", "'dont eat nuts' became 'dont eat much': denial of an exposure"),
        ("I have asthma", "i haven't asthma", "'asthma' was affirmed and now reads as denied: condition reversed"),
        ("Yes.", "no", "the answer 'yes' became 'no'"),
        ("No.", "", "the answer 'no' was lost"),
        ("I feel okay", "i feel okay with wheezing", "'wheezing' was added: symptom that was not said"),
    ],
)  # fmt: skip
def test_it_says_what_changed(said: str, heard: str, reason: str) -> None:
    found = one(said, heard)
    assert found.level is not None and found.level >= 1
    assert any(reason in each for each in found.reasons), found.reasons


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("Um, yeah, uh, no pain.", "yes no pain"),
        ("I don't, I don't have a cough.", "i do not have a cough"),
        ("No, no.", "nope"),
        ("It's 2 days.", "it is two days"),
        ("OK, thank you.", "okay thanks"),
        ("leg swellings", "leg swelling"),
        ("on hayfever tablets", "on hay fever tablets"),
        ("um", ""),
    ],
)
def test_other_wording_of_the_same_is_no_impact(said: str, heard: str) -> None:
    assert one(said, heard).level == 0


def test_the_question_decides_what_matters() -> None:
    name = ("It's John Smith and I am 32.", "its jon and i am")
    assert one(*name, "Can I confirm your full name and date of birth please?").level == 0
    assert one("Yeah.", "", SYMPTOM_QUESTION).level == 2
    assert one("OK, yeah.", "", "I will send you a leaflet. Is that alright?").level == 1
    assert one("Thank you, bye.", "", "Bye.").level == 0


def test_a_symptom_counts_whatever_was_asked() -> None:
    assert (
        one("John Smith, and my chest hurts.", "jon and my guests", "Can you confirm your name?").level == 2
    )
    assert one("I'm suicidal.", "i'm so idle", "And how are things at home?").level == 2


def test_a_promise_is_no_illness() -> None:
    """Without its apostrophe "I'll" looks like "ill"."""
    assert one("I'll do that.", "i do that").level == 0


def test_a_denial_that_only_repeats_the_question_weighs_less() -> None:
    echo, lost = (
        one("No, no chest pain.", "no"),
        one("No chest pain.", "no i went out", "How was your weekend?"),
    )
    assert echo.score is not None and lost.score is not None and echo.score < lost.score


def test_without_a_question_a_turn_is_taken_for_an_answer_about_health() -> None:
    assert impact(["Yeah."], [""])[0].level == 2


@pytest.mark.parametrize("said", [None, "", "   "])
def test_without_a_reference_there_is_no_estimate(said: str | None) -> None:
    found = one(said, "chest pain")
    assert (found.level, found.score, found.probabilities) == (None, None, None)
    assert found.reasons == ("not estimated: there is no reference to compare with",)


def test_what_was_only_recognised_counts_too() -> None:
    assert one("Um.", "i have crushing chest pain").level == 2


def test_a_turn_that_is_lost_is_listed_briefly() -> None:
    said = "I had asthma, eczema, diabetes, gout, shingles, angina, a stroke and sciatica since last winter."
    reasons = one(said, "").reasons
    assert reasons[0] == "nothing was recognised"
    assert len(reasons) == 7 and reasons[-1].startswith("and ")


def test_a_long_stretch_is_quoted_by_its_ends() -> None:
    heard = "well i went to the shop and then i bought some bread and milk and came back home again"
    (reason, *_) = one("asthma", heard).reasons
    assert (
        reason == "'asthma' became 'well i went to the shop … milk and came back home again': condition lost"
    )


def test_the_numbers_belong_together() -> None:
    for found in impact(["no pain", "left arm"], ["pain", "left arm"], [SYMPTOM_QUESTION] * 2):
        assert found.probabilities is not None and found.score is not None
        assert sum(found.probabilities) == pytest.approx(1.0)
        assert found.score == pytest.approx(found.probabilities[1] + 2 * found.probabilities[2])


def test_unpaired_texts_are_refused() -> None:
    with pytest.raises(MedjuryError, match="1 references, 2 hypotheses and 1 questions cannot be paired"):
        impact(["a"], ["a", "b"], ["c"])
    assert impact([], []) == []
    assert impact_features([], []).shape == (0, len(MODEL_FEATURES))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200), st.one_of(st.none(), st.text(max_size=80)))
def test_any_text_can_be_judged(said: str, heard: str, asked: str | None) -> None:
    found = impact([said], [heard], [asked], languages=["en"])[0]
    assert (found.level is None) == (not said.strip())
    assert all(reason for reason in found.reasons)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "yes",
                "no",
                "i",
                "have",
                "not",
                "pain",
                "left",
                "arm",
                "two",
                "days",
                "the",
                "um",
                "aspirin",
                "mother",
            ]
        ),
        min_size=1,
    )
)
def test_a_text_is_without_difference_from_itself(words: list[str]) -> None:
    text = " ".join(words)
    found = one(text, text)
    assert found.reasons == () and found.level == 0


def test_mixed_scripts_and_very_long_turns_are_judged() -> None:
    assert one("боль в груди", "боль").level in (1, 2)
    long = "no pain today in the left arm and " * 2_000
    found = one(long, long.replace("left", "right"))
    assert found.level == 2
    assert any("'left' became 'right'" in reason for reason in found.reasons)

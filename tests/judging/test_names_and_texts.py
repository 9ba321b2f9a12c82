"""A question is called by the hash it always had; and a reader knows the texts that the question shows."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import Dimension, Input, Instrument
from medjury.judging._asking import Sample, Speaker
from medjury.models import Scripted

ABOUT = st.lists(
    st.text(max_size=8)
    | st.integers()
    | st.none()
    | st.booleans()
    | st.lists(st.text(max_size=3), max_size=2),
    min_size=1,
    max_size=5,
)
INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.",
    (Input("candidate", "Summary"), Input("context", "Record"), Input("notes", "Notes", required=False),
     Input("reference", "Reference", required=False)),
    (Dimension("accuracy", "Accuracy", "Right?", {1: "no", 2: "yes"}),),
)  # fmt: skip


def by_its_formula(speaker: Speaker, about: object, sample: Sample) -> str:
    stated = [
        dict(speaker.model.identity), speaker.temperature, speaker.seed, speaker.max_tokens, sample.number, about,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()[:32]


@pytest.mark.parametrize("temperature", [0, 0.0, -0.0, 0.7, 1, 1.0, None, 1e-7])
@pytest.mark.parametrize("seed", [None, 0, 7])
def test_a_question_is_called_by_the_hash_of_all_that_determines_it(
    temperature: Any, seed: int | None
) -> None:
    for name in ("juror", "Jürgen"):
        speaker = Speaker(Scripted([], name=name), temperature, seed, 512)
        for sample in (Sample(), Sample(3), Sample(3).later(2)):
            about = ["grade", "f" * 64, "", True, 0, None]
            assert speaker.name(about, sample) == by_its_formula(speaker, about, sample)
            assert speaker.name((), sample) == ""


@given(ABOUT)
def test_whatever_it_is_about(about: list[object]) -> None:
    speaker = Speaker(Scripted([], name="juror"))
    assert speaker.name(about, Sample(1)) == by_its_formula(speaker, about, Sample(1))

"""Token estimates: near the truth for clinical English, never below it where a budget depends on them."""

from __future__ import annotations

import csv
import json
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.models import Message, Request, cautious_tokens, estimate_tokens
from medjury.models._embedded_model import EmbeddedModel
from medjury.models._tokens import most_tokens


def summaries() -> list[str]:
    text = resources.files("medjury.studies").joinpath("demo/cases.jsonl").read_text("utf-8")
    return [json.loads(line)["candidate"] for line in text.splitlines()[:3]]


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    """In memory once for all texts."""
    found = EmbeddedModel(context_window=256)
    found._shared()
    return found


async def test_the_estimate_is_near_a_real_tokenizer_and_the_bound_above_it(model: EmbeddedModel) -> None:
    for text in summaries():
        asked = Request((Message("system", "x"), Message("user", text)), max_tokens=1)
        whole = await model.count_tokens(asked)
        assert whole is not None and most_tokens(asked) > whole
        assert 0.67 < estimate_tokens(text) / await true_tokens(model, text) < 1.5


@given(st.text())
def test_an_estimate_is_between_nothing_and_a_token_per_byte(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")
    assert estimate_tokens(text) <= len(text.encode("utf-8", "replace")) + 1
    assert most_tokens(Request((Message("user", text),))) >= len(text.encode("utf-8", "replace"))


def test_letters_outside_ascii_count_one_by_one() -> None:
    assert estimate_tokens("شكرا") == 4
    assert estimate_tokens("thank you") == 3


# Written for this test: what a record holds besides English prose.
HARD = {
    "labs": "2026-03-14 Creatinine 128.40 mmol/L (ref 4.2-17.9) H\n2026-03-15 Hb 9.1 g/dL (ref 12.0-15.5) L\n"
    * 9,
    "abbreviations": "s/p CABG x3, h/o HFrEF (LVEF 25-30%), CKD3b. A&Ox3, NAD, PERRLA, CTAB, RRR, no m/r/g. "
    * 5,
    "German": "Bei der Patientin zeigte sich eine Niereninsuffizienz; Überwachung des Blutzuckers. " * 5,
    "Polish": "Pacjentka przyjęta z powodu zaostrzenia przewlekłej niewydolności serca, wypisana do domu. "
    * 5,
    "Russian": "Пациентка поступила с жалобами на одышку и отёки нижних конечностей. " * 5,
    "Arabic": "أدخل المريض إلى المستشفى بسبب ألم في الصدر وضيق في التنفس. " * 5,
    "Chinese": "患者因急性胸痛入院，心电图显示下壁导联ST段抬高，诊断为急性心肌梗死。" * 5,
    "Korean": "환자는 호흡곤란으로 입원하였으며 흉부 방사선 사진에서 폐부종이 확인되었다. " * 5,
    "Thai": "ผู้ป่วยหญิงอายุ 67 ปี มาด้วยอาการหายใจลำบาก ตรวจพบน้ำท่วมปอด " * 5,
}


async def true_tokens(model: EmbeddedModel, text: str) -> int:
    alone = await model.count_tokens(Request((Message("system", "x"), Message("user", ""))))
    whole = await model.count_tokens(Request((Message("system", "x"), Message("user", text))))
    assert alone is not None and whole is not None
    return whole - alone


@pytest.mark.parametrize("kind", HARD)
async def test_the_cautious_count_is_seldom_below_the_truth_whatever_the_text(
    kind: str, model: EmbeddedModel
) -> None:
    ratio = cautious_tokens(HARD[kind]) / await true_tokens(model, HARD[kind])
    assert 0.9 < ratio < 2.0


async def test_the_cautious_count_is_above_the_truth_on_real_notes_and_dialogues(
    model: EmbeddedModel,
) -> None:
    data = (
        Path(__file__).parents[3] / "shared" / "data" / "benchmarks" / "aci_bench" / "data" / "challenge_data"
    )
    if not data.exists():
        pytest.skip(f"needs the ACI-Bench data in {data}")
    with (data / "valid.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:15]
    for text in (row[name] for row in rows for name in ("note", "dialogue")):
        assert 1.0 <= cautious_tokens(text) / await true_tokens(model, text) < 1.6


@given(st.text())
def test_a_cautious_count_is_never_more_than_a_token_and_a_half_per_byte(text: str) -> None:
    assert 0 <= cautious_tokens(text) <= 1.5 * len(text.encode("utf-8", "replace")) + 1

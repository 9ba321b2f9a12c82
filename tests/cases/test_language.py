"""The language of a case: stated, detected, or given away by its script; and redaction, whose rules are for
English."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, Note, RedactedCases, Redactor, language_of, make_redactor, read_cases
from medjury.intake.cases import _language as detection
from medjury.intake.cases._language import language_code, language_of_text
from medjury.intake.cases._units import Unit

GERMAN = "Die Patientin Erika Musterfrau klagt seit zwei Tagen über Brustschmerzen."
SPANISH = "La paciente niega dolor torácico y no toma aspirina desde ayer."
CHINESE = "患者否认胸痛，不服用阿司匹林。"
ENGLISH = "The patient has had chest pain for two days and takes no aspirin."


@pytest.fixture
def without_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "_detector", lambda: None)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (SPANISH, "es"),
        (CHINESE, "zh"),
        (ENGLISH, "en"),
        ("いいえ、アスピリンは飲んでいません。", "ja"),
        ("Yes", ""),
        ("BP 120/80, HR 72, SpO2 98% RA", ""),
        ("Pt c/o SOB x 3d. Hx HTN, DM2.", ""),
        ("120/80", ""),
        ("", ""),
    ],
)
def test_a_language_is_named_only_where_it_is_sure(text: str, language: str) -> None:
    assert language_of_text(text) == language


def test_letters_that_are_not_latin_are_no_english_and_without_a_detector_nothing_else_is_known(
    without_detector: None,
) -> None:
    assert [language_of_text(text) for text in (CHINESE, "Боль в груди", "ألم", "β-blocker", GERMAN, ENGLISH)] == [
        "und", "und", "und", "", "", "",
    ]  # fmt: skip


def test_what_is_stated_goes_before_what_is_detected() -> None:
    assert language_of(Case("1", candidate=GERMAN)) == "de"
    assert language_of(Case("1", candidate=GERMAN, metadata={"language": "English"})) == "en"
    assert language_of(Case("1", candidate=ENGLISH, texts={"language": "de-CH"})) == "de"
    assert language_of(Case("1", candidate=GERMAN, metadata={"language": "not stated"})) == "de"
    assert language_of(Case("1", notes=(Note("a", SPANISH),))) == "es"
    assert [language_code(each) for each in ("EN_gb", "Deutsch", "ZHO", "", "other")] == [
        "en",
        "de",
        "zh",
        "",
        "",
    ]


@pytest.mark.parametrize("unit", ["conversation", "last", "turn"])
@pytest.mark.parametrize(("language", "said"), [("de", GERMAN), ("zh", CHINESE), ("en", ENGLISH)])
def test_the_language_of_a_conversation_is_that_of_its_words(
    tmp_path: Path, unit: Unit, language: str, said: str
) -> None:
    section = "The patient has no known allergies and takes ramipril since the last visit of the clinic. "
    call = {"id": "c", "function": {"name": "get_record", "arguments": json.dumps({"sections": section * 5})}}
    messages = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": section * 20},
        {"role": "assistant", "content": said},
    ]
    (tmp_path / "cases.jsonl").write_text(json.dumps({"id": "1", "messages": messages}))
    assert [language_of(case) for case in read_cases(tmp_path / "cases.jsonl", unit=unit)] == [language]


def test_several_languages_that_are_stated_are_none() -> None:
    stated = ["en/de", "English and Spanish", "de, fr", "English (UK)", "de-CH", "English, spoken", "fr/Twi"]
    assert [language_code(each) for each in stated] == ["", "", "", "en", "de", "en", "fr"]
    assert language_of(Case("1", candidate=GERMAN, metadata={"language": "en/de"})) == "de"


def test_a_column_language_describes_the_case_and_a_study_states_it_for_the_others(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text(f"id,candidate,language\na,{GERMAN},\nb,{SPANISH},es\nc,Yes,\n")
    assert [case.metadata.get("language") for case in read_cases(file)] == [None, "es", None]
    assert [case.metadata["language"] for case in read_cases(file, language="de")] == ["de", "es", "de"]
    found = [case.metadata.get("language") for case in read_cases(file, language="detect")]
    assert found == ["de", "es", None]


def test_to_detect_without_the_extra_is_refused_with_what_to_install(
    tmp_path: Path, without_detector: None
) -> None:
    file = tmp_path / "cases.csv"
    file.write_text(f"id,candidate\na,{GERMAN}\n")
    with pytest.raises(MedjuryError, match=r"medjury\[languages\]"):
        list(read_cases(file, language="detect"))


def test_redaction_does_not_claim_a_case_in_another_language() -> None:
    cases = [
        Case("de", candidate=GERMAN + " Tel: 020 7946 0958"),
        Case("en", candidate=ENGLISH + " Dr. Patel"),
    ]
    redacted = RedactedCases(cases, Redactor(presidio=False))
    first, second = redacted
    assert "Musterfrau" in (first.candidate or "") and "[PHONE-1]" in (first.candidate or "")
    assert "Patel" not in (second.candidate or "")
    assert redacted.not_known == {"de": 1}
    sure = RedactedCases(cases, Redactor(names=["Erika Musterfrau"], languages=["German"], presidio=False))
    assert "Musterfrau" not in (next(iter(sure)).candidate or "") and not sure.not_known


def test_a_study_that_may_send_cases_away_refuses_one_that_it_cannot_redact() -> None:
    away = make_redactor({"presidio": False}, strict=True)
    assert away is not None
    with pytest.raises(
        MedjuryError, match=r"case x: redaction is not known for its language \(zh\).*languages: \[zh\]"
    ):
        away.redact(Case("x", candidate=CHINESE))
    assert away.redact(Case("x", candidate=CHINESE, metadata={"language": "en"})).not_known == ""
    sure = make_redactor({"presidio": False, "languages": ["zh"]}, strict=True)
    assert sure is not None and sure.redact(Case("x", candidate=CHINESE)).not_known == ""


def test_a_study_that_may_send_cases_away_asks_for_their_language_where_none_can_be_detected(
    without_detector: None,
) -> None:
    """German names would leave the site unredacted: without a detector a German text is like any other."""
    away = make_redactor({"presidio": False}, strict=True)
    own = make_redactor({"presidio": False, "languages": ["de"]}, strict=True)
    here = make_redactor({"presidio": False})
    assert away is not None and own is not None and here is not None
    for text in (GERMAN, ENGLISH):
        with pytest.raises(
            MedjuryError, match=r"nobody stated the language.*language: en.*medjury\[languages\]"
        ):
            away.redact(Case("x", candidate=text))
        assert (
            own.redact(Case("x", candidate=text)).not_known
            == here.redact(Case("x", candidate=text)).not_known
        )
    assert away.redact(Case("x", candidate=ENGLISH, metadata={"language": "en"})).not_known == ""
    with pytest.raises(MedjuryError, match=r"redaction is not known for its language \(de\)"):
        away.redact(Case("x", candidate=GERMAN, metadata={"language": "de"}))


def test_the_command_says_which_cases_it_could_not_redact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [{"id": str(n), "candidate": text} for n, text in enumerate((GERMAN, CHINESE, ENGLISH))]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out.jsonl"
    assert main(["cases", "redact", str(file), "--no-presidio", "--preview", "3", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "not redacted for their language (de 1, zh 1)" in printed.err
    assert printed.out.count("not known for this language") == 2

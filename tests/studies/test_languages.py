"""A study of cases in several languages: what is for English is missing with its reason, and language is a part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
from tests.loopback import LoopbackServer
from tests.metrics.test_languages import ENGLISH, PAIRS
from tests.studies.running import manifest_of, ratings_of, run_without_report

from medjury.cli import main
from medjury.instruments import load_instrument
from medjury.intake.cases import Case
from medjury.judging import Judge
from medjury.models import Scripted

Write = Callable[..., Path]
CASES = [
    {"id": f"{language}-{n}", "system": "a", "reference": said, "candidate": heard, "texts": {"context": f"{n}: ?"}}
    for language, (said, heard) in {**PAIRS, "en": ENGLISH}.items()
    for n in range(3)
]  # fmt: skip


def test_rules_for_english_grade_no_other_language_in_a_study(write_study: Write) -> None:
    cases = {"path": "cases.jsonl", "language": "detect"}
    study = write_study(
        cases=CASES, metrics=["impact_estimate", "semantic_wer", "wer"], redact={"presidio": False}
    )
    text = study.read_text().replace('cases: "cases.jsonl"', f"cases: {json.dumps(cases)}")
    study.write_text(text)
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater_kind="metric", dimension="accuracy")
    for rater in ("impact_estimate", "semantic_wer"):
        found = rows.filter(rater=rater)
        graded = found.filter(polars.col("score").is_not_null())["item"].to_list()
        assert sorted(graded) == ["en-0", "en-1", "en-2"]
        missing = found.filter(polars.col("score").is_null())
        assert set(missing["reason"]) == {"input"}
        assert all("not known for this language" in why for why in missing["explanation"])
    chinese = rows.filter(polars.col("item").str.starts_with("zh"), rater="wer")["score"].to_list()
    assert all(0 < value < 0.5 for value in chinese)
    assert manifest_of(study)["redaction_not_known"] == {"de": 3, "es": 3, "zh": 3}
    parts = polars.read_csv(study.parent / "runs" / "small" / "parts.csv")
    assert set(parts["language"]) == {"de", "es", "zh", "en"}


def test_a_case_that_cannot_be_redacted_is_refused_before_the_first_call(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(cases=CASES, redact={"presidio": False}, allow_hosts=["models.example.org"])
    assert main(["run", str(study), "--quiet"]) == 2
    assert "case de-0: redaction is not known for its language (de)" in capsys.readouterr().err
    assert not server.calls
    sure = {"presidio": False, "languages": ["de", "es", "zh"]}
    study = write_study(cases=CASES, redact=sure, allow_hosts=["models.example.org"])
    assert run_without_report(study) == 0


TRANSLATED = """
name: tiny
version: "1"
title: Tiny
instructions: Grade the answer.
inputs: [{name: candidate, label: Answer}]
dimensions:
  - {name: good, label: Good, definition: "Is it good?", grades: {1: bad, 2: good}}
translations:
  de: {instructions: Beurteilen Sie die Antwort., dimensions: {good: {definition: "Ist sie gut?"}}}
"""


def test_a_translated_judge_asks_in_the_language_that_the_case_states(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TRANSLATED)
    instrument = load_instrument(file)
    model = Scripted([])
    judge, plain = Judge(model, instrument, translated=True), Judge(model, instrument)

    def asked(by: Judge, case: Case) -> str:
        request = by.request(by.units(case, 0)[0])
        return "\n".join(message.content for message in request.messages)  # type: ignore[union-attr]

    german = Case("1", candidate="Gut.", metadata={"language": "de-AT"})
    assert "Beurteilen Sie die Antwort." in asked(judge, german) and "Ist sie gut?" in asked(judge, german)
    assert "Grade the answer." in asked(plain, german)
    assert "Grade the answer." in asked(judge, Case("1", candidate="Bien.", metadata={"language": "fr"}))
    detected = Case("1", candidate="Die Patientin klagt seit zwei Tagen über Brustschmerzen.")
    assert "Grade the answer." in asked(judge, detected), "the key covers only what is stated"
    assert judge.settings_hash() != plain.settings_hash()
    file.write_text(TRANSLATED.replace("Beurteilen Sie", "Bewerten Sie"))
    reworded = Judge(model, load_instrument(file), translated=True)
    assert reworded.settings_hash() != judge.settings_hash(), "the words are part of the key"
    assert Judge(model, load_instrument(file)).settings_hash() == plain.settings_hash()

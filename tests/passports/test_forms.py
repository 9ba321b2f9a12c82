"""Every field of the forms that others read, by its name: kept in `forms/`, looked at there, and equal to that."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.passports.passported import NOBODY, by_hand, write_study

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import Passport, check_passport, passport_as, read_passport
from medjury.in_use.passports._check import run_changes
from medjury.in_use.passports._document import PassportFinding, PassportNumber, expired, parsed_passport
from medjury.in_use.passports._exchange import FORMS
from medjury.in_use.passports._rebuilding import travelling_settings
from medjury.store.runs import InjectionShift, ManifestInjection

KEPT = Path(__file__).parent / "forms"


def full(folder: Path) -> Passport:
    """A card with something of every kind that a form has a field for."""
    card = by_hand(folder)
    numbers = [
        PassportNumber(
            statistic=name, reference="clinicians", value=value, low=low, high=high, n=60, method=method
        )
        for name, value, low, high, method in (
            ("kappa_quadratic", 0.81, 0.7, 0.9, "bootstrap of patients"),
            ("mae", 0.8, None, None, ""),
            ("icc", None, None, None, ""),
        )
    ]
    finding = PassportFinding(
        audit="length", statistic="slope", rater="juror", dimension="accuracy", group="longer", value=0.5, low=0.2,
        high=0.8, n=60, n_unscored=1, p_value=0.01, p_adjusted=0.02, verdict="prefers longer texts",
        stands_out=True, method="mixed model", reason="",
    )  # fmt: skip
    shift = InjectionShift(
        rater="juror", dimension="accuracy", kind="praise", value=0.4, low=0.1, high=0.7, n=20
    )
    judge = card.jury.judges[0]
    (model,) = judge.models
    return card.replaced(
        verdicts=(card.verdicts[0].replaced(numbers=tuple(numbers)),),
        audits=card.audits.replaced(
            findings=(finding, finding.replaced(group="shorter", stands_out=False)),
            injection=ManifestInjection(cases=20, shifts=(shift,)),
        ),
        jury=card.jury.replaced(judges=(judge.replaced(models=(model.replaced(vendor="Example"),)),)),
    ).sealed()


def settled(text: str, card: Passport) -> str:
    """Without hashes, which change with the words of an instrument, and without the card itself."""
    attached = base64.b64encode(card.text().encode()).decode()
    text = text.replace(json.dumps(card.text())[1:-1], "CARD").replace(card.text().strip(), "CARD")
    text = text.replace(attached, "CARD").replace(f'"size": {len(card.text())}', '"size": SIZE')
    return re.sub(r"ni:///sha-256;[\w-]+|[0-9a-f]{64}", "HASH", text)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_has_every_field_by_its_name(form: str, tmp_path: Path) -> None:
    card = full(tmp_path)
    assert settled(passport_as(form, card), card) == (KEPT / form).read_text(encoding="utf-8")


def test_a_card_is_in_force_until_the_moment_it_names_and_not_at_it(tmp_path: Path) -> None:
    card = by_hand(tmp_path)
    end, start = datetime.fromisoformat(card.expires_at), datetime.fromisoformat(card.made_at)
    assert expired(card, end - timedelta(microseconds=1)) == expired(card, start) == ""
    assert expired(card, end).startswith("expired on 2027-01-01")
    assert "in the future" in expired(card, start - timedelta(microseconds=1))


def test_a_card_is_made_at_most_a_second_before_its_run_ended(tmp_path: Path) -> None:
    def read(made_at: str) -> Passport:
        card = by_hand(tmp_path).replaced(made_at=made_at).sealed()
        return parsed_passport(json.dumps(card.content()).encode(), "a card")

    assert read("2025-12-31T23:59:59+00:00").hash
    with pytest.raises(MedjuryError, match="made before its run ended"):
        read("2025-12-31T23:59:58.900000+00:00")


def test_what_a_check_prints_for_programs_is_named(passport: Path) -> None:
    text = json.loads(check_passport(passport).to_json())
    assert [*text] == ["state", "exit_status", "reasons", "force", "hash", "signed", "expires_at", "run"]
    assert (text["state"], text["force"]) == ("in force", "validated") and text["signed"].startswith(
        "not signed"
    )


def test_another_version_of_the_program_is_no_change_of_the_run(passport: Path, run: Path) -> None:
    card = read_passport(passport)
    assert run_changes(card.replaced(made_with="medjury 0.0.0"), run) == ()
    assert run_changes(card.replaced(rater="another"), run) == ("rater: is not what the run says",)


def test_the_files_of_a_judge_travel_by_their_whole_path_and_no_secret_does(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("")
    recorded = {"kind": "recorded", "name": "juror", "file": "answers.jsonl", "model": "m"}
    file = write_study(tmp_path, NOBODY, judges=[recorded])
    settings, _ = travelling_settings(read_document(file))
    assert settings["judges"][0]["file"] == str(tmp_path / "answers.jsonl")
    asked = {"kind": "openai", "name": "juror", "url": "http://somebody:secret@127.0.0.1:1/v1", "model": "m"}
    secret = write_study(tmp_path, NOBODY, judges=[asked])
    with pytest.raises(MedjuryError, match="a name, a password or a query") as refused:
        travelling_settings(read_document(secret))
    assert "secret" not in str(refused.value)

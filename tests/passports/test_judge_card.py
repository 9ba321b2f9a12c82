"""The open format: its schema, the checker that needs nothing but Python, and the forms in which others read it."""

from __future__ import annotations

import copy
import itertools
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from tests.passports.card_schema import DOCS, REPOSITORY, card_schema
from tests.passports.passported import by_hand

from medjury.analysis.audits._every_audit import AUDITS, COMPARING
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import (
    RefusedError,
    check_passport,
    passport_as,
    passport_from,
    read_passport,
)
from medjury.in_use.passports._document import PassportNumber, content_hash, parsed_passport
from medjury.in_use.passports._exchange import FORMS, OPEN

CHECKER = REPOSITORY / "docs" / "check_judge_card.py"
SCHEMA = jsonschema.Draft202012Validator(json.loads(DOCS.read_text()))
Change = Callable[[dict[str, Any]], object]
NEEDS_SSH = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")


def checked(card: Path, *options: str) -> tuple[int, str]:
    """The checker's exit status and words, under Python alone: no site packages, nothing of the environment."""
    command = [sys.executable, "-I", "-S", str(CHECKER), str(card), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("key") / "ours"
    for name in ("ours", "theirs"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(file.with_name(name))]
        subprocess.run(command, check=True)
    return file


def test_the_schema_is_that_of_the_classes_in_the_package_and_in_the_documentation() -> None:
    text = card_schema()
    assert DOCS.read_text() == text, "python -m tests.passports.card_schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_the_specification_and_the_checker_are_as_short_as_they_promise() -> None:
    program = CHECKER.read_text()
    assert len(program.splitlines()) <= 200 and "import medjury" not in program
    specified = (REPOSITORY / "docs" / "judge-card.md").read_text()
    assert len(specified.split()) < 1600, "four printed pages"
    named = [name for name in json.loads(card_schema())["properties"] if f"`{name}`" not in specified]
    assert not named, "every name of a card is in its specification"


def test_a_made_card_fits_the_schema_and_is_sound_for_python_alone(passport: Path, run: Path) -> None:
    SCHEMA.validate(json.loads(passport.read_text()))
    status, words = checked(passport, "--manifest", str(run / "manifest.json"))
    assert status == 0 and words.startswith("SOUND until 20") and "not signed" in words, words
    (status, words), other = checked(passport, "--manifest", str(passport)), read_passport(passport)
    assert status == 6 and words.endswith("REFUSED hash: the manifest is of another run, or was edited\n")
    assert other.clinicians.reference == 2 and other.audits.injection is None
    assert {each.audit for each in other.audits.findings} == {"text_effects"}


def test_a_card_names_no_audit_in_two_ways(passport: Path) -> None:
    audits = read_passport(passport).audits
    made, left = {each.audit for each in audits.findings}, set(audits.not_made)
    assert made and left and not made & left
    assert made | left == {*AUDITS} - {*COMPARING}


def edited(**parts: Any) -> Change:
    return lambda card: card.update(parts)


def part(*path: Any, value: Any) -> Change:
    def change(card: dict[str, Any]) -> None:
        place: Any = card
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return change


def later(name: str, days: float) -> Change:
    def change(card: dict[str, Any]) -> None:
        card[name] = (datetime.fromisoformat(card[name]) + timedelta(days=days)).isoformat()

    return change


# Each is hashed anew once it was damaged, unless the hash is the damage; and the name that it is refused by.
DAMAGED: dict[str, tuple[Change, str]] = {
    "another format": (edited(format="medjury passport"), "format: medjury passport 1.0"),
    "a later version": (edited(format_version="1.1"), "format: judge card 1.1"),
    "a part is missing": (lambda card: card.pop("population"), "schema: card: population is missing"),
    "a part is unknown": (edited(approved_by="the board"), "schema: card: approved_by is not a part of it"),
    "a number in words": (part("population", "cases", value="150"), "schema: card.population.cases: not of"),
    "a truth for a number": (part("expires_days", value=True), "schema: card.expires_days: not of the type"),
    "a word of its own": (
        part("verdicts", 0, "word", value="better than clinicians"),
        "schema: card.verdicts[0].word: not one of the words",
    ),
    "a hash that is none": (part("run", "data_hash", value="abc"), "schema: card.run.data_hash: not of the form"),
    "a line end in a hash": (part("run", "data_hash", value="a" * 64 + "\n"), "schema: card.run.data_hash: not of"),
    "no days": (edited(expires_days=0), "schema: card.expires_days: beyond the minimum of 1"),
    "a count with a point": (part("population", "cases", value=150.0), "schema: card.population.cases: not of"),
    "a run before all time": (
        lambda card: card["run"].update(finished_at="0001-01-01T00:00:00+23:00"),
        "dates: it does not expire 365 days",
    ),
    "a day in words": (edited(made_at="yesterday"), "schema: card.made_at: not of the form"),
    "a name of a clinician": (
        part("clinicians", "names", value=["Dr A"]),
        "schema: card.clinicians: names is not a part of it",
    ),
    "a better word than its verdicts": (
        lambda card: card["verdicts"][0].update(word="NOT VALIDATED"),
        "verdict: in force as validated, and its worst verdict is NOT VALIDATED",
    ),
    "validated although a rule fails": (
        part("verdicts", 0, "rules", 0, "state", value="fails"),
        "verdict: accuracy is VALIDATED although",
    ),
    "validated with looser limits": (
        edited(loosened=[{"name": "margin", "stated": 0.5, "loosest": 0.1}]),
        "verdict: accuracy is VALIDATED although margin fails",
    ),
    "validated without a registration": (
        part("run", "protocol_hash", value=""),
        "verdict: accuracy is VALIDATED although registered fails",
    ),
    "an interval that ends before it begins": (
        lambda card: card["verdicts"][0]["numbers"][0].update(low=0.9, high=0.1),
        "numbers: an interval of accuracy ends before it begins",
    ),
    "cases that do not add up": (
        part("population", "cases", value=9000),
        "numbers: the groups of system do not add up",
    ),
    "a longer life": (later("expires_at", 300), "dates: it does not expire 365 days after its run ended"),
    "made before its run": (later("made_at", -1), "dates: made before its run ended"),
    "a day that is none": (edited(made_at="2026-13-01T00:00:00+00:00"), "dates: month must be in 1..12"),
    "edited": (edited(made_with="somebody else 1", hash="0" * 64), "hash: the content is not what was hashed"),
    "without a hash": (edited(hash=None), "schema: card.hash: not of the type string"),
    "a signature of nothing": (edited(signature="-----BEGIN SSH SIGNATURE-----\n"), "signature: it is not of this"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_card_is_refused_by_its_name(what: str, passport: Path) -> None:
    change, name = DAMAGED[what]
    if name.startswith("signature") and shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not here")
    card = json.loads(passport.read_text())
    sound = card["hash"]
    change(card)
    card["hash"] = content_hash(card) if card["hash"] == sound else card["hash"]
    passport.write_text(json.dumps(card))
    status, words = checked(passport)
    assert status == 6 and f"REFUSED {name}" in words, words
    # The schema's own validator says the same of the form, and Medjury refuses the same cards. Line ends before the
    # end of a text are what Python's patterns allow.
    # A count is written without a point, which the schema cannot ask for.
    if not name.startswith("format") and what not in ("a line end in a hash", "a count with a point"):
        assert SCHEMA.is_valid(card) is ("REFUSED schema" not in words)
    try:
        assert check_passport(passport).state == "refused"
    except MedjuryError:
        assert name.startswith("format")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for name, each in inside:
        yield (*at, name)
        yield from places(each, (*at, name))


def test_the_checkers_own_validator_says_what_the_schemas_does(tmp_path: Path) -> None:
    """Every part of a card in turn, gone or something else: the two agree, and Medjury reads what both accept."""
    checker, whole = runpy.run_path(str(CHECKER)), json.loads(by_hand(tmp_path).text())
    schema = json.loads(DOCS.read_text())
    others = itertools.cycle(
        [None, True, 0, -1, 2.5, "", "x", "a" * 64, [], {}, [1], {"a": 1}, "VALIDATED", 36526]
    )
    for at in places(whole):
        card = copy.deepcopy(whole)
        inside = card
        for name in at[:-1]:
            inside = inside[name]
        inside[at[-1]] = next(others)
        sound = not any(checker["form_problems"](card, schema, schema))
        assert sound is SCHEMA.is_valid(card), (at, inside[at[-1]])
        card["hash"] = content_hash(card)
        sound = sound and not [*checker["contradictions"](card)] and at[0] not in ("made_at", "expires_at")
        try:
            parsed_passport(json.dumps(card).encode(), "a card")
        except MedjuryError:
            sound = not sound
        assert sound or at == ("hash",), (at, inside[at[-1]])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (lambda text: text[:-20], "file: "),
        (lambda text: text.replace("{", '{"format": "judge card",', 1), "file: a name appears twice"),
        (lambda text: text.replace('"calibration": null', '"calibration": {"a": NaN}'), "file: Out of range"),
        (lambda text: text.replace('"calibration": null', '"calibration": {"a": 1e999}'), "file: Out of range"),
        (lambda text: text.replace('"calibration": null', '"calibration": {"a": "\\ud800"}'), "file: 'utf-8'"),
        (lambda text: "[" * 100_000, "file: "),
        (lambda text: text.replace('"calibration": null', f'"calibration": {{"a": {10**400}}}'), "file: Out of"),
        (lambda text: "\ufeff" + text, "file: Unexpected UTF-8 BOM"),
        (lambda text: text.encode("utf-16"), "file: 'utf-8' codec"),
        (lambda text: "[1]", "format: no object"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_card_is_refused_by_its_name(
    text: Callable[[str], str | bytes], name: str, passport: Path
) -> None:
    changed = text(passport.read_text())
    passport.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    status, words = checked(passport)
    assert status == 6 and words.startswith(f"REFUSED {name}"), words
    with pytest.raises(MedjuryError):
        read_passport(passport)


def test_dates_are_those_of_the_moment_that_is_asked_about(passport: Path) -> None:
    for moment, name in (("2001-01-01", "made in the future"), ("2099-01-01", "expired on")):
        status, words = checked(passport, "--at", moment)
        assert status == 6 and f"REFUSED dates: {name}" in words
    assert checked(passport, "--at", "now")[0] == 2 == checked(passport.with_name("none.json"))[0]


def test_a_schema_with_an_unknown_keyword_is_no_ground_to_call_a_card_sound(passport: Path) -> None:
    schema = passport.with_name("schema.json")
    schema.write_text(json.dumps(json.loads(DOCS.read_text()) | {"oneOf": []}))
    status, words = checked(passport, "--schema", str(schema))
    assert status == 2 and "the schema uses 'oneOf', which this program does not know" in words


@NEEDS_SSH
def test_a_signature_is_looked_at_by_openssh_in_its_namespace(passport: Path, key: Path) -> None:
    def sign(text: str, namespace: str, who: Path = key) -> str:
        command = ["ssh-keygen", "-Y", "sign", "-f", str(who), "-n", namespace]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout

    ours, theirs = str(key.with_suffix(".pub")), key.with_name("theirs")
    allowed = key.with_name("allowed_signers")
    allowed.write_text(f'hospital@example namespaces="judge-card" {Path(ours).read_text()}')
    card = json.loads(passport.read_text())
    status, words = checked(passport, "--signers", ours)
    assert status == 6 and "REFUSED signature: there is none" in words
    for signature, name in (
        (sign(card["hash"], "judge-card"), ""),
        (sign(card["hash"], "git"), "signature: it is not of this card"),
        (sign("0" * 64, "judge-card"), "signature: it is not of this card"),
        (sign(card["hash"], "judge-card", theirs), "signature: made with none of the trusted keys"),
    ):
        passport.write_text(json.dumps(card | {"signature": signature}))
        for signers in (ours, str(allowed))[: 1 if name else 2]:
            status, words = checked(passport, "--signers", signers)
            assert (status, name in words) == (6 if name else 0, True), words
            assert check_passport(passport, signers=signers).state == ("refused" if name else "in force")
    assert checked(passport)[0] == 0, "it is signed, and nobody asked by whom"


# In the forms of others.


@pytest.mark.parametrize("form", FORMS)
def test_a_card_comes_back_from_every_form_as_it_was(form: str, passport: Path, tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back.json"
    assert main(["passport", "export", str(passport), "--as", form, "--out", str(there)]) == 0
    assert main(["passport", "import", str(there), "--out", str(back)]) == 0
    assert back.read_text() == passport.read_text()
    assert passport_as(form, passport_from(there)) == there.read_text(), "and the form from the card"
    made = by_hand(tmp_path / "study")
    (verdict,) = made.verdicts
    strange = verdict.replaced(label="\x00\x1b]]> é\u2028 <b>&amp; 🩺\r\n")
    made = made.replaced(verdicts=(strange,)).sealed()
    there.write_text(passport_as(form, made))
    assert passport_from(there).text() == made.text()


@pytest.mark.parametrize("form", FORMS)
def test_a_mapped_field_may_be_filled_in_and_not_be_changed(
    form: str, passport: Path, tmp_path: Path
) -> None:
    there, whole = tmp_path / "there", passport_as(form, read_passport(passport))
    there.write_text(whole.replace(OPEN, "Example Hospital"))
    assert passport_from(there).text() == passport.read_text()
    stated = {
        "every_eval_ever": '"verdict": "VALIDATED"',
        "chai": "Accuracy: VALIDATED",
        "fhir": '"text": "validated"',
    }
    was = stated[form]
    assert was in whole
    there.write_text(whole.replace(was, re.sub("(?i)validated", "flawless", was), 1))
    with pytest.raises(RefusedError, match="does not say what the judge card in it says"):
        passport_from(there)
    there.write_text("<!DOCTYPE x>" + whole)
    with pytest.raises(MedjuryError, match="carries no judge card"):
        passport_from(there)


def instead(pattern: str, other: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, other, text, count=1)


def altered(change: Change) -> Callable[[str], str]:
    def other(text: str) -> str:
        record = json.loads(text)
        change(record)
        return json.dumps(record)

    return other


DEEP = "<Deep>" + "<a>" * 2000 + "</a>" * 2000 + "</Deep>"
FORGED: dict[str, tuple[str, Callable[[str], str]]] = {
    "another value at a name with points": (
        "fhir",
        altered(
            lambda record: record.update(
                {
                    "context.period.end": record["context"]["period"]["end"],
                    "context": {"period": {"end": "2099"}},
                }
            )
        ),
    ),
    "a name twice in FHIR": ("fhir", instead('"description":', '"description": "flawless", "description":')),
    "a name twice in a record": (
        "every_eval_ever",
        instead('"verdict":', '"verdict": "FLAWLESS", "verdict":'),
    ),
    "one category more": (
        "fhir",
        altered(lambda record: record["category"].append({"text": "for children"})),
    ),
    "one part more in the scope": (
        "every_eval_ever",
        altered(
            lambda record: record["evaluation_results"][0]["metric_config"]["llm_scoring"][
                "judge_validation"
            ]["scope"].update(holds=["specialty=surgery"])
        ),
    ),
    "a result more": (
        "every_eval_ever",
        altered(
            lambda record: record["evaluation_results"].append(record["evaluation_results"][-1] | {"a": 1})
        ),
    ),
    "an element of others in place of ours": (
        "chai",
        instead(
            "<ReleaseStage>(.*?)</", r'<ReleaseStage>flawless</ReleaseStage><ReleaseStage xmlns="x">\1</'
        ),
    ),
    "an element twice": (
        "chai",
        instead("</ReleaseStage>", "</ReleaseStage><ReleaseStage>flawless</ReleaseStage>"),
    ),
    "words behind an element within": ("chai", instead("</ReleaseStage>", "<b/>, flawless</ReleaseStage>")),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_is_added_to_a_form_cannot_stand_in_for_what_the_card_says(what: str, tmp_path: Path) -> None:
    form, forge = FORGED[what]
    made = by_hand(tmp_path / "study")
    numbered = made.verdicts[0].replaced(numbers=(NUMBER,))
    whole = passport_as(form, made.replaced(verdicts=(numbered,)).sealed())
    there = tmp_path / "there"
    there.write_text(forge(whole))
    assert there.read_text() != whole
    with pytest.raises(MedjuryError, match=r"does not say what the judge card in it|carries no judge card"):
        passport_from(there)


NUMBER = PassportNumber(
    statistic="kappa", reference="mean", value=0.8, low=None, high=None, n=60, method="", reason=""
)


def test_a_form_that_is_no_form_is_an_error_in_words(tmp_path: Path) -> None:
    made, there = by_hand(tmp_path / "study"), tmp_path / "there"
    record = {"metric_config": {"llm_scoring": {"judge_validation": {"card": 5}}}}
    for text in (
        passport_as("chai", made).replace("<ReleaseInfo>", f"{DEEP}<ReleaseInfo>"),
        json.dumps({"evaluation_results": [record]}),
    ):
        there.write_text(text)
        with pytest.raises(MedjuryError, match="carries no judge card"):
            passport_from(there)


def test_a_card_that_would_come_back_otherwise_is_not_exported(tmp_path: Path) -> None:
    """Another program wrote a whole number where a fraction may be; its hash is that of what it wrote."""
    card = json.loads(by_hand(tmp_path).text())
    card["population"]["ranges"]["age"]["low"] = 20
    card["hash"] = content_hash(card)
    read = parsed_passport(json.dumps(card).encode(), "card")
    for form in FORMS:
        with pytest.raises(RefusedError, match="keeps its point"):
            passport_as(form, read)


def test_every_form_has_what_its_readers_require(passport: Path) -> None:
    """What the three schemas require, as facts; they were held against the published schemas by hand."""
    card = read_passport(passport)
    record = json.loads(passport_as("every_eval_ever", card))
    needed = {"schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info"}
    assert record.keys() == needed | {"eval_library", "evaluation_results", "evaluation_timestamp"}
    verdict, *numbers = record["evaluation_results"]
    metric = verdict["metric_config"]
    assert metric["level_names"][int(verdict["score_details"]["score"])] == "VALIDATED"
    assert (
        metric["llm_scoring"]["judge_validation"]["card_sha256"] == card.hash
        and metric["llm_scoring"]["judges"]
    )
    defined = [each for each in card.verdicts[0].numbers if each.value is not None]
    assert [each["score_details"]["score"] for each in numbers] == [each.value for each in defined]
    document = json.loads(passport_as("fhir", card))
    assert (document["resourceType"], document["status"]) == ("DocumentReference", "current")
    assert document["context"]["period"]["end"] == card.expires_at
    root = ElementTree.fromstring(passport_as("chai", card))
    assert [each.tag.rpartition("}")[2] for each in root] == [
        "BasicInfo", "ReleaseInfo", "ModelSummary", "UsesAndDirections", "Warnings", "TrustIngredients",
        "KeyMetrics", "Resources", "Bibliography",
    ]  # fmt: skip

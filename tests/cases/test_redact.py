"""Redaction: what is found, what is left alone, consistent placeholders, and that nothing is fetched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.intake import FileError
from medjury.intake.cases import (
    NO_PROMISE,
    Case,
    Image,
    Note,
    RedactedCases,
    Redactor,
    make_redactor,
    read_cases,
)
from medjury.intake.cases._identifiers import Span, is_nhs_number, merge

PLAIN = Redactor(names=["Anna Smith", "O'Brien"], presidio=False)


@pytest.fixture(scope="module")
def full() -> Redactor:
    return Redactor(names=["Anna Smith", "O'Brien"])


def redact(redactor: Redactor, text: str) -> str:
    return redactor.redact(Case("1", candidate=text)).case.candidate or ""


@pytest.fixture(params=["plain", "full"])
def redactor(request: pytest.FixtureRequest) -> Iterator[Redactor]:
    yield PLAIN if request.param == "plain" else request.getfixturevalue("full")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Seen on 12/03/2024.", "Seen on [DATE-1]."),
        ("Seen 2024-03-12T10:30:00Z", "Seen [DATE-1]"),
        ("DOB 3.4.1950, seen 12-03-2024", "DOB [DATE-1], seen [DATE-2]"),
        ("on 3rd of March 2024 and March 12, 2024", "on [DATE-1] and [DATE-2]"),
        ("12 Mar 24, Sept 2023, on March 12 she", "[DATE-1], [DATE-2], on [DATE-3] she"),
        ("NHS number: 943 476 5919", "NHS number: [NHS_NUMBER-1]"),
        ("MRN: H1234567, Hosp no 7654321", "MRN: [MRN-1], Hosp no [MRN-2]"),
        ('{"mrn": 12345678, "patient_id": "A7654321"}', '{"mrn": [MRN-1], "patient_id": "[MRN-2]"}'),
        (
            '{"home_phone": "5551234", "fax_number": "5559876"}',
            '{"home_phone": "[PHONE-1]", "fax_number": "[PHONE-2]"}',
        ),
        ("Tel: 020 7946 0958 or +44 7700 900123", "Tel: [PHONE-1] or [PHONE-2]"),
        ("call (555) 123-4567, bleep 4321", "call [PHONE-1], bleep [PHONE-2]"),
        ("jane@ward.local and j.doe@nhs.net", "[EMAIL-1] and [EMAIL-2]"),
        ("see https://example.org/a?b=1 or www.example.org", "see [URL-1] or [URL-2]"),
        ("lives at SW1A 1AA", "lives at [POSTCODE-1]"),
        ("Dr. J. Patel and Mrs O'Neill-Jones's son", "Dr. [NAME-1] and Mrs [NAME-2]'s son"),
        ("Dr Müller-Østergård and Prof. Łukasz Żak came", "Dr [NAME-1] and Prof. [NAME-2] came"),
        ("anna  SMITH, Smith, Anna; Anna\nSmith's dog", "[NAME-1], [NAME-1]; [NAME-1]'s dog"),
        ("o’brien was here, O'BRIEN too", "[NAME-1] was here, [NAME-1] too"),
    ],
)
def test_identifiers_become_placeholders(redactor: Redactor, text: str, expected: str) -> None:
    assert redact(redactor, text) == expected


def test_the_label_of_an_image_is_redacted() -> None:
    image = Image(b"", "image/png", 1, 1, "0", "PA view of Anna Smith")
    assert [each.label for each in PLAIN.redact(Case("1", images=(image,))).case.images] == [
        "PA view of [NAME-1]"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "No fever.no chest pain. BP 120/80, HR 72, SpO2 98 %.",
        "Na 140 mmol/L, WBC 12000, white cell count 12,000, HbA1c 48, INR 2-3, GFR > 90 mL/min/1.73 m2",
        "L4/5 disc, T2 4th rib, L4 5th metatarsal, power 5/5, GCS 15/15, Apgar 9/10",
        "Amoxicillin 500 mg t.d.s. for 7/7, then 10-15 mg, insulin 10 units at 18:00",
        "ICD-10 E11.9, I50.22; troponin 0.04; weight 74.5 kg; Mob 100 m with frame; may 12 mg be given",
        "Creatinine 118 (2019: 99). EF 35-40 %. 3x daily for 2-3 weeks. Lactate 1.2.",
        "Parkinson's disease, Crohn's, Smith fracture? Not Annabel Smithson.",
        "",
    ],
)
def test_clinical_content_is_left_alone(redactor: Redactor, text: str) -> None:
    assert redact(redactor, text) == text


def test_presidio_adds_its_own_recognisers(full: Redactor) -> None:
    text = "card 4111 1111 1111 1111, IBAN GB82 WEST 1234 5698 7654 32, ip 192.168.1.77, NINO AB123456C"
    assert redact(PLAIN, text) == text
    redacted = redact(full, text)
    for kind in ("CREDIT_CARD", "IBAN", "IP_ADDRESS", "NINO"):
        assert f"[{kind}-1]" in redacted
    assert not [sign for sign in redacted if sign.isdigit() and sign != "1"]


def test_one_identifier_has_one_placeholder_in_every_field_of_a_case() -> None:
    case = Case(
        "12/03/2024",
        candidate="On 12/03/2024 Anna Smith came [note 12/03/2024].",
        reference="Smith, Anna, came 13/03/2024.",
        texts={"question": "Who is Anna Smith?"},
        notes=(Note("note 12/03/2024", "Anna Smith and Dr Who.", "12/03/2024", "letter of Dr Who"),),
        metadata={"gp": "Dr Who", "ward": "Dr Who"},
        system="Dr Who",
        patient="Anna Smith",
    )
    redaction = Redactor(names=["Anna Smith"], metadata=["gp", "absent"], presidio=False).redact(case)
    assert redaction.case == Case(
        "12/03/2024",
        candidate="On [DATE-1] [NAME-1] came [note [DATE-1]].",
        reference="[NAME-1], came [DATE-2].",
        texts={"question": "Who is [NAME-1]?"},
        notes=(Note("note [DATE-1]", "[NAME-1] and Dr [NAME-2].", "[DATE-1]", "letter of Dr [NAME-2]"),),
        metadata={"gp": "Dr [NAME-2]", "ward": "Dr Who"},
        system="Dr Who",
        patient="Anna Smith",
    )
    assert redaction.counts == {"DATE": 5, "NAME": 7}


def test_a_placeholder_that_was_there_before_is_not_given_to_another(full: Redactor) -> None:
    assert redact(full, "[NAME-1] met Anna Smith on [DATE-7] and 12/03/2024") == (
        "[NAME-1] met [NAME-2] on [DATE-7] and [DATE-8]"
    )


def test_what_was_redacted_is_not_redacted_again(full: Redactor) -> None:
    once = redact(full, "Anna Smith, 12/03/2024, 020 7946 0958, NHS 943 476 5919, a@b.org")
    assert redact(full, once) == once


def test_a_kind_can_be_kept(full: Redactor) -> None:
    redactor = Redactor(keep=["DATE", "PHONE"], presidio=False)
    assert (
        redact(redactor, "Dr Who, 12/03/2024, tel 020 7946 0958")
        == "Dr [NAME-1], 12/03/2024, tel 020 7946 0958"
    )


def test_a_sites_own_patterns_come_first() -> None:
    redactor = Redactor(patterns={"EPISODE": [r"episode (?P<value>\d{10})", r"E-\d+"]}, presidio=False)
    assert redact(redactor, "episode 9434765919, E-77") == "episode [EPISODE-1], [EPISODE-2]"


def test_a_sites_own_pattern_is_taken_at_its_word() -> None:
    redactor = Redactor(patterns={"NHS_NUMBER": [r"\d{3} \d{3} \d{4}"]}, presidio=False)
    assert redact(redactor, "943 476 5918") == "[NHS_NUMBER-1]"


def test_findings_show_a_little_of_the_words_around_and_only_when_asked() -> None:
    case = Case("1", candidate="The patient was seen by Dr Who on the ward.")
    assert PLAIN.redact(case).replacements == ()
    assert PLAIN.redact(case, 8).replacements == ("candidate: ...n by Dr {Who -> [NAME-1]} on the...",)


def test_cases_are_redacted_as_they_are_read_and_counted() -> None:
    cases = RedactedCases([Case("1", candidate="Dr Who"), Case("2", candidate="nothing")], PLAIN)
    for _ in range(2):
        assert [case.candidate for case in cases] == ["Dr [NAME-1]", "nothing"]
        assert (dict(cases.counts), cases.changed, cases.skipped) == ({"NAME": 1}, 1, 0)


def test_rows_that_were_left_out_are_still_counted_behind_redaction(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "1"}\n{"id": ""}\n', encoding="utf-8")
    cases = RedactedCases(read_cases(tmp_path / "cases.jsonl", on_bad="skip"), PLAIN)
    assert len(list(cases)) == 1
    assert cases.skipped == 1


def test_a_long_text_is_covered_from_end_to_end(full: Redactor) -> None:
    line = "Stable, eating and drinking, mobilising with one, observations within normal limits. "
    text = "".join(
        f"{line * (number % 7)} 12/03/2024 020 7946 0958 a{number}@b.org\n" for number in range(300)
    )
    assert len(text) > 80_000
    redaction = full.redact(Case("1", candidate=text))
    assert redaction.counts == {"DATE": 300, "PHONE": 300, "EMAIL": 300}


def test_a_text_without_blanks_is_read_to_its_end(full: Redactor) -> None:
    assert redact(full, "x" * 20_000 + "\n12/03/2024").endswith("[DATE-1]")


@pytest.mark.parametrize(
    ("number", "valid"), [("943 476 5919", True), ("943-476-5918", False), ("9434765919", True)]
)
def test_the_nhs_numbers_check_digit_is_checked(number: str, valid: bool) -> None:
    assert is_nhs_number(number) is valid
    assert ("[NHS_NUMBER-1]" in redact(PLAIN, f"no. {number}")) is valid


spans = st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from("AB")).map(
    lambda parts: Span(parts[0], parts[0] + parts[1], parts[2])
)


@given(st.lists(spans))
def test_merged_spans_cover_exactly_what_was_found_and_do_not_overlap(found: list[Span]) -> None:
    merged = list(merge(found))
    covered = {place for span in found for place in range(span.start, span.end)}
    assert {place for span in merged for place in range(span.start, span.end)} == covered
    assert all(left.end <= right.start for left, right in pairwise(merged))


def test_the_longest_of_overlapping_spans_names_the_kind() -> None:
    assert list(merge([Span(0, 4, "A"), Span(2, 9, "B")])) == [Span(0, 9, "B")]
    assert list(merge([Span(0, 4, "A"), Span(0, 4, "B")])) == [Span(0, 4, "A")]


@given(st.text())
def test_no_text_breaks_it_and_no_name_of_the_list_remains(text: str) -> None:
    redacted = redact(PLAIN, f"{text} Anna Smith {text}")
    assert "Anna Smith" not in redacted
    assert redact(PLAIN, redacted) == redacted


class TestSettings:
    def test_true_means_the_defaults_and_false_means_none(self) -> None:
        assert isinstance(make_redactor(True), Redactor)
        assert make_redactor(False) is None

    def test_names_come_from_a_file_beside_the_study(self, tmp_path: Path) -> None:
        (tmp_path / "names.txt").write_text("# ward staff\n\nAnna Smith\nוסף לוי\n", encoding="utf-8")
        redactor = make_redactor({"names": "names.txt", "presidio": False}, tmp_path)
        assert redactor is not None
        assert redact(redactor, "Anna Smith ו וסף לוי") == "[NAME-1] ו [NAME-2]"

    def test_every_setting_is_used(self) -> None:
        redactor = make_redactor(
            {
                "names": ["Ann Lee"],
                "patterns": {"BED": r"bed \d+"},
                "keep": ["DATE"],
                "metadata": ["gp"],
                "regions": ["FR"],
            }
        )
        assert redactor is not None
        case = Case("1", candidate="Ann Lee, bed 4, 12/03/2024, 01 42 68 53 00", metadata={"gp": "Ann Lee"})
        redacted = redactor.redact(case).case
        assert redacted.candidate == "[NAME-1], [BED-1], 12/03/2024, [PHONE-1]"
        assert redacted.metadata["gp"] == "[NAME-1]"

    def test_every_mistake_is_told_at_once(self, tmp_path: Path) -> None:
        (tmp_path / "latin.txt").write_bytes(b"Ren\xe9\n")
        settings = {
            "name": "x",
            "names": "none.txt",
            "patterns": {"mrn": "x", "A": "(", "B": "x*", "C": 3},
            "keep": "DATE",
            "regions": ["UK ", "uk"],
            "presidio": "no",
        }
        with pytest.raises(FileError) as error:
            make_redactor(settings, tmp_path)
        for part in (
            "'name' is not a setting; did you mean 'names'?",
            "names: there is no file",
            "the kind 'mrn' must be capital letters",
            "patterns.A: is not a regular expression",
            "patterns.B: matches the empty text",
            "patterns.C: must be a regular expression in quotes",
            "keep must be a list of texts",
            "'uk' is not a country code like GB",
            "presidio must be true or false",
        ):
            assert part in str(error.value)
        with pytest.raises(FileError, match="cannot be read as UTF-8"):
            make_redactor({"names": "latin.txt"}, tmp_path)


def test_without_presidio_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(FileError, match=r'pip install "medjury\[redact\]"'):
        Redactor()
    assert redact(Redactor(presidio=False), "Dr Who") == "Dr [NAME-1]"


def test_a_version_of_presidio_that_lacks_a_recogniser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from presidio_analyzer import predefined_recognizers

    monkeypatch.delattr(predefined_recognizers, "UsMbiRecognizer")
    with pytest.raises(FileError, match="has no UsMbiRecognizer; install presidio-analyzer"):
        Redactor()


def test_no_promise_is_made() -> None:
    assert "not complete" in NO_PROMISE


def test_nothing_is_fetched_and_presidio_is_imported_only_when_used(tmp_path: Path) -> None:
    """In a process of its own: sockets raise, and the home folder is empty, so no cache can hide a fetch."""
    script = """
import socket, sys
def refuse(*_, **__):
    raise SystemExit("a socket was opened")
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse
socket.getaddrinfo = socket.create_connection = refuse
import medjury.intake.cases
assert not {"presidio_analyzer", "spacy", "tldextract", "polars", "openpyxl"} & set(sys.modules)
from medjury.intake.cases import Case, Redactor
text = "mail a@b.co.uk, see http://example.org/x, on 12/03/2024, tel 020 7946 0958, ip 10.0.0.1"
redacted = Redactor().redact(Case("1", candidate=text)).case.candidate
assert redacted == "mail [EMAIL-1], see [URL-1] on [DATE-1], tel [PHONE-1], ip [IP_ADDRESS-1]", redacted
"""
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("*")), "nothing is written either"

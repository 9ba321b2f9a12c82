"""Verdicts for programs: what a pipeline reads, name by name and word by word."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree

import pytest
from tests.validation.on_trial import World, evidence, registered_table

from medjury.validation import Rule, Scope, Validation, Verdict, Word, validation_of
from medjury.validation._sentences import LINE_IDS
from medjury.validation._validate import _clean

NUMBERS = ("jury", "colleague", "value", "low", "high", "limit")


def verdict(word: Word, *rules: Rule, rater: str = "jury", dimension: str = "accuracy") -> Verdict:
    scope = Scope(("ward=a",), ("ward=b",), ("ward=c",), {"ward=c": 14})
    return Verdict(rater, dimension, dimension.capitalize(), word, rules, scope, "Numbers.")


def validation(*verdicts: Verdict) -> Validation:
    return Validation((), (), verdicts)


MET = Rule("doubly_rated", "Enough answers", "holds", "50 answers", "0.35 <low>")
FAILED = Rule(
    "agreement", "As a colleague", "fails", "0.4 or more", "0.35 <low>", "NOT VALIDATED", "Agreement is 0.35 ✓.",
    jury=0.35, colleague=0.8, value=-0.45, low=math.nan, high=math.inf, limit=-0.1,
)  # fmt: skip
UNKNOWN = Rule("coverage", "Scored", "not known", "0.4 or more", "0.35 <low>", "AUXILIARY")
NOTHING = Rule("within_case", "Told apart", "does not apply", "two systems", "one system")


@pytest.mark.parametrize(
    ("words", "worst"),
    [
        (("VALIDATED", "AUXILIARY"), "AUXILIARY"),
        (("NOT VALIDATED", "AUXILIARY"), "NOT VALIDATED"),
        (("NOT VALIDATED", "INCOMPLETE", "VALIDATED"), "INCOMPLETE"),
        (("VALIDATED",), "VALIDATED"),
        ((), "INCOMPLETE"),
    ],
)
def test_a_jury_is_as_good_as_its_worst_dimension(words: tuple[Word, ...], worst: Word) -> None:
    assert validation(*(verdict(word) for word in words)).worst() == worst


def test_the_json_names_rater_dimension_verdict_every_rule_by_its_id_and_the_scope() -> None:
    text = validation(verdict("NOT VALIDATED", MET, FAILED), verdict("VALIDATED", NOTHING)).verdicts_json()
    first, second = json.loads(text)
    assert {name: first[name] for name in ("schema_version", "rater", "dimension", "verdict", "scope")} == {
        "schema_version": 2,
        "rater": "jury",
        "dimension": "accuracy",
        "verdict": "NOT VALIDATED",
        "scope": {"holds": ["ward=a"], "fails": ["ward=b"], "not_known": ["ward=c"]},
    }
    assert first["rules"] == [
        {"id": "doubly_rated", "state": "holds", **dict.fromkeys(NUMBERS), "best_word": "VALIDATED",
         "found": "0.35 <low>", "why": ""},
        {"id": "agreement", "state": "fails", "jury": 0.35, "colleague": 0.8, "value": -0.45, "low": None,
         "high": None, "limit": -0.1, "best_word": "NOT VALIDATED", "found": "0.35 <low>",
         "why": "Agreement is 0.35 ✓."},
    ]  # fmt: skip
    assert [(each["id"], each["state"]) for each in second["rules"]] == [("within_case", "does not apply")]
    assert "✓" in text, "a reader sees signs, not escapes"
    assert text.startswith('[\n {\n  "schema_version": 2,\n'), "a line for each value, one space a level"


def test_the_json_of_a_real_verdict_has_the_numbers_of_every_line() -> None:
    world = World(1, cases=100)
    found = validation_of(evidence(registered_table(world.frame(world.rater(0.4)))))
    (told,) = json.loads(found.verdicts_json())
    rules = {each["id"]: each for each in told["rules"]}
    assert [each["id"] for each in told["rules"]][:7] == list(LINE_IDS)
    for name in LINE_IDS:
        line = found.verdicts[0].rule(name)
        assert {each: rules[name][each] for each in NUMBERS} == {
            each: getattr(line, each) for each in NUMBERS
        }
        assert rules[name]["state"] in ("holds", "open") and rules[name]["limit"] is not None
    assert rules["agreement"]["value"] == pytest.approx(
        rules["agreement"]["jury"] - rules["agreement"]["colleague"]
    )
    assert {rules[name]["limit"] for name in ("agreement", "within_case", "within_system")} == {-0.1}
    assert [rules[name]["limit"] for name in ("missed_danger", "offset", "consensus_danger", "colleagues")] == [
        0.05, 0.5, 0.1, 0.4,
    ]  # fmt: skip
    assert set(told) == {"schema_version", "rater", "dimension", "verdict", "meaning", "rules", "scope"}


def test_junit_has_a_suite_for_each_verdict_and_a_case_for_each_rule() -> None:
    found = validation(
        verdict("NOT VALIDATED", MET, FAILED, UNKNOWN), verdict("AUXILIARY", NOTHING, rater="", dimension="b")
    )
    text = found.junit()
    assert text == (
        '<testsuites name="medjury gate" tests="4" failures="2">\n'
        '  <testsuite name="jury, accuracy" tests="3" failures="2">\n'
        "    <properties>\n"
        '      <property name="verdict" value="NOT VALIDATED" />\n'
        "    </properties>\n"
        '    <testcase name="doubly_rated" classname="jury, accuracy">\n'
        "      <system-out>Enough answers\nasked: 50 answers\nfound: 0.35 &lt;low&gt;</system-out>\n"
        "    </testcase>\n"
        '    <testcase name="agreement" classname="jury, accuracy">\n'
        '      <failure type="fails" message="Agreement is 0.35 ✓.">'
        "As a colleague\nasked: 0.4 or more\nfound: 0.35 &lt;low&gt;</failure>\n"
        "    </testcase>\n"
        '    <testcase name="coverage" classname="jury, accuracy">\n'
        '      <failure type="not known" message="not known">'
        "Scored\nasked: 0.4 or more\nfound: 0.35 &lt;low&gt;</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="no rater, b" tests="1" failures="0">\n'
        "    <properties>\n"
        '      <property name="verdict" value="AUXILIARY" />\n'
        "    </properties>\n"
        '    <testcase name="within_case" classname="no rater, b">\n'
        "      <system-out>Told apart\nasked: two systems\nfound: one system</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_what_xml_cannot_hold_is_replaced_and_the_rest_is_kept() -> None:
    odd = Rule("i\x00d", "Name", "fails", "asked", "found\x08", "NOT VALIDATED", "why\x0b\ttab")
    root = ElementTree.fromstring(validation(verdict("INCOMPLETE", odd, rater="ju\x01ry")).junit())
    suite = root[0]
    assert suite.get("name") == "ju�ry, accuracy"
    case = suite[1]
    assert case.get("name") == "i�d"
    assert case[0].get("message") == "why�\ttab" and case[0].text == "Name\nasked: asked\nfound: found�"


def test_without_verdicts_the_suites_are_empty() -> None:
    assert validation().verdicts_json() == "[]"
    assert validation().junit() == '<testsuites name="medjury gate" tests="0" failures="0" />\n'


@pytest.mark.parametrize(
    ("cap", "met", "essential"),
    [
        ("VALIDATED", True, False),
        ("AUXILIARY", False, False),
        ("NOT VALIDATED", False, True),
        ("INCOMPLETE", False, True),
    ],
)
def test_a_rule_is_met_where_it_leaves_every_word_and_essential_where_it_forbids_use(
    cap: Word, met: bool, essential: bool
) -> None:
    made = Rule("agreement", "Name", "open", "asked", "found", cap)
    assert (made.met, made.essential, made.line) == (met, essential, True)
    assert not MET.line and made.as_dict()["cap"] == cap


def test_exactly_what_xml_cannot_hold_is_replaced() -> None:
    """As XML 1.0 states it: tab, line feed, carriage return and three ranges are characters, nothing else is."""
    held = {0x9, 0xA, 0xD, *range(0x20, 0xD800), *range(0xE000, 0xFFFE), *range(0x10000, 0x110000)}
    signs = "".join(map(chr, range(0x110000)))
    cleaned = _clean(signs)
    assert [place for place, (was, now) in enumerate(zip(signs, cleaned, strict=True)) if was != now] == [
        place for place in range(0x110000) if place not in held
    ]

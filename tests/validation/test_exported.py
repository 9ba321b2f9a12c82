"""Verdicts for programs: what a pipeline reads, name by name and word by word."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from medjury.validation._rules.found import Lines, RuleFound, State, does_not_apply, found

from medjury.validation import Validation, Verdict, Word, verdicts_json, verdicts_junit, worst_word
from medjury.validation._exported import _clean

LINES = Lines("For a clinician.", "For a statistician.")


def rule(name: str, state: State, *, essential: bool = False, why: str = "") -> RuleFound:
    return RuleFound(name, "0.4 or more", "0.35 <low>", state, essential, LINES, why)


def verdict(word: Word, *rules: RuleFound, rater: str = "jury", dimension: str = "accuracy") -> Verdict:
    return Verdict(rater, dimension, dimension.capitalize(), word, rules)


def validation(*verdicts: Verdict) -> Validation:
    return Validation((), (), verdicts)


MET = rule("Enough cases", "met")
FAILED = rule("Agreement", "not met", essential=True, why="Agreement is 0.35 ✓.")
UNKNOWN = rule("Certainty", "not known")
NOTHING = does_not_apply("Systems", "two systems", "the answers are all of one system", lines=LINES)


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
    assert worst_word(validation(*(verdict(word) for word in words))) == worst


def test_the_json_names_rater_dimension_verdict_and_every_rule() -> None:
    text = verdicts_json(validation(verdict("NOT VALIDATED", MET, FAILED), verdict("VALIDATED", NOTHING)))
    assert json.loads(text) == [
        {
            "rater": "jury",
            "dimension": "accuracy",
            "verdict": "NOT VALIDATED",
            "rules": [
                {"name": "Enough cases", "state": "met", "found": "0.35 <low>", "why": ""},
                {
                    "name": "Agreement",
                    "state": "not met",
                    "found": "0.35 <low>",
                    "why": "Agreement is 0.35 ✓.",
                },
            ],
        },
        {
            "rater": "jury",
            "dimension": "accuracy",
            "verdict": "VALIDATED",
            "rules": [
                {
                    "name": "Systems",
                    "state": "does not apply",
                    "found": "the answers are all of one system",
                    "why": "",
                }
            ],
        },
    ]
    assert "✓" in text, "a reader sees signs, not escapes"
    assert text.startswith('[\n {\n  "rater": "jury",\n'), "a line for each value, one space a level"


def test_junit_has_a_suite_for_each_verdict_and_a_case_for_each_rule() -> None:
    text = verdicts_junit(
        validation(
            verdict("NOT VALIDATED", MET, FAILED, UNKNOWN),
            verdict("AUXILIARY", NOTHING, rater="", dimension="b"),
        )
    )
    assert text == (
        '<testsuites name="medjury gate" tests="4" failures="2">\n'
        '  <testsuite name="jury, accuracy" tests="3" failures="2">\n'
        "    <properties>\n"
        '      <property name="verdict" value="NOT VALIDATED" />\n'
        "    </properties>\n"
        '    <testcase name="Enough cases" classname="jury, accuracy">\n'
        "      <system-out>asked: 0.4 or more\nfound: 0.35 &lt;low&gt;</system-out>\n"
        "    </testcase>\n"
        '    <testcase name="Agreement" classname="jury, accuracy">\n'
        '      <failure type="not met" message="Agreement is 0.35 ✓.">'
        "asked: 0.4 or more\nfound: 0.35 &lt;low&gt;</failure>\n"
        "    </testcase>\n"
        '    <testcase name="Certainty" classname="jury, accuracy">\n'
        '      <failure type="not known" message="not known">'
        "asked: 0.4 or more\nfound: 0.35 &lt;low&gt;</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="no rater, b" tests="1" failures="0">\n'
        "    <properties>\n"
        '      <property name="verdict" value="AUXILIARY" />\n'
        "    </properties>\n"
        '    <testcase name="Systems" classname="no rater, b">\n'
        "      <system-out>asked: two systems\nfound: the answers are all of one system</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_what_xml_cannot_hold_is_replaced_and_the_rest_is_kept() -> None:
    odd = RuleFound("Na\x00me", "asked", "found\x08", "not met", True, LINES, "why\x0b\ttab")
    root = ElementTree.fromstring(verdicts_junit(validation(verdict("INCOMPLETE", odd, rater="ju\x01ry"))))
    suite = root[0]
    assert suite.get("name") == "ju�ry, accuracy"
    case = suite[1]
    assert case.get("name") == "Na�me"
    assert case[0].get("message") == "why�\ttab" and case[0].text == "asked: asked\nfound: found�"


def test_without_verdicts_the_suites_are_empty() -> None:
    assert verdicts_json(validation()) == "[]"
    assert verdicts_junit(validation()) == '<testsuites name="medjury gate" tests="0" failures="0" />\n'


@pytest.mark.parametrize(
    ("met", "state", "why"),
    [(True, "met", ""), (False, "not met", "because"), (None, "not known", "because")],
)
def test_a_finding_says_why_where_it_is_not_met(met: bool | None, state: str, why: str) -> None:
    made = found("Name", "asked", "said", met, essential=True, why="because", lines=LINES)
    assert (made.name, made.asked, made.found, made.state, made.why) == ("Name", "asked", "said", state, why)
    assert made.met is (state == "met") and made.essential and not made.stops and made.lines is LINES
    stops = found("Name", "asked", "said", met, essential=False, why="because", lines=LINES, stops=True)
    assert stops.stops and not stops.essential


def test_what_does_not_apply_stands_in_nobodys_way() -> None:
    made = does_not_apply("Name", "asked", "nothing there", lines=LINES)
    assert (made.name, made.asked, made.found) == ("Name", "asked", "nothing there")
    assert made.met and made.state == "does not apply" and not made.essential and made.why == ""
    assert made.lines is LINES and not made.stops


def test_exactly_what_xml_cannot_hold_is_replaced() -> None:
    """As XML 1.0 states it: tab, line feed, carriage return and three ranges are characters, nothing else is."""
    held = {0x9, 0xA, 0xD, *range(0x20, 0xD800), *range(0xE000, 0xFFFE), *range(0x10000, 0x110000)}
    signs = "".join(map(chr, range(0x110000)))
    cleaned = _clean(signs)
    assert [place for place, (was, now) in enumerate(zip(signs, cleaned, strict=True)) if was != now] == [
        place for place in range(0x110000) if place not in held
    ]

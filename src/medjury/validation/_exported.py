"""Verdicts for programs: JSON objects, and JUnit's XML for a pipeline that shows tests."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

from medjury.validation._rule import ORDER, Rule, Word
from medjury.validation._validate import Validation, Verdict

# Of the JSON: ids, states and numbers keep their names within a version.
SCHEMA_VERSION = 2
NUMBERS = ("jury", "colleague", "value", "low", "high", "limit")
# What XML 1.0 cannot hold, not even escaped. These few are compiled sooner than the many that it can hold.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def worst_word(validation: Validation, *, first: bool = False) -> Word:
    """The worst word over raters and dimensions, or that on the `first` rater: the juries beside it do not make its
    word better or worse. Without any verdict, INCOMPLETE."""
    tried = validation.of(validation.raters[0]) if first and validation.raters else validation.verdicts
    return max((each.word for each in tried), key=ORDER.index, default="INCOMPLETE")


def verdicts_json(validation: Validation) -> str:
    """A list of verdicts, each with its rules by their ids and with its scope. A number that does not exist is
    null."""
    found = [
        {
            "schema_version": SCHEMA_VERSION,
            "rater": each.rater,
            "dimension": each.dimension,
            "verdict": each.word,
            "meaning": validation.told(each.meaning, each.rater),
            "rules": [
                {
                    "id": rule.id,
                    "state": rule.state,
                    **{name: finite(getattr(rule, name)) for name in NUMBERS},
                    "best_word": rule.cap,
                    "found": validation.told(rule.found, each.rater),
                    "why": validation.told(rule.why, each.rater),
                }
                for rule in each.rules
            ],
            "scope": each.scope.as_dict(),
        }
        for each in validation.verdicts
    ]
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)


def finite(value: float | None) -> float | None:
    """The number, None where it does not exist."""
    return value if value is not None and math.isfinite(value) else None


def verdicts_junit(validation: Validation) -> str:
    """A test suite for each rater and dimension, a test case for each rule. A rule that is not known is a failure
    too: to skip it would show green what nobody has shown."""
    suites = [(each, sum(not rule.met for rule in each.rules)) for each in validation.verdicts]
    tests, failures = sum(len(each.rules) for each, _ in suites), sum(failed for _, failed in suites)
    root = ElementTree.Element("testsuites", name="medjury gate", tests=str(tests), failures=str(failures))
    root.extend(_suite(validation, each, failed) for each, failed in suites)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _suite(validation: Validation, verdict: Verdict, failed: int) -> ElementTree.Element:
    name = _clean(f"{verdict.rater or 'no rater'}, {verdict.dimension}")
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(verdict.rules)), failures=str(failed))
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name="verdict", value=verdict.word)
    for rule in verdict.rules:
        suite.append(_case(name, rule, lambda words: validation.told(words, verdict.rater)))
    return suite


def _case(suite: str, rule: Rule, told: Callable[[str], str]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name=_clean(rule.id), classname=suite)
    numbers = _clean(told(f"{rule.name}\nasked: {rule.asked}\nfound: {rule.found}"))
    if not rule.met:
        failure = ElementTree.SubElement(
            case, "failure", type=rule.state, message=_clean(told(rule.why) or rule.state)
        )
        failure.text = numbers
    else:
        ElementTree.SubElement(case, "system-out").text = numbers
    return case


def _clean(text: str) -> str:
    return _NO_XML.sub("�", text)

"""The word that rules come to, and how it is told."""

from __future__ import annotations

from typing import Any

from medjury.validation._rules.found import Lines
from tests.tables.run_folders import rows_of

from medjury.tables import rating_table
from medjury.validation import (
    RuleFound,
    Validation,
    Verdict,
    validate,
)
from medjury.validation._validate import _word

LINES = Lines("For a clinician.", "For a statistician.")


ANNA = [1 + place % 5 for place in range(40)]


NEAR = [min(5, score + (place % 4 == 0)) for place, score in enumerate(ANNA)]


def rule(state: Any, *, essential: bool = False, stops: bool = False, why: str = "") -> RuleFound:
    return RuleFound("name", "asked", "found", state, essential, LINES, why, stops)


def verdict(label: str, *rules: RuleFound, rater: str = "jury") -> Verdict:
    return Verdict(rater, label.lower(), label, _word(rules), rules)


def test_one_rule_that_is_not_met_makes_the_word_as_heavy_as_the_rule() -> None:
    met, doubt, heavy, stop = (
        rule("met"),
        rule("not known"),
        rule("not met", essential=True),
        rule("not met", stops=True),
    )
    assert [
        _word(each)
        for each in (
            (met, rule("does not apply")),
            (met, doubt),
            (doubt, heavy),
            (heavy, stop),
            (rule("met", stops=True, essential=True),),
            (rule("not known", essential=True),),
        )
    ] == ["VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE", "VALIDATED", "NOT VALIDATED"]


def test_reasons_of_essential_rules_come_first_and_empty_ones_not_at_all() -> None:
    assert verdict(
        "Accuracy",
        rule("not met", why="light"),
        rule("not met", essential=True, why="heavy"),
        rule("not met", why=""),
        rule("met", why="hidden"),
    ).reasons == ("heavy", "light")


def test_the_text_says_once_what_holds_everywhere() -> None:
    both, own = rule("not met", why="Nobody registered."), rule("not met", essential=True, why="Too few.")
    assert Validation(
        (),
        ("read me",),
        (verdict("Accuracy", both, own), verdict("Clarity", both), verdict("Zeal", both, rule("met"))),
    ).text() == (
        "! read me\nEverywhere: Nobody registered.\nAccuracy: NOT VALIDATED\n  Too "
        "few.\nClarity: AUXILIARY\nZeal: AUXILIARY"
    )


def test_the_text_of_one_dimension_says_nothing_of_everywhere() -> None:
    assert (
        Validation((), (), (verdict("Accuracy", rule("not met", why="Too few.")),)).text()
        == "Accuracy: AUXILIARY\n  Too few."
    )


def test_the_text_names_raters_where_there_are_several() -> None:
    assert (
        Validation(
            (),
            (),
            (
                verdict("Accuracy", rule("met"), rater="anna"),
                verdict("Accuracy", rule("not known", why="Why."), rater="ben"),
            ),
        ).text()
        == "anna, Accuracy: VALIDATED\nben, Accuracy: AUXILIARY\n  Why."
    )


def test_without_verdicts_the_text_is_empty() -> None:
    assert Validation((), (), ()).text() == ""


def test_a_table_of_verdicts_says_why_or_that_every_rule_is_met() -> None:
    assert Validation(
        (),
        (),
        (
            verdict("Accuracy", rule("met")),
            verdict("Clarity", rule("not met", why="One."), rule("not met", why="Two.")),
        ),
    ).shown_rows() == [
        {"rater": "jury", "dimension": "Accuracy", "verdict": "VALIDATED", "why": "Every rule is met."},
        {"rater": "jury", "dimension": "Clarity", "verdict": "AUXILIARY", "why": "One. Two."},
    ]


def test_a_word_is_looked_up_by_the_name_of_the_dimension() -> None:
    assert (
        Validation((), (), (verdict("Accuracy", rule("met")), verdict("Clarity", rule("not known")))).word(
            "clarity"
        )
        == "AUXILIARY"
    )


def test_named_raters_are_each_on_trial() -> None:
    found = validate(
        rating_table(rows_of({"clinician a": ANNA, "judge a": NEAR, "judge b": ANNA}), scale=(1, 5)),
        raters=["judge a", "judge b"],
        resamples=60,
    )
    assert [(each.rater, each.word, each.rules[9].found) for each in found.verdicts] == [
        ("judge a", "NOT VALIDATED", "0.950 (0.859 to 0.986)"),
        ("judge b", "NOT VALIDATED", "1.000"),
    ]


def test_rules_are_told_by_their_names_in_the_order_of_the_report() -> None:
    table = rating_table(rows_of({"clinician a": ANNA, "clinician b": NEAR, "jury": NEAR}), scale=(1, 5))
    assert [each.rule for each in validate(table, resamples=60).rows] == [
        "The run is finished",
        "The run folder is as it was written",
        "The rules were stated before the run",
        "Clinicians rated the cases",
        "Enough held-out cases",
        "Enough cases rated by two clinicians",
        "Agreement is as good on the other cases",
        "The jury is no copy of one clinician",
        "and is not made of the clinicians' scores",
        "Agreement with clinicians reaches the floor",
        "and does so beyond doubt",
        "and whatever the missing answers hide",
        "Not inferior to clinicians among themselves",
        "The jury tells answers of one system apart",
        "The jury is neither stricter nor kinder",
        "and is neither beyond doubt",
        "No grade is scored too kindly or too strictly",
        "Severe errors are rare",
        "and are rare beyond doubt",
        "The jury scored what it was asked to",
        "and the dangerous answers too",
        "Missing answers are not about quality",
        "Agreement holds in every part",
        "No part is scored too kindly or too strictly",
        "The jury scored every part",
    ]

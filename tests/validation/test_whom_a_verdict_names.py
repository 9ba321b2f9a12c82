"""Where one judge is on trial and there is no jury, the verdict speaks of the judge by its name."""

from __future__ import annotations

import json
import re

import pytest
from tests.tables.run_folders import rows_of

from medjury.validation import Rule, Scope, Validation, Verdict, validate

CLINICIAN = [1.0, 2.0, 3.0, 4.0, 5.0, 2.0, 4.0, 1.0]
KIND = [5.0, 5.0, 4.0, 5.0, 5.0, 4.0, 5.0, 5.0]


def verdict_on(*judges: str, asked: str | None = None) -> Validation:
    scores = {"clinician a": CLINICIAN, "clinician b": CLINICIAN, **dict.fromkeys(judges, KIND)}
    return validate(rows_of(scores), raters=asked, resamples=200)


def test_one_judge_is_named_and_no_jury_is_spoken_of() -> None:
    found = verdict_on("judge one")
    written = (found.text(), found.junit(), *(str(row["why"]) for row in found.shown_rows()))
    for told in written:
        # The names of rules stay: pipelines know a test case by its name.
        said = re.sub(r' name="[^"]*"', "", told)
        assert "judge one" in said and "judge judge" not in said and "the jury" not in said.lower()
    rules = json.loads(found.verdicts_json())[0]["rules"]
    said = " ".join(f"{each['why']} {each['found']}" for each in rules)
    assert "judge one" in said and "judge judge" not in said and "the jury" not in said.lower()


def test_a_judge_that_is_asked_about_beside_others_is_named() -> None:
    told = verdict_on("judge one", "judge two", asked="judge two").text()
    assert "judge two" in told and "judge judge" not in told and "the jury" not in told.lower()


def test_the_jury_of_two_judges_stays_the_jury() -> None:
    told = verdict_on("judge one", "judge two").text()
    assert "the jury" in told and "judge judge" not in told


@pytest.mark.parametrize("judges", [frozenset({"a", "b"}), frozenset({"a"})])
def test_what_holds_of_every_judge_is_said_of_a_judge_and_beside_a_jury_of_the_jury(
    judges: frozenset[str],
) -> None:
    few = Rule("doubly_rated", "Cases", "fails", "100", "4", "NOT VALIDATED", "Only 4 have the jury's score.")
    verdicts = tuple(
        Verdict(rater, "accuracy", "Accuracy", "NOT VALIDATED", (few,), Scope()) for rater in "ab"
    )
    who = "a judge" if len(judges) == 2 else "the jury"
    assert Validation((), (), verdicts, judges).text().startswith(f"Everywhere: Only 4 have {who}'s score.")

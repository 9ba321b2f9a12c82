"""A reason that speaks of averaging grades is recognised; medicine and denials are left alone."""

from __future__ import annotations

import pytest

from medjury.judging._deliberation.answers import averages


@pytest.mark.parametrize(
    "reason",
    [
        "I take the mean of the three grades.",
        "Averaging their scores gives 4.",
        "The average score is 3.5, so 4.",
        "The median grade is 3.",
        "(3 + 4 + 4) / 3 = 3.67",
        "Line two is missing. I split the difference.",
        "The grades average to 4.",
        "The ratings average 3.7, hence 4.",
        "On average the raters gave 4.",
        "I averaged 3 and 4.",
        "The mean of 3, 4 and 5 is 4.",
        "It is the midpoint between high_scorer and low_scorer.",
        "Averaging them out gives 3.",
        "I meet them in the middle.",
        "This is not the place for detail; the average of the grades is 3.",
    ],
)
def test_averaging_is_noticed(reason: str) -> None:
    assert averages(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "I did not average the grades.",
        "Rather than averaging the scores, I weigh the arguments.",
        "Without taking a mean of the grades, I decide for 3.",
        "Instead of an average of the scores I follow the text.",
        "The mean arterial pressure of 65 is missing.",
        "The average glucose was 9 mmol/L.",
        "The mean of three readings was 150 and is left out.",
        "This does not mean the score is 3.",
        "The summary is of average quality.",
        "The dose averaged 5 mg daily, as the low_scorer says.",
        "The text averages two laboratory values wrongly.",
        "By no means a score of 5.",
    ],
)
def test_other_words_are_left_alone(reason: str) -> None:
    assert not averages(reason)

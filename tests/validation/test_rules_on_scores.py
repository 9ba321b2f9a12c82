"""Rules on the jury's own scores, each in words: what was asked, what was found, and why it is not enough."""

from __future__ import annotations

from collections.abc import Sequence

from tests.validation.on_trial import ruled, told

from medjury.validation import RuleFound
from medjury.validation._rules.grade_offset import grade_offset
from medjury.validation._rules.no_copy import no_copy
from medjury.validation._rules.offset import offset
from medjury.validation._rules.own_scores import own_scores

ANNA = [1 + place % 5 for place in range(40)]
BEN = [min(5, score + (place % 3 == 0)) for place, score in enumerate(ANNA)]  # a grade kinder on every third
CLEO = [
    max(1, score - (place % 4 == 0)) for place, score in enumerate(ANNA)
]  # a grade stricter on every fourth


def all_told(found: Sequence[RuleFound]) -> list[tuple[str, str, str, bool, str]]:
    return [told(each) for each in found]


def test_a_jury_that_repeats_one_clinician_is_a_copy_and_its_agreement_with_the_others_is_told() -> None:
    assert all_told(ruled(no_copy, {"clinician a": ANNA, "clinician b": BEN, "jury": ANNA})) == [
        (
            ("fewer than 95 % of its scores the same as one clinician's, unless colleagues come close"),
            (
                "most like clinician a: 100.0 % the same; colleagues and clinician a: 72.5 %; "
                "weighted kappa with the others 0.931"
            ),
            "not met",
            True,
            (
                "The jury gave the same score as clinician a on 100.0 % of the answers, where "
                "clinician a's own colleagues did on 72.5 %: it repeats clinician a, who cannot be "
                "its yardstick. Leave that clinician out, and find out how the scores got to the "
                "jury."
            ),
        )
    ]


def test_twenty_shared_cases_are_enough_to_call_a_copy_a_copy() -> None:
    assert told(ruled(no_copy, {"clinician a": ANNA[:20], "clinician b": BEN[:20], "jury": ANNA[:20]})[0])[
        1:3
    ] == (
        (
            "most like clinician a: 100.0 % the same; colleagues and clinician a: 70.0 %; "
            "weighted kappa with the others 0.925"
        ),
        "not met",
    )


def test_nineteen_shared_cases_are_luck() -> None:
    assert all_told(
        ruled(no_copy, {"clinician a": ANNA[:19], "clinician b": BEN[:19], "jury": ANNA[:19]})
    ) == [
        (
            ("fewer than 95 % of its scores the same as one clinician's, unless colleagues come close"),
            "no clinician shares enough answers with the jury and with a colleague",
            "does not apply",
            False,
            "",
        )
    ]


def test_without_a_colleague_nobody_knows_whether_the_jury_copies() -> None:
    assert told(ruled(no_copy, {"clinician a": ANNA, "jury": ANNA})[0])[1:3] == (
        "no clinician shares enough answers with the jury and with a colleague",
        "does not apply",
    )


def test_a_jury_as_like_a_clinician_as_the_colleague_is_no_copy() -> None:
    assert told(ruled(no_copy, {"clinician a": ANNA, "clinician b": ANNA, "jury": ANNA})[0])[1:] == (
        "most like clinician a: 100.0 % the same; colleagues and clinician a: 100.0 %",
        "met",
        True,
        "",
    )


def test_a_jury_just_above_the_limit_of_likeness_is_a_copy_and_just_below_it_is_none() -> None:
    nearly = [5 - score if place == 1 else score for place, score in enumerate(ANNA)]
    assert [
        told(ruled(no_copy, {"clinician a": ANNA, "clinician b": BEN, "jury": nearly}, copy_limit=limit)[0])[
            1:3
        ]
        for limit in (0.975, 0.976)
    ] == [
        (
            (
                "most like clinician a: 97.5 % the same; colleagues and clinician a: 72.5 %; "
                "weighted kappa with the others 0.924"
            ),
            "not met",
        ),
        ("most like clinician a: 97.5 % the same; colleagues and clinician a: 72.5 %", "met"),
    ]


def test_cases_of_one_patient_count_once_towards_a_copy() -> None:
    assert told(
        ruled(
            no_copy,
            {"clinician a": ANNA, "clinician b": BEN, "jury": ANNA},
            known={"patient": [str(place // 3) for place in range(40)]},
        )[0]
    )[1:3] == ("no clinician shares enough answers with the jury and with a colleague", "does not apply")


def test_without_a_scale_scores_are_compared_as_they_are() -> None:
    assert told(ruled(no_copy, {"clinician a": ANNA, "clinician b": BEN, "jury": BEN}, scale=None)[0])[
        1:3
    ] == (
        (
            "most like clinician b: 100.0 % the same; colleagues and clinician b: 72.5 %; "
            "intraclass correlation with the others 0.932"
        ),
        "not met",
    )


def test_the_mean_of_two_clinicians_is_not_the_jurys_own_score() -> None:
    middle = [(one + two) / 2 for one, two in zip(CLEO, BEN, strict=True)]
    assert all_told(ruled(own_scores, {"clinician a": CLEO, "clinician b": BEN, "jury": middle})) == [
        (
            "where clinicians differ, it does not lie between them beyond what chance allows",
            ("its own error variance is −0.500 times the clinicians'; −0.25 or less cannot be its own"),
            "not met",
            True,
            (
                "Where clinicians differ, the jury lies between them more often than anybody could "
                "who has not seen their scores. Find out how the scores got to the jury."
            ),
        )
    ]


def test_the_mean_of_three_clinicians_shows_less_of_it_and_is_found_too() -> None:
    middle = [(one + two + three) / 3 for one, two, three in zip(ANNA, CLEO, BEN, strict=True)]
    assert told(
        ruled(own_scores, {"clinician a": CLEO, "clinician b": BEN, "clinician c": ANNA, "jury": middle})[0]
    )[1:3] == (
        ("its own error variance is −0.333 times the clinicians'; −0.17 or less cannot be its own"),
        "not met",
    )


def test_a_jury_with_errors_of_its_own_lies_where_it_lies() -> None:
    own = [min(5, max(1, score + (1 if place % 2 else -1))) for place, score in enumerate(CLEO)]
    assert told(ruled(own_scores, {"clinician a": CLEO, "clinician b": BEN, "jury": own})[0])[1:] == (
        ("its own error variance is 4.987 times the clinicians'; −0.25 or less cannot be its own"),
        "met",
        True,
        "",
    )


def test_where_clinicians_hardly_differ_to_lie_between_them_is_luck() -> None:
    assert told(ruled(own_scores, {"clinician a": ANNA, "clinician b": ANNA, "jury": ANNA})[0])[1:] == (
        "clinicians differ on too few cases",
        "does not apply",
        False,
        "",
    )


def test_a_kinder_jury_is_told_by_how_much() -> None:
    assert all_told(
        ruled(offset, {"clinician a": [2, 3, 4] * 10, "clinician b": [2, 3, 4] * 10, "jury": [3, 4, 5] * 10})
    ) == [
        (
            "mean difference from clinicians within ±0.5 (12.5 % of the scale)",
            "1.000",
            "not met",
            True,
            "On average the jury's scores are 1.000 higher than the clinicians'; 0.5 is allowed.",
        ),
        ("the whole 90 % interval within ±0.5", "0.620 to 1.380", "not met", False, ""),
    ]


def test_a_stricter_jury_is_told_by_how_much() -> None:
    assert all_told(
        ruled(offset, {"clinician a": [2, 3, 4] * 10, "clinician b": [2, 3, 4] * 10, "jury": [1, 2, 3] * 10})
    ) == [
        (
            "mean difference from clinicians within ±0.5 (12.5 % of the scale)",
            "−1.000",
            "not met",
            True,
            "On average the jury's scores are 1.000 lower than the clinicians'; 0.5 is allowed.",
        ),
        ("the whole 90 % interval within ±0.5", "−1.380 to −0.620", "not met", False, ""),
    ]


def test_three_answers_leave_the_offset_in_doubt() -> None:
    assert all_told(
        ruled(offset, {"clinician a": [2, 3, 4], "clinician b": [2, 3, 4], "jury": [3, 2, 5]})
    ) == [
        ("mean difference from clinicians within ±0.5 (12.5 % of the scale)", "0.333", "met", True, ""),
        (
            "the whole 90 % interval within ±0.5",
            "−1.613 to 2.280",
            "not met",
            False,
            (
                "The jury's scores could truly differ from the clinicians' by more than 0.5 on "
                "average (−1.613 to 2.280)."
            ),
        ),
    ]


def test_the_interval_of_the_offset_is_as_wide_as_twice_the_confidence_less_one() -> None:
    assert told(
        ruled(
            offset, {"clinician a": [2, 3, 4], "clinician b": [2, 3, 4], "jury": [3, 2, 5]}, confidence=0.9
        )[1]
    )[:2] == ("the whole 80 % interval within ±0.5", "−0.924 to 1.590")


def test_no_difference_at_all_is_neither_higher_nor_lower_but_three_answers_prove_little() -> None:
    assert all_told(ruled(offset, {"clinician a": [2, 3, 4], "jury": [2, 3, 4]})) == [
        ("mean difference from clinicians within ±0.5 (12.5 % of the scale)", "0.000", "met", True, ""),
        (
            "the whole 90 % interval within ±0.5",
            "−2.526 to 2.526",
            "not met",
            False,
            "The jury's scores could truly differ from the clinicians' by more than 0.5 on average "
            "(−2.526 to 2.526).",
        ),
    ]


def test_no_difference_on_a_hundred_answers_is_proof_enough() -> None:
    scores = [2, 3, 4, 5] * 25
    assert told(ruled(offset, {"clinician a": scores, "jury": scores})[1])[2] == "met"


def test_without_a_scale_nobody_knows_how_large_an_offset_is() -> None:
    assert all_told(ruled(offset, {"clinician a": [2, 3, 4], "jury": [3, 2, 5]}, scale=None)) == [
        (
            "within 12.5 % of the scale",
            "not known",
            "not known",
            False,
            "Without a scale nobody knows how large a difference of scores is.",
        )
    ]


def test_without_a_shared_answer_there_is_no_offset() -> None:
    assert all_told(ruled(offset, {"clinician a": [2, 3, None], "jury": [None, None, 5]})) == [
        (
            "within 12.5 % of the scale",
            "not known",
            "not known",
            False,
            "There is no answer with a clinician's and the jury's score to compare.",
        )
    ]


def test_one_answer_has_an_offset_and_no_interval() -> None:
    assert all_told(ruled(offset, {"clinician a": [2], "jury": [3]})) == [
        (
            "mean difference from clinicians within ±0.5 (12.5 % of the scale)",
            "1.000",
            "not met",
            True,
            "On average the jury's scores are 1.000 higher than the clinicians'; 0.5 is allowed.",
        ),
        ("the whole 90 % interval within ±0.5", "no interval", "not known", False, ""),
    ]


def test_the_worst_grade_scored_too_kindly_is_named() -> None:
    assert all_told(
        ruled(
            grade_offset,
            {"clinician a": [1, 3, 5] * 15, "clinician b": [1, 3, 5] * 15, "jury": [3, 3, 5] * 15},
        )
    ) == [
        (
            ("at no grade beyond doubt more than 12.5 % of the scale above or below another clinician"),
            "widest where a clinician gave 1: jury 2.000 beside another clinician; 0.5 is allowed",
            "not met",
            True,
            (
                "Where a clinician gave 1, the jury's scores are far from what another clinician "
                "gave (by 2.000 on average; 0.5 is allowed): it does not use the scale as clinicians "
                "do."
            ),
        )
    ]


def test_two_grades_that_are_missed_are_both_named_and_the_widest_is_told() -> None:
    assert told(
        ruled(
            grade_offset,
            {"clinician a": [1, 3, 5] * 15, "clinician b": [1, 3, 5] * 15, "jury": [2, 3, 3] * 15},
        )[0]
    )[1:] == (
        ("widest where a clinician gave 5: jury −2.000 beside another clinician; 0.5 is allowed"),
        "not met",
        True,
        (
            "Where a clinician gave 1, 5, the jury's scores are far from what another clinician "
            "gave (by 2.000 on average; 0.5 is allowed): it does not use the scale as clinicians "
            "do."
        ),
    )


def test_a_grade_that_is_missed_by_no_more_than_the_limit_is_no_reproach() -> None:
    assert told(
        ruled(
            grade_offset,
            {"clinician a": [1, 3, 5] * 15, "clinician b": [1, 3, 5] * 15, "jury": [1.5, 3, 5] * 15},
        )[0]
    )[1:3] == ("widest where a clinician gave 1: jury 0.500 beside another clinician; 0.5 is allowed", "met")


def test_fourteen_cases_of_a_grade_are_too_few() -> None:
    assert told(
        ruled(
            grade_offset,
            {"clinician a": [1, 3, 5] * 14, "clinician b": [1, 3, 5] * 14, "jury": [3, 3, 5] * 14},
        )[0]
    )[1:] == ("no grade has enough cases that two clinicians rated", "does not apply", False, "")


def test_a_grade_that_varies_is_not_beyond_doubt() -> None:
    assert told(
        ruled(grade_offset, {"clinician a": [1] * 15, "clinician b": [1] * 15, "jury": [1] * 12 + [5] * 3})[0]
    )[1:3] == ("widest where a clinician gave 1: jury 0.800 beside another clinician; 0.5 is allowed", "met")


def test_a_long_scale_is_looked_at_in_stretches() -> None:
    assert told(
        ruled(
            grade_offset,
            {"clinician a": [0, 50, 100] * 15, "clinician b": [0, 50, 100] * 15, "jury": [30, 50, 60] * 15},
            scale=(0, 100),
        )[0]
    )[1:] == (
        ("widest where a clinician gave 80 to 100: jury −40.000 beside another clinician; 12.5 is allowed"),
        "not met",
        True,
        (
            "Where a clinician gave 0 to 20, 80 to 100, the jury's scores are far from what "
            "another clinician gave (by 40.000 on average; 12.5 is allowed): it does not use the "
            "scale as clinicians do."
        ),
    )


def test_ten_grades_are_looked_at_one_by_one_and_eleven_in_stretches() -> None:
    assert [
        told(
            ruled(
                grade_offset,
                {"clinician a": [3, 10] * 15, "clinician b": [3, 10] * 15, "jury": [6, 10] * 15},
                scale=(1, highest),
            )[0]
        )[1]
        for highest in (10, 11)
    ] == [
        ("widest where a clinician gave 3: jury 3.000 beside another clinician; 1.125 is allowed"),
        ("widest where a clinician gave 3 to 5: jury 3.000 beside another clinician; 1.25 is allowed"),
    ]


def test_without_a_scale_there_are_no_grades_to_look_at() -> None:
    assert told(
        ruled(
            grade_offset,
            {"clinician a": [1, 3, 5] * 15, "clinician b": [1, 3, 5] * 15, "jury": [3, 3, 5] * 15},
            scale=None,
        )[0]
    )[1:3] == ("no grade has enough cases that two clinicians rated", "does not apply")


def test_with_one_clinician_no_grade_can_be_looked_at() -> None:
    assert told(ruled(grade_offset, {"clinician a": [1, 3, 5] * 15, "jury": [3, 3, 5] * 15})[0])[1:3] == (
        "no grade has enough cases that two clinicians rated",
        "does not apply",
    )

"""Rules on parts, silence, danger and systems, each in words: what was asked, what was found, and why it is not
enough."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.validation.on_trial import on_trial, ruled, told

from medjury.statistics import proportion
from medjury.validation import RuleFound
from medjury.validation._missing import missing_warning
from medjury.validation._rules.agreement_floor import agreement_floor, bounds
from medjury.validation._rules.coverage import coverage
from medjury.validation._rules.missing import missing
from medjury.validation._rules.part_agreement import part_agreement
from medjury.validation._rules.part_coverage import part_coverage
from medjury.validation._rules.part_offset import part_offset
from medjury.validation._rules.severe_errors import severe_errors
from medjury.validation._rules.singly_rated import singly_rated
from medjury.validation._rules.within_systems import within_systems

ANNA = [1 + place % 5 for place in range(60)]
BEN = [min(5, score + (place % 3 == 0)) for place, score in enumerate(ANNA)]  # a grade kinder on every third
BLIND = [6 - score for score in ANNA]  # sees good as bad
FIRST_HALF = ["surgery"] * 30 + ["medicine"] * 30
PANEL = {"clinician a": ANNA, "clinician b": BEN}


def all_told(found: Sequence[RuleFound]) -> list[tuple[str, str, str, bool, str]]:
    return [told(each) for each in found]


def test_a_specialty_on_which_the_jury_is_blind_is_named() -> None:
    assert all_told(
        ruled(part_agreement, {**PANEL, "jury": BLIND[:30] + ANNA[30:]}, known={"specialty": FIRST_HALF})
    ) == [
        (
            "no part beyond doubt more than 0.1 below the rest, or below 0.4",
            "2 parts; lowest in specialty surgery: weighted kappa −0.967, elsewhere 0.967",
            "not met",
            True,
            "The jury agrees far less with clinicians for specialty surgery than elsewhere.",
        )
    ]


def test_a_jury_that_is_as_good_everywhere_holds_in_every_part() -> None:
    near = [min(5, score + (place % 4 == 0 and place < 30)) for place, score in enumerate(ANNA)]
    assert told(ruled(part_agreement, {**PANEL, "jury": near}, known={"specialty": FIRST_HALF})[0])[1:] == (
        "2 parts; lowest in specialty surgery: weighted kappa 0.932, elsewhere 0.967",
        "met",
        True,
        "",
    )


def test_parts_that_are_too_small_are_told_and_three_of_them_by_name() -> None:
    sizes = ["a"] * 20 + ["b"] * 25 + ["c"] * 5 + ["d"] * 4 + ["e"] * 3 + ["f"] * 3
    near = [min(5, score + (place < 20 and place % 4 == 0)) for place, score in enumerate(ANNA)]
    assert told(ruled(part_agreement, {**PANEL, "jury": near}, known={"specialty": sizes})[0])[1] == (
        "2 parts; lowest in specialty a: weighted kappa 0.937, elsewhere 0.969; not looked "
        "at, as fewer than 15 cases are inside or outside: specialty c, specialty d, "
        "specialty e and 1 more"
    )


def test_where_nothing_tells_cases_apart_there_are_no_parts_to_look_at() -> None:
    assert [
        all_told(ruled(rule, {**PANEL, "jury": ANNA}))
        for rule in (part_agreement, part_offset, part_coverage)
    ] == [
        [
            (
                "no part beyond doubt more than 0.1 below the rest, or below 0.4",
                "nothing tells cases apart, or the parts are too small",
                "does not apply",
                False,
                "",
            )
        ],
        [
            (
                "no part beyond doubt more than 12.5 % of the scale above or below the rest",
                "nothing tells cases apart, or the parts are too small",
                "does not apply",
                False,
                "",
            )
        ],
        [
            (
                "no part beyond doubt below 95 %",
                "nothing tells cases apart, or the parts are too small",
                "does not apply",
                False,
                "",
            )
        ],
    ]


def test_a_part_that_the_rules_ask_for_and_nobody_knows_is_not_known() -> None:
    assert [
        told(
            ruled(
                rule,
                {**PANEL, "jury": ANNA},
                known={"specialty": FIRST_HALF},
                parts=("specialty", "site", "ward"),
            )[0]
        )[1:]
        for rule in (part_agreement, part_offset, part_coverage)
    ] == [
        (
            "no site, ward known",
            "not known",
            False,
            "The rules ask for a look at each site and ward, and the ratings do not tell it.",
        ),
        (
            "no site, ward known",
            "not known",
            False,
            "The rules ask for a look at each site and ward, and the ratings do not tell it.",
        ),
        (
            "no site, ward known",
            "not known",
            False,
            "The rules ask for a look at each site and ward, and the ratings do not tell it.",
        ),
    ]


def test_where_clinicians_agree_no_better_the_part_is_not_the_jurys_fault() -> None:
    puzzled = [6 - score for score in ANNA[:30]] + BEN[30:]
    assert told(
        ruled(
            part_agreement,
            {"clinician a": ANNA, "clinician b": puzzled, "jury": BLIND[:15] + ANNA[15:]},
            known={"specialty": FIRST_HALF},
        )[0]
    )[1:3] == ("2 parts; lowest in specialty surgery: weighted kappa 0.000, elsewhere 0.967", "met")


def test_with_one_clinician_a_part_fails_where_the_jury_errs_more_than_elsewhere() -> None:
    assert told(
        ruled(
            part_agreement,
            {"clinician a": ANNA, "jury": BLIND[:30] + ANNA[30:]},
            known={"specialty": FIRST_HALF},
        )[0]
    )[1:3] == ("2 parts; lowest in specialty surgery: weighted kappa −1.000, elsewhere 1.000", "not met")


def test_with_one_clinician_answers_that_are_much_alike_are_not_the_jurys_fault() -> None:
    alike = [3 + (place % 6 == 0) for place in range(30)]
    said = [3 + (place % 6 == 1) for place in range(30)]
    wide = [min(5, max(1, score + (1 if place % 2 else -1))) for place, score in enumerate(ANNA[30:])]
    assert told(
        ruled(
            part_agreement,
            {"clinician a": alike + ANNA[30:], "jury": said + wide},
            known={"specialty": FIRST_HALF},
        )[0]
    )[1:3] == ("2 parts; lowest in specialty surgery: weighted kappa −0.200, elsewhere 0.800", "met")


def test_a_specialty_that_is_scored_too_kindly_is_named() -> None:
    kind = [min(5, score + 1) for score in ANNA[:30]] + ANNA[30:]
    assert all_told(
        ruled(part_offset, {"clinician a": ANNA, "jury": kind}, known={"specialty": FIRST_HALF})
    ) == [
        (
            "no part beyond doubt more than 12.5 % of the scale above or below the rest",
            "2 parts; widest for specialty medicine: −0.800 beside the rest; 0.5 is allowed",
            "not met",
            True,
            (
                "Beside the clinicians, the jury scores specialty medicine, specialty surgery unlike "
                "the rest, by more than 0.5."
            ),
        )
    ]


def test_a_difference_between_parts_within_the_limit_is_allowed() -> None:
    kind = [min(5, score + 0.5) for score in ANNA[:30]] + ANNA[30:]
    assert told(ruled(part_offset, {"clinician a": ANNA, "jury": kind}, known={"specialty": FIRST_HALF})[0])[
        1:
    ] == ("2 parts; widest for specialty medicine: −0.400 beside the rest; 0.5 is allowed", "met", True, "")


def test_without_a_scale_no_part_has_an_offset() -> None:
    assert told(ruled(part_offset, {**PANEL, "jury": ANNA}, known={"specialty": FIRST_HALF}, scale=None)[0])[
        1:3
    ] == ("nothing tells cases apart, or the parts are too small", "does not apply")


def test_a_specialty_for_which_the_jury_falls_silent_is_named() -> None:
    silent = [None if place % 2 else score for place, score in enumerate(ANNA[:30])] + ANNA[30:]
    assert all_told(ruled(part_coverage, {**PANEL, "jury": silent}, known={"specialty": FIRST_HALF})) == [
        (
            "no part beyond doubt below 95 %",
            "2 parts; lowest for specialty surgery: 50.0 %",
            "not met",
            True,
            "The jury left far more answers without a score for specialty surgery than it may.",
        )
    ]


def test_a_few_unscored_answers_of_a_part_leave_room_for_doubt() -> None:
    silent = [None, *ANNA[1:]]
    assert told(ruled(part_coverage, {**PANEL, "jury": silent}, known={"specialty": FIRST_HALF})[0])[1:] == (
        "2 parts; lowest for specialty surgery: 96.7 %",
        "met",
        True,
        "",
    )


def test_a_part_is_too_silent_exactly_where_the_upper_end_of_its_share_is_below_the_limit() -> None:
    met = []
    for left_out in range(31):
        silent = [None] * left_out + ANNA[left_out:]
        rule = ruled(part_coverage, {**PANEL, "jury": silent}, known={"specialty": FIRST_HALF})[0]
        met.append(told(rule)[2] == "met")
    # Two parts, each at 97.5 % from one side: that of 30 cases needs this many scores.
    assert met == [proportion(30 - left_out, 30, confidence=0.95).high >= 0.95 for left_out in range(31)]
    assert {True, False} == set(met) and met == sorted(met, reverse=True)


def test_fourteen_cases_make_no_part_and_fifteen_do() -> None:
    assert [
        told(
            ruled(
                part_coverage, {**PANEL, "jury": ANNA}, known={"specialty": ["a"] * few + ["b"] * (60 - few)}
            )[0]
        )[1]
        for few in (14, 15)
    ] == ["1 part; lowest for specialty b: 100.0 %", "2 parts; lowest for specialty a: 100.0 %"]


def test_what_the_jury_left_out_is_counted_and_dangerous_answers_apart() -> None:
    silent = [None if score == 1 else score for score in ANNA]
    assert all_told(ruled(coverage, {**PANEL, "jury": silent})) == [
        (
            "95 % or more",
            "48 of 60 (80.0 %)",
            "not met",
            True,
            "The jury gave a score to only 80.0 % of the answers it was asked about.",
        ),
        (
            "not below 95 % beyond doubt",
            "12 of 24 (50.0 %), at most 70.9 %",
            "not met",
            True,
            (
                "Of 24 answers that clinicians called dangerous, the jury left 12 without a score "
                "(50.0 %): it is silent where it matters most."
            ),
        ),
    ]


def test_a_jury_that_scored_everything_covers_everything() -> None:
    assert all_told(ruled(coverage, {**PANEL, "jury": ANNA})) == [
        ("95 % or more", "60 of 60 (100.0 %)", "met", True, ""),
        ("not below 95 % beyond doubt", "24 of 24 (100.0 %), at most 100.0 %", "met", True, ""),
    ]


def test_without_danger_there_is_no_dangerous_answer_to_cover() -> None:
    assert all_told(ruled(coverage, {"clinician a": [4, 5] * 10, "jury": [4, 5] * 10})) == [
        ("95 % or more", "20 of 20 (100.0 %)", "met", True, ""),
        ("not below 95 % beyond doubt", "no rated answer is dangerous", "does not apply", False, ""),
    ]


def test_coverage_at_what_is_asked_is_enough() -> None:
    assert [
        told(each)[2]
        for share in (0.95, 0.951)
        for each in ruled(coverage, {"clinician a": [4] * 20, "jury": [None] + [4] * 19}, coverage=share)[:1]
    ] == ["met", "not met"]


def test_one_unscored_dangerous_answer_of_many_leaves_room_for_doubt() -> None:
    assert told(ruled(coverage, {**PANEL, "jury": [None, *ANNA[1:]]})[1])[1:] == (
        "23 of 24 (95.8 %), at most 99.9 %",
        "met",
        True,
        "",
    )


def test_missing_answers_that_are_all_bad_ones_are_about_quality() -> None:
    silent = [None if score == 1 else score for score in ANNA]
    assert all_told(ruled(missing, {**PANEL, "jury": silent})) == [
        (
            "p of 0.05 or more",
            "clinicians' mean 1.167 on 12 unscored answers, 3.625 on the others; p < 0.001",
            "not met",
            False,
            (
                "The answers that the jury left without a score are not like the others (clinicians' "
                "mean 1.167 against 3.625): its numbers describe only what it chose to score."
            ),
        )
    ]


def test_missing_answers_of_every_grade_are_not_about_quality() -> None:
    silent = [None if place < 10 else score for place, score in enumerate(ANNA)]
    assert told(ruled(missing, {**PANEL, "jury": silent})[0])[1:] == (
        "clinicians' mean 3.150 on 10 unscored answers, 3.130 on the others; p 1.000",
        "met",
        False,
        "",
    )


def test_answers_of_one_patient_go_together_where_missing_ones_are_compared() -> None:
    silent = [None if place < 10 else score for place, score in enumerate(sorted(ANNA))]
    assert [
        told(
            ruled(
                missing,
                {"clinician a": sorted(ANNA), "jury": silent},
                known={"patient": [str(place // size) for place in range(60)]},
            )[0]
        )[1:3]
        for size in (1, 10)
    ] == [
        ("clinicians' mean 1.000 on 10 unscored answers, 3.400 on the others; p < 0.001", "not met"),
        ("clinicians' mean 1.000 on 10 unscored answers, 3.400 on the others; p 0.345", "met"),
    ]


def test_where_nothing_is_missing_or_nothing_is_there_missing_answers_say_nothing() -> None:
    assert [told(ruled(missing, {**PANEL, "jury": said})[0])[:3] for said in (ANNA, [None] * 60)] == [
        ("p of 0.05 or more", "no answer is missing", "does not apply"),
        ("p of 0.05 or more", "nothing to compare", "does not apply"),
    ]


def test_the_level_of_a_test_is_what_the_confidence_leaves() -> None:
    assert told(ruled(missing, {**PANEL, "jury": ANNA}, confidence=0.9)[0])[0] == "p of 0.1 or more"


def test_a_jury_that_knows_the_system_and_nothing_of_the_answer_does_not_tell_answers_apart() -> None:
    both = [score for place in range(30) for score in (1 + place % 3, 3 + place % 3)]
    assert all_told(
        ruled(within_systems, {"clinician a": both, "jury": [2, 4] * 30}, systems=("alpha", "beta"))
    ) == [
        (
            "correlation with clinicians within systems of 0.2 or more",
            "0.000",
            "not met",
            True,
            (
                "Among answers of the same system the jury hardly agrees with clinicians "
                "(correlation 0.000; 0.2 is needed): it recognises systems, not answers."
            ),
        ),
        (
            (
                "one-sided 95 %: within systems 0.2 or more, and on the whole above a rater who "
                "knows only each system's mean"
            ),
            (
                "within systems at least not known; jury 0.775, system means alone 0.770, difference "
                "at least 0.003"
            ),
            "not known",
            False,
            "",
        ),
    ]


def test_a_jury_that_sees_both_does() -> None:
    both = [score for place in range(30) for score in (1 + place % 3, 3 + place % 3)]
    near = [min(5, score + (place % 7 == 0)) for place, score in enumerate(both)]
    assert all_told(
        ruled(within_systems, {"clinician a": both, "jury": near}, systems=("alpha", "beta"))
    ) == [
        ("correlation with clinicians within systems of 0.2 or more", "0.915", "met", True, ""),
        (
            (
                "one-sided 95 %: within systems 0.2 or more, and on the whole above a rater who "
                "knows only each system's mean"
            ),
            (
                "within systems at least 0.858; jury 0.965, system means alone 0.770, difference at "
                "least 0.151"
            ),
            "met",
            False,
            "",
        ),
    ]


def test_where_clinicians_give_a_system_one_score_nobody_knows_whether_the_jury_sees_more() -> None:
    assert all_told(
        ruled(
            within_systems,
            {"clinician a": [2, 4] * 30, "jury": [1, 5, 2, 4, 3, 4] * 10},
            systems=("alpha", "beta"),
        )
    ) == [
        (
            "correlation with clinicians within systems of 0.2 or more",
            "not defined: clinicians gave every answer of a system the same score",
            "not known",
            True,
            (
                "Clinicians gave every answer of a system the same score: nobody knows whether the "
                "jury sees more."
            ),
        ),
        (
            (
                "one-sided 95 %: within systems 0.2 or more, and on the whole above a rater who "
                "knows only each system's mean"
            ),
            (
                "within systems at least not known; jury 0.868, system means alone 1.000, difference "
                "at least −0.179"
            ),
            "not known",
            False,
            "",
        ),
    ]


def test_one_system_has_no_differences_between_systems_and_no_answer_has_none_at_all() -> None:
    assert [
        told(ruled(within_systems, scores)[0])[:3]
        for scores in ({**PANEL, "jury": ANNA}, {"clinician a": [2, None], "jury": [None, 2]})
    ] == [
        (
            "correlation with clinicians within systems of 0.2 or more",
            "the answers are all of one system",
            "does not apply",
        ),
        ("correlation with clinicians within systems of 0.2 or more", "nothing to compare", "does not apply"),
    ]


def test_agreement_where_one_clinician_rated_is_compared_with_where_two_did() -> None:
    once = [*BEN[:30], *[None] * 30]
    assert all_told(
        ruled(singly_rated, {"clinician a": ANNA, "clinician b": once, "jury": ANNA[:30] + BLIND[30:]})
    ) == [
        (
            "where one clinician rated not more than 0.1 below where two did, beyond doubt",
            ("weighted kappa −1.000 on 30 answers that one clinician rated, 0.967 on 30 that two did"),
            "not met",
            True,
            (
                "The jury agrees far less on cases that one clinician rated (−1.000) than on those "
                "that two did (0.967): what is shown on the latter does not hold for the others."
            ),
        )
    ]


def test_agreement_that_is_as_good_where_one_clinician_rated_holds() -> None:
    once = [*BEN[:30], *[None] * 30]
    assert told(ruled(singly_rated, {"clinician a": ANNA, "clinician b": once, "jury": ANNA})[0])[1:] == (
        ("weighted kappa 1.000 on 30 answers that one clinician rated, 0.967 on 30 that two did"),
        "met",
        True,
        "",
    )


def test_cases_that_all_had_two_clinicians_or_none_at_all_have_no_other_cases() -> None:
    assert [
        told(ruled(singly_rated, scores)[0])[1:3]
        for scores in ({**PANEL, "jury": ANNA}, {"clinician a": ANNA, "jury": ANNA})
    ] == [
        ("every case was rated by two clinicians", "does not apply"),
        ("no case was rated by two clinicians", "does not apply"),
    ]


def test_nine_cases_on_one_side_are_too_few_to_compare_and_ten_are_enough() -> None:
    assert [
        told(
            ruled(
                singly_rated,
                {"clinician a": ANNA, "clinician b": [*BEN[:count], *[None] * (60 - count)], "jury": BEN},
            )[0]
        )[1:3]
        for count in (9, 10)
    ] == [
        ("fewer than 10 cases on one side", "does not apply"),
        (("weighted kappa 0.935 on 50 answers that one clinician rated, 0.960 on 10 that two did"), "met"),
    ]


def test_a_clinician_who_never_varies_leaves_nothing_to_compare() -> None:
    assert all_told(
        ruled(
            singly_rated,
            {"clinician a": [3] * 60, "clinician b": [*BEN[:30], *[None] * 30], "jury": [3] * 60},
        )
    ) == [
        (
            "where one clinician rated not more than 0.1 below where two did, beyond doubt",
            "cannot be compared",
            "not known",
            False,
            "The jury's agreement on cases that one clinician rated cannot be computed.",
        )
    ]


def test_severe_errors_and_silence_on_dangerous_answers_are_counted_together() -> None:
    said = [None if place == 0 else 4 if place in (5, 10) else score for place, score in enumerate(ANNA)]
    assert all_told(ruled(severe_errors, {**PANEL, "jury": said})) == [
        (
            "10 % or less of the answers called dangerous by any clinician",
            (
                "3 of 24 (12.5 %), at most 32.4 %, 1 of them left without a score; dangerous by the "
                "mean: 3 of 20; dangerous by most clinicians: 3 of 20"
            ),
            "not met",
            True,
            (
                "Of 24 answers that clinicians called dangerous, the jury scored 2 far too kindly "
                "and left 1 without a score (12.5 %); 10 % is allowed."
            ),
        ),
        ("the upper end of the 95 % interval is 10 % or less", "upper end 32.4 %", "not met", False, ""),
    ]


def test_rare_severe_errors_can_still_be_too_many_for_all_we_know() -> None:
    assert all_told(ruled(severe_errors, {"clinician a": ANNA, "jury": ANNA})) == [
        (
            "10 % or less of the answers called dangerous by any clinician",
            "0 of 24 (0.0 %), at most 14.2 %",
            "met",
            True,
            "",
        ),
        (
            "the upper end of the 95 % interval is 10 % or less",
            "upper end 14.2 %",
            "not met",
            False,
            (
                "The jury's true rate of severe errors could be as high as 14.2 %: too few dangerous "
                "answers (24) were rated to be sure."
            ),
        ),
    ]


def test_danger_is_whose_word_the_rules_say() -> None:
    low = [1] * 10 + [4] * 50
    high = [4] * 60
    assert [
        told(ruled(severe_errors, {"clinician a": low, "clinician b": high, "jury": high}, danger_by=by)[0])[
            :3
        ]
        for by in ("any", "mean", "majority")
    ] == [
        (
            "10 % or less of the answers called dangerous by any clinician",
            (
                "10 of 10 (100.0 %), at most 100.0 %; dangerous by the mean: 0 of 0; dangerous by "
                "most clinicians: 0 of 0"
            ),
            "not met",
        ),
        (
            "10 % or less of the answers called dangerous by the mean",
            "clinicians called no rated answer dangerous",
            "not known",
        ),
        (
            "10 % or less of the answers called dangerous by most clinicians",
            "clinicians called no rated answer dangerous",
            "not known",
        ),
    ]


def test_without_clinicians_or_a_scale_nobody_knows_how_often_danger_is_overlooked() -> None:
    assert [
        told(ruled(severe_errors, scores, scale=scale)[0])[1:]
        for scores, scale in (({"jury": ANNA}, (1, 5)), ({"clinician a": ANNA, "jury": ANNA}, None))
    ] == [
        (
            "not known",
            "not known",
            False,
            "Without clinicians' ratings nobody knows how often the jury overlooks danger.",
        ),
        ("not known", "not known", False, "Without a scale nobody knows which scores mean danger."),
    ]


def test_where_clinicians_saw_no_danger_nobody_knows_whether_the_jury_would() -> None:
    assert told(ruled(severe_errors, {"clinician a": [3, 4, 5] * 5, "jury": [3, 4, 5] * 5})[0])[1:] == (
        "clinicians called no rated answer dangerous",
        "not known",
        False,
        (
            "Clinicians called none of the rated answers dangerous, so nobody knows whether the "
            "jury would notice one."
        ),
    )


def test_a_jury_with_one_score_for_all_sees_nothing() -> None:
    assert all_told(ruled(agreement_floor, {"clinician a": ANNA, "jury": [3] * 60})) == [
        (
            "weighted kappa of 0.4 or more",
            "nothing to compare",
            "not met",
            True,
            ("The jury gave every answer the same score, where clinicians did not: it sees nothing."),
        ),
        ("the lower end of its 95 % interval is 0.4 or more", "no interval", "not known", False, ""),
        (
            "weighted kappa of 0.4 or more even if every answer without a score had been wrong",
            "no answer is missing",
            "does not apply",
            False,
            "",
        ),
    ]


def test_missing_answers_are_held_against_the_jury_at_their_worst() -> None:
    silent = [None if place < 6 else score for place, score in enumerate(ANNA)]
    assert all_told(ruled(agreement_floor, {"clinician a": ANNA, "jury": silent})) == [
        (
            "weighted kappa of 0.4 or more",
            "nothing to compare",
            "not known",
            True,
            ("The jury's agreement with clinicians (weighted kappa) is not known; the floor is 0.4."),
        ),
        ("the lower end of its 95 % interval is 0.4 or more", "no interval", "not known", False, ""),
        (
            "weighted kappa of 0.4 or more even if every answer without a score had been wrong",
            "between 0.720 and 1.000: 6 answers without a score",
            "met",
            False,
            "",
        ),
    ]


def test_missing_answers_that_could_spoil_the_agreement_are_told_with_what_is_left_of_it() -> None:
    silent = [None if place % 2 else score for place, score in enumerate(ANNA)]
    assert told(ruled(agreement_floor, {"clinician a": ANNA, "jury": silent}, floor=0.6)[2]) == (
        "weighted kappa of 0.6 or more even if every answer without a score had been wrong",
        "between −0.080 and 1.000: 30 answers without a score",
        "not met",
        False,
        (
            "The jury left 30 answers without a score. If it had been wrong on all of them, its "
            "agreement (weighted kappa) would be −0.080; the floor is 0.6."
        ),
    )


def test_without_a_scale_the_worst_lies_within_what_clinicians_gave() -> None:
    evidence = on_trial({"clinician a": [2, 3, 4, 2, 3, 5], "jury": [None, 3, 4, 2, 3, 5]}, scale=None)
    trial = evidence.trial(evidence.table.dimensions[0])
    assert [each and round(each, 4) for each in bounds(trial)] == [0.4706, 1.0]


def test_the_warning_says_what_silence_could_hide() -> None:
    silent = [None if place < 6 else score for place, score in enumerate(ANNA)]
    evidence = on_trial({"clinician a": ANNA, "jury": silent})
    assert missing_warning(evidence, evidence.table.dimensions[0]) == (
        "accuracy: jury left 6 of the 60 answers that clinicians rated without a score. "
        "Nobody knows what it would have said: its agreement (weighted kappa) is 0.720 if it "
        "had been wrong on all of them and 1.000 if right. Clinicians called 3 of them "
        "dangerous: between 0 and 3 severe errors among 24 dangerous answers."
    )


def test_the_warning_says_nothing_of_danger_where_none_was_left_out() -> None:
    silent = [None if place in (3, 4) else score for place, score in enumerate(ANNA)]
    evidence = on_trial({"clinician a": ANNA, "jury": silent})
    assert missing_warning(evidence, evidence.table.dimensions[0]) == (
        "accuracy: jury left 2 of the 60 answers that clinicians rated without a score. "
        "Nobody knows what it would have said: its agreement (weighted kappa) is 0.897 if it "
        "had been wrong on all of them and 1.000 if right."
    )


def test_without_silence_there_is_nothing_to_warn_of() -> None:
    evidence = on_trial({"clinician a": ANNA, "jury": ANNA})
    assert missing_warning(evidence, evidence.table.dimensions[0]) == ""


def test_an_upper_end_at_the_limit_of_severe_errors_is_rare_beyond_doubt() -> None:
    high = proportion(0, 24).high
    assert high is not None
    states = [
        ruled(severe_errors, {"clinician a": ANNA, "jury": ANNA}, severe_limit=limit)[1].state
        for limit in (high, math.nextafter(high, 0))
    ]
    assert states == ["met", "not met"]

"""One rater beside the clinicians, answer by answer: who scored what, and how far they agree."""

from __future__ import annotations

import numpy as np
import pytest
from tests.validation.on_trial import on_trial

from medjury.agreement import correlation_statistics, icc_statistics, kappa_statistics, non_inferiority

ANNA = [1 + place % 5 for place in range(40)]


BEN = [min(5, score + (place % 3 == 0)) for place, score in enumerate(ANNA)]


NEAR = [max(1, score - (place % 4 == 0)) for place, score in enumerate(ANNA)]


def test_answers_that_both_scored_that_were_left_silent_and_that_nobody_rated_are_told_apart() -> None:
    evidence = on_trial(
        {"clinician a": [1, 2, None, 4], "clinician b": [2, None, None, 5], "jury": [1, None, None, 4]}
    )
    trial = evidence.trial(evidence.table.dimensions[0])
    assert (
        trial.raters.tolist(),
        trial.both.tolist(),
        trial.silent.tolist(),
        trial.unscored.tolist(),
        trial.reference[:2].tolist(),
        trial.span,
    ) == (
        [2, 1, 0, 2],
        [True, False, False, True],
        [False, True, False, False],
        [False, True, True, False],
        [1.5, 2.0],
        4.0,
    )


def test_a_trial_is_made_once() -> None:
    evidence = on_trial({"clinician a": [1, 2], "jury": [1, 2]})
    assert len({id(evidence.trial(each)) for each in evidence.table.dimensions * 2}) == 1


def test_a_jury_with_one_score_is_flat_only_where_clinicians_tell_answers_apart() -> None:
    trials = [
        on_trial({"clinician a": humans, "jury": said})
        for humans, said in (([1, 5], [3, 3]), ([4, 4], [3, 3]), ([1, 5], [3, 4]), ([1, None], [None, 3]))
    ]
    assert [each.trial(each.table.dimensions[0]).flat for each in trials] == [True, False, False, False]


def test_cases_are_clusters() -> None:
    evidence = on_trial(
        {"clinician a": ANNA, "jury": ANNA}, known={"patient": [str(place // 4) for place in range(40)]}
    )
    trial = evidence.trial(evidence.table.dimensions[0])
    assert (trial.cases(trial.both), trial.cases(trial.silent)) == (10, 0)


def test_without_one_clinician_the_others_are_left() -> None:
    evidence = on_trial({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR})
    trial = evidence.trial(evidence.table.dimensions[0]).without(0)
    assert (trial.clinicians, trial.humans.shape, sorted(trial.humans[:, 0].tolist()) == sorted(BEN)) == (
        ("clinician b",),
        (40, 1),
        True,
    )


def test_agreement_of_the_jury_and_of_the_clinicians_is_pooled_over_their_pairs_in_each_part() -> None:
    evidence = on_trial({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR})
    trial = evidence.trial(evidence.table.dimensions[0])
    made = trial.agreement({"all": trial.both, "early": trial.both & (np.arange(40) < 20)})
    assert (
        {name: round(value, 4) for name, value in made.observed.items()},
        made.resamples,
        made.n,
        bool(made.left_out),
    ) == (
        {"jury all": 0.9041, "clinicians all": 0.9308, "jury early": 0.9149, "clinicians early": 0.9346},
        200,
        40,
        False,
    )


def test_the_interval_of_the_whole_agreement_has_the_resamples_and_the_seed_that_were_asked_for() -> None:
    evidence = on_trial({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR})
    found = evidence.trial(evidence.table.dimensions[0]).overall
    assert (round(found.value or 0, 4), found.n, found.method) == (
        0.9046,
        40,
        "95 % BCa-t bootstrap, 200 resamples of 40 clusters, seed 0",
    )


def test_the_interval_of_the_whole_agreement_is_that_of_its_coefficient() -> None:
    """Where two clinicians rated every answer, the comparison with their own agreement has the same interval."""
    for name, made in (
        ("kappa_quadratic", kappa_statistics((1.0, 2.0, 3.0, 4.0, 5.0), ["quadratic"])),
        ("spearman", correlation_statistics(["spearman"])),
        ("icc_2_1", icc_statistics(["icc_2_1"])),
    ):
        evidence = on_trial({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR}, statistic=name)
        trial = evidence.trial(evidence.table.dimensions[0])
        clusters = trial.grid.clusters.tolist()
        beside = non_inferiority(trial.humans, trial.said, made, margin=0.1, clusters=clusters, resamples=200)
        found, wanted = trial.overall, beside[name].judge_human
        assert found.low is not None and wanted.low is not None
        assert (found.value, found.low, found.high) == pytest.approx(
            (wanted.value, wanted.low, wanted.high), abs=1e-12
        ), name


@pytest.mark.parametrize(("statistic", "refused"), [("spearman", True), ("icc_2_1", False)])
def test_ranks_of_clinicians_with_few_cases_each_have_no_interval_in_the_gate(
    statistic: str, refused: bool
) -> None:
    """Ten clinicians, two for each of forty cases: eight cases each."""
    seats = {
        f"clinician {seat}": [
            (ANNA, BEN)[seat % 2][case] if case // 8 == seat // 2 else None for case in range(40)
        ]
        for seat in range(10)
    }
    evidence = on_trial({**seats, "jury": NEAR}, statistic=statistic)
    found = evidence.trial(evidence.table.dimensions[0]).overall
    assert found.value is not None and (found.low is None) == refused
    assert ("each human rated 8.0 items on average, and 10 are needed" in found.method) == refused


def test_the_statistic_is_what_the_rules_name() -> None:
    found = [
        on_trial({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR}, statistic=name, scale=scale)
        for name, scale in (
            ("kappa_quadratic", (1, 5)),
            ("spearman", (1, 5)),
            ("icc_2_1", (1, 5)),
            ("kappa_quadratic", None),
        )
    ]
    assert [round(each.trial(each.table.dimensions[0]).overall.value or 0, 4) for each in found] == [
        0.9046,
        0.9383,
        0.9067,
        0.9067,
    ]


def test_silence_that_had_been_right_or_wrong_changes_the_agreement() -> None:
    evidence = on_trial({"clinician a": ANNA, "jury": [None, *ANNA[1:]]})
    trial = evidence.trial(evidence.table.dimensions[0])
    assert [round(trial.if_silence_were(np.full(40, score)) or 0, 4) for score in (1.0, 3.0, 5.0)] == [
        1.0,
        0.9744,
        0.9,
    ]


def test_one_score_for_all_agrees_by_chance_alone_where_clinicians_tell_answers_apart() -> None:
    for humans, agreement in ((ANNA, 0.0), ([3] * 40, None)):
        evidence = on_trial({"clinician a": humans, "jury": [3] * 40})
        trial = evidence.trial(evidence.table.dimensions[0])
        found = trial.agreement({"all": trial.both}, resamples=0).observed["jury all"]
        assert (None if np.isnan(found) else found) == agreement

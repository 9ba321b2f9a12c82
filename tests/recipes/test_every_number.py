"""Every table of the five recipes' nine reports: what is made a second time, and what is no statistic. A table or a
column that is not named fails."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from tests.recipes import test_diagnosis_jury as diagnosis
from tests.recipes import (
    test_econsult,
    test_every_count,
    test_every_estimate,
    test_medhelm_jury,
    test_pdsqi9,
    test_transcripts,
)
from tests.recipes.compared import numeric_columns
from tests.recipes.count_checks import counts_are_right
from tests.recipes.curve_checks import Calibrated
from tests.recipes.designs import (
    COMPOSITES,
    RUNS,
    TURNED,
    design,
    ends_of_scale,
    grading,
    own_dimensions,
    people,
)
from tests.recipes.every_number import CHECKED_BY, NOT_STATISTICS, RECOMPUTED
from tests.recipes.exact_baseline import baseline_is_right
from tests.recipes.exact_checks import (
    consistency_is_right,
    other_coefficients_are_right,
    second_panel_is_right,
    text_metrics_are_right,
)
from tests.recipes.exact_orders import calibration_is_right, orders_are_right, ranking_is_right
from tests.recipes.exact_spreads import single_answers_are_right, stability_is_right, standardised_is_right
from tests.recipes.exact_systems import by_system_is_right
from tests.recipes.exact_verdicts import verdicts_are_right
from tests.recipes.exact_votes import votes_are_right
from tests.recipes.exact_ways import ways_are_right
from tests.recipes.rated import Rated, whole_grades
from tests.recipes.share_checks import shares_are_right

from recipes import transcripts


def scores_again(rated: Rated) -> dict[tuple[str, str], dict[tuple[str, str], list[float]]]:
    """Every repeat's score by rater and dimension, and those of the clinicians as the repeats of one rater."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rated.rows("ratings.csv"):
        if row["status"] != "scored" or row["item"] in rated.aside:
            continue
        answer = row["item"], row["system"]
        found[row["rater"], row["dimension"]][answer].append(float(row["score"]))
        if row["rater_kind"] == "clinician" and row["rater"] != transcripts.ADJUDICATOR:
            found["clinicians among themselves", row["dimension"]][answer].append(float(row["score"]))
    return found


@pytest.mark.parametrize("run", RUNS)
def test_what_is_counted(rated: Callable[[str], Rated], run: str) -> None:
    how = design(run)
    counts_are_right(rated(run), how.labels, grading(run), how.grades, how.first)


@pytest.mark.parametrize("run", RUNS)
def test_alpha_and_ac2_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    other_coefficients_are_right(rated(run), design(run).labels, grading(run), design(run).grades)
    graded = [name for name in own_dimensions(run) if len(design(run).grades[name]) > 2]
    assert bool(rated(run).table("internal-consistency")) is (len(graded) > 2)
    consistency_is_right(rated(run), graded, TURNED, ends_of_scale(run))


@pytest.mark.parametrize(
    "run", ["econsult", "medhelm-jury", "medhelm-notes", "medhelm-replies", "pdsqi9", "transcripts"]
)
def test_agreement_beside_that_of_clinicians_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    """Of two reports of one design, the coefficient of the gate alone."""
    coefficients = ("intraclass correlation", "weighted kappa", "rank correlation")
    chosen = coefficients[: 1 if run in ("medhelm-jury", "medhelm-notes") else 3]
    assert baseline_is_right(rated(run), design(run).labels, grading(run), people(run), chosen) > 20


@pytest.mark.parametrize("run", RUNS)
def test_the_numbers_behind_the_verdicts(rated: Callable[[str], Rated], run: str) -> None:
    """One panel has no colleague: there is nothing to compare."""
    on_grades = not run.startswith(("medhelm", "pdsqi9"))
    danger = {
        "econsult": {"concordant": (0.0, 1.0, False)},
        "pdsqi9": dict.fromkeys(("accurate", "thorough"), (2.0, 2.0, False)),
        "transcripts": {"impact": (2.0, 1.5, True)},
    }.get(run, {"accuracy": (2.0, 2.0, False)})
    grades = grading(run) if on_grades else None
    found = verdicts_are_right(rated(run), design(run).labels, grades, people(run), danger)
    assert (found > 0) is (len(people(run)) > 1)


@pytest.mark.parametrize("run", ["diagnosis-jury", "ward-reference", "medhelm-jury", "medhelm-replies"])
def test_the_votes_of_a_jury_and_its_best_judge_with_their_ends(
    rated: Callable[[str], Rated], run: str
) -> None:
    wanted = "intraclass correlation" if run.startswith("medhelm") else "weighted kappa"
    assert votes_are_right(rated(run), design(run).labels, grading(run), design(run).people, wanted) >= 3


@pytest.mark.parametrize("run", ["diagnosis-jury"])
def test_agreement_between_systems_and_within_them_with_its_ends(
    rated: Callable[[str], Rated], run: str
) -> None:
    assert by_system_is_right(rated(run), design(run).labels) > 40


@pytest.mark.parametrize("run", ["diagnosis-jury", "stability", "ward-reference"])
def test_ways_of_judging_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    assert ways_are_right(rated(run), design(run).labels, grading(run), "safety") > 30


@pytest.mark.parametrize("run", ["medhelm-jury", "medhelm-notes", "medhelm-replies", "transcripts"])
def test_iccs_of_z_scores_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    standardised_is_right(rated(run), design(run).labels, people(run))


@pytest.mark.parametrize("run", ["stability", "diagnosis-jury"])
def test_win_rates_against_the_second_panel_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    made, raters = calibrated(rated(run)), (*diagnosis.JUDGES, "jury", "jury_of_calibrated")
    after = {(who, name): by_answer(made, who, name) for who in raters for name in diagnosis.GRADED[:4]}
    second_panel_is_right(rated(run), diagnosis.LABELS, grading(run), diagnosis.PANEL, after)


@pytest.mark.parametrize("run", ["stability", "transcripts"])
def test_spreads_of_repeats_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    for table, who in (("stability", "judge"), ("stability-people", "who")):
        stability_is_right(rated(run), design(run).labels, table, who, scores_again(rated(run)))
    single_answers_are_right(rated(run), design(run).labels, scores_again(rated(run)))


def calibrated(run: Rated) -> Calibrated:
    return Calibrated(run, COMPOSITES["diagnosis-jury"], [*diagnosis.JUDGES])


def by_answer(made: Calibrated, who: str, name: str) -> dict[tuple[str, str], float]:
    """Scores out of fold by case and system; a missing one is left out."""
    scores = zip(made.answers, made.out_of_fold(who, name), strict=True)
    return {answer: float(score) for answer, score in scores if not np.isnan(score)}


def test_before_and_after_calibration_with_their_ends(rated: Callable[[str], Rated]) -> None:
    run = rated("diagnosis-jury")
    made = calibrated(run)

    def sides(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]:
        jury, panel, known = made.labelled("jury", name)
        whose = [item for (item, _), here in zip(made.answers, known, strict=True) if here]
        return made.fold[known], panel[known], jury[known], made.out_of_fold("jury", name)[known], whose

    calibration_is_right(run, diagnosis.LABELS, whole_grades(1, 5), sides)


def test_the_ranking_and_its_agreement_with_the_panel_with_their_ends(rated: Callable[[str], Rated]) -> None:
    run = rated("diagnosis-jury")
    ranking_is_right(run, "jury", "quality")
    raters, panel = (*diagnosis.JUDGES, "jury"), run.reference("quality")
    as_scored = {who: run.scores[who, "quality"] for who in raters}
    orders_are_right(run, "ranking-agreement", panel, as_scored)
    after = {who: by_answer(calibrated(run), who, "quality") for who in raters}
    orders_are_right(run, "ranking-agreement-calibrated", panel, after)


def test_metrics_beside_labels_with_their_ends(rated: Callable[[str], Rated]) -> None:
    errors = ("wer", "cer", "mer", "wil", "semantic_wer")
    text_metrics_are_right(rated("transcripts"), "impact", errors)


def there(run: Rated) -> set[tuple[str, str]]:
    """Every table and column with a number of a report."""
    return {place for file in (run.run / "tables").glob("*.csv") for place in numeric_columns(file)}


def listed() -> set[tuple[str, str]]:
    return {
        (table, column)
        for each in (RECOMPUTED, NOT_STATISTICS)
        for table, own in each.items()
        for column in own
    }


@pytest.mark.parametrize("run", RUNS)
def test_every_column_with_a_number_is_named(rated: Callable[[str], Rated], run: str) -> None:
    known = listed()
    unknown = {place for place in there(rated(run)) if place not in known and (place[0], "*") not in known}
    assert not unknown, unknown


def test_the_list_names_nothing_that_is_not_there(rated: Callable[[str], Rated]) -> None:
    found = set.union(*(there(rated(run)) for run in RUNS))
    found |= {(table, "*") for table, _ in found}
    assert listed() <= found, listed() - found


def test_every_interval_that_follows_from_two_counts(rated: Callable[[str], Rated]) -> None:
    for run in RUNS:
        shares_are_right(rated(run), design(run).labels)


def test_every_check_of_the_list_is_a_test_that_is_run() -> None:
    """Each is named so that there is one of it."""
    counted = (test_every_count, test_every_estimate)
    modules = (diagnosis, test_econsult, *counted, test_medhelm_jury, test_pdsqi9, test_transcripts)
    tests = [
        (module.__name__.rpartition(".")[2], name)
        for module in (*modules, sys.modules[__name__])
        for name in vars(module)
        if name.startswith("test_") and callable(getattr(module, name))
    ]
    for listed in CHECKED_BY:
        module, _, name = listed.rpartition(".")
        assert len([each for each in tests if each[1] == name and module in ("", each[0])]) == 1, listed

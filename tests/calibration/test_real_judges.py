"""Four real judges and one human on 5,000 answers: what cross-fitted calibration does to them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.mental_health import DATA, MAPPING, real_ratings

from medjury.analysis.calibration import CalibrationStudy, calibrate, held_out_sets, simulate_jury, triage
from medjury.analysis.calibration._before_after import CalibrationRow
from medjury.analysis.calibration._conformal import first_share
from medjury.analysis.calibration._jury_held_out import lost_at_random
from medjury.analysis.calibration._jury_search import Candidate, loss_against
from medjury.analysis.calibration._jury_simulation import JurySimulation
from medjury.analysis.calibration._jury_votes import (
    calls_made,
    doubts,
    fixed_scores,
    jury_table,
    scores_after,
)
from medjury.analysis.calibration._part import judging_roles, jurors_of, parts_of
from medjury.judging import AdaptiveRule
from medjury.tables import RatingTable, rating_table

JUDGES = ("claude", "gemini", "gpt-4o", "o4-mini")

pytestmark = pytest.mark.skipif(
    not (DATA.is_dir() and MAPPING.is_file()), reason=f"the judges' answers are not there: {DATA}"
)
Changes = dict[tuple[str, str], dict[str, CalibrationRow]]


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> RatingTable:
    return rating_table(pl.read_parquet(real_ratings(tmp_path_factory)), scale=(1, 5))


def changes_of(study: CalibrationStudy) -> Changes:
    found: Changes = {}
    for row in study.rows:
        found.setdefault((row.rater, row.dimension), {})[row.statistic] = row
    return found


@pytest.fixture(scope="module")
def table(ratings: RatingTable) -> Changes:
    return changes_of(calibrate(ratings, reference=["human"], resamples=0))


def test_every_judge_and_the_jury_are_calibrated_on_every_attribute(table: Changes) -> None:
    attributes = {attribute for _, attribute in table}
    assert len(attributes) == 7
    assert set(table) == {
        (judge, each) for judge in (*JUDGES, "jury", "jury_of_calibrated") for each in attributes
    }


def test_an_offset_above_a_fifth_of_a_point_falls_by_nine_tenths_and_the_rmse_falls(table: Changes) -> None:
    large = {name: each for name, each in table.items() if each["absolute_offset"].before.value > 0.2}
    assert len(large) > 20
    for name, changes in large.items():
        offset, rmse = changes["absolute_offset"], changes["rmse"]
        assert offset.after.value <= 0.1 * offset.before.value, name
        assert rmse.after.value < rmse.before.value, name


def test_ranks_stay_and_the_kappa_of_some_single_judge_falls(table: Changes) -> None:
    """The price of shrinking to the mean, which the table shows beside the gain."""
    single = {name: each for name, each in table.items() if name[0] in JUDGES}
    assert all(abs(each["spearman"].change.value) < 0.02 for each in single.values())
    assert min(each["kappa_quadratic"].change.value for each in single.values()) < -0.05


def test_intervals_of_the_change_are_those_of_whole_conversations(ratings: RatingTable) -> None:
    study = calibrate(ratings, reference=["human"], raters=["gpt-4o"], dimensions=["Empathy"], resamples=500)
    changes = changes_of(study)["gpt-4o", "Empathy"]
    assert "500 clusters" in changes["rmse"].change.method
    assert changes["rmse"].change.high < 0
    assert changes["absolute_offset"].change.high < -0.6


def test_the_jury_orders_unsafe_answers_better_than_most_single_judges_and_better_than_chance(
    ratings: RatingTable,
) -> None:
    found = triage(ratings, dimensions="Safety", reference=["human"], resamples=200)
    curves = found.curves
    assert curves["rule"].area.low > 0.5
    areas = sorted(curves[f"judge {judge}"].area.value for judge in JUDGES)
    assert curves["rule"].area.value > areas[-2]
    # Most scores tie at the top of the scale, and conservative sets keep every tied grade.
    assert found.sets.coverage.value > 0.89
    part = found.part
    exact = held_out_sets(part.scores("jury"), part.labels, cases=part.cases, grades=part.grades, resamples=0)
    assert exact.coverage.value == pytest.approx(0.9, abs=0.02)
    assert exact.mean_width.value < found.sets.mean_width.value


# Half of the calls are enough, and not just any half.


@pytest.fixture(scope="module")
def found(ratings: RatingTable) -> JurySimulation:
    return simulate_jury(ratings, reference=["human"], resamples=100, draws=50)


def test_a_rule_found_on_half_of_the_conversations_keeps_the_agreement_on_the_other_half(
    found: JurySimulation,
) -> None:
    assert found.n_training[0] == found.n_tested[0] == 250
    adaptive = found.adaptive
    assert adaptive.calls <= 0.55
    for loss in (adaptive.loss, adaptive.within_loss):
        assert loss.value is not None and loss.low is not None and loss.high is not None
        assert loss.value <= 0.01 and loss.low < loss.value < loss.high
    assert "250 clusters" in adaptive.loss.method
    assert found.kept


def test_what_the_intervals_do_not_exclude_is_said(found: JurySimulation) -> None:
    assert not found.proved and "as estimated, but not proved" in found.verdict


def test_asking_where_jurors_may_differ_beats_asking_at_random(found: JurySimulation) -> None:
    assert found.random.p_value is not None and found.random.p_value < 0.02
    assert found.adaptive.loss.value is not None and found.random.low > found.adaptive.loss.value


def test_it_agrees_as_well_as_the_best_fixed_pair_with_fewer_calls_and_claims_no_more(
    found: JurySimulation,
) -> None:
    pair = next(each for each in found.of("policy") if each.name == "best fixed pair")
    assert found.adaptive.calls < pair.calls
    assert found.over_pair is not None and found.over_pair.low is not None
    assert -0.005 < found.over_pair.low <= 0 and "not shown to be better" in found.verdict


def test_a_third_juror_by_disagreement_beats_a_third_juror_by_lot(ratings: RatingTable) -> None:
    """The default of a study file, which nobody searched for, on the half of the conversations not searched."""
    roles = judging_roles(ratings, None, "human")
    table, _ = jury_table(parts_of(ratings, roles, ratings.dimensions)[0], jurors_of(ratings, roles))
    tested = table.where(~first_share(table.cases, 0.5, 0) & ~np.isnan(table.labels).all(axis=1))
    order = tuple(tested.jurors.index(name) for name in ("claude", "o4-mini", "gpt-4o", "gemini"))
    rule = AdaptiveRule(0.125, 2)
    calls = calls_made(doubts(tested, order, rule), rule.tolerance)
    full = fixed_scores(tested, tested.everybody)
    lost = loss_against(full, scores_after(tested, order, calls, 2), tested.labels)
    chosen = Candidate(order, "disagreement", rule, 0.0, 0.0, 0.0)
    by_lot = lost_at_random(tested, chosen, calls, 60, 0)
    assert lost < 0.01 and 0.5 < calls.mean() / 4 < 0.65
    assert (by_lot <= lost).mean() <= 0.05 and by_lot.mean() > 2 * lost


def test_the_baseline_that_knows_only_the_system_is_shown_beside_it(found: JurySimulation) -> None:
    """Pooled agreement is mostly between systems: the system alone does better than any of these juries."""
    alone = found.of("policy")[-1]
    assert alone.name.startswith("the system alone") and alone.calls == 0
    assert alone.loss.value is not None and alone.loss.value < 0 and alone.within.value is None

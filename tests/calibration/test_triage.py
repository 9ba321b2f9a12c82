"""Triage: the rule finds planted severe errors early, learns from other cases alone, and says when it
cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import ArrayLike
from scipy.special import expit
from tests.calibration.tables import planted_ratings

from medjury.analysis.calibration import calibrate, routine_disagreement, triage
from medjury.analysis.calibration._maps import case_folds
from medjury.analysis.calibration._review_curve import review_curves
from medjury.analysis.calibration._review_order import ReviewOrder, first_to_read, review_order
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import GateRules
from medjury.tables import mean_of_raters, rating_table

GRADES = (1, 2, 3, 4, 5)


def ordered(judges: Mapping[str, ArrayLike], **given: Any) -> ReviewOrder:
    """The order by the mean of the judges; danger is the second grade."""
    columns = [np.asarray(scores, dtype=float) for scores in judges.values()]
    jury = mean_of_raters(np.column_stack(columns)) if columns else np.empty(0)
    return review_order(jury, judges, **{"threshold": 2.0, **given})


def planted(generator: np.random.Generator, cases: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Three judges who each overlook nearly half of the dangerous answers, but not the same ones."""
    labels = generator.choice([1.0, 2.0, 3.0, 4.0, 5.0], p=[0.05, 0.07, 0.18, 0.35, 0.35], size=cases)
    judges = {}
    for number in range(3):
        scores = np.clip(np.round(labels + 0.6 * generator.normal(size=cases)), 1, 5)
        overlooked = (labels <= 2) & (generator.random(cases) < 0.45)
        judges[f"judge-{number}"] = np.where(overlooked, generator.choice([4.0, 5.0], size=cases), scores)
    return judges, labels


def test_thirty_percent_reviewed_catch_eighty_percent_where_a_single_judge_needs_more() -> None:
    judges, labels = planted(np.random.default_rng(1), 800)
    found = ordered(judges, cases=range(800), grades=GRADES, labels=labels, resamples=300)
    curves = found.curves
    assert curves["rule"].review_to_catch.value <= 0.30
    for name in judges:
        single = curves[f"judge {name}"]
        assert single.review_to_catch.value > 0.30
        assert single.saved_by_rule.low > 0
    assert curves["rule"].area.low > 0.75
    at = dict(zip(curves["rule"].reviewed, curves["rule"].caught, strict=True))
    assert at[0.3].value >= 0.8
    assert found.n_dangerous == int((labels <= 2).sum())
    assert found.n_severe is None


def test_the_labels_of_a_fold_do_not_touch_its_own_priorities() -> None:
    judges, labels = planted(np.random.default_rng(4), 500)
    fold = case_folds(range(500))
    changed = labels.copy()
    changed[fold == 2] = np.random.default_rng(0).permutation(changed[fold == 2])
    first, second = (
        ordered(judges, cases=range(500), grades=GRADES, labels=each, resamples=0)
        for each in (labels, changed)
    )
    assert second.priority[fold == 2].tolist() == first.priority[fold == 2].tolist()
    assert second.priority[fold != 2].tolist() != first.priority[fold != 2].tolist()
    for name, values in first.signals.items():
        assert second.signals[name][fold == 2].tolist() == values[fold == 2].tolist()


def test_where_labels_are_noise_the_rule_is_no_better_than_chance() -> None:
    """A rule that had seen the labels would look good even here."""
    judges, labels = planted(np.random.default_rng(5), 600)
    shuffled = np.random.default_rng(6).permutation(labels)
    curves = ordered(judges, cases=range(600), grades=GRADES, labels=shuffled, resamples=300).curves
    assert curves["rule"].area.low < 0.5 < curves["rule"].area.high + 0.03


def test_errors_the_jury_missed_can_be_the_target() -> None:
    judges, labels = planted(np.random.default_rng(7), 800)
    jury = np.mean(list(judges.values()), axis=0)
    found = ordered(judges, cases=range(800), grades=GRADES, labels=labels, gap=2.0, resamples=100)
    assert found.n_severe == int(((labels <= 2) & (jury - labels >= 2)).sum())
    assert found.curves["rule"].review_to_catch.value < found.curves["jury"].review_to_catch.value


def test_without_labels_the_judges_own_signals_rank_the_items() -> None:
    agree, alarmed, split = [5.0, 5.0, 5.0], [1.0, 2.0, 1.0], [5.0, 1.0, 4.0]
    table = np.array([agree, alarmed, split, [4.0, 4.0, 4.0]])
    judges = {f"j{column}": table[:, column] for column in range(3)}
    found = ordered(judges, cases="abcd", grades=GRADES)
    assert first_to_read(found.priority).tolist()[0] in (1, 2)
    assert first_to_read(found.priority).tolist()[-1] == 0
    assert found.curves is None
    assert "nothing was learnt" in found.how
    assert found.signals["disagreement"][2] == pytest.approx(np.std(split))


def test_an_item_that_no_judge_scored_comes_first() -> None:
    judges = {"a": [5.0, np.nan, 1.0], "b": [4.0, np.nan, np.nan]}
    found = ordered(judges, cases="xyz", grades=GRADES)
    assert first_to_read(found.priority)[0] == 1
    assert found.n_unscored == 1
    assert found.signals["disagreement"][2] == 0


def test_with_few_severe_cases_ranks_are_averaged_and_it_says_so() -> None:
    judges, labels = planted(np.random.default_rng(8), 100)
    labels[labels <= 2] = 3
    labels[:3] = 1
    found = ordered(judges, cases=range(100), grades=GRADES, labels=labels, resamples=0)
    assert found.weights is None
    assert "fewer than 10 cases with a dangerous answer" in found.how
    assert not np.isnan(found.priority).any()


def test_unlabelled_items_are_ranked_with_the_rule_of_all_labels() -> None:
    judges, labels = planted(np.random.default_rng(9), 600)
    truth = labels.copy()
    labels[400:] = np.nan
    found = ordered(judges, cases=range(600), grades=GRADES, labels=labels, resamples=0)
    new = found.priority[400:]
    assert np.mean(new[truth[400:] <= 2]) > np.mean(new[truth[400:] > 2]) + 1
    assert found.n_labelled == 400


def test_the_curve_by_hand() -> None:
    priority = {"order": np.array([5.0, 4.0, 3.0, 2.0, 1.0]), "blind": np.zeros(5)}
    severe = np.array([True, False, True, False, False])
    curves = review_curves(
        priority, severe, cases="abcde", fractions=(0.2, 0.5, 0.6), catch=0.75, resamples=0
    )
    assert [each.value for each in curves["order"].caught] == pytest.approx([0.5, 0.75, 1.0])
    assert curves["order"].review_to_catch.value == pytest.approx(0.5, abs=1e-5)
    assert [each.value for each in curves["blind"].caught] == pytest.approx([0.2, 0.5, 0.6])
    assert curves["blind"].area.value == pytest.approx(0.5)
    assert curves["blind"].review_to_catch.value == pytest.approx(0.75, abs=1e-5)


@pytest.mark.parametrize("catch", [0.3, 0.8, 1.0])
def test_the_share_to_review_is_the_first_step_at_which_enough_is_caught(catch: float) -> None:
    draw = np.random.default_rng(5)
    priority, strata, cases = (
        draw.integers(0, 25, 90).astype(float),
        draw.integers(0, 3, 90),
        np.arange(90) // 3,
    )
    target = priority + draw.normal(0, 6, 90) > 20
    fractions = (0.25, 0.5)

    def curves(fractions: tuple[float, ...], resamples: int) -> Mapping[str, Any]:
        return review_curves(
            {"all": priority}, target, cases=cases, strata=strata, catch=catch, fractions=fractions,
            resamples=resamples,
        )  # fmt: skip

    share = curves(fractions, 200)["all"].review_to_catch.value
    assert share is not None and share * 2**20 == round(share * 2**20)
    before, at = curves((share - 2.0**-20, share), 0)["all"].caught
    assert before.value < catch - 1e-12 <= at.value


def test_where_nothing_more_is_caught_for_long_the_first_step_counts() -> None:
    """Four of five are caught by the first fifth, the last one among the last: 80 % is reached on a flat line."""
    target = np.isin(np.arange(100), [2, 5, 11, 19, 98])
    for catch, share in ((0.8, 0.20), (0.6, 0.12), (1.0, 0.99)):
        found = review_curves(
            {"all": -np.arange(100.0)}, target, cases=np.arange(100), catch=catch, resamples=0
        )
        assert found["all"].review_to_catch.value == pytest.approx(share, abs=2e-6)


def test_a_resample_without_anything_to_catch_has_no_share_to_review() -> None:
    target = np.arange(12) == 11
    found = review_curves({"all": np.arange(12.0)}, target, cases=np.arange(12), resamples=200)
    made = found.replicates_of(0)
    none = np.isnan(made.resampled["area"])
    assert 0 < none.sum() < 200
    assert (np.isnan(made.resampled["review"]) == none).all()


def test_orders_learnt_in_different_folds_are_not_ranked_against_each_other() -> None:
    """All items look alike, but each fold's rule says so at another height, lowest where errors are most
    frequent, as it must when a fold's own labels are left out. Ranked across folds that would look worse
    than chance."""
    fold = np.repeat(np.arange(4), 50)
    severe = np.arange(200) % 50 < 5 * (fold + 1)
    priority = {"rule": -fold.astype(float)}
    apart = review_curves(priority, severe, cases=range(200), strata=fold, resamples=0)["rule"]
    together = review_curves(priority, severe, cases=range(200), resamples=0)["rule"]
    assert apart.area.value == pytest.approx(0.5)
    assert apart.review_to_catch.value == pytest.approx(0.8, abs=1e-5)
    assert together.area.value < 0.4


def test_a_definition_that_fits_no_item_or_every_item_is_refused() -> None:
    judges, labels = planted(np.random.default_rng(8), 100)
    with pytest.raises(MedjuryError, match="no item is a dangerous answer"):
        ordered(judges, cases=range(100), grades=GRADES, labels=np.maximum(labels, 3), resamples=0)
    with pytest.raises(MedjuryError, match="every item is a dangerous answer"):
        ordered(judges, cases=range(100), grades=GRADES, labels=labels, threshold=5.0, resamples=0)
    with pytest.raises(MedjuryError, match="no item is a severe error"):
        ordered(judges, cases=range(100), grades=GRADES, labels=labels, gap=5.0, resamples=0)
    with pytest.raises(MedjuryError, match="at least one judge"):
        ordered({}, cases=[], grades=GRADES)
    with pytest.raises(MedjuryError, match="100 items, 100 labels, 99 cases"):
        ordered(judges, cases=range(99), grades=GRADES, labels=labels)


def test_equal_scores_stay_equal_whatever_rounding_left_of_them() -> None:
    """Means of the same grades added up in another order differ in the last digit: that is no order of review."""
    target = np.array([True, False, True, False, False, False])
    equal = -np.array([2.0, 2.0, 3.0, 3.0, 4.0, 4.0])
    rounded = equal + np.array([4.5e-16, 0, 4.5e-16, 0, 0, 9e-16])
    found = [
        review_curves({"jury": each}, target, cases=list("abcdef"), resamples=0)["jury"].area.value
        for each in (equal, rounded)
    ]
    assert found[0] == found[1]


# Triage of a rating table.


JUDGES = {"one": -0.2, "two": 0.0, "three": 0.2}
FRAME = planted_ratings(cases=150, dimensions=("safety",), judges=JUDGES, instrument="diagnosis@1.0")


def test_the_table_is_ranked_with_curves_sets_and_decisions() -> None:
    found = triage(FRAME, reference=["panel"], decide_at=3, error=0.2, resamples=100)
    assert len(found.rows) == 300
    assert found.sets is not None
    assert found.automatic is not None
    assert found.sets.coverage.value == pytest.approx(0.9, abs=0.06)
    assert set(found.automatic.decisions.tolist()) <= {"pass", "fail", "refer"}
    assert "judge one" in found.curves


def test_knowing_the_patients_of_single_cases_changes_no_fold_and_no_order() -> None:
    """Each case is of a patient of its own: whether their names are known, or what they are, tells nothing new."""
    known = FRAME.with_columns(patient=pl.lit("p") + pl.col("item").str.reverse())
    plain, named = (triage(each, reference=["panel"], resamples=50) for each in (FRAME, known))
    assert plain.to_json() == named.to_json()
    before, after = (calibrate(each, reference=["panel"], method="isotonic") for each in (FRAME, known))
    assert [each.pairs.fold.tolist() for each in before.calibrations] == [
        each.pairs.fold.tolist() for each in after.calibrations
    ]


def test_all_cases_of_a_patient_stay_in_one_fold() -> None:
    several = FRAME.with_columns(patient=pl.col("item").str.slice(-1))
    part = calibrate(several, reference=["panel"], folds=2).calibrations[0]
    folds = {}
    for patient, fold in zip(part.part.cases.tolist(), part.pairs.fold.tolist(), strict=True):
        assert folds.setdefault(patient, fold) == fold


def test_a_dimension_on_which_lower_is_better_is_turned_round() -> None:
    risk = FRAME.with_columns(score=6 - pl.col("score"), dimension=pl.lit("risk"))
    turned = triage(risk, reference=["panel"], resamples=0)
    plain = triage(FRAME, reference=["panel"], resamples=0)
    assert turned.reversed
    assert not plain.reversed
    assert turned.order.priority == pytest.approx(plain.order.priority)
    unnamed = risk.drop("instrument")
    graded = rating_table(unnamed, scale=(1, 5))
    asked = triage(graded, reference=["panel"], high_is_dangerous=True, resamples=0)
    assert asked.order.priority == pytest.approx(plain.order.priority)


def test_without_a_reference_the_order_needs_no_label_and_decides_nothing() -> None:
    found = triage(FRAME.filter(pl.col("rater") != "panel"))
    assert found.curves is None
    assert found.sets is None
    with pytest.raises(MedjuryError, match="automatic decisions need a reference"):
        triage(FRAME.filter(pl.col("rater") != "panel"), raters=["one"], decide_at=3)


def test_several_dimensions_are_refused_until_one_is_named() -> None:
    frame = planted_ratings(dimensions=("accuracy", "clarity"))
    with pytest.raises(MedjuryError, match="triage is by one dimension; name one of accuracy, clarity"):
        triage(frame, reference=["panel"])


def ward_table() -> pl.DataFrame:
    """Judges' safety of three systems' answers against the ward diagnosis, and the panel's word on 90 of
    100."""
    generator = np.random.default_rng(1)
    rows = []
    for case in range(100):
        level = generator.uniform(1.5, 4.5)
        for system in ("a", "b", "c"):
            score = float(np.clip(np.round(level + generator.normal() / 2), 1, 5))
            rows.append((f"c{case}", system, "judge", "judge", "safety", score))
        if case < 90:
            wrong = float(generator.random() < expit(3 - 1.2 * level))
            rows.append((f"c{case}", "ward", "panel", "clinician", "ward_wrong", wrong))
    return pl.DataFrame(
        rows, schema=["item", "system", "rater", "rater_kind", "dimension", "score"], orient="row"
    )


def test_low_safety_against_the_ward_diagnosis_predicts_the_panels_disagreement() -> None:
    table = rating_table(ward_table(), scale={"safety": (1, 5)})
    found = routine_disagreement(table, dimensions="safety", routine="ward_wrong", reference=["panel"])
    assert (found.n, found.n_unknown) == (90, 10)
    assert found.slope.high < 0
    assert len(found.rows) == 41


def test_a_panel_without_a_word_or_with_two_is_refused() -> None:
    with pytest.raises(MedjuryError, match="no rater of panel has a score under 'ward'"):
        routine_disagreement(ward_table(), dimensions="safety", routine="ward", reference=["panel"])
    twice = ward_table().filter(pl.col("dimension") == "ward_wrong").head(1)
    twice = twice.with_columns(score=1 - pl.col("score"), system=pl.lit("other"))
    with pytest.raises(MedjuryError, match="item 'c0': the panel both agrees and disagrees"):
        routine_disagreement(
            pl.concat([ward_table(), twice]), dimensions="safety", routine="ward_wrong", reference=["panel"]
        )


def test_the_default_threshold_is_the_gates_rule_and_its_answers_are_called_dangerous() -> None:
    found = triage(FRAME, resamples=0)
    labels = FRAME.filter(pl.col("rater") == "panel")["score"]
    assert (found.threshold, found.n_dangerous) == (2.0, int((labels <= 2).sum()))
    assert f"80 % of {found.n_dangerous} dangerous answers (the reference scored 2 or less)" in found.text()
    assert found.order.n_severe is None
    stricter = replace(rating_table(FRAME), rules=GateRules(danger=0.0))
    assert triage(stricter, resamples=0).n_dangerous == int((labels <= 1).sum())


def test_with_a_gap_they_are_severe_errors_and_are_called_so() -> None:
    found = triage(FRAME, gap=0.5, threshold=3, resamples=0)
    grid = found.part.grid
    jury, labels = found.part.scores("jury"), grid.scores["panel"]
    assert found.order.n_severe == int(((labels <= 3) & (jury - labels >= 0.5 - 1e-9)).sum())
    assert found.n_dangerous == int((labels <= 3).sum()) > found.order.n_severe
    assert f"of {found.order.n_severe} severe errors" in found.text()
    assert "and the jury 0.5 or more higher" in found.text()


def test_one_judge_is_named_and_counted_once_where_there_is_no_jury() -> None:
    told = triage(FRAME, raters=["one"], gap=0.5, threshold=3, resamples=0).text()
    assert "and one 0.5 or more higher" in told and "the jury" not in told
    orders = [line.split("  ")[0] for line in told.splitlines()]
    assert "judge one" in orders and "jury" not in orders
    assert "one" in told.splitlines()[0].split() and "jury" not in told.splitlines()[0], (
        "the column has its name"
    )


def test_an_answer_without_a_jury_by_the_tables_rule_is_read_first() -> None:
    """One judge of three is no jury, though it gave a score."""
    gone = pl.col("rater").is_in(["two", "three"]) & (pl.col("item") == "c7") & (pl.col("system") == "a")
    found = triage(FRAME.with_columns(score=pl.when(gone).then(None).otherwise("score")), resamples=0)
    first = found.rows[0]
    assert (first.item, first.system, first.jury, first.priority) == ("c7", "a", None, None)
    assert found.order.n_unscored == 1


def test_answers_that_nobody_labelled_change_no_curve() -> None:
    """The report may look at rated answers alone, and say the same."""
    more = FRAME.filter(pl.col("rater") != "panel").with_columns(item="new " + pl.col("item"))
    few, many = (triage(each, resamples=50).curves for each in (FRAME, pl.concat([FRAME, more])))
    assert few == many


def test_the_order_has_the_face_of_every_result() -> None:
    found = triage(FRAME, resamples=50)
    assert found.frame()["rank"].to_list() == list(range(1, 301))
    assert found.find(rank=1) == found.rows[0]
    assert len(found.plot().axes[0].get_lines()) == 3
    assert "c0" in found._repr_html_()


def rarely_bad(miss: float, seed: int = 0, cases: int = 600) -> pl.DataFrame:
    """Three answers of a hundred are bad, and the judge calls the given share of them good."""
    generator = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        bad = case % 33 == 0
        label = 1.0 if bad else 5.0
        seen = not bad or generator.random() >= miss
        rows.append((f"c{case}", "s", "dr", "clinician", "safety", label))
        rows.append((f"c{case}", "s", "j", "judge", "safety", label if seen else 5.0))
    columns = ["item", "system", "rater", "rater_kind", "dimension", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_the_harm_of_deciding_without_a_clinician_is_said_first() -> None:
    found = triage(rating_table(rarely_bad(0.8), scale=(1, 5)), reference="dr", decide_at=3, resamples=50)
    said = found.text()
    assert found.automatic is not None and found.automatic.missed.value is not None
    assert found.automatic.missed.value > 0.5 and found.automatic.error.value < 0.05
    harm, saved = (
        said.index("HARM FIRST: of the bad answers (reference below 3)"),
        said.index("need no clinician"),
    )
    assert harm < said.index("Do not let this rule pass answers") < saved < said.index("With 95 % confidence")
    assert "Decided without a clinician" not in said


def test_a_rule_that_misses_nothing_says_so_and_one_without_bad_cases_that_nothing_is_known() -> None:
    table = rating_table(rarely_bad(0.0), scale=(1, 5))
    said = triage(table, reference="dr", decide_at=3, resamples=50).text()
    assert "(reference below 3) 0 % would pass" in said and "Do not let" not in said
    good = rarely_bad(0.0).with_columns(score=pl.col("item").str.slice(1).cast(pl.Float64) % 2 + 4)
    table = rating_table(good, scale=(1, 5))
    found = triage(table, reference="dr", threshold=4, decide_at=3, resamples=50)
    assert "HARM NOT KNOWN: no tested case lies below 3" in found.text()

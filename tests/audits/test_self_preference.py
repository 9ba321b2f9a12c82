"""Self-preference is found where it was planted, and a vendor that is simply better is not accused of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.audits.simulated import JUDGES, SYSTEMS, judged

from medjury.analysis.audits import Audit, self_preference
from medjury.analysis.audits._finding import Finding
from medjury.analysis.audits._self_preference import CONTRAST_ONLY, DISAGREE, _cross_checked
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate

FAVOURS, NOT_SHOWN = "favours its own vendor", "not shown"


def audit(ratings: pl.DataFrame, **options: object) -> Audit:
    systems = {name: SYSTEMS[name] for name in ratings["system"].unique().to_list()}
    judges = {name: JUDGES[name] for name in ratings["rater"].unique().to_list() if name in JUDGES}
    return self_preference(ratings, judge_vendors=judges, system_vendors=systems, resamples=1000, **options)  # type: ignore[arg-type]


def test_a_planted_preference_of_a_fifth_of_a_point_is_found() -> None:
    for seed in range(3):
        found = audit(judged(seed=seed, cases=200, preference=dict.fromkeys(JUDGES, 0.2)))
        for statistic in ("same_vendor", "own_vendor_contrast"):
            overall = found.find(statistic=statistic, rater="")
            assert overall.verdict == FAVOURS
            assert overall.estimate.low is not None and overall.estimate.high is not None
            assert 0.05 < overall.estimate.low < 0.2 < overall.estimate.high < 0.35


def test_it_is_found_in_the_judge_that_has_it_and_in_no_other() -> None:
    found = audit(judged(seed=1, cases=200, preference={"ada": 0.3}))
    verdicts = {judge: found.find(statistic="same_vendor", rater=judge).verdict for judge in JUDGES}
    assert verdicts == {"ada": FAVOURS, "bob": NOT_SHOWN, "cyd": NOT_SHOWN}
    assert found.find(statistic="own_vendor_contrast", rater="ada").verdict == FAVOURS


def test_a_vendor_that_is_simply_better_is_no_self_preference() -> None:
    for seed in range(4):
        found = audit(judged(seed=seed, better={"alpha": 0.8}))
        assert not any(each.stands_out for each in found.rows)
        own = found.find(statistic="same_vendor", rater="ada").estimate
        assert own.low is not None and own.high is not None and own.low < 0 < own.high


def test_a_judge_that_spreads_its_scores_more_is_not_accused() -> None:
    """The better vendor is then further above the rest for this judge alone, as whoever is better is: a liking."""
    found = audit(
        judged(seed=2, cases=200, better={"alpha": 0.6}, spread={"ada": 1.3, "bob": 0.7, "cyd": 0.7})
    )
    assert found.find(statistic="own_vendor_contrast_scaled", rater="ada").verdict == NOT_SHOWN
    assert found.find(statistic="same_vendor", rater="ada").verdict in (NOT_SHOWN, DISAGREE)


def test_what_the_very_own_model_gets_beyond_its_vendor() -> None:
    ratings = judged(seed=5, cases=200)
    own = (pl.col("rater") == "ada") & (pl.col("system") == "alpha-1")
    lifted = ratings.with_columns(
        pl.when(own).then(pl.col("score") + 0.5).otherwise(pl.col("score")).alias("score")
    )
    found = audit(lifted, own_models={"ada": ["alpha-1"]}).find(statistic="same_model")
    assert found.estimate.value == pytest.approx(0.5, abs=0.12)
    assert found.verdict == "favours its own model"


def test_clinicians_can_be_the_baseline() -> None:
    ratings = judged(seed=3, cases=150, preference={"ada": 0.4})
    clinician = judged(seed=3, cases=150, judges=("bob",)).with_columns(
        pl.lit("dr one").alias("rater"), pl.lit("clinician").alias("rater_kind")
    )
    found = audit(pl.concat([ratings, clinician]), reference=["dr one"])
    assert found.find(statistic="own_vendor_contrast_reference", rater="ada").verdict == FAVOURS
    assert "dr one" not in {each.rater for each in found.rows}


def test_what_two_judges_cannot_tell_is_undefined_with_its_reason() -> None:
    """Two vendors judge only each other: whose preference it is does not show, nor whether the vendor matters."""
    ratings = judged(judges=("ada", "bob"), systems=("alpha-1", "alpha-2", "beta-1"), preference={"ada": 0.4})
    found = audit(ratings)
    for judge in ("ada", "bob"):
        estimate = found.find(statistic="same_vendor", rater=judge).estimate
        assert estimate.value is None and "cannot be told apart" in estimate.reason
    overall = found.find(statistic="same_vendor", rater="").estimate
    assert overall.value is None and "2 judges and 3 systems leave 1 comparisons" in overall.reason
    assert any("own preferences too" in text for text in found.warnings)


def test_one_judge_alone_shows_nothing() -> None:
    found = audit(judged(judges=("ada",), cases=30))
    assert all(each.estimate.value is None or each.statistic.endswith("variance") for each in found.rows)


def test_ratings_without_a_score_are_counted_not_used() -> None:
    ratings = judged(cases=40)
    lost = (pl.col("rater") == "bob") & (pl.col("item") == "case 3")
    found = audit(ratings.with_columns(pl.when(~lost).then(pl.col("score")).alias("score")))
    assert found.n_unscored == 8 and found.n == ratings.height - 8
    assert found.find(statistic="own_vendor_contrast", rater="bob").n_unscored == 8
    assert found.find(statistic="own_vendor_contrast", rater="ada").n_unscored == 0
    # Two systems of her own and four that no judge's vendor made, on the cases that all judges scored.
    assert found.find(statistic="own_vendor_contrast", rater="ada").estimate.n == 39 * 6


def test_repeats_are_averaged_not_counted_as_more_evidence() -> None:
    ratings = judged(cases=40).with_columns(pl.lit(0).alias("repeat"))
    again = ratings.with_columns(pl.lit(1).alias("repeat"))
    once, twice = audit(ratings), audit(pl.concat([ratings, again]))
    assert (
        once.find(statistic="same_vendor", rater="ada").estimate
        == twice.find(statistic="same_vendor", rater="ada").estimate
    )


def test_vendors_may_stand_in_columns() -> None:
    ratings = judged(cases=30)
    columns = ratings.with_columns(
        pl.col("system").replace_strict(SYSTEMS).alias("vendor"),
        pl.col("rater").replace_strict(JUDGES).alias("judge_vendor"),
    )
    assert (
        self_preference(columns, resamples=200).rows
        == self_preference(ratings, judge_vendors=JUDGES, system_vendors=SYSTEMS, resamples=200).rows
    )


def test_a_name_without_a_vendor_is_refused_with_the_fix() -> None:
    ratings = judged(cases=10)
    missing = {name: vendor for name, vendor in SYSTEMS.items() if name != "clinic"}
    with pytest.raises(MedjuryError, match=r"--system-vendor clinic=VENDOR, or clinic=none"):
        self_preference(ratings, judge_vendors=JUDGES, system_vendors=missing)
    with pytest.raises(MedjuryError, match="no vendor is known for the judges ada, bob, cyd"):
        self_preference(ratings, system_vendors=SYSTEMS)
    with pytest.raises(MedjuryError, match="'dan'; there are ada, bob, cyd"):
        self_preference(ratings, judge_vendors={"dan": "alpha"}, system_vendors=SYSTEMS)


def test_nothing_to_look_for_is_said() -> None:
    strangers = dict.fromkeys(JUDGES, "nobody's")
    with pytest.raises(MedjuryError, match="no judge shares a vendor"):
        self_preference(judged(cases=10), judge_vendors=strangers, system_vendors=SYSTEMS)
    with pytest.raises(MedjuryError, match="no column `system`"):
        self_preference(judged(cases=10, systems=("clinic",)).drop("system"), judge_vendors=JUDGES)


def test_scores_that_are_all_the_same_show_nothing_and_say_so() -> None:
    found = audit(judged(cases=20).with_columns(pl.lit(5.0).alias("score")))
    assert found.find(statistic="same_vendor", rater="").estimate.reason.startswith("Every score is the same")
    assert not any(each.stands_out for each in found.rows)


def test_a_handful_of_cases_is_too_few_and_few_are_warned_of() -> None:
    assert "too few" in audit(judged(cases=4)).find(statistic="same_vendor", rater="").estimate.reason
    assert audit(judged(cases=5)).find(statistic="same_vendor", rater="").estimate.defined
    assert any("19 cases are few" in text for text in audit(judged(cases=19)).warnings)
    assert not any("cases are few" in text for text in audit(judged(cases=20)).warnings)


def test_half_of_the_scores_at_the_top_is_no_ceiling_and_more_is() -> None:
    ratings = judged(cases=20)
    number = pl.int_range(pl.len()).over("rater")
    half = ratings.with_columns((4.0 + number % 2).alias("score"))
    assert not any("highest given" in text for text in audit(half).warnings)
    more = half.with_columns(pl.when(number == 0).then(5.0).otherwise(pl.col("score")).alias("score"))
    assert any("of ada's scores are the highest given" in text for text in audit(more).warnings)


def test_a_dimension_without_any_score_is_left_out_and_named() -> None:
    ratings = judged(cases=10)
    empty = ratings.with_columns(
        pl.lit("tone").alias("dimension"), pl.lit(None, dtype=pl.Float64).alias("score")
    )
    found = audit(pl.concat([ratings, empty]))
    assert "tone: no judge gave a score" in found.warnings and found.n_unscored == 240
    with pytest.raises(MedjuryError, match="no rating of ada, bob, cyd has a score"):
        audit(empty)


@pytest.mark.parametrize("liking", [0.1, 0.2])
@pytest.mark.simulation
def test_a_liking_for_single_systems_whoever_made_them_is_no_self_preference(liking: float) -> None:
    """Half the rows were flagged at 0.2 while the cases were the units."""
    flagged = [
        row.p_value < 0.05
        for seed in range(30)
        for row in audit(judged(seed=seed, cases=40, liking=liking)).rows
        if row.statistic == "same_vendor" and row.p_value is not None
    ]
    assert len(flagged) == 120 and sum(flagged) <= 0.06 * len(flagged)


def test_a_preference_is_found_among_likings_for_single_systems() -> None:
    for seed in range(4):
        found = audit(judged(seed=seed, cases=60, liking=0.1, preference=dict.fromkeys(JUDGES, 0.4)))
        assert found.find(statistic="same_vendor", rater="").verdict == FAVOURS


@pytest.mark.simulation
def test_a_judge_that_likes_single_systems_more_unevenly_than_the_others_is_not_accused() -> None:
    """With one variance for all judges its rows were flagged 16 times in a hundred."""
    flagged = [
        audit(judged(seed=seed, cases=20, liking={"ada": 0.6, "bob": 0.05, "cyd": 0.05}))
        .find(statistic="same_vendor", rater="ada")
        .p_value
        < 0.05
        for seed in range(50)
    ]
    assert sum(flagged) <= 4


def test_of_two_judges_with_equal_cases_it_is_the_analysis_of_variance_of_judge_by_system() -> None:
    """Second implementation: the cell means by least squares, the residual mean square as variance."""
    ratings = judged(seed=7, cases=50, liking=0.2, judges=("ada", "bob"))
    table = ratings.group_by("rater", "system").agg(pl.col("score").mean()).sort("rater", "system")
    judge, system = table["rater"].to_numpy(), table["system"].to_numpy()
    own = np.array([JUDGES[a] == SYSTEMS[b] for a, b in zip(judge, system, strict=True)], dtype=float)
    design = np.column_stack(
        [np.ones(16), judge == "bob", *(system == name for name in sorted(SYSTEMS)[1:]), own]
    )
    coefficients, squares, *_ = np.linalg.lstsq(design, table["score"].to_numpy(), rcond=None)
    error = np.sqrt(squares[0] / 6 * np.linalg.inv(design.T @ design)[-1, -1])
    found = audit(ratings).find(statistic="same_vendor", rater="").estimate
    assert found.value == pytest.approx(coefficients[-1]) and "6 df" in found.method
    assert found.low == pytest.approx(coefficients[-1] - 2.446912 * error, abs=1e-5)


def test_the_contrast_is_the_t_test_of_systems() -> None:
    from scipy.stats import ttest_ind

    means = judged(seed=4, cases=50).group_by("system", "rater").agg(pl.col("score").mean())
    wide = means.pivot("rater", index="system", values="score")
    above = dict(wide.select("system", pl.col("ada") - (pl.col("bob") + pl.col("cyd")) / 2).iter_rows())
    own = [above[name] for name in ("alpha-1", "alpha-2")]
    others = [above[name] for name in ("other-1", "other-2", "other-3", "clinic")]
    found = audit(judged(seed=4, cases=50)).find(statistic="own_vendor_contrast", rater="ada")
    assert found.p_value == pytest.approx(ttest_ind(own, others).pvalue)
    assert found.estimate.value == pytest.approx(np.mean(own) - np.mean(others))


def test_two_systems_or_one_per_vendor_cannot_show_a_preference_of_a_judge() -> None:
    for systems in (("alpha-1", "beta-1"), ("alpha-1", "beta-1", "gamma-1")):
        found = audit(judged(cases=30, systems=systems, preference={"ada": 1.0}))
        for judge in ("ada", "bob"):
            estimate = found.find(statistic="same_vendor", rater=judge).estimate
            assert estimate.value is None and "comparisons to show how far judges like" in estimate.reason
        assert any("one system each shares the vendor of ada, bob" in text for text in found.warnings)


def test_the_placebo_says_how_many_rows_shuffled_vendors_would_flag() -> None:
    found = audit(judged(seed=3, cases=60, liking=0.2))
    placebo = found.find(statistic="placebo_flagged").estimate
    assert placebo.value is not None and placebo.value < 0.06 and placebo.n >= 90
    assert any(text.startswith("placebo: with the vendors shuffled, ") for text in found.warnings)
    few = audit(judged(cases=30, systems=("alpha-1", "beta-1", "clinic")))
    assert "can be shuffled in 5 ways" in few.find(statistic="placebo_flagged").estimate.reason


def test_the_placebo_warns_where_likings_are_so_uneven_that_shuffled_vendors_are_flagged() -> None:
    """The louder words need a table in which the test does not hold: one planted by hand."""
    from medjury.analysis.audits._finding import Finding
    from medjury.analysis.audits._same_vendor_model import placebo_warnings
    from medjury.statistics import Estimate

    shares = [Finding("", Estimate(share, None, None, 100, "")) for share in (0.04, 0.3)]
    calm, loud = placebo_warnings(shares, 0.95)
    assert "4 % of the rows would be flagged" in calm and "30 % where 5 % are due" in loud


def test_more_cases_than_there_is_room_for_are_drawn_from_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from medjury.analysis.audits import _same_vendor_model as _judge_by_system

    monkeypatch.setattr(_judge_by_system, "LARGEST", 40 * 8 * 9 * 8)
    found = audit(judged(cases=80, preference=dict.fromkeys(JUDGES, 0.5)))
    assert (
        "quality: the mixed model rests on 40 of 80 cases, drawn at random: systems are its units"
        in found.warnings
    )
    overall = found.find(statistic="same_vendor", rater="")
    assert overall.estimate.n == 40 * 8 * 3 and overall.verdict == FAVOURS


def test_a_contrast_that_the_model_does_not_show_is_withdrawn_from_every_table() -> None:
    near_nothing = Estimate(0.02, -0.05, 0.09, n=60, method="model")
    contrast = Finding(
        "own_vendor_contrast", Estimate(0.2, 0.1, 0.3, n=60, method="paired"), rater="ada", dimension="accuracy",
        verdict=FAVOURS, stands_out=True,
    )  # fmt: skip
    for verdict, said in ((NOT_SHOWN, CONTRAST_ONLY), (FAVOURS, FAVOURS)):
        model = Finding("same_vendor", near_nothing, rater="ada", dimension="accuracy", verdict=verdict)
        found = _cross_checked(contrast, [model, contrast])
        assert (found.verdict, found.stands_out) == (said, False)
    assert _cross_checked(contrast, [contrast]) == contrast, "without a model it stands by itself"

"""From a table of ratings to the table of agreement."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from tests.agreement.rating_rows import compared, likert, long_table

from medjury.analysis.agreement import AgreementTable, agreement, cohen_kappa, fleiss_kappa, icc, spearman
from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import Rating
from medjury.tables import rating_table

FIRST_NAMES = [
    "dimension",
    "reference",
    "rater",
    "statistic",
    "value",
    "low",
    "high",
    "n",
    "n_unscored",
    "method",
]
STABLE = {
    "exact_match", "offset", "rmse", "pearson", "spearman", "kendall_tau_b", "kappa", "kappa_linear",
    "kappa_quadratic", "icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k", "icc_3_k_z",
    "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval", "gwet_ac1",
    "gwet_ac2_quadratic", "fleiss_kappa", "macro_f1", "accuracy",
}  # fmt: skip


def rating(item: str, rater: str, score: float | None, reason: str | None = None, repeat: int = 0) -> Rating:
    status = "scored" if score is not None else "unscored"
    return Rating(
        item,
        "",
        rater,
        "judge",
        "",
        "quality",
        repeat,
        score,
        status,
        reason,
        "",
        None,
        None,
        None,
        None,
        "",
        "",
    )


def test_every_stable_name_is_there_once_for_a_pair_and_values_equal_the_functions() -> None:
    scores = likert(0, 60, human=0.6, judge=0.9)
    table = compared(scores, raters="judge", resamples=500)
    names = [row.statistic for row in table.rows]
    assert set(names) >= STABLE
    assert len(names) == len(set(names))
    human, judge = scores["human"], scores["judge"]
    assert table.find("kappa_quadratic").estimate.value == pytest.approx(
        cohen_kappa(human, judge, scale=range(1, 6), weights="quadratic", resamples=0).value
    )
    assert table.find("spearman").estimate.value == pytest.approx(spearman(human, judge, resamples=0).value)
    both = np.column_stack([human, judge])
    found, expected = table.find("icc_2_1").estimate, icc(both, "icc_2_1", resamples=500)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


def test_json_has_stable_names_first_and_never_a_nan() -> None:
    frame = long_table({"human": [3, 3, 3, 3], "judge": [3, 3, 3, 3]})
    text = compared(frame, resamples=50).to_json()
    rows = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert list(rows[0])[:10] == FIRST_NAMES
    undefined = {row["statistic"]: row["reason"] for row in rows if row["value"] is None}
    assert undefined["spearman"] == "each rater gave every item the same score"
    assert "kappa" in undefined
    assert all(row["reason"] for row in rows if row["value"] is None)


def test_n_unscored_coverage_and_absent_rows_are_counted_apart() -> None:
    frame = long_table({"human": [1, 2, 3, 4, 5, 1], "judge": [1, 2, 3, None, None, 2]})
    frame = frame.filter(~((pl.col("rater") == "judge") & (pl.col("item") == "item 5")))
    table = compared(frame)
    counts = table.find("rmse").counts
    assert (counts.n, counts.n_unscored, counts.n_absent, counts.coverage) == (3, 2, 1, 0.5)
    assert table.unscored == {"judge": {"missing": 2}}


def test_not_applicable_is_no_failure() -> None:
    frame = long_table({"human": [1, 2, None], "judge": [1, 2, 3]}).with_columns(
        pl.Series("status", ["scored", "scored", "not_applicable", "scored", "scored", "scored"])
    )
    counts = compared(frame).find("rmse").counts
    assert (counts.n, counts.n_unscored, counts.n_not_applicable) == (2, 0, 1)


def test_repeats_become_their_mean_or_median_and_their_spread_is_kept() -> None:
    objects = [rating(f"item {i}", "human", s) for i, s in enumerate([1, 2, 3])]
    for i, repeats in enumerate([(1, 1, 4), (2, 2, 2), (3, None, 5)]):
        objects += [
            rating(f"item {i}", "judge", s, None if s is not None else "timeout", r)
            for r, s in enumerate(repeats)
        ]
    by_mean = compared(objects)
    assert by_mean.find("offset").estimate.value == pytest.approx((1 + 0 + 1) / 3)
    spread = by_mean.find("repeat_sd").estimate
    assert spread.value == pytest.approx((math.sqrt(3) + 0 + math.sqrt(2)) / 3)
    assert by_mean.unscored == {"judge": {"timeout": 1}}
    by_median = agreement(
        rating_table(objects, scale=(1, 5), repeats="median"), reference="human", resamples=0
    )
    assert by_median.find("offset").estimate.value == pytest.approx((0 + 0 + 1) / 3)


def test_several_references_give_each_human_the_consensus_and_the_humans_own_agreement() -> None:
    scores = likert(1, 60, a=0.5, b=0.5, c=0.5, judge=0.6)
    table = compared(scores, reference=["a", "b", "c"], raters="judge", resamples=200)
    pairs = {(row.reference, row.rater) for row in table.rows if row.statistic == "kappa_quadratic"}
    assert pairs >= {
        ("a", "judge"), ("b", "judge"), ("c", "judge"), ("consensus", "judge"), ("a", "b"), ("a", "c"), ("b", "c"),
        ("each reference", "judge"), ("each reference", "the other references"),
    }  # fmt: skip
    together = np.column_stack([scores[name] for name in "abc"])
    fleiss = table.find("fleiss_kappa", reference="a + b + c", rater="among references").estimate
    assert fleiss.value == pytest.approx(fleiss_kappa(together, scale=range(1, 6)).value)
    pairwise = [table.find("spearman", reference=x, rater=y).estimate.value for x, y in ("ab", "ac", "bc")]
    mean = table.find("spearman", reference="each reference", rater="the other references").estimate.value
    assert mean == pytest.approx(np.mean(pairwise))
    assert table.find("alternative_annotator_winning_rate").estimate.value is not None
    assert table.find("icc_2_1_change_added").p_value is not None
    assert {row.reference for row in table.rows if row.statistic == "icc_2_1_change_replaced"} == {
        "a",
        "b",
        "c",
    }


def test_a_human_is_compared_with_the_consensus_of_the_others() -> None:
    scores = likert(1, 40, a=0.5, b=0.5, c=0.5, judge=0.6)
    table = compared(scores, reference=["a", "b", "c"], raters="judge")
    others = np.mean([scores["b"], scores["c"]], axis=0)
    found = table.find("spearman", reference="consensus without a", rater="a").estimate.value
    assert found == pytest.approx(spearman(others, scores["a"], resamples=0).value)


def test_the_humans_own_agreement_is_also_given_on_the_items_of_a_judge_that_missed_some() -> None:
    scores = likert(2, 40, a=0.5, b=0.7, judge=0.6)
    scores["judge"][:15] = [None] * 15
    table = compared(scores, reference=["a", "b"], raters="judge")
    others = "the other references, on items of judge"
    row = table.find("spearman", reference="each reference", rater=others)
    assert row.estimate.value == pytest.approx(
        spearman(scores["a"][15:], scores["b"][15:], resamples=0).value
    )
    assert row.estimate.n == 25


def test_rows_about_groups_carry_coverage_unscored_and_ceiling_too() -> None:
    scores = likert(3, 40, a=0.5, b=0.5, c=0.5, judge=0.6)
    scores["judge"][:4] = [None] * 4
    table = compared(scores, reference=["a", "b", "c"], raters="judge", margin=0.1, resamples=50)
    for row in table.rows:
        assert row.counts.coverage is not None, row.statistic
        assert row.counts.ceiling_reference is not None, row.statistic
    added = table.find("icc_2_1_change_added").counts
    assert (added.n, added.n_unscored, added.coverage) == (36, 4, 0.9)


def test_tau_of_very_many_distinct_scores_gets_fewer_resamples_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("_pair_statistics", "_pair_estimates"):
        monkeypatch.setattr(f"medjury.analysis.agreement.{module}.TAU_PRODUCTS", 1e6)
    generator = np.random.default_rng(0)
    truth = generator.normal(0, 1, 60)
    scores = {name: (truth + generator.normal(0, 1, 60)).tolist() for name in ("human", "judge")}
    table = agreement(
        long_table(scores),
        reference="human",
        statistics=["kendall_tau_b", "spearman", "kappa"],
        resamples=500,
    )
    tau = table.find("kendall_tau_b").estimate
    assert "277 resamples" in tau.method
    assert tau.low < tau.value < tau.high
    assert "500 resamples" in table.find("spearman").estimate.method
    assert table.find("kappa").estimate.reason == "the scores are not whole grades and no scale was given"


def test_a_margin_asks_for_non_inferiority() -> None:
    scores = likert(2, 300, a=0.6, b=0.6, judge=0.3)
    table = compared(scores, reference=["a", "b"], raters="judge", margin=0.1, resamples=500)
    row = table.find("non_inferiority_spearman")
    assert "margin 0.1: non-inferior" in row.estimate.method
    assert row.p_value < 0.05


@pytest.mark.parametrize(("rule", "expected"), [("mean", 8 / 3), ("median", 3.0), ("majority", 3.0)])
def test_consensus_rules(rule: str, expected: float) -> None:
    frame = long_table({"a": [3, 1], "b": [3, 2], "c": [2, 3], "judge": [3, 2]})
    table = compared(frame, reference=["a", "b", "c"], raters="judge", consensus=rule)
    row = table.find("offset", reference="consensus")
    if rule == "majority":
        assert (row.estimate.n, row.counts.n_unscored) == (1, 1)
        assert table.unscored["consensus"] == {"tie": 1}
    else:
        assert row.estimate.value == pytest.approx(((3 - expected) + (2 - 2)) / 2)


def test_an_adjudicator_settles_disagreements() -> None:
    frame = long_table(
        {"a": [0, 0, 1, 2], "b": [0, 1, 2, 2], "final": [None, 1, None, None], "judge": [0, 1, 1, 2]}
    )
    frame = frame.filter(~((pl.col("rater") == "final") & pl.col("score").is_null()))
    table = compared(
        frame,
        scale=(0, 2),
        reference=["a", "b"],
        raters="judge",
        consensus="adjudicated",
        adjudicator="final",
    )
    row = table.find("exact_match", reference="consensus", rater="judge")
    assert (row.estimate.value, row.estimate.n, row.counts.n_unscored) == (1.0, 3, 1)


def test_a_rater_compared_with_a_consensus_that_contains_it_is_marked() -> None:
    frame = long_table(likert(3, 30, a=0.5, b=0.5, c=0.5))
    table = compared(frame, reference=["a", "b", "c"], raters=["a"], consensus="majority")
    assert "contains this rater" in table.find("kappa", reference="consensus", rater="a").estimate.method


def test_a_second_panel_brings_win_rates_and_severe_errors_with_counts_and_two_priors() -> None:
    scores = likert(4, 60, human=0.3, jury=0.5, panel=1.2)
    scores["panel"][30:] = [None] * 30
    table = compared(
        long_table(scores, dimension="safety"), raters="jury", panel="panel", severe="safety", resamples=300
    )
    assert table.find("win_rate_rmse", rater="jury").estimate.n == 30
    assert "ties" in table.find("win_rate_offset", rater="jury").estimate.method
    rate = table.find("severe_error_rate", rater="jury").estimate
    assert "scored 2 or less" in rate.method
    assert rate.low is not None
    for name in ("flat", "jeffreys", "paired_flat", "paired_jeffreys"):
        row = table.find(f"severe_error_lower_{name}", rater="jury").estimate
        assert 0 <= row.value <= 1
        assert " of " in row.method
    with pytest.raises(LookupError):
        table.find("severe_error_rate", rater="human")


def test_dimensions_can_be_chosen_or_pooled() -> None:
    one = long_table(likert(5, 20, human=0.5, judge=0.5), dimension="accuracy")
    two = long_table(likert(6, 20, human=0.5, judge=0.5), dimension="clarity")
    both = pl.concat([one, two])
    every = compared(both)
    assert {row.dimension for row in every.rows} == {"accuracy", "clarity"}
    chosen = compared(both, dimensions="clarity")
    assert {row.dimension for row in chosen.rows} == {"clarity"}
    pooled = compared(both, by="all", resamples=100)
    row = pooled.find("icc_3_k")
    assert (row.dimension, row.estimate.n) == ("all", 40)
    assert "20 clusters" in row.estimate.method


def test_by_system_gives_a_block_per_system_and_the_system_means() -> None:
    systems = [f"s{place % 3}" for place in range(60)]
    frame = long_table(likert(7, 60, human=0.5, judge=0.5), systems=systems)
    table = compared(frame, by="system", resamples=50)
    assert {row.system for row in table.rows} == {"", "s0", "s1", "s2"}
    assert table.find("spearman", system="s1").estimate.n == 20
    assert table.find("spearman", level="system").estimate.n == 3


def test_a_text_metric_is_on_no_scale() -> None:
    scores = likert(8, 40, human=0.5, rouge=0.5)
    scores["rouge"] = [value / 37 for value in scores["rouge"]]
    frame = long_table(scores).with_columns(
        pl.when(pl.col("rater") == "rouge")
        .then(pl.lit("metric"))
        .otherwise(pl.lit("clinician"))
        .alias("rater_kind")
    )
    table = compared(frame, resamples=50)
    assert {row.statistic for row in table.rows} == {"pearson", "spearman", "kendall_tau_b", "icc_3_k_z"}
    assert table.find("icc_3_k_z").estimate.n == 40
    assert table.warnings == ()


def test_a_binary_reference_has_sensitivity_f1_and_auc() -> None:
    truth = [0, 0, 1, 1, 1, 0, 1, 0] * 4
    said = [0, 1, 1, 1, 0, 0, 1, 0] * 4
    table = compared({"human": truth, "judge": said}, scale=(0, 1), resamples=500)
    names = {row.statistic for row in table.rows}
    assert names >= {"sensitivity", "specificity", "precision", "recall", "f1", "auc"}
    assert table.find("f1").estimate.value == pytest.approx(0.75)
    assert "Wilson" in table.find("f1").estimate.method
    assert "DeLong" in table.find("auc").estimate.method


def test_a_rate_of_zero_or_one_has_an_interval_with_a_width() -> None:
    table = compared(
        {"human": [1, 2, 3] * 5, "judge": [1, 2, 1, 1, 2, 2] * 2 + [1, 2, 1]}, scale=(1, 3), resamples=200
    )
    never = table.find("f1_class_3").estimate
    assert (never.value, never.low) == (0.0, 0.0)
    assert never.high > 0.5
    assert never.method == "95 % Clopper-Pearson exact"


def test_at_a_rate_of_zero_or_one_a_case_counts_once_however_many_systems_answered_it() -> None:
    truth = [float(case % 2) for case in range(10) for _ in range(20)]
    table = compared(
        long_table(
            {"human": truth, "judge": truth},
            items=[f"case {case}" for case in range(10) for _ in range(20)],
            systems=[f"system {system}" for _ in range(10) for system in range(20)],
        ),
        scale=(0, 1),
        resamples=200,
        statistics=["exact_match", "sensitivity", "f1"],
    )
    of_ten, of_five = 0.025 ** (1 / 10), 0.025 ** (1 / 5)
    for name, low, cases in (
        ("exact_match", of_ten, 10),
        ("sensitivity", of_five, 5),
        ("f1", 2 * of_five / (1 + of_five), 5),
    ):
        found = table.find(name).estimate
        assert (found.value, found.high, found.n) == (1.0, 1.0, 200)
        assert found.low == pytest.approx(low)
        assert found.method == f"95 % Clopper-Pearson exact, {cases} cases as one each"


def test_statistics_can_be_chosen_and_an_unknown_one_is_refused() -> None:
    frame = long_table(likert(9, 20, human=0.5, judge=0.5))
    table = compared(frame, statistics=["kappa", "rmse"], resamples=50)
    assert [row.statistic for row in table.rows] == ["rmse", "kappa"]
    with pytest.raises(MedjuryError, match="did you mean 'kappa'"):
        compared(frame, statistics=["kapa"])


def test_the_scale_comes_from_a_built_in_instrument_named_in_the_ratings() -> None:
    scores = {"human": [1, 2, 3, 4], "judge": [1, 2, 4, 4]}
    frame = long_table(scores, dimension="accurate").with_columns(instrument=pl.lit("pdsqi9"))
    table = agreement(frame, reference="human", resamples=0)
    assert table.find("gwet_ac1").estimate.defined
    assert "scale taken from instrument pdsqi9" in table.notes


def test_the_result_can_be_shown_as_text_html_and_frame() -> None:
    frame = long_table({"human": [1, 2, 3, 3], "<b>": [1, 2, 3, None]})
    table = compared(frame, resamples=50)
    assert isinstance(table, AgreementTable)
    text = table.text()
    assert "quality · reference human · level item" in text
    assert "unscored ratings of <b>: 1 missing" in text
    assert "(Landis-Koch convention)" in text
    assert "&lt;b&gt;" in table._repr_html_()
    assert "<b>" not in table._repr_html_()
    assert table.frame().columns[:10] == FIRST_NAMES
    assert table.frame()["value"].is_nan().any() is False


# Bad input


def test_a_constant_rater_is_undefined_where_spread_is_needed() -> None:
    table = compared({"human": [1, 2, 3, 4], "judge": [3, 3, 3, 3]}, resamples=100)
    for name in ("pearson", "spearman", "kendall_tau_b", "icc_3_k_z"):
        assert table.find(name).estimate.reason == "the second rater gave every item the same score"
    assert table.find("rmse").estimate.defined


@pytest.mark.parametrize("scores", [[[4], [4]], [[4], [2]]])
def test_one_item_is_undefined_or_has_no_interval(scores: list[list[int]]) -> None:
    table = compared({"human": scores[0], "judge": scores[1]}, resamples=100)
    assert table.find("spearman").estimate.reason == "only one item was scored by both raters"
    exact = table.find("offset").estimate
    assert exact.defined
    assert exact.low is None
    assert "one cluster" in exact.method or "no interval" in exact.method


def test_no_overlap_shows_ids_of_both_sides() -> None:
    left = long_table({"human": [1, 2, 3]}, items=["1", "2", "3"])
    right = long_table({"judge": [1, 2, 3]}, items=["01", "02", "03"])
    table = compared(pl.concat([left, right]), resamples=10)
    assert not any(row.estimate.defined for row in table.rows)
    assert all(row.estimate.reason == "no item was scored by both raters" for row in table.rows)
    assert any("'01'" in warning and "'1'" in warning for warning in table.warnings)


def test_all_missing_is_undefined_and_counted() -> None:
    table = compared({"human": [1, 2, 3], "judge": [None, None, None]}, resamples=10)
    assert not any(row.estimate.defined for row in table.rows)
    assert table.rows[0].counts.n_unscored == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "humann"}, "did you mean 'human'"),
        ({"reference": "human", "raters": "human"}, "cannot be compared with itself"),
        ({"reference": "human", "dimensions": "qualty"}, "did you mean 'quality'"),
        ({"reference": "human", "level": "system"}, "fewer than two systems"),
        ({"reference": "human", "jury": "mean"}, "a jury needs two or more"),
        ({"reference": "human", "margin": 0.1}, "needs two or more references"),
        ({"reference": "human", "consensus": "adjudicated"}, "go together"),
        ({"reference": "human", "severe": "safety"}, "severe errors are asked for 'safety'"),
        ({"reference": "human", "by": "vendor"}, "by cannot be 'vendor'"),
        ({"reference": "human", "scale": {"qualty": (1, 5)}}, "did you mean 'quality'"),
        ({"reference": "human", "resamples": -1}, "cannot be -1"),
        ({"reference": "human", "seed": -1}, "from 0 on"),
        ({"reference": "human", "severe": "quality", "by": "all"}, "on single dimensions"),
        ({"reference": "human", "confidence": 95}, "between 0.5 and 1"),
        ({"reference": "human", "panel": "pannel"}, "no rater 'pannel' to be the second panel"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], message: str) -> None:
    frame = long_table({"human": [1, 2, 3], "judge": [1, 2, 3]})
    with pytest.raises(MedjuryError, match=message):
        ready = {"scale": (1, 5)} | {name: options[name] for name in ("scale", "jury") if name in options}
        table = rating_table(frame, **ready)
        agreement(table, **{name: value for name, value in options.items() if name not in ready})


def test_clinicians_who_tie_have_no_consensus_also_where_a_third_has_nothing_to_rate() -> None:
    """Three clinicians by majority: agreed, tied with a third who finds it not applicable, tied with a third who
    was not asked, and not applicable to all."""
    votes = {
        "one": [1, 1, 1, None],
        "two": [1, 2, 2, None],
        "three": [2, None, None, None],
        "judge": [1, 2, 1, 2],
    }
    frame = long_table(votes).with_columns(
        status=pl.when(pl.col("score").is_null()).then(pl.lit("not_applicable"))
    )
    frame = frame.filter((pl.col("rater") != "three") | (pl.col("item") != "item 2"))
    table = rating_table(frame, scale=(1, 2))
    found = agreement(
        table, reference=["one", "two", "three"], raters=["judge"], consensus="majority", resamples=0
    )
    counts = found.find("rmse", reference="consensus", rater="judge").counts
    assert (counts.n, counts.n_unscored, counts.n_not_applicable) == (1, 2, 1)
    assert found.unscored["consensus"] == {"tie": 2}


def test_pooled_dimensions_with_different_scales_have_none_and_say_so() -> None:
    one = long_table({"human": [1, 2, 3], "judge": [1, 2, 3]}, dimension="a")
    two = long_table({"human": [0, 1, 1], "judge": [0, 1, 0]}, dimension="b")
    scales = {"a": (1, 5), "b": (0, 1)}
    table = compared(pl.concat([one, two]), scale=scales, by="all")
    assert table.find("gwet_ac1").estimate.reason == "needs the full scale, and none was given"
    assert any("no common scale" in note for note in table.notes)

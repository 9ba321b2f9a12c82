"""Triage of a rating table, and the routine diagnosis seen through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from tests.calibration.tables import planted_ratings

from medjury.analysis.calibration import calibrate, routine_disagreement, triage
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import GateRules
from medjury.tables import rating_table

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
    assert (found.asked.threshold, found.n_dangerous) == (2.0, int((labels <= 2).sum()))
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

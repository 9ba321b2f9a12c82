"""The joint error model: as a second implementation has it, right about planted effects and shared cases."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from tests.report.planted import planted_frame, write_run

from medjury.analysis.audits import error_model
from medjury.analysis.audits._mixed_models import fit_crossed_model
from medjury.analysis.audits._text_effects import case_features
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, Note
from medjury.report import write_page
from medjury.tables import rating_table

TERMS = ["all", "x", "second"]


def crossed(seed: int = 0, n: int = 240) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    physician, component = generator.integers(0, 5, n), generator.integers(0, 6, n)
    design = np.column_stack([np.ones(n), generator.normal(size=n), generator.integers(0, 2, n)])
    y = design @ [0.2, 0.3, -0.4] + generator.normal(0, 0.6, 5)[physician]
    return (
        y + generator.normal(0, 0.4, 6)[component] + generator.normal(0, 0.8, n),
        design,
        physician,
        component,
    )


def by_matrices(
    y: np.ndarray, x: np.ndarray, *groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """REML from the whole covariance matrix, by a general optimiser: slow, and nothing of ours in it."""
    blocks = [(group[:, None] == group[None, :]).astype(float) for group in groups]

    def parts(logs: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        *spread, noise = np.exp(logs)
        v = noise * np.eye(len(y)) + sum(size * block for size, block in zip(spread, blocks, strict=True))
        inverse = np.linalg.inv(v)
        information = x.T @ inverse @ x
        beta = np.linalg.solve(information, x.T @ inverse @ y)
        left = y - x @ beta
        total = np.linalg.slogdet(v)[1] + np.linalg.slogdet(information)[1] + left @ inverse @ left
        return float(total + (len(y) - x.shape[1]) * np.log(2 * np.pi)), beta, np.linalg.inv(information)

    best = minimize(lambda logs: parts(logs)[0], np.zeros(len(groups) + 1), method="Nelder-Mead",
                    options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000})  # fmt: skip
    deviance, beta, covariance = parts(best.x)
    return np.exp(best.x), beta, covariance, -deviance / 2


def test_variances_and_coefficients_equal_those_of_the_whole_matrix() -> None:
    y, x, physician, component = crossed()
    found = fit_crossed_model(
        y, x, TERMS, groups={"physician": physician, "component": component}, clusters=np.arange(len(y))
    )
    variances, beta, covariance, likelihood = by_matrices(y, x, physician, component)
    assert list(found.model.variances.values()) == pytest.approx(variances, rel=1e-3)
    assert found.model.coefficients == pytest.approx(beta, abs=1e-5)
    assert np.diag(found.model.covariance) == pytest.approx(np.diag(covariance), rel=1e-3)
    assert found.model.log_likelihood == pytest.approx(likelihood, abs=1e-5)


def test_statsmodels_finds_no_better_fit() -> None:
    mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    pandas = pytest.importorskip("pandas")
    y, x, physician, component = crossed(3)
    frame = pandas.DataFrame(
        {"y": y, "x": x[:, 1], "second": x[:, 2], "p": physician, "c": component, "one": 1}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = mixed.MixedLM.from_formula(
            "y ~ x + second", groups="one", vc_formula={"p": "0 + C(p)", "c": "0 + C(c)"}, data=frame
        ).fit(reml=True)
    found = fit_crossed_model(
        y, x, TERMS, groups={"physician": physician, "component": component}, clusters=np.arange(len(y))
    )
    assert found.model.log_likelihood >= other.llf - 1e-6
    assert found.model.coefficients[1:] == pytest.approx(other.fe_params.to_numpy()[1:], abs=0.02)
    assert found.model.standard_error("x") == pytest.approx(other.bse_fe["x"], rel=0.05)


def test_with_independent_rows_robust_and_model_errors_agree() -> None:
    y, x, physician, component = crossed(5, 2000)
    found = fit_crossed_model(
        y, x, TERMS, groups={"physician": physician, "component": component}, clusters=np.arange(len(y))
    )
    for term in TERMS:
        assert found.standard_error(term) == pytest.approx(found.model.standard_error(term), rel=0.08)


def test_answers_that_share_a_judges_score_are_not_taken_for_independent() -> None:
    """Eighty studies without any effect: the model's own interval misses zero far too often, the robust one not."""
    missed = {"model": 0, "robust": 0}
    for seed in range(80):
        generator = np.random.default_rng(seed)
        answer, component, physician = (each.ravel() for each in np.meshgrid(range(30), range(4), range(4)))
        shared = generator.normal(0, 0.6, (30, 4))[answer, component] + generator.normal(0, 0.3, 30)[answer]
        y = shared + generator.normal(0, 0.4, 4)[physician] + generator.normal(0, 0.4, len(answer))
        x = np.column_stack([np.ones(len(y)), generator.normal(size=30)[answer]])
        found = fit_crossed_model(
            y, x, ["all", "x"], groups={"physician": physician, "component": component}, clusters=answer
        )
        for name, estimate in (("model", found.model.estimate("x")), ("robust", found.estimate("x"))):
            missed[name] += not estimate.low <= 0 <= estimate.high
    assert missed["robust"] <= 9  # of 80 at 5 %, more than 9 have a chance of 1 %
    assert missed["model"] >= 16


def test_robust_errors_are_those_of_leaving_out_a_case_at_a_time() -> None:
    """Where no intercept varies the model is least squares, and the jackknife over cases is exact."""
    generator = np.random.default_rng(8)
    case = np.repeat(np.arange(12), 4)
    x = np.column_stack([np.ones(48), generator.normal(size=12)[case], generator.normal(size=48)])
    groups = {"physician": np.tile([0, 1, 0, 1], 12), "component": np.tile([0, 0, 1, 1], 12)}
    noise = generator.normal(size=48)
    for who in groups.values():
        noise -= np.array([noise[who == each].mean() for each in (0, 1)])[who]
    found = fit_crossed_model(x @ [1.0, 0.5, 0.2] + noise, x, ["all", "a", "b"], groups=groups, clusters=case)
    assert found.model.variances["physician"] == found.model.variances["component"] == 0.0
    y = x @ [1.0, 0.5, 0.2] + noise
    whole = np.linalg.lstsq(x, y, rcond=None)[0]
    without = np.array(
        [np.linalg.lstsq(x[case != each], y[case != each], rcond=None)[0] for each in range(12)]
    )
    wanted = 11 / 12 * (without - whole).T @ (without - whole)
    assert found.robust == pytest.approx(wanted, rel=1e-6)


def planted(**changes: object) -> pl.DataFrame:
    """One judge is a grade too kind to the surgeons' answers."""
    frame = planted_frame(
        cases=60, systems=("alpha", "beta"), judges={"judge-a": 0.5, "judge-b": 0.5}, **changes
    )
    number = pl.col("item").str.slice(5).cast(pl.Int64)
    specialty = pl.when(number % 3 == 0).then(pl.lit("surgery")).otherwise(pl.lit("medicine"))
    kind = pl.when((pl.col("rater") == "judge-a") & (number % 3 == 0)).then(1.0).otherwise(0.0)
    return frame.filter(pl.col("rater_kind") != "jury").with_columns(
        specialty.alias("specialty"),
        (100 + number * 7 % 53).cast(pl.Float64).alias("length"),
        (pl.col("score") + kind).alias("score"),
    )


def test_a_planted_kindness_to_one_specialty_is_found_and_nothing_else() -> None:
    found = error_model(rating_table(planted(), scale=(1, 6)))
    effects = {(each.rater, each.group): each for each in found.rows if each.statistic == "error_effect"}
    kind = effects["judge-a", "specialty: surgery against medicine"]
    assert kind.verdict == "kinder" and kind.estimate.low < 1.0 < kind.estimate.high
    assert effects["judge-b", "specialty: surgery against medicine"].verdict == "not shown"
    assert ("judge-a", "system: beta against alpha") in effects
    assert ("judge-a", "length of the answer, per doubling") in effects
    assert kind.estimate.n == 60 * 2 * 3 * 2  # answers of two systems, three dimensions, two clinicians


def test_where_lower_is_better_too_low_is_too_kind() -> None:
    from dataclasses import replace

    table = rating_table(planted(), scale=(1, 6))
    turned = replace(
        table, dimensions=tuple(replace(each, higher_is_better=False) for each in table.dimensions)
    )
    up, down = (
        next(each for each in error_model(one).rows if each.rater == "judge-a" and "surgery" in each.group)
        for one in (table, turned)
    )
    assert down.estimate.value == pytest.approx(-up.estimate.value) and down.verdict == "stricter"


def test_without_clinicians_or_anything_known_it_says_so() -> None:
    with pytest.raises(MedjuryError, match="nothing is known of the answers but their systems"):
        error_model(rating_table(planted().drop("specialty", "length"), scale=(1, 6)))
    with pytest.raises(MedjuryError, match="an error needs a yardstick"):
        error_model(rating_table(planted().filter(pl.col("rater_kind") == "judge"), scale=(1, 6)))


def test_words_of_notes_are_counted() -> None:
    case = Case("1", candidate="two words", notes=(Note("a", "three more words"), Note("b", "one")))
    features, _ = case_features([case], notes=True)
    assert features.select("length", "note_length").row(0) == (2.0, 4.0)


def test_command_and_report_say_the_same(tmp_path: Path) -> None:
    items = [f"case-{number:04d}" for number in range(40)]
    specialty = ["surgery" if number % 3 else "medicine" for number in range(40)]
    ratings = planted_frame(cases=40, systems=("alpha", "beta"))
    run = write_run(tmp_path / "run", ratings, parts=pl.DataFrame({"item": items, "specialty": specialty}))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main(["audit", str(run), "--audit", "errors", "--json"]) == 0
    said = [row for row in json.loads(out.getvalue()) if row["rater"] == "jury"]
    write_page(run)
    lines = pl.read_csv(run / "tables" / "errors.csv", infer_schema_length=None)
    assert lines["points"].to_list() == pytest.approx([row["value"] for row in said])
    assert lines["points low"].to_list() == [row["low"] for row in said]
    assert "What moves the error" in (run / "report.html").read_text()

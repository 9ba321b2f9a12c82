"""The mixed model equals lme4's with nested intercepts and a second implementation with crossed ones."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from medjury.foundation.errors import MedjuryError
from medjury.statistics import MixedModel, fit_mixed_model
from medjury.statistics._mixed_model import smallest_between

REFERENCE = json.loads(
    (Path(__file__).parent / "reference" / "mixed_model_same_vendor.json").read_text(encoding="utf-8")
)
CASE, MODEL, JUDGE, SAME, SCORE = (np.array(column) for column in zip(*REFERENCE["data"], strict=True))


def design(terms: list[str]) -> NDArray[np.float64]:
    """The columns of R's formula, term by term."""
    columns = []
    for term in terms:
        product = np.ones(len(SCORE))
        for part in [] if term == "(Intercept)" else term.split(":"):
            if part == "same_vendor":
                product = product * SAME.astype(float)
            elif part.startswith("judge"):
                product = product * (part.removeprefix("judge") == JUDGE)
            else:
                product = product * (part.removeprefix("model") == MODEL)
        columns.append(product)
    return np.column_stack(columns)


@pytest.mark.parametrize("name", REFERENCE["fits"])
def test_the_fit_equals_lme4(name: str) -> None:
    expected, tolerance = REFERENCE["fits"][name], REFERENCE["tolerance"]
    terms = [term for term, *_ in expected["fixed"]]
    responses = list(zip(CASE.tolist(), MODEL.tolist(), strict=True))
    intercepts = {"case": CASE.tolist(), "response": responses}
    if "response" not in expected["formula"]:
        del intercepts["response"]
    found = fit_mixed_model(SCORE.astype(float), design(terms), terms, intercepts, reml=expected["reml"])
    assert found.converged and found.warnings == ()
    assert found.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-5)
    for term, estimate, error, wald in expected["fixed"]:
        made = found.estimate(term)
        assert made.value == pytest.approx(estimate, abs=tolerance["coef"])
        assert found.standard_error(term) == pytest.approx(error, abs=tolerance["se"])
        assert (made.low, made.high) == pytest.approx(tuple(wald), abs=3 * tolerance["se"])
    assert found.variances == pytest.approx(expected["variance"], abs=tolerance["variance"])


def simulate(seed: int, *, between_cases: float, between_responses: float) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    case, system, judge = (axis.ravel() for axis in np.meshgrid(range(25), range(4), range(3), indexing="ij"))
    response = case * 4 + system
    same = (system == judge).astype(float)
    score = 3 + 0.3 * same + generator.normal(0, 0.5, len(case))
    score = score + generator.normal(0, 1, 25)[case] * between_cases
    score = score + generator.normal(0, 1, 100)[response] * between_responses
    columns = [np.ones(len(case)), same, *(judge == k for k in (1, 2)), *(system == k for k in (1, 2, 3))]
    return {"score": score, "design": np.column_stack(columns), "case": case, "response": response}


def fit(data: dict[str, Any], **changes: Any) -> MixedModel:
    given_data = {**data, **changes}
    terms = [f"term {place}" for place in range(given_data["design"].shape[1])]
    intercepts = {name: given_data[name] for name in ("case", "response")}
    return fit_mixed_model(given_data["score"], given_data["design"], terms, intercepts)


def test_it_agrees_with_statsmodels_where_that_converges() -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    data = simulate(3, between_cases=0.8, between_responses=0.5)
    # The columns of each case's own four responses, which is how statsmodels takes a nested intercept.
    own = {case: np.eye(4)[data["response"][data["case"] == case] % 4] for case in range(25)}
    names = [[f"r{k}" for k in range(4)] for _ in range(25)]
    spec = VCSpec(["response"], [names], [[own[case] for case in range(25)]])
    oracle = MixedLM(
        data["score"], data["design"], groups=data["case"], exog_re=np.ones(len(data["score"])), exog_vc=spec
    ).fit()
    found = fit(data)
    assert oracle.converged
    assert found.coefficients == pytest.approx(oracle.fe_params, abs=1e-4)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(oracle.bse_fe, abs=1e-4)
    assert found.p_value("term 1") == pytest.approx(oracle.pvalues[1], abs=1e-4)
    assert found.variances["response"] == pytest.approx(oracle.vcomp[0], abs=1e-3)


@pytest.mark.parametrize(("cases", "responses"), [(0.0, 0.0), (0.0, 0.5), (0.7, 0.0)])
def test_a_variance_of_zero_is_an_answer_with_a_warning(cases: float, responses: float) -> None:
    """With a true variance of zero, about half of all samples estimate exactly zero: none may fail."""
    at_zero = 0
    for seed in range(8):
        found = fit(simulate(seed, between_cases=cases, between_responses=responses))
        assert found.converged
        zero = [name for name, value in found.variances.items() if value == 0.0]
        assert len(found.warnings) == len(zero) and all("boundary" in text for text in found.warnings)
        at_zero += bool(zero)
    assert at_zero >= 2


def test_without_any_random_variance_it_is_least_squares() -> None:
    data = next(
        each
        for seed in range(20)
        if not any(
            fit(each := simulate(seed, between_cases=0.0, between_responses=0.0)).variances[name]
            for name in ("case", "response")
        )
    )
    least_squares = np.linalg.lstsq(data["design"], data["score"], rcond=None)[0]
    assert fit(data).coefficients == pytest.approx(least_squares, abs=1e-9)


@pytest.mark.simulation
def test_intervals_cover_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(200):
        low_high = fit(simulate(seed, between_cases=0.5, between_responses=0.3)).estimate("term 1")
        assert low_high.low is not None and low_high.high is not None
        covered += low_high.low <= 0.3 <= low_high.high
    assert 0.91 <= covered / 200 <= 0.985


@settings(max_examples=15, deadline=None)
@given(shift=st.floats(-50, 50), scale=st.floats(0.1, 10), order=st.randoms(use_true_random=False))
def test_shift_scale_and_order_do_what_they_must(shift: float, scale: float, order: Any) -> None:
    data = simulate(1, between_cases=0.6, between_responses=0.4)
    rows = list(range(len(data["score"])))
    order.shuffle(rows)
    moved = {name: values[rows] for name, values in data.items()}
    plain, changed = fit(data), fit(moved, score=moved["score"] * scale + shift)
    assert changed.coefficients[1:] == pytest.approx(plain.coefficients[1:] * scale, abs=2e-4 * scale)
    assert changed.coefficients[0] == pytest.approx(plain.coefficients[0] * scale + shift, abs=2e-3 * scale)
    assert changed.variances["residual"] == pytest.approx(plain.variances["residual"] * scale**2, rel=1e-3)


def test_terms_that_cannot_be_told_apart_are_refused() -> None:
    data = simulate(0, between_cases=0.5, between_responses=0.5)
    twice = np.column_stack([data["design"], data["design"][:, 1]])
    with pytest.raises(MedjuryError, match="term 1, term 7 cannot be told apart"):
        fit(data, design=twice)


def test_a_response_belongs_to_one_case() -> None:
    data = simulate(0, between_cases=0.5, between_responses=0.5)
    with pytest.raises(MedjuryError, match="two cases"):
        fit(data, response=data["response"] % 7)
    scores = np.random.default_rng(0).normal(size=12)
    with pytest.raises(MedjuryError, match="two cases"):
        intercepts = {"case": list("aaaaaabbbbbb"), "response": ["r"] * 12}
        fit_mixed_model(scores, np.ones((12, 1)), ["intercept"], intercepts)


def test_too_few_scores_are_refused() -> None:
    with pytest.raises(MedjuryError, match="too few"):
        fit_mixed_model([1.0, 2.0, 3.0], np.ones((3, 1)), ["intercept"], {"case": [1, 2, 3]})


def test_a_fit_that_cannot_converge_is_reported_and_gives_no_estimate() -> None:
    """Scores that the case alone decides leave no residual: the ratio of variances has no end."""
    case = np.repeat(np.arange(20), 3)
    found = fit_mixed_model(case % 5 + 1.0, np.ones((60, 1)), ["intercept"], {"case": case})
    assert not found.converged and found.p_value("intercept") is None
    assert found.estimate("intercept").reason == "the mixed model did not converge"
    assert any("did not converge" in text for text in found.warnings)


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
    y, x, physician, component = crossed(n=120)
    found = fit_mixed_model(
        y, x, TERMS, {"physician": physician, "component": component}, clusters=np.arange(len(y))
    )
    variances, beta, covariance, likelihood = by_matrices(y, x, physician, component)
    assert list(found.variances.values()) == pytest.approx(variances, rel=1e-3)
    assert found.coefficients == pytest.approx(beta, abs=1e-5)
    assert np.diag(found.covariance) == pytest.approx(np.diag(covariance), rel=1e-3)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-5)


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
    found = fit_mixed_model(
        y, x, TERMS, {"physician": physician, "component": component}, clusters=np.arange(len(y))
    )
    assert found.log_likelihood >= other.llf - 1e-6
    assert found.coefficients[1:] == pytest.approx(other.fe_params.to_numpy()[1:], abs=0.02)
    assert np.sqrt(found.covariance[1, 1]) == pytest.approx(other.bse_fe["x"], rel=0.05)


def test_with_independent_rows_robust_and_model_errors_agree() -> None:
    y, x, physician, component = crossed(5, 2000)
    found = fit_mixed_model(
        y, x, TERMS, {"physician": physician, "component": component}, clusters=np.arange(len(y))
    )
    for term in TERMS:
        place = TERMS.index(term)
        assert found.standard_error(term) == pytest.approx(np.sqrt(found.covariance[place, place]), rel=0.08)


def test_answers_that_share_a_judges_score_are_not_taken_for_independent() -> None:
    """Eighty studies without any effect: the model's own interval misses zero far too often, the robust one not."""
    missed = {"model": 0, "robust": 0}
    for seed in range(80):
        generator = np.random.default_rng(seed)
        answer, component, physician = (each.ravel() for each in np.meshgrid(range(30), range(4), range(4)))
        shared = generator.normal(0, 0.6, (30, 4))[answer, component] + generator.normal(0, 0.3, 30)[answer]
        y = shared + generator.normal(0, 0.4, 4)[physician] + generator.normal(0, 0.4, len(answer))
        x = np.column_stack([np.ones(len(y)), generator.normal(size=30)[answer]])
        found = fit_mixed_model(
            y, x, ["all", "x"], {"physician": physician, "component": component}, clusters=answer
        )
        for name, model in (("model", replace(found, robust=None)), ("robust", found)):
            estimate = model.estimate("x")
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
    found = fit_mixed_model(x @ [1.0, 0.5, 0.2] + noise, x, ["all", "a", "b"], groups, clusters=case)
    assert found.variances["physician"] == found.variances["component"] == 0.0
    y = x @ [1.0, 0.5, 0.2] + noise
    whole = np.linalg.lstsq(x, y, rcond=None)[0]
    without = np.array(
        [np.linalg.lstsq(x[case != each], y[case != each], rcond=None)[0] for each in range(12)]
    )
    wanted = 11 / 12 * (without - whole).T @ (without - whole)
    assert found.robust == pytest.approx(wanted, rel=1e-6)


# The line search of the mixed model finds what a general optimiser finds.


SHAPES: dict[str, Callable[[float, float], float]] = {
    "a bowl": lambda x, p: (x - p) ** 2,
    "a corner": lambda x, p: abs(x - p),
    "a slope up": lambda x, p: (1 + p) * x,
    "a slope down": lambda x, p: -(1 + p) * x,
    "a wall at one end": lambda x, p: -p * math.log(x + 1e-9) + x,
    "a plain": lambda x, p: p,
}


@pytest.mark.parametrize("shape", SHAPES)
@given(place=st.floats(0.0, 1.0))
def test_it_ends_where_the_general_one_ends(shape: str, place: float) -> None:
    def function(x: float) -> float:
        return SHAPES[shape](x, place)

    expected = minimize_scalar(function, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-8})
    found, value = smallest_between(function, 0.0, 1.0, tolerance=1e-8)
    assert value == function(found)
    assert value == pytest.approx(float(expected.fun), abs=1e-7)


def test_it_asks_for_no_more_than_it_needs() -> None:
    asked = []

    def bowl(x: float) -> float:
        asked.append(x)
        return (x - 0.25) ** 2

    assert smallest_between(bowl, 0.0, 1.0, tolerance=1e-8)[0] == pytest.approx(0.25, abs=1e-8)
    assert len(asked) < 15 and all(0.0 < x < 1.0 for x in asked), "the ends are not asked for"

"""The mixed model equals lme4's, and says so where it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from medjury.analysis.audits._mixed_models import MixedModel, fit_mixed_model
from medjury.foundation.errors import MedjuryError

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
    found = fit_mixed_model(
        SCORE.astype(float),
        design(terms),
        terms,
        case=CASE.tolist(),
        response=responses if "response" in expected["formula"] else None,
        reml=expected["reml"],
    )
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
    return fit_mixed_model(terms=terms, **given_data)


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
        fit_mixed_model(
            scores, np.ones((12, 1)), ["intercept"], case=list("aaaaaabbbbbb"), response=["r"] * 12
        )


def test_too_few_scores_are_refused() -> None:
    with pytest.raises(MedjuryError, match="too few"):
        fit_mixed_model([1.0, 2.0, 3.0], np.ones((3, 1)), ["intercept"], case=[1, 2, 3])


def test_a_fit_that_cannot_converge_is_reported_and_gives_no_estimate() -> None:
    """Scores that the case alone decides leave no residual: the ratio of variances has no end."""
    case = np.repeat(np.arange(20), 3)
    found = fit_mixed_model(case % 5 + 1.0, np.ones((60, 1)), ["intercept"], case=case)
    assert not found.converged and found.p_value("intercept") is None
    assert found.estimate("intercept").reason == "the mixed model did not converge"
    assert any("did not converge" in text for text in found.warnings)

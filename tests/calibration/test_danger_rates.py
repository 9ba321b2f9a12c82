"""The share of dangerous answers by the jury's verdicts: another package's numbers, simulation, and refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

from medjury.analysis.calibration._danger_rates import danger_rates, plan_labels
from medjury.analysis.calibration._prediction_powered import estimate_mean, estimate_mixture

OTHER: dict[str, Any] = json.loads((Path(__file__).parent / "reference" / "truescore.json").read_text())
NAMES = ("by_verdict", "rogan_gladen", "plug_in")


def counted(stratum: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels and verdicts with the counts of the reference file."""
    given = OTHER["strata"][stratum]
    labels = [label for label, _, count in given["labelled"] for _ in range(count)]
    verdicts = [verdict for _, verdict, count in given["labelled"] for _ in range(count)]
    safe, dangerous = given["unlabelled"]
    none = [np.nan] * (safe + dangerous)
    return np.array([*labels, *none], dtype=float), np.array(
        [*verdicts, *[1] * dangerous, *[0] * safe], dtype=float
    )


def drawn(
    seed: int, n: int, m: int, share: float, right: tuple[float, float], per_case: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole cases are labelled at random; answers of one case are alike."""
    generator = np.random.default_rng(seed)
    count = (n + m) // per_case
    alike = 0.4 if per_case > 1 else 0.0
    depth = np.repeat(generator.normal(size=count), per_case) * alike**0.5
    depth = depth + generator.normal(size=n + m) * (1 - alike) ** 0.5
    truth = (depth < norm.ppf(share)).astype(float)
    hit, calm = (generator.random(n + m) < each for each in right)
    verdicts = np.where(truth == 1, hit, ~calm).astype(float)
    cases = np.repeat(np.arange(count), per_case)
    labelled = np.isin(cases, generator.permutation(count)[: n // per_case])
    return np.where(labelled, truth, np.nan), verdicts, cases


@pytest.mark.parametrize("stratum", ["a", "b"])
def test_the_numbers_are_those_of_another_package(stratum: str) -> None:
    labels, verdicts = counted(stratum)
    found = danger_rates(labels, verdicts, cases=range(len(labels)))
    theirs = OTHER["rogan_gladen"][stratum]
    assert found.rogan_gladen.value == pytest.approx(theirs["value"])
    # Theirs takes the three shares as independent; they are not, for the labelled answers count in all of them.
    rarer = min(np.nansum(labels), np.nansum(1 - labels))
    assert (found.rogan_gladen.low is None) == (rarer < 30)
    if found.rogan_gladen.low is not None:
        assert found.rogan_gladen.low == pytest.approx(theirs["low"], abs=0.016)
        assert found.rogan_gladen.high == pytest.approx(theirs["high"], abs=0.016)
    powered = estimate_mean(labels, verdicts, cases=range(len(labels)), labels_random=True).power_tuned
    # Theirs takes the normal quantile, ours Student's, on as many degrees of freedom as the method tells.
    told = re.search(r"Student t with ([\d.]+) df", powered.method)
    assert told is not None and powered.value == pytest.approx(OTHER["ppi"][stratum]["value"], abs=0.005)
    for end in ("low", "high"):
        plain = (getattr(powered, end) - powered.value) * norm.ppf(0.975) / t.ppf(0.975, float(told[1]))
        assert powered.value + plain == pytest.approx(OTHER["ppi"][stratum][end], abs=0.005)
        assert getattr(found.by_verdict, end) == pytest.approx(OTHER["ppi"][stratum][end], abs=0.008)


def test_a_stated_case_mix_gives_the_numbers_of_another_package() -> None:
    parts = {name: counted(name) for name in ("a", "b")}
    labels, verdicts = (np.concatenate([part[place] for part in parts.values()]) for place in (0, 1))
    strata = [name for name, part in parts.items() for _ in part[0]]
    found = estimate_mixture(
        labels, verdicts, strata=strata, shares=OTHER["shares"], cases=range(len(labels)), labels_random=True
    )
    for end in ("value", "low", "high"):
        assert getattr(found.power_tuned, end) == pytest.approx(OTHER["post_stratified"][end], abs=0.005)
    expected = sum(OTHER["shares"][name] * np.nanmean(part[0]) for name, part in parts.items())
    assert found.classical.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n", "m", "share", "right", "per_case"),
    [
        (60, 300, 0.1, (0.8, 0.9), 1),
        pytest.param(100, 600, 0.2, (0.8, 0.9), 1, marks=pytest.mark.simulation),
        pytest.param(120, 600, 0.3, (0.8, 0.85), 4, marks=pytest.mark.simulation),
    ],
)
def test_intervals_cover(n: int, m: int, share: float, right: tuple[float, float], per_case: int) -> None:
    covered: dict[str, list[bool]] = {name: [] for name in NAMES}
    for seed in range(250):
        labels, verdicts, cases = drawn(seed, n, m, share, right, per_case)
        found = danger_rates(labels, verdicts, cases=cases)
        for name in NAMES:
            estimate = getattr(found, name)
            if estimate.low is not None:
                covered[name].append(estimate.low <= share <= estimate.high)
    for each in covered.values():
        assert len(each) < 25 or 0.92 <= np.mean(each) <= 0.99


def test_with_few_labels_of_a_kind_the_share_has_a_value_and_no_interval() -> None:
    """With five to ten labels of the rarer kind the intervals held in 99 to 100 % of simulated studies."""
    labels = np.concatenate([np.repeat([1.0, 0.0], [12, 60]), np.full(400, np.nan)])
    verdicts = np.concatenate(
        [np.repeat([1.0, 0.0, 1.0, 0.0], [10, 2, 6, 54]), np.arange(400) % 4 == 0]
    ).astype(float)
    found = danger_rates(labels, verdicts, cases=range(len(labels)))
    assert found.rogan_gladen.value is not None and found.rogan_gladen.low is None
    assert found.rogan_gladen.method == (
        "no interval: 12 labels are of the rarer kind, dangerous or safe; 30 are needed"
    )
    assert found.plug_in.low is not None and found.by_verdict.low is not None
    labels[:3] = np.nan
    few = danger_rates(labels, verdicts, cases=range(len(labels))).plug_in
    assert few.value is not None and few.low is None and "9 labels are of the rarer kind" in few.method


@pytest.mark.simulation
def test_labels_given_out_by_the_verdict_make_the_estimate_by_verdict_narrower_and_leave_it_right() -> None:
    """The plan puts labels where the jury is unsure; only the estimate by verdict holds for labels drawn so."""
    widths: dict[str, list[float]] = {"planned": [], "random": []}
    covered = []
    for seed in range(200):
        truth, verdicts, _ = drawn(seed, 1000, 0, 0.1, (0.8, 0.97))
        generator = np.random.default_rng([seed, 1])
        order = generator.permutation(1000)
        pilot = np.full(1000, np.nan)
        pilot[order[:60]] = truth[order[:60]]
        plan = plan_labels(pilot, verdicts, 150)
        assert plan is not None
        safe, dangerous, half_width, half_width_random = plan
        assert safe + dangerous == 150 and half_width <= half_width_random
        for kind, counts in (("planned", (safe, dangerous)), ("random", (150, 0))):
            labels = np.full(1000, np.nan)
            if kind == "random":
                labels[order[:150]] = truth[order[:150]]
            else:
                for verdict, count in zip((0.0, 1.0), counts, strict=True):
                    chosen = order[verdicts[order] == verdict][:count]
                    labels[chosen] = truth[chosen]
            estimate = danger_rates(labels, verdicts, cases=range(1000)).by_verdict
            if estimate.value is None:
                continue
            widths[kind].append(estimate.high - estimate.low)
            if kind == "planned":
                covered.append(estimate.low <= 0.1 <= estimate.high)
    assert np.mean(widths["planned"]) < np.mean(widths["random"])
    assert 0.92 <= np.mean(covered) <= 0.99


def test_an_answer_without_a_score_is_not_cleared() -> None:
    labels, verdicts = counted("a")
    verdicts[:10] = np.nan
    found = danger_rates(labels, verdicts, cases=range(len(labels)))
    assert found.sensitivity == pytest.approx(24 / 30) and found.labels_by_verdict == (67, 33)
    assert "cluster-robust" in found.by_verdict.method


def test_what_cannot_be_corrected_is_undefined_with_the_reason() -> None:
    labels, verdicts = counted("a")
    turned = danger_rates(labels, 1 - verdicts, cases=range(len(labels)))
    for name in ("rogan_gladen", "plug_in"):
        assert "cannot be corrected" in getattr(turned, name).reason
    none = danger_rates(np.where(labels == 1, np.nan, labels), verdicts, cases=range(len(labels)))
    assert "0 labels are dangerous and 70 are not" in none.rogan_gladen.reason
    assert none.sensitivity is None and none.plug_in.value is None
    few = danger_rates(np.where(verdicts == 1, np.nan, labels), verdicts, cases=range(len(labels)))
    assert "0 labels among the answers of one verdict" in few.by_verdict.reason
    assert plan_labels(labels, np.zeros(len(labels)), 50) is None


def test_labels_that_all_agree_are_no_certainty() -> None:
    labels = np.concatenate([np.zeros(40), np.full(400, np.nan)])
    verdicts = np.concatenate([np.zeros(30), np.ones(10), np.zeros(300), np.ones(100)])
    found = danger_rates(labels, verdicts, cases=range(440)).by_verdict
    assert found.value == 0 and found.high is not None and 0.02 < found.high < 0.2

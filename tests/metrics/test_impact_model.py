"""The model behind the estimate: an ordinal regression, its file, and how it stands to clinicians' labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence

import numpy as np
import pytest
from tests.metrics.some_texts import PRIMOCK

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics._differences import FEATURES
from medjury.texts.metrics._impact import (
    MODEL_FEATURES,
    check_impact,
    fit_impact_model,
    impact_features,
    read_impact_model,
    shipped_model,
)


def test_the_model_is_written_and_read_back() -> None:
    model = shipped_model()
    again = read_impact_model(model.to_json())
    assert again == model
    assert model.provenance["rows"] == 104 and len(model.provenance["sha256"]) == 64
    assert (*FEATURES, "chrf_lost") == MODEL_FEATURES


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "medjury impact model 9"}, "its format is 'medjury impact model 9'"),
        ({"coefficients": {"loaded_lost": 1.0}}, "its features are not those of this version"),
        ({"cuts": [1.0]}, "this is not an impact model"),
    ],
)
def test_another_file_is_refused(change: dict[str, object], complaint: str) -> None:
    data = json.loads(shipped_model().to_json()) | change
    with pytest.raises(MedjuryError, match=complaint):
        read_impact_model(json.dumps(data), "mine.json")
    with pytest.raises(MedjuryError, match=r"mine\.json: this is not an impact model"):
        read_impact_model("not JSON", "mine.json")


def test_a_level_is_given_from_its_threshold_on() -> None:
    levels = shipped_model().levels(np.array([[0.9, 0.1, 0.0], [0.6, 0.35, 0.05], [0.7, 0.1, 0.2]]))
    assert levels.tolist() == [0, 1, 2]


def test_all_levels_are_needed_to_learn() -> None:
    with pytest.raises(MedjuryError, match="all three levels"):
        fit_impact_model(np.zeros((4, len(MODEL_FEATURES))), [0, 0, 2, 2])


@pytest.fixture(scope="module")
def labelled() -> dict[str, list[str]]:
    if not PRIMOCK.exists():
        pytest.skip(f"{PRIMOCK.name} is not on this machine")
    with PRIMOCK.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def columns(labelled: dict[str, list[str]]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    return labelled["patient_ground_truth"], labelled["patient_hypothesis"], labelled["doctor"]


def test_on_real_calls_it_sees_what_clinicians_see(labelled: dict[str, list[str]]) -> None:
    """Cross-validated by call. Every lexical metric has a tau below 0.25 here."""
    labels = [int(label) for label in labelled["final_outcome"]]
    check = check_impact(*columns(labelled), labels, labelled["call_id"], resamples=200)
    values = {name: estimate.value or 0.0 for name, estimate in check.estimates.items()}
    assert values["kendall_tau_b"] >= 0.55
    assert values["kappa_quadratic"] >= 0.65
    assert values["recall_2"] >= 0.85
    assert values["precision_2"] >= 0.55
    assert check.calls == 12 and check.confusion.sum() == len(labels)
    assert (sum(label == 2 for label in labels), int(check.confusion[:, 2].sum())) == (22, 27)
    for name, estimate in check.estimates.items():
        if name in ("recall_2", "precision_2"):  # of 22 pairs, and of 27
            assert estimate.low is None and "at least 50 are needed" in estimate.method
        else:
            assert estimate.low is not None and estimate.value is not None and estimate.low <= estimate.value


def test_the_shipped_coefficients_are_those_of_the_labelled_calls(labelled: dict[str, list[str]]) -> None:
    labels = [int(label) for label in labelled["final_outcome"]]
    model = fit_impact_model(impact_features(*columns(labelled)), labels)
    assert model.coefficients == pytest.approx(shipped_model().coefficients, abs=1e-5)


def test_a_check_needs_calls_and_labels_that_fit() -> None:
    texts = ["a", "b", "c"]
    with pytest.raises(MedjuryError, match="at least two calls"):
        check_impact(texts, texts, None, [0, 1, 2], ["x"] * 3)
    with pytest.raises(MedjuryError, match="do not match"):
        check_impact(texts, texts, None, [0, 1], ["x", "y", "z"])
    with pytest.raises(MedjuryError, match="0, 1 and 2"):
        check_impact(texts, texts, None, [0, 1, 5], ["x", "y", "z"])

"""The bridge to DSPy, where that is installed; elsewhere it says what to install."""

from __future__ import annotations

import importlib.util

import pytest
from tests.tuning.test_objective import IMPACT, labelled, objective

from medjury.foundation.errors import MedjuryError
from medjury.tuning import dspy_metric, dspy_signature

HERE = importlib.util.find_spec("dspy") is not None


@pytest.mark.skipif(HERE, reason="dspy is installed")
def test_without_dspy_the_bridge_says_what_to_install() -> None:
    with pytest.raises(MedjuryError, match="pip install dspy"):
        dspy_signature(IMPACT)


@pytest.mark.skipif(not HERE, reason="dspy is not installed")
def test_an_instrument_is_a_signature_and_the_objective_a_metric() -> None:
    import dspy

    signature = dspy_signature(IMPACT)
    assert set(signature.input_fields) == {"context", "reference", "candidate"}
    assert "impact" in signature.output_fields and signature.instructions == IMPACT.instructions
    gold = dspy.Example(labelled=labelled(2))
    found = dspy_metric(objective(None))(gold, dspy.Prediction(impact=0))
    assert found.score == -1.2 and "The clinicians say 2" in found.feedback

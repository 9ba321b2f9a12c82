"""The bridge to DSPy, where that is installed; elsewhere it says what to install."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

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


def test_the_few_names_that_are_used_of_dspy_get_the_grades_and_the_objective(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: dict[str, Any] = {}

    def make_signature(fields: dict[str, Any], instructions: str) -> str:
        made.update(fields=fields, instructions=instructions)
        return "signature"

    module = ModuleType("dspy")
    vars(module).update(
        Prediction=SimpleNamespace,
        make_signature=make_signature,
        InputField=lambda desc: ("in", desc),
        OutputField=lambda desc: ("out", desc),
    )
    monkeypatch.setitem(sys.modules, "dspy", module)
    assert dspy_signature(IMPACT) == "signature" and made["instructions"] == IMPACT.instructions
    assert list(made["fields"]) == [*(each.name for each in IMPACT.inputs), "reasoning", "impact"]
    first, scale = IMPACT.inputs[0], IMPACT.dimension("impact")
    assert made["fields"][first.name] == (str, ("in", first.description or first.label))
    assert made["fields"]["reasoning"] == (str, ("out", "the reasons, before the grades"))
    grades = "; ".join(f"{grade} = {scale.grades[grade]}" for grade in sorted(scale.grades))
    assert made["fields"]["impact"] == (int, ("out", f"{scale.definition} {grades}"))
    metric = dspy_metric(objective(None))
    gold = SimpleNamespace(labelled=labelled(2))
    right = metric(gold, SimpleNamespace(impact=0))
    assert (right.score, right.failed) == (-1.2, False) and "The clinicians say 2" in right.feedback
    for said in (SimpleNamespace(impact=9), SimpleNamespace()):
        failed = metric(gold, said)
        assert failed.failed is True and failed.score <= -1.2

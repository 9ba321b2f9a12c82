"""A bridge to DSPy, for who works there: any instrument as a signature, and our objective as a metric.

DSPy asks its models by itself, past our gate, our budget and our log; what is tuned there is held to no split of
ours. It is a way to bring an instrument over and to take a text back, no more."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Outcome, Unscored, read_grade
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._objective import Objective, feedback


def dspy_signature(instrument: Instrument) -> Any:
    """A `dspy.Signature` with the instrument's inputs, one field of reasons, and one grade per dimension."""
    dspy = _dspy()
    fields: dict[str, Any] = {
        each.name: (str, dspy.InputField(desc=each.description or each.label)) for each in instrument.inputs
    }
    fields["reasoning"] = (str, dspy.OutputField(desc="the reasons, before the grades"))
    for each in instrument.dimensions:
        scale = "; ".join(f"{grade} = {words}" for grade, words in sorted(each.grades.items()))
        fields[each.name] = (int, dspy.OutputField(desc=f"{each.definition} {scale}"))
    return dspy.make_signature(fields, instrument.instructions)


def dspy_metric(objective: Objective) -> Callable[..., Any]:
    """A metric of DSPy's GEPA: the objective's reward with the feedback. Each example carries its `Labelled` under
    the name `labelled`; a grade that is not on the scale is a failure."""
    dspy = _dspy()

    def metric(gold: Any, pred: Any, trace: Any = None, name: Any = None, traced: Any = None) -> Any:
        case: Labelled = gold.labelled
        said: dict[str, Outcome] = {
            each.name: read_grade(each, getattr(pred, each.name, None)) for each in objective.dimensions
        }
        failed = [one for one in said.values() if isinstance(one, Unscored)]
        words = feedback(case, said, objective)
        score = objective.reward(case, said)
        return dspy.Prediction(score=score, feedback=words, failed=bool(failed))

    return metric


def _dspy() -> Any:
    try:
        return importlib.import_module("dspy")
    except ModuleNotFoundError:
        raise MedjuryError(
            "the bridge to DSPy needs dspy itself; install it with: pip install dspy"
        ) from None

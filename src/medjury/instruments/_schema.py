"""The JSON schema of an answer, generated from the instrument, in the dialect of strict structured output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from medjury.instruments._instrument import Dimension, Instrument

# Whether a judge gives its reasons: before the grade, after it, or not at all.
Explain = bool | Literal["after"]


def output_schema(
    instrument: Instrument,
    dimensions: Iterable[str] | None = None,
    explain: Explain = True,
) -> dict[str, Any]:
    """The schema of an answer on these dimensions (all, where none is named), in the instrument's order.

    With `explain` each dimension is `{explanation, score}`, the explanation first so that the model reasons
    before it grades; "after" puts the grade first; without, it is the bare grade.
    """
    wanted = None if dimensions is None else {instrument.dimension(name).name for name in dimensions}
    asked = [each for each in instrument.dimensions if wanted is None or each.name in wanted]
    return closed_object({each.name: _dimension(each, explain) for each in asked})


def _dimension(dimension: Dimension, explain: Explain) -> dict[str, Any]:
    grade: dict[str, Any] = {"type": "integer", "enum": list(dimension.values)}
    if dimension.may_be_not_applicable or dimension.skip:
        grade = {"type": ["integer", "null"], "enum": [*dimension.values, None]}
    if not explain:
        return grade
    explanation = {"type": "string"}
    if explain == "after":
        return closed_object({"score": grade, "explanation": explanation})
    return closed_object({"explanation": explanation, "score": grade})


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties, all of them, and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }

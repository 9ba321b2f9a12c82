"""The schema of an answer: what strict structured output accepts, and nothing the instrument would refuse."""

from __future__ import annotations

from typing import Any

import pytest

from medjury.instruments import list_instruments, load_instrument, output_schema


def objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [each for part in schema.get("properties", {}).values() for each in objects(part)]
    return ([schema] if schema["type"] == "object" else []) + inner


@pytest.mark.parametrize("name", list_instruments())
@pytest.mark.parametrize("explain", [True, False])
def test_every_object_is_closed_and_every_property_required(name: str, explain: bool) -> None:
    instrument = load_instrument(name)
    schema = output_schema(instrument, explain=explain)
    for each in objects(schema):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    assert list(schema["properties"]) == [each.name for each in instrument.dimensions]


def test_the_explanation_comes_before_the_grade() -> None:
    part = output_schema(load_instrument("concordance"))["properties"]["concordant"]
    assert list(part["properties"]) == ["explanation", "score"]
    assert part["properties"]["score"] == {"type": "integer", "enum": [0, 1]}
    assert part["properties"]["explanation"] == {"type": "string"}


def test_only_a_dimension_that_may_be_not_applicable_is_nullable() -> None:
    parts = output_schema(load_instrument("pdsqi9"), explain=False)["properties"]
    assert parts["synthesized"] == {"type": ["integer", "null"], "enum": [1, 2, 3, 4, 5, None]}
    assert parts["accurate"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}


def test_some_dimensions_are_asked_in_the_order_of_the_instrument() -> None:
    instrument = load_instrument("diagnosis")
    assert list(output_schema(instrument, ["risk", "diagnosis"])["properties"]) == ["diagnosis", "risk"]
    with pytest.raises(KeyError, match="no dimension 'safety'"):
        output_schema(instrument, ["safety"])

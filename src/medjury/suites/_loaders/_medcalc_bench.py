"""MedCalc-Bench: values to compute from a patient's note (CSV or Parquet), or the authors' worked examples (JSON).

Inputs: `note` and `question`. Gold: the value as the source writes it. Facts: `calculator` (its number),
`category`, `output_type` (`decimal`, `integer` or `date`), `lower_limit` and `upper_limit` (numbers, both None
for dates and for lengths of time such as `('34 weeks', '3 days')`, which must be met exactly).

The worked examples have neither question nor limits. `options: {calculators: …}` of the benchmark's file names
each calculator, and says whether it is an equation (within 5 %, as the source has it), a rule (exact) or a date.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import one_file
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError

_COLUMNS = (
    "Row Number", "Calculator ID", "Category", "Output Type", "Patient Note", "Question", "Ground Truth Answer",
    "Lower Limit", "Upper Limit",
)  # fmt: skip
_TYPES = ("decimal", "integer", "date")
_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}|\('\d+ weeks?', '\d+ days?'\)")
_TOLERANCE = 0.05


def load_medcalc_bench(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = one_file(path, "*.csv", "*.parquet", "*.json")
    examples = file.suffix.lower() == ".json"
    columns = ("@key", "Patient Note", "Response") if examples else _COLUMNS
    for row in gathering.rows(file, columns, within="{}" if examples else None):
        with gathering.row(row):
            item = _example(row, benchmark.options.get("calculators", {})) if examples else _item(row)
            gathering.add(item, row.where)
    return gathering.loaded()


def _item(row: Row) -> Item:
    output_type, answer = row.label("Output Type", _TYPES), row.text("Ground Truth Answer")
    lower = upper = None
    if output_type == "date":
        if not _DATE.fullmatch(answer):
            raise RowError("Ground Truth Answer is no date (01/31/2024) and no length of time")
    else:
        # Below zero the source may have them the other way round: 95 % of -7 is more than 105 % of it.
        lower, upper = sorted(_number(row.text(each), each) for each in ("Lower Limit", "Upper Limit"))
        if not lower <= _number(answer, "Ground Truth Answer") <= upper:
            raise RowError("Ground Truth Answer does not lie between its limits")
    facts = {
        "calculator": row.text("Calculator ID"),
        "category": row.text("Category"),
        "output_type": output_type,
        "lower_limit": lower,
        "upper_limit": upper,
    }
    inputs = {"note": row.text("Patient Note"), "question": row.text("Question")}
    return Item(row.text("Row Number"), inputs, (answer,), facts=facts)


def _example(row: Row, calculators: Mapping[str, Any]) -> Item:
    number, response = row.text("@key"), row.value("Response")
    known = calculators.get(number)
    if known is None:
        raise RowError(f"calculator {number} is not described in the benchmark's file")
    if not isinstance(response, dict) or "answer" not in response:
        raise RowError("Response has no answer")
    value, kind = response["answer"], known["by"]
    facts = {
        "calculator": number,
        "category": kind,
        "output_type": "date",
        "lower_limit": None,
        "upper_limit": None,
    }
    if kind == "date":
        answer = (
            f"('{value[0]}', '{value[1]}')" if isinstance(value, list) and len(value) == 2 else str(value)
        )
        if not _DATE.fullmatch(answer):
            raise RowError("the answer is no date and no length of time")
    else:
        answer = str(value)
        exact = _number(answer, "the answer")
        room = abs(exact) * _TOLERANCE if kind == "equation" else 0.0
        kind_of_number = "decimal" if isinstance(value, float) else "integer"
        facts |= {"output_type": kind_of_number, "lower_limit": exact - room, "upper_limit": exact + room}
    inputs = {"note": row.text("Patient Note"), "question": f"What is the patient's {known['name']}?"}
    return Item(f"calculator-{number}", inputs, (answer,), facts=facts)


def _number(text: str, name: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise RowError(f"{name} is no number") from None
    if not math.isfinite(found):
        raise RowError(f"{name} is no finite number")
    return found

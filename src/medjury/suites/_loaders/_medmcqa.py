"""MedMCQA: questions of Indian medical entrance examinations with four answers (JSON Lines or Parquet).

Inputs: `question`. Choices: A to D. Gold: the letter. Facts: `subject`. The authors' files number the right answer
from 1, copies in other collections from 0. Which of the two a file does is read from all of its rows; where that
cannot be told (`cop` is neither 0 nor 4 anywhere) `options: {first_answer: 0 or 1}` must say it.
"""

from __future__ import annotations

from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.choices import lettered, right_letters
from medjury.suites._loaders._reading.files import one_file
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError

_COLUMNS = ("id", "question", "opa", "opb", "opc", "opd", "cop")
_HIDDEN = "row whose right answer the source keeps to itself"


def load_medmcqa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    rows = list(gathering.rows(one_file(path, "dev.json*", "*.parquet", "*.jsonl"), _COLUMNS))
    first = _first_answer(rows, benchmark.options.get("first_answer"))
    for row in rows:
        with gathering.row(row):
            if row.value("cop") is None or row.text("cop") == "-1":
                gathering.leave_out(_HIDDEN)
                continue
            gathering.add(_item(row, first), row.where)
    return gathering.loaded()


def _first_answer(rows: list[Row], stated: object) -> int:
    seen = {str(row.values.get("cop")).removesuffix(".0") for row in rows}
    if stated in (0, 1):
        return int(str(stated))
    if ("0" in seen) == ("4" in seen):
        why = "both 0 and 4" if "0" in seen else "neither 0 nor 4"
        raise MedjuryError(
            f"the column cop holds {why}, so that nobody can tell whether it counts from 0 or from 1; say "
            "`options: {first_answer: 0}` (or 1) in the benchmark's file"
        )
    return 0 if "0" in seen else 1


def _item(row: Row, first: int) -> Item:
    choices = lettered([row.text(each) for each in ("opa", "opb", "opc", "opd")])
    right = row.whole_number("cop") - first
    if not 0 <= right < len(choices):
        raise RowError("cop is none of the four answers")
    gold = list(choices)[right]
    facts = {"subject": row.optional("subject_name")}
    inputs = {"question": row.text("question")}
    return Item(row.text("id"), inputs, right_letters(gold, choices), choices, facts=facts)

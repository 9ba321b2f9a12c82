"""PubMedQA, the thousand questions that people labelled (`ori_pqal.json`), with the ids of the 500 that test.

Inputs: `abstract` (without its conclusion, which gives the answer away) and `question`. Gold: yes, no or maybe.
Facts: `split` (test or development; empty where `test_ground_truth.json` is not beside the file), `annotators`
(what two annotators said, where the source has it).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import beside, one_file
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text
from medjury.suites._loaders._reading.json_file import read_json_file

_LABELS = ("yes", "no", "maybe")
_COLUMNS = ("@key", "QUESTION", "CONTEXTS", "final_decision")


def load_pubmedqa(benchmark: Benchmark, path: Path) -> Loaded:
    file = one_file(path, "ori_pqal.json", "*.json")
    truth = _test_labels(file)
    gathering = Gathering()
    for row in gathering.rows(file, _COLUMNS, within="{}"):
        with gathering.row(row):
            gathering.add(_item(row, truth), row.where)
    missing = sorted(set(truth or ()) - {item.id for item in gathering.items})
    if missing:
        gathering.problems.append(f"{file.name}: lacks {len(missing)} of the test ids, such as {missing[0]}")
    return gathering.loaded()


def _test_labels(file: Path) -> dict[str, str] | None:
    found = beside(file, "test_ground_truth.json")
    if found is None:
        return None
    labels = read_json_file(found)
    if not isinstance(labels, dict) or not set(map(str, labels.values())) <= set(_LABELS):
        raise MedjuryError(f"{found.name}: must map ids to {', '.join(_LABELS)}")
    return labels


def _item(row: Row, truth: dict[str, str] | None) -> Item:
    identifier, label = row.text("@key"), row.label("final_decision", _LABELS)
    if truth and truth.get(identifier, label) != label:
        raise RowError("final_decision is not what test_ground_truth.json says")
    inputs = {"abstract": _abstract(row), "question": row.text("QUESTION")}
    split = "" if truth is None else "test" if identifier in truth else "development"
    said = (row.optional("reasoning_required_pred"), row.optional("reasoning_free_pred"))
    return Item(identifier, inputs, (label,), facts={"split": split, "annotators": tuple(filter(None, said))})


def _abstract(row: Row) -> str:
    parts: Any = row.value("CONTEXTS")
    names: Any = row.values.get("LABELS") or []
    if (
        not isinstance(parts, list)
        or not all(isinstance(each, str) and each.strip() for each in parts)
        or not parts
    ):
        raise RowError("CONTEXTS is no list of texts")
    if not isinstance(names, list) or len(names) != len(parts):
        names = [""] * len(parts)
    return "\n".join(
        checked_text(f"{name}: {part}" if name else part, "CONTEXTS")
        for name, part in zip(names, parts, strict=True)
    )

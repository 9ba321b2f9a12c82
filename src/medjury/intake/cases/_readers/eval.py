"""Cases from a log of Inspect (`.eval`): a sample is a case, its completion the candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._readers.eval_log import EvalLog, EvalLogError, read_eval_log
from medjury.intake.cases._readers.json import rows_within
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import RawRow

_AGAIN = (
    "is a later epoch: a second answer to the same input; keep every answer as a case of its own by a mapping with "
    "id: uuid, candidate: output.completion, reference: target and system: eval.model"
)


def read_eval(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The samples by the mapping's paths, from `samples[]` where it names no rows; without one as Inspect means
    them. What the log itself says of how the run ended is counted, so that nobody takes a part for the whole."""
    try:
        log = read_eval_log(path)
    except EvalLogError as error:
        raise CaseError(str(error)) from None
    yield from rows_of_log(log, mapping, path.name)


def rows_of_log(log: EvalLog, mapping: ColumnMapping, file: str) -> Iterator[RawRow]:
    remarks = {**log.left_out, **{each.partition(": ")[2]: 1 for each in log.told}}
    yield RawRow(Origin(file, 1), remarks=remarks, is_remark=True)
    if mapping.given or mapping.rows is not None:
        yield from rows_within(log.document, mapping.rows or "samples[]", Origin(file, 1), whole_file=True)
        return
    about = log.document.get("eval")
    model = about.get("model") if isinstance(about, dict) else None
    for number, sample in enumerate(log.document["samples"], 1):
        yield _row(sample, model, Origin(file, number))


def _row(sample: Mapping[str, Any], model: object, origin: Origin) -> RawRow:
    if sample.get("epoch") not in (None, 1):
        return RawRow(origin, problem=_AGAIN)
    question = _words(sample.get("input"))
    if question is None:
        why = "the input holds more than text, such as a picture; name what is to be read in a mapping"
        return RawRow(origin, problem=why)
    output = sample.get("output")
    target = sample.get("target")
    values = {
        "id": sample.get("id"),
        "candidate": output.get("completion") if isinstance(output, Mapping) else None,
        "reference": _joined(target) if isinstance(target, list) else target,
        "texts": {"question": question},
        "system": model,
    }
    return RawRow(origin, values)


def _words(given: object) -> str | None:
    """A text, or messages one below another with their roles; None where a message is no text."""
    if not isinstance(given, list):
        return given if isinstance(given, str) else None
    said = [(each.get("role"), _content(each.get("content"))) for each in given if isinstance(each, Mapping)]
    if len(said) < len(given) or any(words is None for _, words in said):
        return None
    return "\n\n".join(f"{role}: {words}" for role, words in said)


def _content(given: object) -> str | None:
    if isinstance(given, str):
        return given
    parts = given if isinstance(given, list) else [given]
    return _joined(
        [
            each.get("text") if isinstance(each, Mapping) and each.get("type") == "text" else None
            for each in parts
        ]
    )


def _joined(parts: list[Any]) -> str | None:
    texts = [each for each in parts if isinstance(each, str)]
    return "\n".join(texts) if len(texts) == len(parts) else None

"""Results of other evaluation programs, told by the keys that only they have, and the mapping that reads each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Peer:
    """A program's results and their mapping: scores (`ratings`), or answers that are yet to be judged (`cases`)."""

    name: str
    mapping: Mapping[str, Any]
    family: Literal["ratings", "cases"] = "ratings"


def peer_of(content: Any) -> Peer | None:
    """Whose results these are; None where they are nobody's that is known here."""
    try:
        return _peer_of(content)
    except (KeyError, TypeError, AttributeError, IndexError):  # the same keys, and something else in them
        return None


def _peer_of(content: Any) -> Peer | None:
    first = content[0] if isinstance(content, list) and content else content
    if not isinstance(first, dict):
        return None
    if isinstance(content, dict):
        return _of_document(content)
    if "stats" in first and "instance_id" in first:
        names = _keys(each["name"]["name"] for each in first["stats"])
        return Peer("HELM: statistics of instances", _judged({
            "rows": "[].stats[]", "item": "instance_id", "dimension": "name.name", "score": "mean",
            "dimensions": names}, "HELM"))  # fmt: skip
    if "doc_id" in first and first.keys() & {"resps", "filtered_resps"}:
        known = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
        names = _keys(
            key for key, value in first.items() if key not in known and isinstance(value, int | float)
        )
        return Peer("lm-eval: samples", _judged({"item": "doc_id", "dimensions": names}, "lm-eval", "metric"))
    if "feedback_stats" in first:
        mapping = {"item": "id", "columns": "feedback_stats.{dimension}.avg"}
        return Peer("LangSmith: runs", _judged(mapping, "LangSmith"))
    return None


def _of_document(content: Mapping[str, Any]) -> Peer | None:
    if isinstance(content.get("samples"), list) and "eval" in content:
        return Peer("Inspect: log", _judged(_of_inspect(content["samples"]), "Inspect"))
    if isinstance(content.get("request_states"), list) and "adapter_spec" in content:
        mapping = {"rows": "request_states[]", "id": "instance.id", "candidate": "result.completions[0].text",
                   "reference": "instance.references[0].output.text", "system": "adapter_spec.model",
                   "texts": {"question": "instance.input.text"}}  # fmt: skip
        if not any(each["instance"].get("references") for each in content["request_states"]):
            mapping.pop("reference")
        return Peer("HELM: answers of a model", mapping, "cases")
    results = content.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        mapping = {"rows": "results.results[]", "item": "testIdx", "system": "provider.id",
                   "columns": "namedScores.{dimension}"}  # fmt: skip
        return Peer("promptfoo: results", _judged(mapping, "promptfoo"))
    run = content.get("testRunData", content)
    if isinstance(run, dict) and isinstance(run.get("testCases"), list):
        before = "testRunData." if run is not content else ""
        mapping = {"rows": f"{before}testCases[].metricsData[]", "item": "^.name", "rater": "evaluationModel",
                   "dimension": "name", "score": "score", "explanation": "reason",
                   "rater_kind": "judge"}  # fmt: skip
        return Peer("DeepEval: test run", mapping)
    if isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):
        names = _keys(name for name in content["columns"] if str(name).endswith("score"))
        item = next((name for name in content["columns"] if str(name).endswith(("id", "case"))), "ITEM")
        return Peer("MLflow: table of results", _judged({"item": item, "dimensions": names}, "MLflow"))
    return None


_LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0, "True": 1, "False": 0}  # as Inspect itself counts them


def _of_inspect(samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every score that some sample has: a number, a letter, or several numbers under names."""
    paths: dict[str, str] = {}
    because: dict[str, str] = {}
    lettered, gaps = set(), False
    for scorer, score in (
        (name, each) for sample in samples for name, each in (sample.get("scores") or {}).items()
    ):
        value = score["value"]
        named = value.items() if isinstance(value, dict) else [("", value)]
        for part, cell in named:
            name = f"{scorer} {part}" if part else scorer
            paths[name] = f'scores["{scorer}"].value' + (f'["{part}"]' if part else "")
            because |= {name: f'scores["{scorer}"].explanation'} if score.get("explanation") else {}
            lettered |= {name} if isinstance(cell, str | bool) and str(cell) in _LETTERS else set()
            gaps |= isinstance(cell, float) and cell != cell
    mapping = {
        "rows": "samples[]",
        "item": "id",
        "system": "eval.model",
        "repeat": "epoch",
        "dimensions": paths,
    }
    mapping |= {"explanation": because} if because else {}
    mapping |= {"labels": {name: dict(_LETTERS) for name in sorted(lettered)}} if lettered else {}
    return mapping | ({"blank": ["nan"]} if gaps else {})


def _judged(mapping: Mapping[str, Any], rater: str, kind: str = "judge") -> dict[str, Any]:
    return {**mapping, "fixed": {"rater": rater}, "rater_kind": kind}


def _keys(names: Any) -> dict[str, str]:
    return {str(name): str(name) for name in names}

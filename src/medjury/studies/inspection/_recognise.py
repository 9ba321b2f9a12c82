"""Tells what a file is by its ending and by what is in it. Nothing is read further than that takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError, no_such
from medjury.intake import EvalLog, Reading, Table, read_table
from medjury.store.ratings import is_redcap
from medjury.store.runs import files
from medjury.studies.inspection._column_names import proposal

# Results of other evaluation programs, known by the keys that only they have, and the mapping that reads each.


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


Family = Literal["ratings", "cases", "transcript", "run", "store", "study", "unknown"]
_TRANSCRIPTS = (".vtt", ".srt", ".txt", ".ctm", ".rttm")
_CASE_WORDS = {
    "candidate",
    "notes",
    "note",
    "summary",
    "output",
    "answer",
    "response",
    "prediction",
    "reference",
}
HEAD = 200  # rows that are looked at


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is: its family, its name in words, and the mapping that it needs."""

    family: Family
    name: str
    mapping: dict[str, Any] = field(default_factory=dict)


def recognise(path: str | Path) -> Kind:
    """The kind of a file or folder."""
    place = Path(path)
    if not place.exists():
        raise MedjuryError(no_such(place, "file or folder"))
    if place.is_dir():
        return _folder(place)
    ending = place.suffix.lower()
    with place.open("rb") as file:
        if file.read(15) == b"SQLite format 3":
            return Kind("store", "store of ratings (SQLite)")
    if ending in _TRANSCRIPTS:
        return Kind("transcript", "transcript")
    if ending in (".yaml", ".yml"):
        return _document(place)
    if ending == ".eval":
        return _eval(place)
    if ending in (".json", ".jsonl", ".ndjson"):
        found = _json(place, ending)
        if found is not None:
            return found
    try:
        table = read_table(place)
    except limits.FileLimitError:
        raise
    except MedjuryError:
        return Kind("unknown", "file of a kind that is not known here")
    return _table(place, table)


def _folder(place: Path) -> Kind:
    names = [each.name.lower() for each in sorted(place.iterdir())]
    if files.MANIFEST in names:
        return Kind("run", "run folder")
    if any(".gold." in name for name in names) or "calls.csv" in names:
        return Kind("transcript", "folder of calls, what was said beside what was recognised")
    if any(name.endswith((".ndjson", ".ndjson.gz")) for name in names):
        return Kind("cases", "FHIR bulk export, joined")
    if any(name.endswith(".json") for name in names):
        return Kind("cases", "folder of cases (JSON or FHIR)")
    return Kind("unknown", "folder of a kind that is not known here")


def _document(place: Path) -> Kind:
    from medjury.foundation.documents import read_document

    value = read_document(place).value
    keys = set(value) if isinstance(value, dict) else set()
    if "cases" in keys or "judges" in keys:
        return Kind("study", "study file")
    return (
        Kind("ratings", "mapping of ratings")
        if keys & {"files", "rater", "item", "columns"}
        else Kind("unknown", "YAML file of a kind that is not known here")
    )


def _json(place: Path, ending: str) -> Kind | None:
    """What only JSON can be: FHIR, a recogniser's output, a peer's results, cases. Else None: a table."""
    content = _content(place, ending)
    first = content[0] if isinstance(content, list) and content else content
    if isinstance(first, dict) and "resourceType" in first:
        return Kind("cases", f"FHIR ({first['resourceType']})")
    if (peer := peer_of(content)) is not None:
        return Kind(peer.family, peer.name, dict(peer.mapping))
    if isinstance(first, dict) and first.keys() & {"candidate", "notes"}:
        return Kind("cases", "cases")
    if ending == ".json" and not _is_transcript(place):
        return None if isinstance(content, list) else Kind("unknown", "JSON of a kind that is not known here")
    return Kind("transcript", "transcript") if ending == ".json" else None


def _eval(place: Path) -> Kind:
    """A log of Inspect; one that cannot be opened is one too, and its reader says why."""
    try:
        peer = peer_of(EvalLog.read(place).document)
    except MedjuryError:
        peer = None
    return Kind("ratings", "Inspect: log", dict(peer.mapping) if peer else {})


def _content(place: Path, ending: str) -> Any:
    try:
        text = limits.read_bytes(place).decode("utf-8-sig")
        if ending == ".json":
            limits.check_depth(place, text)
            return json.loads(text)
        return [json.loads(line) for line in text.splitlines()[:HEAD] if line.strip()]
    except (ValueError, RecursionError, OSError):
        return None


def _is_transcript(place: Path) -> bool:
    from medjury.texts.transcripts import read_transcript

    try:
        return bool(read_transcript(place).turns)
    except MedjuryError as error:
        return "holds no transcript" not in str(error) and "JSON" not in str(error)


def _table(place: Path, table: Table) -> Kind:
    try:
        rows = [row.cells for row in islice(table.rows, HEAD)]
    except limits.FileLimitError:
        raise
    except MedjuryError:
        return Kind("unknown", "table that cannot be read")
    names = {name.casefold() for name in table.header}
    if {"text", "speaker"} <= names or {"text", "start"} <= names:
        return Kind("transcript", "transcript (table of turns)")
    if {"key", "created_at", "explanation", "item", "rater"} <= names:
        return Kind("ratings", "ratings that Medjury wrote")
    if {"item", "rater", "dimension", "score"} <= names:
        return Kind("ratings", "long table of ratings under our own column names")
    mapping = proposal(table.header, rows)
    if is_redcap(table.header):
        return Kind("ratings", "REDCap export", mapping)
    if any("Qualtrics" in note for note in table.reported):
        return Kind("ratings", "Qualtrics survey", mapping)
    if mapping.get("cells") == "json":
        return Kind("ratings", "table with scores as JSON in its cells", mapping)
    if {"annotation_id", "annotator"} & names and "lead_time" in names:
        return Kind("ratings", "Label Studio export", mapping)
    if "columns" in mapping:
        return Kind("ratings", "survey: a row for each rater, a column for each item and question", mapping)
    if names & _CASE_WORDS and not (names & {"score", "rating"}) and "rater" not in mapping:
        return Kind("cases", "table of cases")
    if "score" in mapping:
        return Kind("ratings", "long table of ratings", mapping)
    if "dimensions" in mapping:
        return Kind("ratings", "wide table of ratings", mapping)
    return Kind("unknown", "table without a column of scores, and without texts to judge")


def head(path: str | Path, mapping: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The columns of a table and its first three rows."""
    table = read_table(Path(path), Reading(rows=mapping.get("rows")))
    return table.header, [row.cells for row in islice(table.rows, 3)]

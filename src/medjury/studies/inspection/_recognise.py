"""Tells what a file is by its ending and by what is in it. Nothing is read further than that takes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError, no_such
from medjury.foundation.nested import lists_within
from medjury.intake import READERS, EvalLog, Reading, read_table
from medjury.intake.cases import look_like_messages
from medjury.store.ratings import is_redcap
from medjury.store.runs import files
from medjury.studies.inspection._cases import case_proposal
from medjury.studies.inspection._column_names import item_column, kind_of
from medjury.studies.inspection._grades import in_order
from medjury.studies.inspection._propose import Family, Kind, propose
from medjury.studies.inspection._seen import Seen, seen_table

# Results of other evaluation programs, known by the keys that only they have, and the mapping that reads each.


def peer_of(content: Any) -> Kind | None:
    """Whose results these are, scores or answers that are yet to be judged; None where they are nobody's that is
    known here."""
    try:
        return _peer_of(content)
    except (KeyError, TypeError, AttributeError, IndexError):  # the same keys, and something else in them
        return None


def _peer_of(content: Any) -> Kind | None:
    first = content[0] if isinstance(content, list) and content else content
    if not isinstance(first, dict):
        return None
    if isinstance(content, dict) and isinstance(content.get("data"), list) and _is_langfuse(content["data"]):
        return Kind("ratings", "langfuse: scores", {"rows": "data[]", **_of_langfuse(content["data"])})
    if isinstance(content, dict):
        return _of_document(content)
    if _is_langfuse(content):
        return Kind("ratings", "langfuse: scores", _of_langfuse(content))
    if isinstance(first.get("annotations"), list) and isinstance(first.get("data"), dict):
        return Kind("ratings", "Label Studio: tasks and annotations", _of_label_studio(content))
    if "stats" in first and "instance_id" in first:
        names = _keys(each["name"]["name"] for each in first["stats"])
        return Kind("ratings", "HELM: statistics of instances", _judged({
            "rows": "[].stats[]", "item": "instance_id", "dimension": "name.name", "score": "mean",
            "dimensions": names}, "HELM"))  # fmt: skip
    if "doc_id" in first and first.keys() & {"resps", "filtered_resps"}:
        known = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
        names = _keys(
            key for key, value in first.items() if key not in known and isinstance(value, int | float)
        )
        return Kind(
            "ratings",
            "lm-eval: samples",
            _judged({"item": "doc_id", "dimensions": names}, "lm-eval", "metric"),
        )
    if "feedback_stats" in first:
        mapping = {"item": "id", "columns": "feedback_stats.{dimension}.avg"}
        return Kind("ratings", "LangSmith: runs", _judged(mapping, "LangSmith"))
    return None


def _of_document(content: Mapping[str, Any]) -> Kind | None:
    if isinstance(content.get("samples"), list) and "eval" in content:
        return Kind("ratings", "Inspect: log", _judged(_of_inspect(content["samples"]), "Inspect"))
    if isinstance(content.get("request_states"), list) and "adapter_spec" in content:
        mapping = {"rows": "request_states[]", "id": "instance.id", "candidate": "result.completions[0].text",
                   "reference": "instance.references[0].output.text", "system": "adapter_spec.model",
                   "texts": {"question": "instance.input.text"}}  # fmt: skip
        if not any(each["instance"].get("references") for each in content["request_states"]):
            mapping.pop("reference")
        return Kind("cases", "HELM: answers of a model", mapping)
    results = content.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        rows = results["results"]
        mapping = {"rows": "results.results[]", "item": "testIdx"}
        mapping |= {"system": "provider.id" if isinstance(rows[0].get("provider"), dict) else "provider"}
        named = any(each.get("namedScores") for each in rows)
        mapping |= {"columns": "namedScores.{dimension}"} if named else {"dimensions": {"score": "score"}}
        return Kind("ratings", "promptfoo: results", _judged(mapping, "promptfoo"))
    run = content.get("testRunData", content)
    if isinstance(run, dict) and isinstance(run.get("testCases"), list):
        before = "testRunData." if run is not content else ""
        mapping = {"rows": f"{before}testCases[].metricsData[]", "item": "^.name", "rater": "evaluationModel",
                   "dimension": "name", "score": "score", "explanation": "reason",
                   "rater_kind": "judge"}  # fmt: skip
        return Kind("ratings", "DeepEval: test run", mapping)
    if isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):
        names = _keys(name for name in content["columns"] if str(name).endswith("score"))
        item = next((name for name in content["columns"] if str(name).endswith(("id", "case"))), "ITEM")
        return Kind(
            "ratings", "MLflow: table of results", _judged({"item": item, "dimensions": names}, "MLflow")
        )
    return None


def _is_langfuse(rows: Any) -> bool:
    first = rows[0] if isinstance(rows, list) and rows else None
    return isinstance(first, dict) and {"traceId", "name", "value"} <= first.keys()


def _of_langfuse(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Scores with names, of traces or of steps in them; who is not named is the program that scored."""
    mapping: dict[str, Any] = {"item": "traceId", "dimension": "name", "score": "value"}
    users = {str(each["authorUserId"]) for each in rows if each.get("authorUserId")}
    mapping |= {"rater": "authorUserId"} if users else {}
    mapping |= {"explanation": "comment"} if any(each.get("comment") for each in rows) else {}
    words = {each["value"] for each in rows if isinstance(each["value"], str)}
    if known := in_order(words) if words else None:
        mapping["labels"] = known[0]
    mapping["fixed"] = {"rater": "langfuse"}
    return mapping | {"rater_kind": {"judge": ["langfuse"]} if users else "judge"}


def _of_label_studio(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every answer of every annotation; a task is called by an id in its data that all tasks have, each its own."""
    names = [name for name in tasks[0]["data"] if item_column({name: [""]}) == name or name.endswith("id")]
    own = [name for name in names if len({str(each["data"].get(name)) for each in tasks}) == len(tasks)]
    who = tasks[0]["annotations"][0].get("completed_by")
    results = [result for task in tasks for each in task["annotations"] for result in each.get("result", ())]
    graded = {"rating", "number", "choices"}
    answers = [each for each in results if graded & each.get("value", {}).keys()]
    names_of = dict.fromkeys(str(each["from_name"]) for each in answers)
    words = {word for each in answers for word in each["value"].get("choices", ())}
    mapping: dict[str, Any] = {
        "rows": "[].annotations[].result[]", "item": f"^^.data.{own[0]}" if own else "^^.id",
        "rater": "^.completed_by.email" if isinstance(who, dict) and "email" in who else
                 "^.completed_by.id" if isinstance(who, dict) else "^.completed_by",
        "dimension": "from_name", "dimensions": {name: name for name in names_of}, "score": "value",
        "take": sorted({key for each in answers for key in graded & each["value"].keys()}),
    }  # fmt: skip
    if words and (known := in_order(words)):
        mapping["labels"] = known[0]
    if any(each.get("was_cancelled") for task in tasks for each in task["annotations"]):
        mapping["without"] = {"^.was_cancelled": ["True"]}
    return mapping


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


_HOW = ("sheet", "delimiter", "encoding", "header_rows", "skip_rows", "rows")
_LINES = 200  # of JSON Lines that are looked at
_TRANSCRIPTS = (".vtt", ".srt", ".txt", ".ctm", ".rttm")


def recognise(
    path: str | Path, stated: Mapping[str, Any] | None = None, wanted: Family | None = None
) -> Kind:
    """The kind of a file or folder. `stated` are lines of its mapping that a person gave, `wanted` how they want it
    read where it may be ratings as well as cases."""
    place = Path(path)
    stated = stated or {}
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
        found = _json(place, ending, stated)
        if found is not None:
            return found
    try:
        seen = seen_table(place, stated)
    except limits.FileLimitError:
        raise
    except MedjuryError as error:
        known = ending in READERS
        words = "table that cannot be read" if known else "file of a kind that is not known here"
        return Kind("unknown", words, missing=str(error) if known else "")
    return _table(place, seen, stated, wanted)


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


def _json(place: Path, ending: str, stated: Mapping[str, Any]) -> Kind | None:
    """What only JSON can be: FHIR, a recogniser's output, a peer's results, cases. Else None: a table."""
    content = _content(place, ending)
    first = content[0] if isinstance(content, list) and content else content
    if isinstance(first, dict) and "resourceType" in first:
        return Kind("cases", f"FHIR ({first['resourceType']})")
    if (peer := peer_of(content)) is not None:
        return replace(peer, mapping={**peer.mapping, **stated})
    if isinstance(first, dict) and first.keys() & {"candidate", "notes"} and not stated:
        return Kind("cases", "cases")
    if isinstance(content, dict) and look_like_messages(content):
        return Kind("cases", "a conversation")
    if ending == ".json" and not _is_transcript(place):
        if isinstance(content, list) or "rows" in stated:
            return None
        if not isinstance(content, dict) or not (rows := _rows_in(content)):
            return Kind("unknown", "JSON of a kind that is not known here")
        kind = _table(place, seen_table(place, {"rows": rows}), {"rows": rows, **stated}, None)
        is_whole = "id" in kind.mapping if kind.family == "cases" else not kind.missing
        return kind if is_whole or stated else Kind("unknown", "JSON of a kind that is not known here")
    return Kind("transcript", "transcript") if ending == ".json" else None


def _rows_in(content: Mapping[str, Any]) -> str:
    """Where the rows of a document are: its longest list of objects, else its objects, by the name of each."""
    if found := lists_within(content):
        return found[0]
    return "{}" if len(content) > 1 and all(isinstance(each, dict) for each in content.values()) else ""


def _eval(place: Path) -> Kind:
    """A log of Inspect; one that cannot be opened is one too, and its reader says why."""
    try:
        peer = peer_of(EvalLog.read(place).document)
    except MedjuryError:
        peer = None
    return Kind("ratings", "Inspect: log", peer.mapping if peer else {})


def _content(place: Path, ending: str) -> Any:
    try:
        text = limits.read_bytes(place).decode("utf-8-sig")
        if ending == ".json":
            limits.check_depth(place, text)
            return json.loads(text)
        return [json.loads(line) for line in text.splitlines()[:_LINES] if line.strip()]
    except (ValueError, RecursionError, OSError):
        return None


def _is_transcript(place: Path) -> bool:
    from medjury.texts.transcripts import read_transcript

    try:
        return any(turn.text.strip() for turn in read_transcript(place).turns)
    except MedjuryError as error:
        return "holds no transcript" not in str(error) and "JSON" not in str(error)


def _table(place: Path, seen: Seen, stated: Mapping[str, Any], wanted: Family | None) -> Kind:
    names = {name.casefold() for name in seen.header}
    if ({"text", "speaker"} <= names or {"text", "start"} <= names) and not stated:
        return Kind("transcript", "transcript (table of turns)")
    found = propose(place, seen, stated)
    mapping = found.mapping
    is_rated = not found.missing and (
        bool(mapping.keys() & {"rater", "raters", "score", "columns", "sheets", "take"})
        or len(mapping.get("dimensions", ())) > 0
    )
    cases = case_proposal(seen, is_rated=is_rated)
    both = is_rated and "candidate" in cases
    are_cases = bool(cases.keys() & {"candidate", "notes", "texts", "messages"})
    if wanted == "cases" or (wanted is None and are_cases and not _are_ratings(mapping, is_rated, cases)):
        talks = cases.get("messages")
        plain = "id" in names and ("candidate" in names or "candidate" not in cases)
        plain = plain and talks in (None, "messages")
        kept = {} if plain and not seen.how and not stated else {**seen.how, **cases, **stated}
        return Kind(
            "cases", "conversations" if talks else "table of cases", kept, other="ratings" if both else None
        )
    name = _named(names, seen, mapping)
    other: Family | None = "cases" if both else None
    if found.missing and not mapping.keys() & {"rater", "score", "dimensions", "raters", "columns", "item"}:
        words = "table without a column of scores, and without texts to judge"
        return Kind("unknown", words, missing=found.missing)
    return replace(found, name=name, other=other)


def _are_ratings(mapping: Mapping[str, Any], is_rated: bool, cases: Mapping[str, Any]) -> bool:
    """Grades speak for ratings, also beside the texts that were graded; a lone column of them may be a fact."""
    if not cases.keys() & {"candidate", "texts", "messages"}:
        return is_rated or not cases.get("notes")
    return is_rated and bool(
        mapping.keys() & {"rater", "raters", "score", "columns", "sheets", "take"}
        or kind_of(list(mapping.get("dimensions", ()))) == "dimensions"
    )


def _named(names: Collection[str], seen: Seen, mapping: Mapping[str, Any]) -> str:
    """What such a table of ratings is called."""
    if {"key", "created_at", "explanation", "item", "rater"} <= set(names):
        return "ratings that Medjury wrote"
    if {"item", "rater", "dimension", "score"} <= set(names):
        return "long table of ratings under our own column names"
    if is_redcap(seen.header):
        return "REDCap export"
    if any("Qualtrics" in note for note in seen.reported):
        return "Qualtrics survey"
    if mapping.get("cells") == "json":
        return "table with scores as JSON in its cells"
    if {"annotation_id", "annotator"} & set(names) and "lead_time" in names:
        return "Label Studio export"
    if "columns" in mapping:
        is_survey = "{item}" in str(mapping["columns"])
        survey = "survey: a row for each rater, a column for each item and question"
        return survey if is_survey else "wide table of ratings, a column for each pair of names"
    if "items" in mapping:
        return "turned table of ratings, a column for each case"
    return "long table of ratings" if "score" in mapping else "wide table of ratings"


def head(path: str | Path, mapping: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The columns of a table and its first three rows."""
    table = read_table(Path(path), reading_of(mapping))
    return table.header, [row.cells for row in itertools.islice(table.rows, 3)]


def reading_of(mapping: Mapping[str, Any]) -> Reading:
    """How a mapping says that its file is read; of several sheets the first."""
    how = {name: mapping[name] for name in _HOW if name in mapping}
    if isinstance(sheets := mapping.get("sheets"), Mapping):
        listed = next(iter(sheets.values()))
        how["sheet"] = next(iter(listed.values() if isinstance(listed, Mapping) else listed))
    return Reading(**how, columns=("Unnamed: 0",))

"""Results of other evaluation programs: rows and scores deep in JSON, found by paths."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.formats.readable import reads

from medjury.foundation.errors import MedjuryError
from medjury.intake import FileError
from medjury.intake.cases import read_cases
from medjury.store.ratings import ImportedRatings, read_ratings
from medjury.studies.inspection import look

Found = list[tuple[str, str, str, str, float | None]]
BY_PATHS = "importing-ratings.md#results-of-other-programs-paths-into-json"
by_paths = partial(reads, "Ratings", described=BY_PATHS)


def read(folder: Path, name: str, content: Any, mapping: str) -> ImportedRatings:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    (folder / "m.yaml").write_text(mapping, encoding="utf-8")
    return read_ratings(folder / name, mapping=folder / "m.yaml")


def rows(found: ImportedRatings) -> Found:
    return [(each.item, each.system, each.rater, each.dimension, each.score) for each in found.ratings]


INSPECT = {
    "version": 2,
    "eval": {"task": "discharge", "model": "openai/gpt-x"},
    "samples": [
        {"id": "case-1", "epoch": 1, "scores": {"model_graded": {"value": 4, "explanation": "good"}}},
        {"id": "case-2", "epoch": 1, "scores": {"model_graded": {"value": 2, "explanation": "gaps"}}},
    ],
}
INSPECT_MAPPING = """\
rows: samples[]
item: id
system: eval.model
dimensions: {quality: scores.model_graded.value}
explanation: {quality: scores.model_graded.explanation}
fixed: {rater: model_graded}
rater_kind: judge
scale: [1, 5]
"""


@by_paths("Inspect log", ".json", "`rows: samples[]`")
def test_a_log_of_inspect(tmp_path: Path) -> None:
    found = read(tmp_path, "log.json", INSPECT, INSPECT_MAPPING)
    assert rows(found) == [
        ("case-1", "openai/gpt-x", "model_graded", "quality", 4),
        ("case-2", "openai/gpt-x", "model_graded", "quality", 2),
    ]
    assert [each.explanation for each in found.ratings] == ["good", "gaps"]


HELM = [
    {"instance_id": "id1", "train_trial_index": 0, "stats": [
        {"name": {"name": "medhelm_accuracy", "split": "test"}, "count": 1, "sum": 4.0, "mean": 4.0},
        {"name": {"name": "num_output_tokens", "split": "test"}, "count": 1, "sum": 210, "mean": 210}]},
    {"instance_id": "id2", "train_trial_index": 0, "stats": [
        {"name": {"name": "medhelm_accuracy", "split": "test"}, "count": 1, "sum": 3.0, "mean": 3.0}]},
]  # fmt: skip


@by_paths("HELM statistics of instances", ".json", '`rows: "[].stats[]"`')
def test_per_instance_stats_of_helm(tmp_path: Path) -> None:
    mapping = "rows: '[].stats[]'\nitem: instance_id\ndimension: name.name\nscore: mean\n"
    mapping += (
        "dimensions: {accuracy: medhelm_accuracy}\nfixed: {rater: jury}\nrater_kind: judge\nscale: [1, 5]\n"
    )
    found = read(tmp_path, "per_instance_stats.json", HELM, mapping)
    assert rows(found) == [("id1", "", "jury", "accuracy", 4), ("id2", "", "jury", "accuracy", 3)]
    assert found.report.rows_left_out == 1


PROMPTFOO = {"version": 3, "results": {"results": [
    {"testIdx": 0, "provider": {"id": "openai:x"}, "vars": {"case": "case-1"},
     "namedScores": {"safe": 1, "kind": 0.5}},
    {"testIdx": 1, "provider": {"id": "openai:x"}, "vars": {"case": "case-2"}, "namedScores": {"safe": 0}},
]}}  # fmt: skip


@by_paths("promptfoo results", ".json", "`rows: results.results[]`")
def test_results_of_promptfoo(tmp_path: Path) -> None:
    mapping = (
        "rows: results.results[]\nitem: vars.case\nsystem: provider.id\ncolumns: 'namedScores.{dimension}'\n"
    )
    found = read(
        tmp_path,
        "results.json",
        PROMPTFOO,
        mapping + "fixed: {rater: promptfoo}\nrater_kind: metric\nscale: {from: 0, to: 1}\n",
    )
    assert rows(found) == [
        ("case-1", "openai:x", "promptfoo", "safe", 1), ("case-1", "openai:x", "promptfoo", "kind", 0.5),
        ("case-2", "openai:x", "promptfoo", "safe", 0),
    ]  # fmt: skip


DEEPEVAL = {"testRunData": {"testCases": [
    {"name": "case-1", "metricsData": [{"name": "Correctness [GEval]", "score": 0.8, "reason": "fine",
                                        "evaluationModel": "gpt-x"}]},
    {"name": "case-2", "metricsData": [{"name": "Correctness [GEval]", "score": 0.4, "reason": "gaps",
                                        "evaluationModel": "gpt-x"}]},
]}}  # fmt: skip


@by_paths("DeepEval test run", ".json", "`rows: testRunData.testCases[].metricsData[]`")
def test_a_test_run_of_deepeval(tmp_path: Path) -> None:
    """The metric and the test case are both called `name`: the row's own is meant, and ^ is the one around it."""
    mapping = (
        "rows: testRunData.testCases[].metricsData[]\nitem: ^.name\nrater: evaluationModel\ndimension: name\n"
        "score: score\nexplanation: reason\nrater_kind: judge\nscale: {from: 0, to: 1}\n"
    )
    found = read(tmp_path, "run.json", DEEPEVAL, mapping)
    assert rows(found) == [
        ("case-1", "", "gpt-x", "Correctness [GEval]", 0.8), ("case-2", "", "gpt-x", "Correctness [GEval]", 0.4),
    ]  # fmt: skip


@by_paths("lm-eval samples", ".jsonl", "one object a line")
def test_samples_of_lm_eval(tmp_path: Path) -> None:
    lines = [{"doc_id": 0, "doc": {"id": "q-1"}, "acc": 1.0}, {"doc_id": 1, "doc": {"id": "q-2"}, "acc": 0.0}]
    mapping = (
        "item: doc.id\ndimensions: {accuracy: acc}\nfixed: {rater: acc}\nrater_kind: metric\nscale: [0, 1]\n"
    )
    found = read(tmp_path, "samples.jsonl", "".join(json.dumps(each) + "\n" for each in lines), mapping)
    assert rows(found) == [("q-1", "", "acc", "accuracy", 1), ("q-2", "", "acc", "accuracy", 0)]


@by_paths(
    "LangSmith runs, JSON in cells",
    ".csv, .jsonl",
    "paths into the JSON of a cell",
    "a cell that is not JSON, with its row",
)
def test_json_within_the_cells_of_a_table(tmp_path: Path) -> None:
    """Runs of LangSmith as CSV: inputs and feedback are JSON in a cell each."""
    table = (
        "id,inputs,feedback_stats\n"
        'r1,"{""case"": ""case-1""}","{""accuracy"": {""n"": 1, ""avg"": 4}}"\n'
        'r2,"{""case"": ""case-2""}","{""accuracy"": {""n"": 1, ""avg"": 2}, ""rouge.1"": {""avg"": 3}}"\n'
    )
    mapping = (
        "item: inputs.case\ncolumns: 'feedback_stats.{dimension}.avg'\nfixed: {rater: langsmith}\n"
        "rater_kind: judge\nscale: [1, 5]\n"
    )
    found = read(tmp_path, "runs.csv", table, mapping)
    assert rows(found) == [
        ("case-1", "", "langsmith", "accuracy", 4), ("case-2", "", "langsmith", "accuracy", 2),
        ("case-2", "", "langsmith", "rouge.1", 3), ("case-1", "", "langsmith", "rouge.1", None),
    ]  # fmt: skip
    by_name = mapping.replace(
        "columns: 'feedback_stats.{dimension}.avg'", "dimensions: {r: 'feedback_stats[\"rouge.1\"].avg'}"
    )
    assert rows(read(tmp_path, "runs.csv", table, by_name)) == [
        ("case-2", "", "langsmith", "r", 3), ("case-1", "", "langsmith", "r", None),
    ]  # fmt: skip


def test_a_cell_that_should_be_json_is_refused_with_its_row(tmp_path: Path) -> None:
    table = 'id,answer\n1,"{""score"": 4}"\n2,"{score: 4"\n'
    with pytest.raises(
        FileError, match=r"runs.csv, row 3: 'answer.score' leads into a cell that is not JSON"
    ):
        read(
            tmp_path,
            "runs.csv",
            table,
            "item: id\ndimensions: {q: answer.score}\nfixed: {rater: x}\nscale: [1, 5]\n",
        )


@by_paths("MLflow table of results", ".json", "`columns` and `data`")
def test_a_table_of_mlflow(tmp_path: Path) -> None:
    table = {"columns": ["case", "correctness/v1/score"], "data": [["case-1", 4], ["case-2", 5]]}
    mapping = (
        "item: case\ndimensions: {correctness: correctness/v1/score}\nfixed: {rater: gpt-x}\nscale: [1, 5]\n"
    )
    found = read(tmp_path, "eval_results_table.json", table, mapping)
    assert rows(found) == [
        ("case-1", "", "gpt-x", "correctness", 4),
        ("case-2", "", "gpt-x", "correctness", 5),
    ]


@by_paths(
    "objects of entries",
    ".json",
    "`{}` in `rows`, `@key` and `@value`",
    "a path that leads nowhere, with the paths that there are",
)
def test_an_object_of_entries(tmp_path: Path) -> None:
    document = {"case-1": {"Ada": 4, "Sam": 3}, "case-2": {"Ada": 5}}
    mapping = "rows: '{}{}'\nitem: ^.@key\nrater: '@key'\nscore: '@value'\nfixed: {dimension: quality}\n"
    found = read(tmp_path, "t.json", document, mapping)
    assert rows(found) == [("case-1", "", "Ada", "quality", 4), ("case-1", "", "Sam", "quality", 3),
                           ("case-2", "", "Ada", "quality", 5)]  # fmt: skip


def test_a_nested_file_without_a_path_is_refused_with_the_paths_it_has(tmp_path: Path) -> None:
    with pytest.raises(
        FileError, match=r"must hold a list of objects, one per row; say where .*`rows: data\.rows\[\]`"
    ):
        read(tmp_path, "nested.json", {"data": {"rows": [{"id": "1"}]}}, "item: id\n")
    with pytest.raises(FileError, match=r"`rows: sample\[\]` finds nothing; there is samples\[\]"):
        read(tmp_path, "log.json", INSPECT, INSPECT_MAPPING.replace("samples[]", "sample[]"))


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"'scores\.model_graded\.valu' .quality. is empty in all 2 rows"):
        read(tmp_path, "log.json", INSPECT, INSPECT_MAPPING.replace("graded.value", "graded.valu"))
    with pytest.raises(FileError, match=r"there is no column 'score\.model_graded\.value'"):
        read(
            tmp_path,
            "log.json",
            INSPECT,
            INSPECT_MAPPING.replace("scores.model_graded.value", "score.model_graded.value"),
        )


def test_a_row_that_failed_takes_no_score_and_no_text_from_around_it(tmp_path: Path) -> None:
    """Other rows have the key themselves: what is outside is a summary, not this row's."""
    log = {
        "scores": {"accuracy": {"value": 4}},
        "samples": [{"id": "1", "scores": {"accuracy": {"value": 2}}}, {"id": "2", "error": "timeout"}],
    }
    (tmp_path / "log.json").write_text(json.dumps(log))
    mapping = {
        "rows": "samples[]",
        "item": "id",
        "dimensions": {"accuracy": "scores.accuracy.value"},
        "fixed": {"rater": "j"},
    }
    found = read_ratings(tmp_path / "log.json", mapping=mapping).ratings
    assert [(each.item, each.score) for each in found if each.score is not None] == [("1", 2.0)]
    outer = {
        "output": {"text": "OUTER"},
        "results": [{"id": "1", "output": {"text": "one"}}, {"id": "2", "error": "x"}],
    }
    (tmp_path / "cases.json").write_text(json.dumps(outer))
    cases = read_cases(tmp_path / "cases.json", mapping={"rows": "results[]", "candidate": "output.text"})
    assert [(each.id, each.candidate) for each in cases] == [("1", "one"), ("2", None)]


def test_two_scores_under_one_key_are_refused(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_text('{"item":"1","rater":"a","dimension":"accuracy","score":4,"score":2}\n')
    with pytest.raises(FileError, match=r"j.jsonl, row 1: has a field twice"):
        read_ratings(tmp_path / "j.jsonl")


SCENARIO_STATE = {
    "adapter_spec": {"method": "generation", "model": "openai/gpt-x"},
    "request_states": [
        {"instance": {"id": "id1", "input": {"text": "Which drug?"}, "references": [
            {"output": {"text": "Aspirin."}, "tags": ["correct"]}]},
         "result": {"success": True, "completions": [{"text": "Give aspirin.", "logprob": 0}]}},
        {"instance": {"id": "id2", "input": {"text": "What dose?"}, "references": []},
         "result": {"success": False, "completions": []}},
    ],
}  # fmt: skip


@reads(
    "Cases",
    "HELM answers of a model",
    ".json",
    "`rows: request_states[]` of scenario_state.json: question, answer, reference and model",
    "",
    described=BY_PATHS,
)
def test_the_scenario_state_of_helm_by_the_mapping_that_look_proposes(tmp_path: Path) -> None:
    file = tmp_path / "scenario_state.json"
    file.write_text(json.dumps(SCENARIO_STATE))
    found = look(file)
    assert (found.kind.family, found.kind.name) == ("cases", "HELM: answers of a model")
    assert found.samples[0][:3] == ("id1", "openai/gpt-x", "Give aspirin.")
    cases = list(read_cases(file, mapping=found.kind.mapping))
    assert [
        (each.id, each.candidate, each.reference, each.texts["question"], each.system) for each in cases
    ] == [
        ("id1", "Give aspirin.", "Aspirin.", "Which drug?", "openai/gpt-x"),
        ("id2", None, None, "What dose?", "openai/gpt-x"),
    ]


@reads(
    "Cases",
    "Epic's example data",
    "a folder of .json files",
    "a file for each case: `summary`, `notes` as {id: text}, `target_specialty`; the file's name is the id",
    "",
    described="reading-cases.md#my-columns-have-other-names",
)
def test_the_example_data_of_epic(tmp_path: Path) -> None:
    for name in ("00a5", "00df"):
        content = {"summary": f"Summary {name}.", "notes": {"n1": "Cough.", "n2": "Better."},
                   "target_specialty": "Cardiology"}  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    mapping = {"candidate": "summary", "notes": "notes", "metadata": {"specialty": "target_specialty"}}
    cases = list(read_cases(tmp_path, mapping=mapping))
    assert [(each.id, each.candidate, each.metadata["specialty"]) for each in cases] == [
        ("00a5", "Summary 00a5.", "Cardiology"),
        ("00df", "Summary 00df.", "Cardiology"),
    ]
    assert [(note.id, note.text) for note in cases[0].notes] == [("n1", "Cough."), ("n2", "Better.")]


@by_paths(
    "results of Epic's instruments",
    ".json",
    "`rows: '{}'`: by item, a score and its evidence for each attribute",
)
def test_results_of_epics_instruments(tmp_path: Path) -> None:
    results = {
        "00a": {
            "citation": {"score": 3, "evidence": "one missing"},
            "accurate": {"score": 5, "evidence": ""},
        },
        "00b": {
            "citation": {"score": 4, "evidence": "all there"},
            "accurate": {"score": 2, "evidence": "wrong"},
        },
    }
    mapping = (
        "rows: '{}'\nitem: '@key'\ndimensions: {citation: citation.score, accurate: accurate.score}\n"
        "explanation: {citation: citation.evidence}\nfixed: {rater: gpt-x}\nrater_kind: judge\nscale: [1, 5]\n"
    )
    found = read(tmp_path, "results.json", results, mapping)
    assert [(each.item, each.dimension, each.score, each.explanation) for each in found.ratings] == [
        ("00a", "citation", 3, "one missing"), ("00a", "accurate", 5, ""),
        ("00b", "citation", 4, "all there"), ("00b", "accurate", 2, ""),
    ]  # fmt: skip


def test_a_list_that_runs_beside_the_rows_is_read_at_their_place(tmp_path: Path) -> None:
    labels = [
        {"id": "a", "labels": [True, False], "by": ["anna", "ben"], "talk": 7},
        {"id": "b", "labels": [False], "by": ["cleo"], "talk": 7},
    ]
    mapping = (
        "rows: '[].labels[]'\nitem: id\nrater: 'by[@place]'\ndimensions: {met: '@value'}\npatient: talk\n"
        'labels: {"True": 1, "False": 0}\nscale: [0, 1]\n'
    )
    found = read(tmp_path, "labels.json", labels, mapping)
    assert [(each.item, each.rater, each.score) for each in found.ratings] == [
        ("a", "anna", 1), ("a", "ben", 0), ("b", "cleo", 0),
    ]  # fmt: skip
    assert found.patients == {"a": "7", "b": "7"}
    labels[1]["by"] = ["cleo", "dora"]
    with pytest.raises(MedjuryError, match="row 3, column 'rater': has a rating, but no rater"):
        read(tmp_path, "longer.json", labels, mapping)
    labels[1] |= {"labels": []}
    found = read(tmp_path, "none.json", labels, mapping)
    assert len(found.ratings) == 2 and found.report.left_out["parts without a row, left out"] == 1

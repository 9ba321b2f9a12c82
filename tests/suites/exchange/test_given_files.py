"""Runs of HELM and logs of Inspect as they lie in their files: every answer, what became of it, and its scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites import load_benchmark, load_items, ratings_of_given, sample_file
from medjury.suites._exchange._as_ratings import (
    helm_folders,
    inspect_logs,
    is_given,
    read_given,
    read_helm_run,
    read_inspect_log,
)
from medjury.suites._exchange._others_answers import GivenAnswer

# HELM.


def request(number: int, text: str = "C", **more: Any) -> dict[str, Any]:
    return {
        "instance": {"input": {"text": f"Question {number}?"}, "id": f"id{number}"},
        "result": {"success": True, "completions": [{"text": text}, {"text": "second"}]},
        **more,
    }


def helm(folder: Path, *requests: Any, statistics: Any = None, **adapter: Any) -> Path:
    folder.mkdir(parents=True)
    state = {"adapter_spec": {"model": "a/b", **adapter}, "request_states": list(requests)}
    (folder / "scenario_state.json").write_text(json.dumps(state))
    if statistics is not None:
        (folder / "per_instance_stats.json").write_text(json.dumps(statistics))
    return folder


def stat(name: str, mean: float | None = 1.0, count: int = 1, **of: Any) -> dict[str, Any]:
    return {"name": {"name": name, **of}, "count": count, "mean": mean}


def test_a_request_of_helm_becomes_an_answer_with_its_choices_gold_and_scores(tmp_path: Path) -> None:
    references = [
        {"output": {"text": "Rest"}, "tags": []},
        {"output": {"text": "Heat"}, "tags": ["correct"]},
        {"output": {"text": "Cold"}, "tags": ["x", "correct"]},
    ]
    first = request(1, output_mapping={"B": "Heat", "A": "Rest", "C": "Cold"})
    first["instance"]["references"] = references
    first["result"]["completions"][0]["finish_reason"] = {"reason": "length"}
    failed = request(2, result={"success": False, "error": "e" * 600, "completions": [{"text": "x"}]})
    nothing = request(3, result={"success": True, "completions": []})
    never = request(4, result=None)
    statistics = [
        {"instance_id": "id1", "stats": [stat("em", 0.5), stat("em", 0.1, perturbation={"a": 1})]},
        {"instance_id": "id1", "stats": [stat("f1", None), stat("len", 7, 0), stat("time", 2)]},
        {"instance_id": "id1", "stats": [stat("em", 0.9)], "train_trial_index": 1},
        {"instance_id": "id1", "stats": [stat("em", 0.8)], "perturbation": {"name": "x"}},
        {"instance_id": "id2", "stats": [stat("em", 1.0)]},
    ]
    run = read_helm_run(
        helm(tmp_path / "task:k=1,model=a_b,", first, failed, nothing, never, statistics=statistics)
    )
    assert (run.program, run.model, run.task, run.told) == ("HELM", "a/b", "task k=1", ())
    assert run.answers == (
        GivenAnswer(
            "id1", "Question 1?", "C", ("Rest", "Heat", "Cold"), finish="length", gold=("Heat", "Cold"),
            scores={"em": 0.5, "f1": None, "len": None, "time": 2.0},
        ),
        GivenAnswer("id2", "Question 2?", "", failure="e" * 500),
        GivenAnswer("id3", "Question 3?", "", failure="the result has no completion"),
        GivenAnswer("id4", "Question 4?", "", failure="the request failed"),
    )  # fmt: skip


def test_changed_requests_and_further_trials_of_helm_are_left_out_and_counted(tmp_path: Path) -> None:
    changed = request(1)
    changed["instance"]["perturbation"] = {"name": "typos"}
    requests = [
        request(1),
        changed,
        changed,
        request(1, train_trial_index=1),
        request(2, train_trial_index=0),
    ]
    folder = helm(tmp_path / "run", *requests, model="", model_deployment="own/one")
    (folder / "run_spec.json").write_text(json.dumps({"name": "qa:model_deployment=x,lang=en"}))
    run = read_helm_run(folder)
    assert [each.id for each in run.answers] == ["id1", "id2"]
    assert (run.task, run.model) == ("qa lang=en", "own/one")
    assert run.told == (
        "run: 2 perturbed requests are left out",
        "run: 1 requests of further trials are left out",
    )


def test_a_folder_that_is_no_run_of_helm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="the instance 'id1' appears twice"):
        read_helm_run(helm(tmp_path / "a", request(1), request(2), request(1)))
    with pytest.raises(
        MedjuryError, match=r"is not a run folder of HELM that can be read \(KeyError: 'id'\)"
    ):
        read_helm_run(helm(tmp_path / "b", {**request(1), "instance": {"input": {"text": "x"}}}))
    (tmp_path / "b" / "scenario_state.json").write_text("{")
    with pytest.raises(MedjuryError, match="cannot be read as JSON"):
        read_helm_run(tmp_path / "b")


# Inspect.


def sample(number: object = 1, **more: Any) -> dict[str, Any]:
    choices = [{"message": {"content": "From the choice"}, "stop_reason": "stop"}]
    return {"id": number, "input": "Why?", "output": {"completion": "So.", "choices": choices}, **more}


def log(file: Path, *samples: Any, **more: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = {"status": "success", "eval": {"task": "qa", "model": "m/n"}, "samples": list(samples), **more}
    file.write_text(json.dumps(whole))
    return file


def given(folder: Path, **more: Any) -> GivenAnswer:
    (answer,) = read_inspect_log(log(folder / "x.json", sample(**more))).answers
    return answer


def test_a_sample_of_inspect_becomes_an_answer(tmp_path: Path) -> None:
    found = given(
        tmp_path,
        number=7,
        choices=["Rest", 5],
        target=["A", "B"],
        scores={"choice": {"value": "C"}, "parts": {"value": {"one": "P", "two": 0.25}}},
        output={
            "completion": "So.",
            "choices": [{"message": {"content": "x"}, "stop_reason": "max_tokens"}],
            "usage": {"input_tokens": 3, "output_tokens": 4},
        },
    )
    assert found == GivenAnswer(
        "7", "Why?", "So.", ("Rest", "5"), finish="max_tokens", tokens_in=3, tokens_out=4, gold=("A", "B"),
        scores={"choice": 1.0, "parts one": 0.5, "parts two": 0.25},
    )  # fmt: skip
    assert given(tmp_path) == GivenAnswer("1", "Why?", "So.", finish="stop")
    assert (given(tmp_path, target="A").gold, given(tmp_path, target="").gold) == (("A",), ())
    assert given(tmp_path, target=None, scores=None, choices=None).gold == ()


def test_the_text_of_a_sample_is_its_completion_else_its_first_choice(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "One"}, {"type": "image"}, {"type": "text", "text": "Two"}]
    first = {"choices": [{"message": {"content": parts}}, {"message": {"content": "later"}}]}
    assert (given(tmp_path, output=first).text, given(tmp_path, output=first).finish) == ("One\nTwo", "")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Why?", "Why?"),
        ([{"text": "Why?"}, {"text": None}, {"text": "How?"}], "Why?\nHow?"),
        ([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}], "Why?"),
        ([{"role": "user", "content": [{"text": "Why?"}]}, {"role": "assistant", "content": "So."}], "Why?"),
        ([{"content": "Why?"}, {"role": "user", "content": "How?"}], "Why?\nHow?"),
        ({"text": "Why?"}, ""),
        (None, ""),
    ],
)
def test_of_messages_those_of_the_user_are_the_question(tmp_path: Path, question: Any, text: str) -> None:
    assert given(tmp_path, input=question).input == text


@pytest.mark.parametrize(
    ("sample", "failure"),
    [
        ({"error": {"message": "m" * 600}}, "m" * 500),
        ({"error": {"type": "x"}}, "the sample ended in an error"),
        ({"output": {"choices": [], "error": "e" * 600}}, "e" * 500),
        ({"output": {}}, "the sample has no output"),
        ({"output": None}, "the sample has no output"),
    ],
)
def test_a_sample_without_an_answer_has_its_failure_and_no_score(
    tmp_path: Path, sample: dict[str, Any], failure: str
) -> None:
    found = given(tmp_path, **sample, scores={"choice": {"value": "I"}})
    assert (found.text, found.failure, found.scores) == ("", failure, {})


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), ("X", None), (True, 1.0), (False, 0.0), (3, 3.0), (0.5, 0.5),
     (float("nan"), None), (float("inf"), None), (None, None), ([1], None)],
)  # fmt: skip
def test_a_score_of_inspect_is_a_number_or_none(tmp_path: Path, value: object, score: float | None) -> None:
    assert given(tmp_path, scores={"s": {"value": value}}).scores == {"s": score}


def test_further_epochs_and_withdrawn_samples_of_inspect_are_left_out_and_counted(tmp_path: Path) -> None:
    samples = [sample(1), sample(2, epoch=1), sample(1, epoch=2), sample(2, epoch=2)]
    file = log(tmp_path / "x.json", *samples, sample(3, invalidation={"a": 1}), status="cancelled")
    run = read_inspect_log(file)
    assert (run.program, run.task, run.model) == ("Inspect", "qa", "m/n")
    assert [each.id for each in run.answers] == ["1", "2"]
    assert run.told == (
        "x.json: the run ended as 'cancelled', so samples may be missing; 5 are there",
        "x.json: 1 × sample that was marked as invalid, left out",
        "x.json: 2 samples of further epochs are left out",
    )


def test_a_file_that_is_no_log_of_inspect_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"samples": []}')
    with pytest.raises(MedjuryError, match="is not a log of Inspect; write one with"):
        read_inspect_log(tmp_path / "x.json")
    with pytest.raises(MedjuryError, match=r"is not a log of Inspect that can be read \(KeyError: 'model'\)"):
        read_inspect_log(log(tmp_path / "y.json", sample(), eval={"task": "qa"}))


# Either.


def test_what_lies_at_a_path_is_told_by_its_files(tmp_path: Path) -> None:
    second = helm(tmp_path / "suite" / "b", request(1))
    first = helm(tmp_path / "suite" / "a", request(1))
    logs = [log(tmp_path / "logs" / "a.json", sample()), log(tmp_path / "logs" / "b.json", sample())]
    packed = tmp_path / "logs" / "c.eval"
    packed.write_bytes(b"x")
    (tmp_path / "logs" / "other.json").write_text("[1]")
    assert helm_folders(tmp_path / "suite") == [first, second] and helm_folders(first) == [first]
    assert helm_folders(tmp_path / "logs") == helm_folders(logs[0]) == []
    assert inspect_logs(tmp_path / "logs") == sorted([*logs, packed])
    assert inspect_logs(logs[0]) == [logs[0]] and inspect_logs(packed) == [packed]
    assert inspect_logs(tmp_path / "logs" / "other.json") == inspect_logs(tmp_path / "suite") == []
    assert is_given(tmp_path / "suite") and is_given(logs[1])
    assert not is_given(tmp_path / "logs" / "other.json") and not is_given(tmp_path / "nowhere")
    packed.unlink()
    assert [run.program for run in read_given(tmp_path / "suite")] == ["HELM", "HELM"]
    assert [run.task for run in read_given(tmp_path / "logs")] == ["qa", "qa"]
    with pytest.raises(MedjuryError, match="holds no run folder of HELM and no log of Inspect"):
        read_given(tmp_path / "nowhere")


def test_scores_of_another_program_are_ratings_by_item_and_metric(tmp_path: Path) -> None:
    benchmark = load_benchmark("medication_qa")
    items = load_items(benchmark, sample_file(benchmark)).items
    samples = [
        sample(item.id, input=item.inputs["question"], scores={"b": {"value": "C"}, "a": {"value": "?"}})
        for item in items[:2]
    ]
    samples[1] |= {"error": {"message": "lost"}}
    found, told = ratings_of_given(log(tmp_path / "x.json", *samples), benchmark, items)
    assert [(each.item, each.dimension, each.score, each.status, each.reason) for each in found] == [
        (items[0].id, "a", None, "unscored", Reason.MISSING),
        (items[0].id, "b", 1.0, "scored", None),
        (items[1].id, "a", None, "unscored", Reason.PROVIDER),
        (items[1].id, "b", None, "unscored", Reason.PROVIDER),
    ]
    first = found[0]
    assert (first.system, first.rater, first.rater_kind, first.repeat) == ("m/n", "Inspect", "metric", 0)
    assert first.instrument == f"medication_qa@{benchmark.version}"
    assert (first.explanation, first.seconds, first.tokens_in, first.tokens_out, first.cost) == (
        "", None, None, None, None
    )  # fmt: skip
    assert len({each.key for each in found}) == 4
    assert [each.key for each in ratings_of_given(tmp_path / "x.json", benchmark, items)[0]] == [
        each.key for each in found
    ]
    assert told == [
        "m/n: 1 of 3 items have no score: no answer has its id or its text",
        "x.json: 1 × sample that ended in an error, kept without its scores",
    ]

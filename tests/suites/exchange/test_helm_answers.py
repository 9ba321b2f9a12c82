"""Answers that HELM asked for are marked here like any candidate's, and matched by their texts alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medjury.cli import main
from medjury.suites import load_benchmark, load_items, read_results, sample_file
from medjury.suites._exchange import read_given


def state(number: int, question: str, text: str, choices: list[str], success: bool = True) -> dict[str, Any]:
    return {
        "instance": {
            "input": {"text": question}, "id": f"id{number}", "split": "test",
            "references": [{"output": {"text": each}, "tags": []} for each in choices],
        },
        "train_trial_index": 0,
        "output_mapping": dict(zip("ABCD", choices, strict=False)),
        "result": {"success": success, "completions": [{"text": text}] if success else [], "error": "no reply"},
    }  # fmt: skip


def helm_run(folder: Path, *states: dict[str, Any]) -> Path:
    folder.mkdir()
    whole = {"adapter_spec": {"model": "openai/gpt-4o"}, "request_states": list(states)}
    (folder / "scenario_state.json").write_text(json.dumps(whole))
    (folder / "run_spec.json").write_text(json.dumps({"name": "head_qa:language=en,model=openai_gpt-4o"}))
    return folder


PARTS = ["A lung.", "A liver.", "A hand.", "A heart."]
ORGANS = ["Spleen.", "Pancreas.", "Liver.", "Kidney."]  # another order than the benchmark's


def run(tmp_path: Path, folder: Path) -> dict[str, Any]:
    options = ["--quiet", "--resamples", "200", "--output", str(tmp_path / "out")]
    main(["bench", "run", "head_qa", "--candidate", f"kind=recorded,file={folder},name=gpt", *options])
    return {each.answer or each.reason: each for each in read_results(tmp_path / "out").answers}


def test_a_letter_follows_its_choice_when_helm_had_another_order(tmp_path: Path) -> None:
    folder = helm_run(
        tmp_path / "run",
        state(7, "The picture shows:", "C", PARTS),
        state(3, "Insulin is made in the:", " B", ORGANS),
    )
    found = run(tmp_path, folder)
    assert found["C"].score == 1.0  # a hand: the same letter in both
    assert found["A"].score == 1.0  # pancreas: B there, A here


def test_a_request_that_failed_in_helm_is_missing_and_never_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = helm_run(
        tmp_path / "run",
        state(7, "The picture shows:", "", PARTS, success=False),
        state(3, "Insulin is made in the:", "B", ORGANS),
    )
    found = run(tmp_path, folder)
    assert found["provider"].state == "missing" and found["A"].score == 1.0
    assert "those that openai/gpt-4o gave to HELM" in capsys.readouterr().err


def test_an_item_that_no_answer_belongs_to_is_missing_and_counted_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near = state(7, "The picture shows the:", "C", PARTS)
    found = run(tmp_path, helm_run(tmp_path / "run", near, state(3, "Insulin is made in the:", "B", ORGANS)))
    assert found["A"].score == 1.0
    (lost,) = [each for each in found.values() if each.state == "missing"]
    assert lost.score is None and lost.answer == ""
    told = capsys.readouterr().err
    assert "gpt: head_qa: 1 of 2 items have no answer: no answer has its id or its text" in told
    page = (tmp_path / "out" / "leaderboard" / "index.html").read_text()
    assert "1 of 2 items have no answer" in page and "INCOMPLETE" in page


def test_a_folder_without_a_fitting_answer_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = helm_run(tmp_path / "run", state(1, "Something else?", "A", PARTS))
    command = ["bench", "run", "head_qa", "--candidate", f"kind=recorded,file={folder},name=gpt"]
    assert main([*command, "--output", str(tmp_path / "out")]) == 2
    assert "no answer belongs to an item of these benchmarks" in capsys.readouterr().err


def test_the_task_of_a_run_is_its_name_without_the_model(tmp_path: Path) -> None:
    (found,) = read_given(helm_run(tmp_path / "run", state(1, "Q", "A", PARTS)))
    assert (found.task, found.model, found.program) == ("head_qa language=en", "openai/gpt-4o", "HELM")


def test_an_empty_query_is_what_helm_takes_it_for_unless_it_was_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = load_benchmark("ehrsql")
    asked = load_items(benchmark, sample_file(benchmark)).items
    texts = ["\n\n".join(each.inputs.values()) for each in asked]
    states = [state(number, text, "", []) for number, text in enumerate(texts)]
    states[0]["result"]["completions"][0]["text"] = f"<sql>\n{asked[0].gold[0]};\n</sql>"
    states[1]["result"]["completions"][0]["finish_reason"] = {"reason": "length"}
    folder = helm_run(tmp_path / "run", *states)
    options = ["--quiet", "--resamples", "200", "--output", str(tmp_path / "out")]
    main(["bench", "run", "ehrsql", "--candidate", f"kind=recorded,file={folder},name=gpt", *options])
    found = {each.item: each for each in read_results(tmp_path / "out").answers}
    assert [found[each.id].score for each in asked] == [1.0, None, 1.0] and asked[2].gold == ("null",)
    assert "1 empty answer read as HELM reads them" in capsys.readouterr().err

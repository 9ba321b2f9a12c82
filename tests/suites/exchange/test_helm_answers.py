"""Answers that HELM asked for are marked here like any candidate's, and matched by their texts alone."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.suites import load_benchmark, load_items, read_results, sample_file
from medjury.suites._exchange._as_ratings import read_given
from medjury.suites._exchange._others_answers import read_published
from medjury.suites._loaders._load import draw_items


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
    assert "1 answer read as HELM means them: an empty one is null" in capsys.readouterr().err


def published(folder: Path, *rows: tuple[str, float | None], title: str = "Accuracy") -> Path:
    """A table of HELM's, as its summarizer writes it: models down, benchmarks across."""
    head = [
        {"value": "Model"},
        {"value": "PubMedQA - EM", "metadata": {"metric": "EM", "run_group": "PubMedQA"}},
    ]
    cells = [[{"value": name}, {} if score is None else {"value": score}] for name, score in rows]
    file = folder / "medhelm_scenarios.json"
    file.write_text(json.dumps([{"title": title, "header": head, "rows": cells}]))
    return file


def both_marks(tmp_path: Path, *texts: str, **others: str) -> dict[str, Any]:
    """A run of PubMedQA as HELM asked it (for a letter), marked by both rules; the leaderboard as data."""
    benchmark = load_benchmark("pubmedqa")
    items = draw_items(benchmark, load_items(benchmark, sample_file(benchmark)))
    states = [
        state(number, " ".join(item.inputs.values()), text, ["yes", "no", "maybe"])
        for number, (item, text) in enumerate(zip(items, texts, strict=True))
    ]
    folder = helm_run(tmp_path / "run", *states)
    options = [word for name, value in others.items() for word in (f"--{name}", value)]
    command = [
        "bench",
        "run",
        "pubmedqa",
        "--candidate",
        f"kind=recorded,file={folder},name=gpt",
        "--marks",
        "helm",
    ]
    assert main([*command, *options, "--quiet", "--resamples", "200", "--output", str(tmp_path / "out")]) == 0
    return dict(json.loads((tmp_path / "out" / "leaderboard" / "data" / "leaderboard.json").read_text()))


def right_letters() -> list[str]:
    benchmark = load_benchmark("pubmedqa")
    items = draw_items(benchmark, load_items(benchmark, sample_file(benchmark)))
    return ["ABC"[["yes", "no", "maybe"].index(item.gold[0])] for item in items]


def test_letters_that_helm_asked_for_are_read_here_and_marked_there_as_they_were(tmp_path: Path) -> None:
    first, second = right_letters()
    (row,) = both_marks(tmp_path, first, f"{second}.")["helm"]
    assert (row["ours"], row["helms"], row["answers"]) == (0.5, 0.5, 2)


def test_the_word_that_helm_did_not_ask_for_is_right_here_and_wrong_there(tmp_path: Path) -> None:
    words = dict(zip("ABC", ("yes", "no", "maybe"), strict=True))
    (row,) = both_marks(tmp_path, *(words[each] for each in right_letters()))["helm"]
    assert (row["ours"], row["helms"], row["answers"]) == (1.0, 0.0, 2)


def test_an_empty_answer_has_helms_mark_too(tmp_path: Path) -> None:
    (row,) = both_marks(tmp_path, right_letters()[0], "")["helm"]
    assert (row["ours"], row["helms"], row["answers"]) == (0.5, 0.5, 2)


def test_published_scores_are_beside_the_candidates_with_what_differs(tmp_path: Path) -> None:
    file = published(tmp_path, ("GPT-4o (2024-05-13)", 0.625), ("Never run", None))
    found = both_marks(tmp_path, *right_letters(), published=str(file))
    assert found["published"] == [{"model": "GPT-4o (2024-05-13)", "benchmark": "pubmedqa", "score": 0.625}]
    page = html.unescape((tmp_path / "out" / "leaderboard" / "index.html").read_text())
    section = page.partition('<section id="helm"')[2].partition("</section>")[0]
    differs = ("all 1,000 labelled questions", "asks for a letter (A yes, B no, C maybe)", "not a sign more")
    for words in ("GPT-4o (2024-05-13)", "0.625", "published by HELM", *differs):
        assert words in section
    assert "Never run" not in page and "HELM's mark" in page
    assert "helm_answers" in (tmp_path / "out" / "leaderboard" / "data" / "cells.csv").read_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no table of HELM's results"),
        ('[{"title": "Accuracy", "header": [], "rows": []}]', "holds no score of pubmedqa"),
        ('[{"rows": []}]', "is no table of HELM's results"),
        ("7", "is no table of HELM's results"),
    ],
)
def test_a_file_without_published_scores_is_refused(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content)
    with pytest.raises(MedjuryError, match=words):
        read_published(file, [load_benchmark("pubmedqa")])


def test_scores_off_the_scale_and_two_of_one_model_are_refused(tmp_path: Path) -> None:
    benchmarks = [load_benchmark("pubmedqa")]
    with pytest.raises(MedjuryError, match="is no score from 0 to 1"):
        read_published(published(tmp_path, ("one", 62.5)), benchmarks)
    with pytest.raises(MedjuryError, match="one has two scores on pubmedqa"):
        read_published(published(tmp_path, ("one", 0.5), ("one", 0.6)), benchmarks)
    with pytest.raises(MedjuryError, match="holds no score"):
        read_published(published(tmp_path, ("one", 3.5), title="Efficiency"), benchmarks)


def test_published_scores_without_helms_marks_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bench", "run", "pubmedqa", "--candidate", "embedded", "--published", str(published(tmp_path))]
    assert main([*command, "--output", str(tmp_path / "out")]) == 2
    assert "write `marks: helm` too" in capsys.readouterr().err


def test_a_page_without_helms_marks_says_nothing_of_them(tmp_path: Path) -> None:
    run(tmp_path, helm_run(tmp_path / "run", state(7, "The picture shows:", "C", PARTS)))
    assert "HELM's mark" not in (tmp_path / "out" / "leaderboard" / "index.html").read_text()

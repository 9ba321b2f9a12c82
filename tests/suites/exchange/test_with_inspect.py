"""A jury as a scorer of the real Inspect, and a log that Inspect wrote as a candidate and as ratings."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.suites.exchange.juries import graded, nothing_leaves, write_study

from medjury.cli import main
from medjury.suites import (
    inspect_scorer,
    load_benchmark,
    load_items,
    ratings_of_given,
    read_results,
    sample_file,
)
from medjury.suites._loaders._load import draw_items

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="inspect_ai is not installed; `make test-interop` brings it"
)
pytestmark = pytest.mark.filterwarnings("ignore")


def run(task: Any, folder: Path, outputs: list[str]) -> Any:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    made = [ModelOutput.from_content("mockllm/model", each) for each in outputs]
    for each in made:  # or it would fetch a tokenizer to count them
        each.usage = ModelUsage(input_tokens=3, output_tokens=2, total_tokens=5)
    model = get_model("mockllm/model", custom_outputs=made)
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir=str(folder), max_samples=1)
    assert log.status == "success", log.error
    return log


def by_text(call: Call) -> str:
    """A judge that grades 5, 1, or declines, by what the answer says."""
    if "DECLINE" in call.prompt:
        return "refusal"
    return graded(5 if "GOOD" in call.prompt else 1)


def test_the_jury_scores_samples_and_a_judge_that_failed_leaves_one_unscored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    with LoopbackServer(by_text) as server, nothing_leaves(monkeypatch) as tried:
        file = write_study(tmp_path, server.url)
        questions = [Sample(id=str(n), input=f"What helps in case {n}?", target="Rest.") for n in range(4)]
        log = run(
            Task(dataset=questions, scorer=inspect_scorer(file)),
            tmp_path / "logs",
            ["GOOD rest.", "Bad.", "DECLINE this.", ""],
        )
    assert tried == []
    scores = {each.id: each.scores["medjury"] for each in log.samples}
    assert scores["0"].value == 1.0 and scores["1"].value == 0.0
    assert "Clear." in scores["0"].explanation and scores["0"].metadata["votes"]["judge"]["accuracy"] == 5
    assert math.isnan(scores["2"].value) and scores["2"].reason == "grader_failed"
    assert "refusal" in scores["2"].explanation
    assert math.isnan(scores["3"].value) and scores["3"].reason == "no_response"
    (result,) = log.results.scores
    assert result.metrics["mean"].value == 0.5  # of the two that have a score
    assert (result.scored_samples, result.unscored_samples) == (2, 2)


def test_a_log_of_inspect_is_a_candidate_and_its_scores_are_ratings(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    benchmark = load_benchmark("head_qa")
    items = draw_items(benchmark, load_items(benchmark, sample_file(benchmark)))
    samples = [
        Sample(
            id=item.id,
            input=item.inputs["question"],
            choices=list(item.choices.values()),
            target=chr(ord("A") + list(item.choices).index(item.gold[0])),
        )
        for item in items
    ]
    # Asked in their order: the right letter, then nothing at all.
    answers = [f"ANSWER: {samples[0].target}", ""]
    log = run(Task(dataset=samples, solver=multiple_choice(), scorer=choice()), tmp_path / "logs", answers)
    out = ["--quiet", "--resamples", "200", "--output", str(tmp_path / "out")]
    candidate = f"kind=recorded,file={log.location},name=mock"
    assert main(["bench", "run", "head_qa", "--candidate", candidate, *out]) in (0, 3)
    found = {each.item: each for each in read_results(tmp_path / "out").answers}
    assert found[items[0].id].score == 1.0
    assert (found[items[1].id].state, found[items[1].id].reason) == ("unanswered", "empty")
    ratings, told = ratings_of_given(log.location, benchmark, items)
    assert [(each.item, each.dimension, each.score) for each in ratings] == [
        (items[0].id, "choice", 1.0),
        (items[1].id, "choice", 0.0),
    ]
    assert told == []

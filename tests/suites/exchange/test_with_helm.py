"""A jury as an annotator of the real HELM, run by its own runner, and the run folder it wrote as a candidate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.suites.exchange.juries import graded, nothing_leaves, write_study

from medjury.cli import main
from medjury.suites import load_benchmark, load_items, ratings_of_given, read_results, sample_file
from medjury.suites._exchange._as_ratings import read_given
from medjury.suites._loaders._load import draw_items

pytest.importorskip("helm", reason="crfm-helm is not installed; `make test-interop` brings it")
pytestmark = pytest.mark.filterwarnings("ignore")
BENCHMARK = load_benchmark("medication_qa")


def items() -> Any:
    return draw_items(BENCHMARK, load_items(BENCHMARK, sample_file(BENCHMARK)))


def scenario() -> Any:
    """A scenario of HELM with the questions of a benchmark, by the ids that they have there."""
    from helm.benchmark.scenarios.scenario import (
        CORRECT_TAG,
        TEST_SPLIT,
        Input,
        Instance,
        Output,
        Reference,
        Scenario,
    )

    class Questions(Scenario):
        name, description, tags = "questions", "Questions of a benchmark.", []  # type: ignore[var-annotated]

        def get_instances(self, output_path: str) -> list[Any]:
            return [
                Instance(
                    Input(text=item.inputs["question"]),
                    [Reference(Output(text=item.gold[0]), tags=[CORRECT_TAG])],
                    TEST_SPLIT,
                    id=item.id,
                )
                for item in items()
            ]

    return Questions()


def helm_run(folder: Path, study: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs HELM's own runner with `simple/model1`, which echoes its prompt's last words; the run folder."""
    from helm.benchmark import runner as runners
    from helm.benchmark.adaptation.adapter_spec import AdapterSpec
    from helm.benchmark.annotation.annotator import AnnotatorSpec
    from helm.benchmark.config_registry import register_builtin_configs_from_helm_package
    from helm.benchmark.executor import ExecutionSpec
    from helm.benchmark.metrics.metric import MetricSpec
    from helm.benchmark.run_spec import RunSpec
    from helm.benchmark.scenarios.scenario import ScenarioSpec

    register_builtin_configs_from_helm_package()
    monkeypatch.setattr(runners, "create_scenario", lambda spec: scenario())
    spec = RunSpec(
        name="questions:model=simple_model1",
        scenario_spec=ScenarioSpec(class_name="Questions"),
        adapter_spec=AdapterSpec(
            method="generation",
            model="simple/model1",
            model_deployment="simple/model1",
            max_train_instances=0,
            max_eval_instances=10,
            max_tokens=20,
            num_outputs=1,
        ),
        metric_specs=[MetricSpec(class_name="medjury.suites.helm_jury_metric", args={})],
        annotators=[AnnotatorSpec(class_name="medjury.suites.JuryAnnotator", args={"study": str(study)})],
        groups=[],
    )
    runners.Runner(
        ExecutionSpec(
            url=None,
            auth=None,  # type: ignore[arg-type]
            local_path=str(folder / "prod_env"),
            parallelism=1,
        ),
        output_path=str(folder / "output"),
        suite="first",
        skip_instances=False,
        cache_instances=False,
        cache_instances_only=False,
        skip_completed_runs=False,
        exit_on_error=True,
    ).run_all([spec])
    return folder / "output" / "runs" / "first" / "questions:model=simple_model1"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of HELM for all tests. The judge declines the second question and grades the others 5."""
    folder = tmp_path_factory.mktemp("helm")
    second = items()[1].inputs["question"]

    def judge(call: Call) -> str:
        return "refusal" if second in call.prompt else graded(5)

    with pytest.MonkeyPatch.context() as patch, LoopbackServer(judge) as server:
        with nothing_leaves(patch) as tried:
            made = helm_run(folder, write_study(folder, server.url), patch)
        assert tried == []
        assert len(server.calls) == len(items())
    return made


def test_its_runner_keeps_the_jurys_annotations_and_no_score_for_a_judge_that_failed(ran: Path) -> None:
    state = json.loads((ran / "scenario_state.json").read_text())
    found = {each["instance"]["id"]: each["annotations"]["medjury"] for each in state["request_states"]}
    first, second, *_ = (found[each.id] for each in items())
    assert first["score"] == 1.0 and first["votes"]["judge"]["accuracy"] == 5
    assert "score" not in second and second["status"] == "UNSCORED" and "refusal" in second["why"]
    stats = {
        (each["name"]["name"], each["name"]["split"]): each
        for each in json.loads((ran / "stats.json").read_text())
        if not each["name"].get("perturbation")
    }
    count = len(items())
    assert stats["medjury_score", "test"]["mean"] == 1.0  # of those that have one
    assert stats["medjury_unscored", "test"]["mean"] == pytest.approx(1 / count)
    each = json.loads((ran / "per_instance_stats.json").read_text())
    scored = {
        row["instance_id"] for row in each for one in row["stats"] if one["name"]["name"] == "medjury_score"
    }
    assert scored == {item.id for item in items()} - {items()[1].id}


def test_its_run_folder_is_a_candidate_and_its_statistics_are_ratings(ran: Path, tmp_path: Path) -> None:
    (run,) = read_given(ran)
    assert (run.program, run.model, run.task) == ("HELM", "simple/model1", "questions")
    assert [each.id for each in run.answers] == [item.id for item in items()]
    said = {each.id: each.text for each in run.answers}
    out = ["--quiet", "--resamples", "200", "--output", str(tmp_path / "out")]
    main(["bench", "run", BENCHMARK.name, "--candidate", f"kind=recorded,file={ran},name=simple", *out])
    found = {each.item: each for each in read_results(tmp_path / "out").answers}
    assert {item: each.answer for item, each in found.items()} == said and all(said.values())
    ratings, told = ratings_of_given(ran, BENCHMARK, items())
    jury = {each.item: each for each in ratings if each.dimension == "medjury_score"}
    assert len(jury) == len(items()) and told == []
    second = jury.pop(items()[1].id)
    assert second.status == "unscored" and second.score is None
    assert {each.score for each in jury.values()} == {1.0}

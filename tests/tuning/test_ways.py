"""Examples chosen by validation, the tuned prompt over several models, the learning curve, and what it all cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loopback import Call, LoopbackServer
from tests.tuning.labelled import tune
from tests.tuning.world import HEARD, NEGATION, answer, write_task

from medjury.instruments import load_instrument
from medjury.report import write_page
from medjury.store.runs import RunFolder, TuningManifest
from medjury.studies import load_study, run_study
from medjury.tuning._result import TuningResult
from medjury.tuning._settings import PRESETS, TuningPart, rollouts


def shown_examples(call: Call) -> str | None:
    """A judge that knows a label only where an example of it was shown."""
    texts = [message["content"] for message in call.json["messages"]]
    known = {int(each) for text in texts[1:-1] for each in re.findall(r'"score": (\d)', text)}
    label = next(each for each in (2, 1, 0) if HEARD[each] in texts[-1])
    score = label if label in known else 0
    return f"ok:{json.dumps({'impact': {'explanation': 'as shown', 'score': score}})}"


def test_the_number_choice_and_order_of_examples_are_chosen_by_validation(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    with LoopbackServer(shown_examples) as server:
        file = write_task(tmp_path, server.url, tuning={"shots": [0, 1, 3], "trials": 8, "shortlist": 6})
        result = tune(file, way="examples")
        asked = len(server.calls)
        tune(file, way="examples")
        assert len(server.calls) == asked, "the search takes the same way again, and asks nothing"
    assert result.found is not None and result.held_out is not None
    best = result.found.best
    assert {each.scores["impact"] for each in best.examples} >= {1, 2}, "what the judge has to be shown"
    assert result.held_out.value("tuned", "accuracy", "impact").value == 1.0
    written = load_instrument(result.folder / "tuned.yaml")
    assert written.examples == best.examples, "usable as it is, with `examples: true`"
    seen = {text for each in best.examples for text in each.inputs.values()}
    rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    shown = {row["id"] for row in rows if row["candidate"] in seen}
    assert TuningManifest.read(result.folder).touched and len(shown) == len(best.examples)
    assert "0 shots" in (result.folder / "lineage.jsonl").read_text()


def test_the_tuned_prompt_is_run_over_many_models_several_times(
    server: LoopbackServer, tmp_path: Path
) -> None:
    models = [
        {"kind": "openai", "name": name, "url": server.url, "model": name, "temperature": 1.0}
        for name in ("x", "y")
    ]
    result = tune(write_task(tmp_path, server.url, tuning={"models": models, "runs": 3}))
    assert result.models is not None
    rows = {(row.rater, row.statistic): row for row in result.models.rows}
    assert {rater for rater, _ in rows} == {"x", "y"}
    for statistic in ("macro_f1", "cohen_kappa", "f1_class_0", "f1_class_1", "f1_class_2"):
        assert len(rows["x", statistic].values) == 3 and rows["x", statistic].sd == 0.0
    report = (result.folder / "report.md").read_text()
    assert "The tuned prompt with other models" in report and "f1_class_2" in report


@pytest.fixture(scope="module")
def curved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, TuningResult]]:
    """A study and its tuning with a learning curve."""
    with LoopbackServer(answer) as server:
        settings = {"learning_curve": [2, 24]}
        minutes = {"clinician_minutes_per_case": 2.0, "resamples": 200}
        file = write_task(
            tmp_path_factory.mktemp("curved"), server.url, calls=60, each=2, tuning=settings, report=minutes
        )
        yield file, tune(file, budget=120)


def test_the_learning_curve_says_how_many_labels_it_takes(curved: tuple[Path, TuningResult]) -> None:
    _, result = curved
    assert [point.training for point in result.curve] == [2, 24, 72]
    assert result.curve[-1].beats and any("beats the plain prompt" in line for line in result.findings())
    tuned = load_instrument(result.folder / "tuned.yaml")
    facts = tuned.parameters["tuning"]
    assert isinstance(facts, dict) and len(facts["curve"]) == 3 and facts["gain"][0] > 0


def test_the_report_of_a_study_says_what_a_tuned_judge_gains_and_what_that_cost(
    curved: tuple[Path, TuningResult],
) -> None:
    file, result = curved
    words = file.read_text()
    judge = re.search(r"judges: \[(.*)\]\n", words)
    assert judge is not None
    own = judge[1].replace('"name": "judge"', f'"name": "better", "instrument": "{result.folder}/tuned.yaml"')
    with_both = file.with_name("with-both.yaml")
    with_both.write_text(words.replace(judge[0], f"judges: [{judge[1]}, {own}]\n"))
    study = load_study(with_both)
    run_study(study)
    manifest = RunFolder(study.output).manifest
    assert {each.name: each.way for each in manifest.judges}["better"] == "single, tuned by gepa"
    page = write_page(study.output).read_text()
    assert "What tuning took" in page and "single, tuned by gepa" in page
    took = (study.output / "tables" / "tuning.csv").read_text()
    assert "better" in took and "12.0" in took, "360 labels at two minutes each are twelve hours"
    assert "labelled cases" in page


def test_presets_are_the_papers() -> None:
    part = TuningPart.model_validate({"preset": "paper-002"})
    assert (
        part.split == [218, 30, 50] and part.minibatch == 3 and part.budget == "medium" and part.skip_perfect
    )
    assert part.selection == "pareto" and part.candidates > 1 and part.group == "none" and part.runs == 5
    assert part.resamples == 1000 and part.reflector is None, "one model judges and reflects"
    assert TuningPart.model_validate({"preset": "paper-002", "group": "patient"}).group == "patient"
    assert TuningPart.model_validate({"preset": "paper-004"}).shots == [0, 1, 3, 5]
    assert rollouts("medium", 1, 30) == 840 and rollouts(55, 3, 30) == 55
    assert set(PRESETS) == {"paper-002", "paper-004"}


def test_paper_002_runs(server: LoopbackServer, tmp_path: Path) -> None:
    result = tune(write_task(tmp_path, server.url), preset="paper-002", budget=100)
    assert result.status == "complete" and result.models is not None and result.held_out is not None
    assert result.found is not None and NEGATION in result.found.best.instructions

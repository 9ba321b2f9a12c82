"""What a jury hands to HELM, deepeval, Inspect and MLflow, each played by the few names that are used of it.

With the programs themselves this is tried by `make test-interop`, where they are installed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.passports.passported import write_study as small_study
from tests.suites.exchange.juries import graded, write_study

from medjury.instruments import load_instrument
from medjury.studies import load_study, run_study
from medjury.suites import (
    AnswerJury,
    JuryAnnotator,
    UnscoredError,
    deepeval_metric,
    helm_jury_metric,
    inspect_scorer,
    log_to_mlflow,
)
from medjury.suites._exchange._jury_elsewhere import Opinion, texts_for
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of


def by_text(call: Call) -> str:
    if "DECLINE" in call.prompt:
        return "refusal"
    return graded(5 if "GOOD" in call.prompt else 2)


@pytest.fixture(scope="module")
def jury(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnswerJury]:
    with LoopbackServer(by_text) as server:
        yield AnswerJury(write_study(tmp_path_factory.mktemp("study"), server.url))


def installed(monkeypatch: pytest.MonkeyPatch, name: str, **names: Any) -> None:
    module = ModuleType(name)
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, name, module)


# Opinions.


@pytest.mark.parametrize(
    ("prompt", "named", "texts"),
    [
        ("Why?", {}, {"context": "Why?"}),
        ("Why?", {"context": "Talk"}, {"context": "Talk"}),
        ("Why?", {"context": ""}, {"context": "Why?"}),
        ("Why?", {"context": None, "candidate": "x", "reference": "y", "other": "z"}, {"context": "Why?"}),
        (" ", {}, {}),
        ("", {"context": 5}, {"context": "5"}),
    ],
)
def test_the_prompt_is_the_one_input_that_is_left(
    prompt: str, named: dict[str, Any], texts: dict[str, str]
) -> None:
    assert texts_for(load_instrument("note_quality"), prompt, named) == texts


def test_an_opinion_tells_everything_but_its_score() -> None:
    votes = {"j": {"accuracy": 4.0}}
    good = Opinion(
        0.75, grades={"accuracy": 4.0}, votes=votes, explanations={"j: accuracy": "Yes.", "k": "No."}
    )
    assert good.details() == {"grades": {"accuracy": 4.0}, "votes": votes}
    assert good.because() == "j: accuracy: Yes.\nk: No."
    failed = Opinion(None, "why", unscored={"accuracy": "refusal"})
    assert failed.details() == {
        "status": "UNSCORED", "why": "why", "grades": {}, "votes": {}, "unscored": {"accuracy": "refusal"}
    }  # fmt: skip
    assert next(iter(failed.details())) == "status" and failed.because() == ""


def test_a_score_is_the_mean_of_the_dimensions_between_nought_and_one(jury: AnswerJury) -> None:
    assert jury.opinion("Hm.", prompt="Why?").score == 0.25
    found = jury.opinion("DECLINE", prompt="Why?")
    reasons = "accuracy (refusal); clarity (refusal)"
    assert found.why.startswith("the jury gave no score: ") and found.score is None
    assert set(found.unscored) == {"accuracy", "clarity", "judge: accuracy", "judge: clarity"}, reasons
    assert jury.judges == ("judge",) and jury.dimensions == ("accuracy", "clarity")
    assert jury.title == f"Medjury: {load_instrument('note_quality').title}"


# HELM.


def request(text: str | None, *, success: bool = True, gold: str = "") -> Any:
    tags = [("Wrong.", []), *([(gold, ["correct"])] if gold else [])]
    return SimpleNamespace(
        instance=SimpleNamespace(
            input=SimpleNamespace(text="What helps?"),
            references=[SimpleNamespace(output=SimpleNamespace(text=each), tags=tag) for each, tag in tags],
        ),
        result=SimpleNamespace(
            success=success,
            completions=[] if text is None else [SimpleNamespace(text=each) for each in (text, "second")],
        ),
    )


def test_an_annotation_of_helm_has_a_score_or_says_that_it_has_none(jury: AnswerJury) -> None:
    annotator = JuryAnnotator(jury)
    assert annotator.name == "medjury"
    good, bad, lost = annotator.annotate_all(
        [request("GOOD rest."), request("DECLINE it."), request("GOOD rest.", success=False)]
    )
    votes = {"judge": {"accuracy": 5.0, "clarity": 5.0}}
    assert good == {"score": 1.0, "grades": {"accuracy": 5.0, "clarity": 5.0}, "votes": votes}
    assert "score" not in bad and bad["status"] == "UNSCORED" and "refusal" in bad["why"]
    nothing = {"status": "UNSCORED", "why": "the model gave no answer to judge", "grades": {}, "votes": {}}
    assert lost == annotator.annotate(request(None)) == nothing
    without = request("x")
    without.result = None
    assert annotator.annotate(without) == nothing


def test_the_right_answer_of_helm_is_the_reference_that_the_jury_sees(tmp_path: Path) -> None:
    with LoopbackServer(by_text) as server:
        annotator = JuryAnnotator(str(write_study(tmp_path, server.url)))
        annotator.annotate(request("GOOD rest.", gold="Rest is right."))
        (prompt,) = [call.prompt for call in server.calls]
    assert "Rest is right." in prompt and "Wrong." not in prompt and "What helps?" in prompt


@dataclass
class Stat:
    name: str
    values: list[float] = field(default_factory=list)

    def add(self, value: float) -> Stat:
        self.values.append(value)
        return self


def test_helm_counts_the_unscored_and_averages_the_scores_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "helm.benchmark.metrics.metric", Metric=object)
    installed(monkeypatch, "helm.benchmark.metrics.statistic", Stat=Stat)
    installed(monkeypatch, "helm.benchmark.metrics.metric_name", MetricName=str)
    metric = helm_jury_metric()

    def evaluated(annotation: dict[str, Any]) -> list[Stat]:
        state = SimpleNamespace(annotations={"medjury": annotation})
        found: list[Stat] = metric.evaluate_generation(None, state, None, "")
        return found

    assert evaluated({"score": 0.0}) == [Stat("medjury_unscored", [0]), Stat("medjury_score", [0.0])]
    assert evaluated({"status": "UNSCORED"}) == [Stat("medjury_unscored", [1])]


# deepeval.


def case(answer: str | None, **more: Any) -> Any:
    given = {"input": "What helps?", "expected_output": "Rest.", "metadata": None, **more}
    return SimpleNamespace(actual_output=answer, **given)


def test_a_metric_of_deepeval_has_a_score_or_raises(
    jury: AnswerJury, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "deepeval.metrics", BaseMetric=object)
    metric = deepeval_metric(jury, threshold=0.25)
    assert (metric.threshold, metric.evaluation_model, metric.__name__) == (0.25, "judge", jury.title)
    assert (metric.async_mode, metric.strict_mode, metric.include_reason) == (True, False, True)
    assert not metric.is_successful() and metric.score is None
    assert metric.measure(case("GOOD rest.")) == metric.score == 1.0
    assert metric.is_successful() and metric.reason == "judge: accuracy: Clear.\njudge: clarity: Clear."
    assert metric.score_breakdown == {"accuracy": 5.0, "clarity": 5.0} and metric.error is None
    with pytest.raises(UnscoredError, match="UNSCORED: the jury gave no score"):
        metric.measure(case("DECLINE it."))
    assert metric.score is None and metric.success is False and not metric.is_successful()
    assert metric.error.startswith("UNSCORED: ") and metric.score_breakdown == {} and metric.reason is None
    assert asyncio.run(metric.a_measure(case("Hm."))) == 0.25
    assert metric.is_successful() and metric.error is None  # just at the threshold
    for answer in (None, " "):
        with pytest.raises(UnscoredError, match="the answer is empty"):
            metric.measure(case(answer))
    assert metric.measure(case("GOOD rest.", input=None, metadata={"context": "Talk"})) == 1.0
    assert deepeval_metric(jury).threshold == 0.5


# Inspect.


class Score(SimpleNamespace):
    @classmethod
    def unscored(cls, **named: Any) -> Score:
        return cls(value=None, **named)


def test_a_scorer_of_inspect_gives_a_score_or_its_own_unscored_one(
    jury: AnswerJury, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated: dict[str, Any] = {}

    def scorer(**named: Any) -> Any:
        stated.update(named)
        return lambda made: made

    named = {"scorer": scorer, "mean": lambda: "mean", "stderr": lambda: "stderr", "Score": Score}
    installed(monkeypatch, "inspect_ai.scorer", **named)
    score = inspect_scorer(jury)
    assert stated == {"metrics": ["mean", "stderr"], "name": "medjury"}

    def scored(answer: str) -> Score:
        output = SimpleNamespace(completion=answer)
        state = SimpleNamespace(output=output, input_text="What helps?", metadata={})
        found: Score = asyncio.run(score(state, SimpleNamespace(text="Rest.")))
        return found

    good, declined, empty = scored("GOOD rest."), scored("DECLINE it."), scored(" ")
    assert (good.value, good.answer) == (1.0, "GOOD rest.")
    assert "judge: clarity: Clear." in good.explanation and good.metadata["grades"]["accuracy"] == 5.0
    assert (declined.value, declined.reason, declined.answer) == (None, "grader_failed", "DECLINE it.")
    assert "refusal" in declined.explanation and declined.metadata["status"] == "UNSCORED"
    assert (empty.value, empty.reason) == (None, "no_response")


# MLflow.


class Tracking(ModuleType):
    """The calls that are made of MLflow, written down."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.open: Any = None
        self.started: list[str | None] = []
        self.metrics: dict[str, float] = {}
        self.tags: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.artifacts: list[str] = []
        self.log_metrics, self.set_tags = self.metrics.update, self.tags.update
        self.log_artifact = self.artifacts.append

    def active_run(self) -> Any:
        return self.open

    def log_text(self, text: str, file: str) -> None:
        self.texts[file] = text

    @contextmanager
    def start_run(self, run_name: str | None) -> Iterator[Any]:
        self.started.append(run_name)
        yield SimpleNamespace(info=SimpleNamespace(run_id="made"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with LoopbackServer() as server:
        file = small_study(tmp_path_factory.mktemp("run"), server, cases=20, report={"hide_texts": True})
        return run_study(load_study(file)).folder


def test_mlflow_gets_the_verdict_and_its_numbers_and_names_what_is_undefined(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = Tracking()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    assert log_to_mlflow(folder) == "made" and mlflow.started == ["small"]
    evidence = evidence_of(open_run(folder))
    found = validation_of(evidence)
    manifest = evidence.manifest
    assert mlflow.tags == {
        "medjury.verdict": found.worst(first=True),
        "medjury.version": manifest.medjury,
        "medjury.study": "small",
        "medjury.data_hash": manifest.data_hash,
        "medjury.study_file_hash": manifest.study_file_hash,
        "medjury.instrument": manifest.instrument.name,
        "medjury.judges": "juror",
        "medjury.reference": "2 clinicians",
        "medjury.report": "not logged: it is not there, or shows texts of cases",
        **{f"medjury.verdict.{each.dimension}": each.word for each in found.verdicts},
        **{name: value for name, value in mlflow.tags.items() if name == "medjury.undefined"},
    }
    undefined = set(mlflow.tags.get("medjury.undefined", "").split(", ")) - {""}
    (verdict,) = found.verdicts
    lines = [rule for rule in verdict.rules if rule.line and rule.state != "does not apply"]
    expected = {
        f"accuracy/{rule.id}.{end}": value
        for rule in lines
        for end in ("jury", "colleague", "value", "low", "high")
        if (value := getattr(rule, end)) is not None
    }
    assert lines and undefined == {f"accuracy/{rule.id}" for rule in lines if rule.value is None}
    counts = {"accuracy/scored": 20, "accuracy/asked": 20, "accuracy/coverage": 1.0}
    ratings = {
        f"ratings/{name}": getattr(manifest.coverage, name) for name in ("ratings", "scored", "unscored")
    }
    reasons = {f"unscored/{name}": count for name, count in manifest.coverage.unscored_by_reason.items()}
    assert mlflow.metrics == expected | counts | ratings | reasons
    assert mlflow.texts == {"verdict.json": found.verdicts_json(), "verdict.txt": found.text() + "\n"}
    assert mlflow.artifacts == []


def test_a_report_that_hides_texts_goes_into_the_run_that_is_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = Tracking()
    mlflow.open = SimpleNamespace(info=SimpleNamespace(run_id=7))
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    report = folder / "report.html"
    report.write_text("made")
    try:
        assert log_to_mlflow(folder) == "7"
    finally:
        report.unlink()
    assert mlflow.started == [] and mlflow.artifacts == [str(report)]
    assert mlflow.tags["medjury.report"] == "logged"

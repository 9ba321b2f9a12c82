"""Text metrics are raters beside the judges: in every table, in no jury, on a scale of their own."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
from tests.loopback import LoopbackServer
from tests.studies.running import manifest_of, ratings_of, run_without_report

from medjury.analysis.agreement import agreement
from medjury.analysis.audits import internal_consistency
from medjury.cli import main
from medjury.tables import open_run
from medjury.texts.metrics import impact
from medjury.validation import evidence_of, validation_of

Write = Callable[..., Path]
CASES = [
    {"id": "same", "system": "a", "candidate": "No chest pain.", "reference": "no, chest pain",
     "texts": {"context": "Any pain?"}},
    {"id": "half", "system": "a", "candidate": "some pain", "reference": "no pain",
     "texts": {"context": "Any pain?"}},
    {"id": "lost", "system": "a", "candidate": "[nothing was recognised]", "reference": "left arm",
     "texts": {"context": "Where?"}},
    {"id": "bare", "system": "a", "candidate": "some pain", "texts": {"context": "Where?"}},
]  # fmt: skip


def test_a_metric_rates_every_answer_and_dimension_and_a_failure_is_no_number(write_study: Write) -> None:
    """By hand: the same words, one of two words wrong, nothing recognised, and no reference at all."""
    study = write_study(cases=CASES, metrics=["ROUGE-L", "wer"])
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater_kind="metric")
    assert set(rows["dimension"]) >= {"accuracy", "completeness", "clarity"}
    wer = rows.filter(rater="wer", dimension="clarity")
    found = dict(wer.select("item", "score").iter_rows())
    assert found == {"same": 0.0, "half": 0.5, "lost": 1.0, "bare": None}
    rouge = rows.filter(rater="rouge_l", dimension="accuracy")
    found = dict(rouge.select("item", "score").iter_rows())
    assert found == {"same": 1.0, "half": 0.5, "lost": 0.0, "bare": None}
    bare = wer.filter(item="bare").row(0, named=True)
    assert (bare["status"], bare["reason"]) == ("unscored", "input")
    assert bare["explanation"] == "the reference has no words"
    manifest = manifest_of(study)
    assert manifest["metrics"] == {"rouge_l": "normalised texts", "wer": "normalised texts"}
    assert manifest["coverage"]["ratings"] == 12, "coverage counts what judges were asked"


def test_a_metric_is_never_a_juror_and_has_correlations_alone(
    write_study: Write, server: LoopbackServer
) -> None:
    cases = [
        {"id": f"c{n}", "system": "a", "candidate": " ".join("abcdefghij"[: n + 1]),
         "reference": "a b c d e f g h i j",
         "texts": {"context": "note"}}
        for n in range(10)
    ]  # fmt: skip
    judges = [{"kind": "openai", "name": name, "url": server.url, "model": name} for name in ("one", "two")]
    study = write_study(cases=cases, judges=judges, metrics=["wer"], humans="humans.csv")
    rows = [
        f"c{n},a,dr,{each},{1 + n // 2}"
        for n in range(10)
        for each in ("accuracy", "completeness", "clarity")
    ]
    (study.parent / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *rows]) + "\n")
    assert run_without_report(study) == 0
    table = open_run(study.parent / "runs" / "small")
    assert table.raters["wer"] == "metric"
    jury = ratings_of(study).filter(rater="jury", dimension="accuracy").sort("item")["score"]
    both = ratings_of(study).filter(rater_kind="judge", dimension="accuracy").group_by("item").agg(
        polars.col("score").mean()
    )  # fmt: skip
    assert jury.to_list() == both.sort("item")["score"].to_list()
    found = {
        row.statistic: row.estimate.value
        for row in agreement(table, raters="wer", dimensions="accuracy", resamples=0).rows
    }
    assert found["spearman"] == pytest.approx(-0.985, abs=0.001)
    assert found.get("kappa_quadratic") is None
    assert found.get("accuracy") is None


def test_metrics_change_nothing_that_is_said_of_the_jury(write_study: Write, server: LoopbackServer) -> None:
    """The same run with its metric rows taken out has the same verdict, digit by digit, and the same audit."""
    cases = [
        {"id": f"c{n}", "system": "ab"[n % 2], "candidate": "pain " * (1 + n % 7), "reference": "pain pain pain",
         "texts": {"context": "note"}}
        for n in range(24)
    ]  # fmt: skip
    judges = [{"kind": "openai", "name": name, "url": server.url, "model": name} for name in ("one", "two")]
    study = write_study(cases=cases, judges=judges, metrics=["wer"], humans="humans.csv",
                        report={"resamples": 200})  # fmt: skip
    rows = [
        f"c{n},{'ab'[n % 2]},{dr},{each},{1 + (n + len(dr)) % 5}"
        for n in range(24)
        for dr in ("x", "yy")
        for each in ("accuracy", "completeness", "clarity")
    ]
    (study.parent / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *rows]) + "\n")
    assert main(["run", str(study), "--quiet"]) == 0
    folder = study.parent / "runs" / "small"
    page = (folder / "report.html").read_text()
    assert "wer" in page
    shared = (folder / "tables" / "distributions.csv").read_text()
    assert "jury" in shared and "wer" not in shared, "a metric has no grades to count"
    both = {"with": open_run(folder)}
    polars.read_parquet(folder / "ratings.parquet").filter(
        polars.col("rater_kind") != "metric"
    ).write_parquet(folder / "ratings.parquet")
    both["without"] = open_run(folder)
    said = {name: validation_of(evidence_of(table)).text() for name, table in both.items()}
    assert said["with"] == said["without"]
    consistency = {name: internal_consistency(table, resamples=0).text() for name, table in both.items()}
    assert consistency["with"] == consistency["without"]


def test_the_impact_estimate_rates_with_the_question_before_and_says_what_changed(write_study: Write) -> None:
    turns = [
        {"id": "lips", "candidate": "not so but I can feel something in the lips", "system": "a",
         "reference": "Not throat, but I can feel something in the lips.",
         "texts": {"context": "Patient: Hello.\nDoctor: Do you feel your throat is closing up?"}},
        {"id": "none", "candidate": "yes", "system": "a", "texts": {"context": "Doctor: Any pain?"}},
    ]  # fmt: skip
    study = write_study(cases=turns, metrics=["impact_estimate", "wer"])
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater="impact_estimate", dimension="accuracy").sort("item")
    alone = impact(
        [turns[0]["reference"]], [turns[0]["candidate"]], ["Do you feel your throat is closing up?"]
    )[0]
    assert rows["score"].to_list() == [pytest.approx(alone.score), None]
    assert rows["explanation"][0] == "'not throat' became 'not so': denial of a part of the body lost"
    assert rows["status"].to_list() == ["scored", "unscored"]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["rouge_ll"], "did you mean 'rouge_l'"),
        ([{"wer": "x", "cer": "y"}], "a metric is a word"),
        ([{"wer": "folder"}], "wer is counted without a model"),
        ([{"wer": None, "gpus": 0}], "gpus: is a number above 0"),
        ([{"wer": None, "cpus": "many"}], "cpus: is a number above 0"),
        ([{"gpus": 1}], "a metric is a word"),
        (["clinical_bleurt"], "give the folder of your own"),
        (["wer"], "'wer' is the name of a judge or of the jury"),
    ],
)
def test_what_is_no_metric_is_refused_with_its_line(
    write_study: Write, metrics: list[object], message: str, server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    study = write_study(judge={"name": "wer"}, metrics=metrics)
    assert run_without_report(study) == 2
    told = capsys.readouterr().err
    assert message in told and "metrics" in told and "line" in told
    assert not server.calls


def test_a_learned_metric_without_its_libraries_is_refused_before_any_call(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    if importlib.util.find_spec("torch"):
        pytest.skip("torch is here")
    assert run_without_report(write_study(metrics=["sbert"])) == 2
    assert "pip install 'medjury[neural]'" in capsys.readouterr().err
    assert not server.calls


def test_a_model_that_cannot_be_loaded_leaves_its_metric_unscored_and_the_judges_whole(
    write_study: Write,
) -> None:
    pytest.importorskip("torch", reason="learned metrics need the `neural` extra")
    study = write_study(cases=CASES, metrics=[{"sbert": "no-such-folder"}, "wer"])
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater="sbert")
    assert set(rows["status"]) == {"unscored"} and set(rows["reason"]) == {"provider"}
    assert "cannot be loaded" in rows["explanation"][0]
    assert ratings_of(study).filter(rater="wer", item="half")["score"][0] == 0.5

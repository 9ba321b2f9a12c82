"""The metrics of a study beside its clinicians' labels: the numbers of `medjury metrics --label`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tables import open_run, rating_table
from medjury.texts.metrics import meta_evaluate, metrics_beside_labels, score
from medjury.texts.transcripts import normalise

PRIMOCK = Path(__file__).parents[3] / "shared" / "data" / "transcript_impact" / "primock_dev.csv"
LABELS = [0, 0, 2, 2, 1, 0, 2, 1]
RATES = [0.1, 0.2, 0.5, 0.9, 0.4, 0.0, None, 0.3]


def table_rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))


def ratings(second: list[int] | None = None) -> pl.DataFrame:
    rows = [(f"c{n}", "dr", "clinician", label) for n, label in enumerate(LABELS)]
    rows += [(f"c{n}", "dr two", "clinician", label) for n, label in enumerate(second or [])]
    rows += [(f"c{n}", "wer", "metric", rate) for n, rate in enumerate(RATES)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "rater_kind", "score"], orient="row", strict=False)
    return frame.with_columns(dimension=pl.lit("impact"), instrument=pl.lit("transcript_impact"))


def test_enrichment_by_hand_and_undefined_pairs_told() -> None:
    """WER turned so that higher is better: mean(0.5, 0.1) at label 2 less mean(0.9, 0.8, 1.0) at label 0."""
    row = metrics_beside_labels(ratings(), resamples=200).find(metric="wer")
    assert row.evaluation.enrichment.value == pytest.approx(0.3 - 0.9)
    assert (row.evaluation.n_undefined, row.n_undecided) == (1, 0)
    expected = meta_evaluate(
        {"wer": RATES}, LABELS, clusters=[f"c{n}" for n in range(8)], resamples=200
    ).rows[0]
    assert row.evaluation.kendall_tau_b.value == expected.kendall_tau_b.value


def test_an_answer_on_which_clinicians_differ_has_no_label() -> None:
    other = [1, *LABELS[1:]]
    row = metrics_beside_labels(ratings(other), resamples=200).find(metric="wer")
    assert row.n_undecided == 1
    assert row.evaluation.enrichment.value == pytest.approx(0.3 - (0.8 + 1.0) / 2)


def test_without_metrics_there_is_nothing_to_hold_against_labels() -> None:
    frame = ratings().filter(pl.col("rater_kind") != "metric")
    judged = frame.with_columns(rater=pl.lit("judge"), rater_kind=pl.lit("judge"))
    with pytest.raises(MedjuryError, match=r"no text metrics|no rater is left"):
        metrics_beside_labels(rating_table(pl.concat([frame, judged])))


def test_published_labels_give_the_report_the_numbers_of_the_metrics_command(tmp_path: Path) -> None:
    """104 labelled turns of 12 calls: the study's report and `meta_evaluate` on the same texts."""
    if not PRIMOCK.is_file():
        pytest.skip(
            "the labelled turns (shared/data/transcript_impact/primock_dev.csv) are not on this machine"
        )
    rows = table_rows(PRIMOCK)
    cases, labels = [], ["item,system,rater,dimension,score"]
    for n, row in enumerate(rows):
        said, heard = row["patient_ground_truth"], row["patient_hypothesis"]
        cases.append({"id": f"t{n}", "patient": row["call_id"], "candidate": heard or "[nothing was recognised]",
                      "reference": said, "texts": {"context": row["doctor"] or "-"}})  # fmt: skip
        labels.append(f"t{n},,reconciled,impact,{row['final_outcome']}")
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (tmp_path / "labels.csv").write_text("\n".join(labels) + "\n")
    with LoopbackServer() as server:
        judge = {"kind": "openai", "name": "juror", "url": server.url, "model": "m"}
        study = {"study": "primock", "cases": "cases.jsonl", "instrument": "transcript_impact", "judges": [judge],
                 "humans": "labels.csv", "metrics": ["wer", "chrf"], "repeats": 2,
                 "report": {"resamples": 200}}  # fmt: skip
        (tmp_path / "study.yaml").write_text(
            "".join(f"{name}: {json.dumps(value)}\n" for name, value in study.items())
        )
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) == 0
    folder = tmp_path / "runs" / "primock"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Which text metric sees harm" in page and "Runs of each judge, one by one" in page
    found = metrics_beside_labels(open_run(folder))
    said, heard = (
        [normalise(row[name]) for row in rows] for name in ("patient_ground_truth", "patient_hypothesis")
    )
    expected = meta_evaluate(
        score(said, heard, ["wer", "chrf"]).values, [int(row["final_outcome"]) for row in rows],
        clusters=[row["call_id"] for row in rows], resamples=200,
    )  # fmt: skip
    for each in expected.rows:
        row = found.find(metric=each.metric.name)
        assert row.evaluation.enrichment.value == pytest.approx(each.enrichment.value)
        assert row.evaluation.kendall_tau_b.value == pytest.approx(each.kendall_tau_b.value)
        shown = next(
            line for line in table_rows(folder / "tables" / "text-metrics.csv")
            if line["metric"] == each.metric.name
        )  # fmt: skip
        assert int(shown["answers"]) == each.enrichment.n

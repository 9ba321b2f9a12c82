"""Clinicians' ratings stand beside the judges' in the run: checked, pseudonymous, never changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main

Write = Callable[..., Path]


def write_humans(study: Path, rows: list[str]) -> None:
    (study.parent / "humans.csv").write_text("item,system,rater,dimension,score\n" + "\n".join(rows) + "\n")


def table(study: Path) -> polars.DataFrame:
    return polars.read_parquet(study.parent / "runs" / "small" / "ratings.parquet")


def test_clinicians_and_judges_are_rows_of_one_table(write_study: Write) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, [f"case-{n},a,Dr Jane Roe,accuracy,{n % 5 + 1}" for n in range(6)])
    assert main(["run", str(study), "--quiet"]) == 0
    rows = table(study).filter(rater_kind="clinician", dimension="accuracy").sort("item")
    assert rows["score"].to_list() == [1, 2, 3, 4, 5, 1]
    assert "Jane" not in (study.parent / "runs" / "small" / "ratings.csv").read_text()


def test_names_are_kept_only_on_request(write_study: Write) -> None:
    study = write_study(humans={"path": "humans.csv", "keep_names": True})
    write_humans(study, ["case-1,a,Dr Jane Roe,accuracy,3"])
    assert main(["run", str(study), "--quiet"]) == 0
    assert "Dr Jane Roe" in table(study)["rater"].to_list()


def test_a_score_off_the_scale_and_an_unknown_case_stop_the_run_before_any_call(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, ["case-1,a,one,accuracy,6", "case-99,a,one,accuracy,3", "case-2,a,one,accuracy,four"])
    assert main(["run", str(study), "--quiet"]) == 2
    message = capsys.readouterr().err
    assert "row 2" in message and "row 3" in message and "row 4" in message
    assert not server.calls


def test_a_corrected_file_is_another_run_that_asks_nothing(
    write_study: Write, server: LoopbackServer
) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, ["case-1,a,one,accuracy,3", "case-2,a,one,accuracy,3"])
    main(["run", str(study), "--quiet"])
    write_humans(study, ["case-1,a,one,accuracy,4"])
    assert main(["run", str(study), "--quiet"]) == 0
    rows = table(study).filter(rater_kind="clinician", dimension="accuracy")
    assert rows["item"].to_list() == ["case-1"] and rows["score"].to_list() == [4]
    assert len(server.calls) == 6


def test_redaction_happens_before_anything_else_sees_the_text(
    write_study: Write, server: LoopbackServer
) -> None:
    cases = [
        {"id": "a", "candidate": "Seen by Dr Zebulon.", "texts": {"context": "Zebulon rang 020 7946 0958."}}
    ]
    study = write_study(cases=cases, redact={"names": ["Zebulon"]})
    assert main(["run", str(study), "--quiet"]) == 0
    sent = server.calls[0].prompt
    assert "Zebulon" not in sent and "7946" not in sent and "[NAME-1]" in sent
    manifest = json.loads((study.parent / "runs" / "small" / "manifest.json").read_text())
    assert manifest["redacted"] is True and sum(manifest["redactions"].values()) >= 3

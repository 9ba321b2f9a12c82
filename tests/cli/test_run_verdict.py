"""The verdict at the end of a run: in its last lines, in Python, and as an exit status on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from medjury.cli import main
from medjury.studies import Demonstration, load_study, run_study
from medjury.tables import Measured
from medjury.validation import Evidence, Verdict, _validate


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verdict")
    Demonstration(folder).copy()
    (Demonstration(folder).good_jury).write_text(
        (Demonstration(folder).good_jury).read_text().replace("resamples: 1000", "resamples: 200")
    )
    return Demonstration(folder).good_jury


def few_calls(study: Path) -> Path:
    """The study with a budget for its first cases only."""
    capped = study.with_name("capped.yaml")
    capped.write_text(study.read_text().replace("demonstration", "capped") + "budget: {calls: 5}\n")
    return capped


def test_run_gate_and_python_say_the_same_word(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(study), "--quiet"]) == 0  # a finished run is a success, whatever its verdict
    said = capsys.readouterr().out
    last = said[said.index("Verdict: ") :].split()[1]
    monkeypatch.setattr(
        "medjury.report.write_page", lambda folder, **_: folder / "report.html"
    )  # it is there
    assert main(["run", str(study), "--quiet", "--gate"]) == 3
    capsys.readouterr()
    assert main(["gate", str(study.parent / "runs" / "demonstration")]) == 3
    assert capsys.readouterr().out.startswith("AUXILIARY\n")
    assert (last, run_study(load_study(study)).verdict) == ("AUXILIARY", "AUXILIARY")


def test_a_run_that_was_not_finished_reaches_each_verdict_once_and_has_none(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reached: list[tuple[str, str]] = []

    def counted(evidence: Evidence, dimension: Measured) -> Verdict:
        reached.append((evidence.rater, dimension.name))
        return verdict_on(evidence, dimension)

    verdict_on = _validate._verdict
    monkeypatch.setattr(_validate, "_verdict", counted)
    capped = str(few_calls(study))
    assert main(["run", capped, "--quiet"]) == 3
    assert reached and len(reached) == len(set(reached)), "the page and the last lines share them"
    assert "Verdict: INCOMPLETE" in capsys.readouterr().out
    monkeypatch.setattr("medjury.report.write_page", lambda folder, **_: folder / "report.html")
    assert main(["run", capped, "--quiet", "--gate"]) == 5

"""`--set PATH=VALUE`: a value in place of the study file's, kept in the manifest and told wherever it matters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.studies import load_study
from medjury.validation._registered import standing

Write = Callable[..., Path]
UNKNOWN = "no such setting here; remove it or correct its name"


def test_names_entries_of_lists_and_yaml_values_are_set(write_study: Write) -> None:
    study = load_study(
        write_study(),
        overrides=(
            "judges.0.temperature=0.5",
            "judges[0].name=second",
            "budget.calls=7",
            "dimensions=[clarity]",
            "output=elsewhere/run",
        ),
    )
    assert study.settings.judges[0].temperature == 0.5
    assert study.jury.judges[0].name == "second"
    assert study.settings.budget.calls == 7
    assert [each.name for each in study.instrument.dimensions] == ["clarity"]
    assert study.output == study.file.resolve().parent / "elsewhere/run", "paths start at the study file"


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("budget.cals=7", f"--set budget.cals: {UNKNOWN} (did you mean 'calls'?)"),
        ("bugdet.calls=7", f"--set bugdet.calls: {UNKNOWN} (did you mean 'budget'?)"),
        ("budget.calls=many", "--set budget.calls: "),
        ("judges.3.name=x", "--set judges.3.name: judges.3 cannot be set: the list has one entry, number 0"),
        ("judges.first.name=x", "judges.first cannot be set: the list has one entry"),
        ("study.name=x", "study.name cannot be set: what is above it in the study file has no parts"),
        ("budget.calls", "--set budget.calls: write it as PATH=VALUE"),
        ("=7", "write it as PATH=VALUE"),
        ("judges.0.api_key=sk-1", "--set judges.0.api_key: this may hold a password"),
        ("store=postgresql://me:word@host/db", "--set store: this may hold a password"),
        ("dimensions=[clarity", "--set dimensions"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_the_words_that_were_given(
    write_study: Write, setting: str, told: str
) -> None:
    with pytest.raises(MedjuryError) as refused:
        load_study(write_study(), overrides=(setting,))
    assert told in str(refused.value)
    assert "me:word" not in str(refused.value) and "sk-1" not in str(refused.value)


def test_a_run_keeps_what_was_set_and_is_not_the_registered_one(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    from medjury.tables import open_run

    study = write_study(cases=3, report={"resamples": 200})
    assert main(["register", str(study)]) == 0
    assert main(["run", str(study), "--quiet", "--set", "judges.0.temperature=0.5"]) == 0
    folder = study.parent / "runs" / "small"
    assert json.loads((folder / "manifest.json").read_text())["overrides"] == ["judges.0.temperature=0.5"]
    stand = standing(open_run(folder))
    assert stand.met is False
    assert "set in place of the study file: not stated -> judges.0.temperature=0.5" in stand.text
    assert "judges.0.temperature=0.5" in (folder / "report.html").read_text()
    asked = len(server.calls)
    assert main(["runs", "reread", str(folder), "--quiet"]) == 0, (
        "the replies are found by the settings of the run"
    )
    assert len(server.calls) == asked
    capsys.readouterr()

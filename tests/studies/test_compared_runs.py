"""Two runs of nearly the same study: `medjury compare` names the one thing that was changed, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import LoopbackServer
from tests.report.planted import planted_frame

from medjury.studies import load_study, run_study
from medjury.validation import compare_runs

WriteStudy = Callable[..., Path]
RATED = "item,system,rater,dimension,score\n" + "".join(
    f"case-{number},a,{rater},accuracy,{1 + number % 5}\n" for rater in ("ann", "bea") for number in range(6)
)
INSTRUMENT = resources.files("medjury.instruments").joinpath("library/note_quality.yaml").read_text("utf-8")
PLAIN: dict[str, Any] = {"price": {"input": 1.0, "output": 2.0}}
# What is changed from the first run to the second, and what is said of it.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a rule": ({"gate": {"floor": 0.3}}, {}, "rule floor"),
    "a setting of a judge": ({}, {"temperature": 0.7}, "judge juror: temperature"),
    "the prompt of a judge": ({}, {"explain": False}, "judge juror: explain"),
}


@pytest.fixture
def run(write_study: WriteStudy, tmp_path: Path) -> Callable[..., Path]:
    def made(name: str, judge: dict[str, Any] | None = None, rated: str = RATED, **settings: Any) -> Path:
        (tmp_path / "rated.csv").write_text(rated)
        humans = {"path": "rated.csv", "keep_names": True}
        file = write_study(study=name, judge={**PLAIN, **(judge or {})}, humans=humans, **settings)
        return run_study(load_study(file), preflight=False).folder

    return made


def changed(first: Path, second: Path) -> dict[str, tuple[str, str]]:
    told = compare_runs(first, second, resamples=200).settings
    return {what: (one, two) for what, one, two in told if what not in ("calls", "cost")}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_named_and_nothing_else(change: str, run: Callable[..., Path]) -> None:
    settings, judge, named = CHANGES[change]
    assert list(changed(run("one"), run("two", judge, **settings))) == [named]


def test_a_price_is_shown_as_it_was(run: Callable[..., Path]) -> None:
    found = changed(run("one"), run("two", {"price": {"input": 1.0, "output": 3.0}}))
    assert found == {"price of juror": ("1 in, 2 out per million tokens", "1 in, 3 out per million tokens")}


def test_another_version_of_the_instrument_is_named_with_both_versions(
    run: Callable[..., Path], tmp_path: Path
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(INSTRUMENT)
    first = run("one", instrument="own.yaml")
    own.write_text(
        INSTRUMENT.replace('version: "1.0"', 'version: "1.1"').replace("version: 1.0", "version: 1.1")
    )
    assert changed(first, run("two", instrument="own.yaml"))["instrument"] == (
        "note_quality 1.0",
        "note_quality 1.1",
    )


def test_the_clinician_who_said_something_else_is_named(run: Callable[..., Path]) -> None:
    found = changed(
        run("one"), run("two", rated=RATED.replace("case-2,a,bea,accuracy,3", "case-2,a,bea,accuracy,4"))
    )
    assert set(found) == {"clinicians", "scores of bea"}
    assert (
        found["scores of bea"][0].startswith("6 (") and found["scores of bea"][0] != found["scores of bea"][1]
    )


def test_two_tables_that_come_from_no_run_are_compared_in_rules_scales_and_clinicians(
    server: LoopbackServer,
) -> None:
    del server  # nobody is asked
    frame = planted_frame(cases=20, dimensions=("accuracy",))
    other = frame.with_columns(
        pl.when((pl.col("rater") == "clinician-2") & (pl.col("item") == "case-0003"))
        .then(6 - pl.col("score") + (pl.col("score") == 3))
        .otherwise(pl.col("score"))
        .alias("score")
    )
    told = compare_runs(frame, other, resamples=200).settings
    assert [what for what, _, _ in told] == ["scores of clinician-2"]

"""Answers first: by default no command prints more than one screen, on the demonstration and on every recipe."""

from __future__ import annotations

import contextlib
import io

import pytest
from tests.recipes.designs import RUNS
from tests.recipes.offline import run_demonstration, run_recipe
from tests.remembered import Remembered

from medjury.cli import main
from medjury.tables import open_run

LINES, COLUMNS = 60, "100"
FEW = ("--resamples", "50")  # how often to resample changes no line
OF_RUNS = (
    ("agreement", *FEW),
    ("agreement", "--pairs", *FEW),
    ("rank", *FEW),
    ("calibrate report", *FEW),
    ("audit", *FEW),
    ("audit", "--corpus"),
    ("gate", *FEW),
    ("triage", "--dimensions", "FIRST", *FEW),
    ("estimate", *FEW),
    ("plan blinded",),
    ("runs verify",),
    ("look",),
)
OF_NOTHING = (
    "plan gate", "instruments list", "instruments show note_quality", "models list", "bench list",
    *(f"{name} --help" for name in ("run", "report", "view", "tune", "train", "panel", "passport", "watch")),
)  # fmt: skip


def printed(monkeypatch: pytest.MonkeyPatch, width: str, *words: str) -> tuple[int, str]:
    monkeypatch.setenv("MEDJURY_WIDTH", width)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
        try:
            status = main(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
    return status, out.getvalue()


# These take minutes: with `make test-simulations`.
SLOW = (
    *("diagnosis-jury", "pdsqi9", "medhelm-jury", "medhelm-notes"),
    *("medhelm-replies", "stability", "ward-reference"),
)


@pytest.mark.parametrize(
    "run",
    [
        "demonstration",
        *(pytest.param(each, marks=pytest.mark.simulation) if each in SLOW else each for each in RUNS),
    ],
)
def test_no_command_prints_more_than_one_screen_of_a_run(
    run: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = (
        run_demonstration(tmp_path_factory)
        if run == "demonstration"
        else run_recipe(tmp_path_factory, RUNS[run])
    )
    folder = base / "runs" / run
    first = open_run(folder).counted[0].name
    answered, remembered = 0, Remembered()
    for command, *options in (*OF_RUNS, ("compare", str(folder), *FEW)):
        words = (*command.split(), str(folder), *(first if each == "FIRST" else each for each in options))
        for width in (COLUMNS, "") if run == "demonstration" and command == "agreement" else (COLUMNS,):
            with remembered.in_place():
                status, text = printed(monkeypatch, width, *words)
            assert status != 1, words
            assert len(text.splitlines()) <= LINES, (words, width)
            if width:
                assert max(map(len, text.splitlines()), default=0) <= 120, words
            answered += status != 2  # refused: the run does not hold what is asked
    assert answered >= 7


@pytest.mark.parametrize("command", OF_NOTHING)
def test_no_other_command_prints_more_than_one_screen(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = printed(monkeypatch, COLUMNS, *command.split())
    assert status == 0 and 0 < len(text.splitlines()) <= LINES


def test_what_was_left_out_is_printed_by_all(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    demonstration = run_demonstration(tmp_path_factory) / "runs" / "demonstration"
    econsult = run_recipe(tmp_path_factory, "econsult") / "runs" / "econsult"
    for command, folder, *more in (
        ("agreement", demonstration, "--pairs"), ("calibrate report", demonstration), ("gate", econsult),
    ):  # fmt: skip
        words, remembered = (*command.split(), str(folder), *more, *FEW), Remembered()
        with remembered.in_place():
            (_, short), (_, whole) = (printed(monkeypatch, "", *words, *every) for every in ((), ("--all",)))
        assert "--all" in short.splitlines()[-1], words
        assert len(whole.splitlines()) > 2 * len(short.splitlines()), words

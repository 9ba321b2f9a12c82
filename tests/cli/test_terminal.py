"""What commands print fits the reader's screen; in a pipe it is whole, and for programs it is never touched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.remembered import Remembered
from tests.report.planted import planted_frame, write_run

from medjury.cli import main
from medjury.cli._screen import fold
from medjury.validation import validate


class Reader:
    """Who reads a run of 12 cases, at a screen of some width or through a pipe; each command is run once."""

    def __init__(self, folder: Path) -> None:
        frame = planted_frame(cases=12, dimensions=("accuracy", "clarity"), seed=3)
        self.folder = write_run(folder, frame, report={"resamples": 50, "seed": 1})
        (self.folder / "audit.jsonl").touch()
        self.heard: dict[tuple[str, ...], str] = {}
        self.remembered = Remembered()

    def told(self, command: str, *words: str, width: str = "") -> str:
        key = (command, *words, width)
        if key not in self.heard:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("MEDJURY_WIDTH", width)
                status, self.heard[key] = self.remembered.command(command, str(self.folder), *words)
            assert status == 0
        return self.heard[key]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return Reader(tmp_path_factory.mktemp("terminal"))


def widest(text: str) -> int:
    return max(map(len, text.splitlines()))


def test_the_screen_is_asked_for_by_a_variable_and_refused_by_wide(reader: Reader) -> None:
    piped, narrow = reader.told("agreement"), reader.told("agreement", "--all", width="80")
    assert widest(narrow) <= 80 < widest(piped)
    assert reader.told("agreement", "--wide", width="80") == piped
    assert reader.told("agreement", "--json", width="80") == reader.told("agreement", "--json")


def test_agreement_answers_the_question_in_six_rows_a_dimension(reader: Reader) -> None:
    piped = reader.told("agreement").splitlines()
    start = piped.index(next(line for line in piped if line.startswith("accuracy")))
    assert piped[start].split() == ["accuracy", "jury", "colleagues", "judge-a", "judge-b", "judge-c"]
    rows = [line.split("  ")[0] for line in piped[start + 1 : start + 7]]
    assert rows == ["kappa_quadratic", "icc_2_1", "exact_match", "offset", "missed danger", "n"]
    short = reader.told("agreement", width="100")
    assert widest(short) <= 100 and "--all shows every " in short and "icc_1_1" not in short
    assert "icc_1_1" in reader.told("agreement", "--all")


def test_the_short_table_holds_the_numbers_of_the_json_and_of_the_gate(reader: Reader) -> None:
    found = {
        (row["dimension"], row["reference"], row["rater"], row["statistic"]): row
        for row in json.loads(reader.told("agreement", "--json"))
        if row["level"] == "item"
    }
    short = reader.told("agreement")
    for rater in ("jury", "the other references"):
        row = found["accuracy", "each reference", rater, "kappa_quadratic"]
        assert f"{row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})".replace("-", "−") in short
    rule = validate(reader.folder).verdicts[0].rule("missed_danger")
    line, at_80 = (
        next(line for line in each.splitlines() if line.startswith("missed danger "))
        for each in (short, reader.told("agreement", "--confidence", "0.8"))
    )
    assert at_80 != line, "its ends are those of the confidence that is asked for"
    shares = re.findall(r"(\d+\.\d) %", line)
    assert rule.jury is not None and rule.colleague is not None
    assert shares[:2] == [f"{100 * rule.jury:.1f}", f"{100 * rule.colleague:.1f}"]


def test_the_rate_of_severe_errors_says_of_how_many_answers_it_is(reader: Reader) -> None:
    rows = [
        row
        for row in json.loads(reader.told("agreement", "--json"))
        if (row["rater"], row["reference"], row["level"]) == ("jury", "consensus", "item")
        and row["statistic"] == "severe_error_rate"
    ]
    of = ", ".join(f"{row['dimension']} {row['n']}" for row in rows)
    short = " ".join(reader.told("agreement", width="80").split())
    assert rows and f"of what single clinicians called dangerous (answers: {of};" in short


def test_numbers_on_a_screen_are_those_of_the_pipe_rounded(reader: Reader) -> None:
    short = reader.told("agreement", width="100")
    wanted = ("jury", "each reference", "kappa_quadratic", "item")
    rows = [
        row
        for row in json.loads(reader.told("agreement", "--json"))
        if (row["rater"], row["reference"], row["statistic"], row["level"]) == wanted
    ]
    assert len(rows) == 2
    for row in rows:
        rounded = f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        assert rounded.replace("-", "−") in short


def test_the_report_has_every_digit_on_every_screen(reader: Reader) -> None:
    tables: list[dict[str, bytes]] = []
    for width in ("", "60"):
        reader.told("report", width=width)
        tables.append({file.name: file.read_bytes() for file in (reader.folder / "tables").iterdir()})
    assert tables[0] == tables[1]


@pytest.mark.parametrize("width", ["wide", "12", "-80", "80.5"])
def test_a_width_that_is_none_is_refused(
    width: str, reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEDJURY_WIDTH", width)
    assert main(["runs", "verify", str(reader.folder)]) == 2
    assert f"MEDJURY_WIDTH is '{width}'; set it to a number of columns" in capsys.readouterr().err


def test_a_long_line_is_folded_between_words_and_what_is_copied_stays_whole() -> None:
    line = "  a jury: run `medjury register STUDY` before, and agreement is 0.75 (0.52 to 0.91) with n = 120"
    folded = fold(line, 50)
    assert max(map(len, folded)) <= 50
    assert " ".join(" ".join(folded).split()) == " ".join(line.split())
    for whole in ("`medjury register STUDY`", "(0.52 to 0.91)", "n = 120"):
        assert any(whole in each for each in folded)
    assert folded[1].startswith("    "), "what goes on is set in"
    assert fold("/" + "x" * 60, 50) == ["/" + "x" * 60], "a path stays whole"

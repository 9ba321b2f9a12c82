"""`medjury instruments`: list, show and check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.instruments.samples import GOOD, write

from medjury.cli import main
from medjury.instruments import list_instruments, load_instrument, output_schema


def test_list_names_every_instrument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instruments", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(list_instruments())


@pytest.mark.parametrize("name", list_instruments())
def test_show_prints_every_word(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instruments", "show", name]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    instrument = load_instrument(name)
    for dimension in instrument.dimensions:
        for words in (dimension.definition, *dimension.grades.values()):
            assert " ".join(words.split()) in shown
    for example in instrument.examples:
        for text in (*example.inputs.values(), example.explanation):
            assert " ".join(text.split()) in shown
    for text in (instrument.instructions, instrument.citation, instrument.notes):
        assert " ".join(text.split()) in shown


def test_show_schema_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instruments", "show", "diagnosis", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == output_schema(load_instrument("diagnosis"))


def test_check_approves_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instruments", "check", str(write(tmp_path, GOOD))]) == 0
    assert "good: handover 1.0, 2 inputs, 3 dimensions, 1 example" in capsys.readouterr().out


def test_check_lists_the_faults_of_a_bad_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, GOOD.replace("of: danger", "of: nothing").replace("[complete, plan]", "[x]"))
    assert main(["instruments", "check", str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "line 24: reversed[0].of" in captured.err
    assert "line 26: composites[0].weights" in captured.err


def test_an_unknown_name_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instruments", "show", "claim"]) == 2
    assert "did you mean 'claims'?" in capsys.readouterr().err

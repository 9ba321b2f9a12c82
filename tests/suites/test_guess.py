"""Which column of a site's table is which, and the benchmark that is written from the guess."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.suites._new_benchmark import Guess, guess_columns


def table(folder: Path, header: Sequence[str], *rows: Sequence[object]) -> Path:
    file = folder / "t.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([header, *rows])
    return file


def lines(folder: Path, *rows: Mapping[str, object]) -> Path:
    file = folder / "t.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return file


def test_columns_are_known_by_their_names(tmp_path: Path) -> None:
    header = ("Case ID", "Note", "Question", "opa", "opb", "Answer", "MRN", "Date")
    file = table(
        tmp_path, header, (1, "n", "q", "x", "y", "A", "p", "d"), (2, "n", "q", "x", "y", "B", "p", "d")
    )
    found = guess_columns(file)
    assert found == Guess(
        file,
        "Case ID",
        {"note": "Note", "question": "Question"},
        "Answer",
        ("opa", "opb"),
        "MRN",
        (),
        ("Date",),
    )
    told = found.text().splitlines()
    assert told[0].split() == ["id", "Case", "ID"] and told[-1].split(maxsplit=2) == ["not", "used", "Date"]
    assert any(each.split() == ["{note}", "Note"] for each in told)


@pytest.mark.parametrize(
    ("header", "rows", "identifier"),
    [
        (("id", "question"), [(1, "a"), (2, "b")], "id"),
        (("id", "question"), [(1, "a"), (1, "b")], "@row"),
        (("id", "question"), [(1, "a"), ("", "b")], "@row"),
        (("key", "qid", "question"), [(1, 7, "a"), (1, 8, "b")], "qid"),
        (("visit_id", "question"), [(1, "a"), (2, "b")], "visit_id"),
        (("number", "visit_id", "question"), [(3, 1, "a"), (4, 2, "b")], "number"),
        (("other", "question"), [(1, "a"), (2, "b")], "@row"),
    ],
)
def test_items_are_named_by_a_column_that_is_different_in_each_row(
    tmp_path: Path, header: Sequence[str], rows: Any, identifier: str
) -> None:
    assert guess_columns(table(tmp_path, header, *rows)).id == identifier


@pytest.mark.parametrize(
    ("header", "choices"),
    [
        (("question", "choice_A", "choice_B", "choice_C"), ("choice_A", "choice_B", "choice_C")),
        (("question", "b", "a"), ("a", "b")),
        (("question", "choice1", "Option 2"), ("choice1", "Option 2")),
        (("question", "a", "c"), ()),
        (("question", "b", "c"), ()),
        (("question", "a"), ()),
        (("question", "answer", "a", "b"), ("a", "b")),
    ],
)
def test_choices_are_columns_in_an_unbroken_line(
    tmp_path: Path, header: Sequence[str], choices: tuple[str, ...]
) -> None:
    assert guess_columns(table(tmp_path, header, ["x"] * len(header))).choices == choices


@pytest.mark.parametrize(
    ("values", "held"),
    [
        ([["x", "y"], {"A": "x", "B": "y"}], True),
        (['["x", "y"]', None, ""], True),
        (["x or y"], False),
        (['"x"'], False),
        ([["x"], 3], False),
    ],
)
def test_a_column_of_lists_holds_choices(tmp_path: Path, values: Sequence[object], held: bool) -> None:
    rows = [{"question": f"q{number}", "Options": value} for number, value in enumerate(values)]
    assert guess_columns(lines(tmp_path, *rows)).choices == (("Options",) if held else ())


def test_what_is_asked_comes_last_and_else_the_longest_texts_are_the_question(tmp_path: Path) -> None:
    header = ("prompt", "abstract", "text", "task", "note")
    found = guess_columns(table(tmp_path, header, ("p", "a", "t", "k", "")))
    assert list(found.inputs.values()) == ["abstract", "text", "prompt", "task"] and found.unused == ("note",)
    long = guess_columns(table(tmp_path, ("one", "two"), ("short", "a longer text"), ("", "x")))
    assert (long.inputs, long.unused) == ({"two": "two"}, ("one",))
    with pytest.raises(MedjuryError, match="no column looks like a question; name it with --input"):
        guess_columns(table(tmp_path, ("id", "gold"), (1, "a")))
    with pytest.raises(MedjuryError, match="has no row below its header"):
        guess_columns(table(tmp_path, ("id", "gold")))


@pytest.mark.parametrize(
    ("stated", "hint"), [("answr", "did you mean 'answer'\\?"), ("target", "the file has 3 columns")]
)
def test_a_stated_column_that_is_not_there_is_refused(tmp_path: Path, stated: str, hint: str) -> None:
    file = table(tmp_path, ("id", "question", "answer"), ("1", "Why?", "So."))
    with pytest.raises(MedjuryError, match=f"has no column '{stated}'; {hint}"):
        guess_columns(file, {"gold": stated})


@pytest.mark.parametrize(
    ("golds", "labels"),
    [
        (["yes", "no", "yes", "no"], ("no", "yes")),
        (["yes", "no", "maybe", "yes"], ()),  # three of four: each nearly once
        (["yes", "yes"], ()),
        ([str(n) for n in range(10)] * 2, tuple(str(n) for n in range(10))),
        ([str(n) for n in range(11)] * 2, ()),
        (["a" * 40, "b"] * 2, ("a" * 40, "b")),
        (["a" * 41, "b"] * 2, ()),
        (["yes", "", "no", "yes", "no"], ("no", "yes")),
    ],
)
def test_a_few_short_answers_are_labels(tmp_path: Path, golds: list[str], labels: tuple[str, ...]) -> None:
    file = table(tmp_path, ("question", "gold"), *((f"q{n}", gold) for n, gold in enumerate(golds)))
    assert guess_columns(file).labels == labels
    assert guess_columns(file, {"gold": "question", "inputs": ["gold"]}).labels == ()


def test_what_is_stated_takes_the_place_of_a_guess(tmp_path: Path) -> None:
    file = table(
        tmp_path, ("id", "question", "gold", "x", "y"), (1, "q", "a", "b", "c"), (2, "q", "a", "b", "d")
    )
    stated = {"id": "y", "gold": "x", "patient": "id", "inputs": ["gold", "question"]}
    found = guess_columns(file, stated)  # type: ignore[arg-type]
    assert (found.id, found.gold, found.patient, found.unused) == ("y", "x", "id", ())
    assert found.inputs == {"gold": "gold", "question": "question"}
    assert guess_columns(file, {"id": "@row"}).id == "@row"
    assert guess_columns(file, {"choices": ["x", "y"]}).choices == ("x", "y")
    with pytest.raises(MedjuryError, match="no column 'questio'; did you mean 'question'"):
        guess_columns(file, {"inputs": ["questio"]})
    with pytest.raises(MedjuryError, match="no column 'zzz'; the file has 5 columns"):
        guess_columns(file, {"gold": "zzz"})


def test_names_of_columns_become_names_that_a_prompt_can_hold(tmp_path: Path) -> None:
    header = ("Q & A", "q_a", "2nd", "Choices", "日本")
    found = guess_columns(table(tmp_path, header, list("abcde")), {"inputs": header})
    assert found.inputs == {
        "q_a": "Q & A", "q_a_2": "q_a", "input_2nd": "2nd", "input_choices": "Choices", "input": "日本"
    }  # fmt: skip


def test_a_closed_benchmark_asks_for_a_letter(tmp_path: Path) -> None:
    file = table(
        tmp_path, ("id", "note", "question", "gold"), *((n, "n", "q", "yn"[n % 2]) for n in range(4))
    )
    made = guess_columns(file).write("ward_qa", tmp_path)
    assert (made.name, made.title, made.version, made.category) == ("ward_qa", "ward qa", "1", made.category)
    assert made.prompt == (
        "Note:\n{note}\n\nQuestion:\n{question}\n\n{choices}\n\nReply with the letter of the right answer alone."
    )
    assert (made.metrics, made.open, made.access, made.curation) == (
        ("exact_match",),
        False,
        "private",
        "new",
    )
    assert made.options == {"columns": {"id": "id", "gold": "gold"}, "choices": {"A": "n", "B": "y"}}
    assert (made.context, made.gold, made.data) == ("note, question", "The column gold.", str(file))
    assert "|" in (tmp_path / "ward_qa.yaml").read_text(), (
        "texts of several lines are written as they are read"
    )
    with pytest.raises(MedjuryError, match="is there already"):
        guess_columns(file).write("ward_qa", tmp_path)


def test_an_open_benchmark_is_graded_by_a_jury(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = table(
        tmp_path / "data", ("Frage", "gold", "patient"), ("long " * 9, "a", "p"), ("long " * 9, "b", "p")
    )
    with_gold = guess_columns(file).write("one", tmp_path)
    assert (with_gold.metrics, with_gold.open, with_gold.instrument) == (
        ("jury", "rouge_l"),
        True,
        "note_quality",
    )
    assert with_gold.prompt == "{frage}" and with_gold.data == str(file)
    assert with_gold.options["columns"] == {
        "id": "@row",
        "frage": "Frage",
        "gold": "gold",
        "patient": "patient",
    }
    (tmp_path / "own").mkdir()
    alone = table(tmp_path / "own", ("id", "question"), (1, "q"), (2, "q"))
    without = guess_columns(alone).write("two", tmp_path / "data", settings={"title": "Two", "prompt": ""})
    assert (without.metrics, without.gold, without.title, without.open) == (("jury",), "", "Two", True)
    assert without.data == str(alone.resolve())


@pytest.mark.parametrize("higher", [True, False])
def test_a_scale_makes_an_instrument_of_its_own(tmp_path: Path, higher: bool) -> None:
    file = table(tmp_path, ("id", "question", "gold"), (1, "q", "a"), (2, "q", "b"))
    made = guess_columns(file).write("ward", tmp_path, scale=(1, 4), higher_is_better=higher)
    assert made.instrument == str(tmp_path / "ward.instrument.yaml") and made.metrics == ("jury", "rouge_l")
    instrument = load_instrument(tmp_path / "ward.instrument.yaml")
    (quality,) = instrument.dimensions
    assert (quality.name, list(quality.grades), quality.higher_is_better) == ("quality", [1, 2, 3, 4], higher)
    worst, best = (1, 4) if higher else (4, 1)
    assert quality.grades[worst].startswith("The worst answer") and quality.grades[best].startswith(
        "The best answer"
    )
    assert quality.grades[2] == "Grade 2 of 1 to 4."
    assert [(each.name, each.required) for each in instrument.inputs] == [
        ("context", True), ("reference", False), ("candidate", True)
    ]  # fmt: skip


@pytest.mark.parametrize("scale", [(4, 4), (5, 1), (0, 101)])
def test_a_scale_that_cannot_be_graded_is_refused_and_nothing_is_written(
    tmp_path: Path, scale: tuple[int, int]
) -> None:
    file = table(tmp_path, ("id", "question"), (1, "q"), (2, "q"))
    with pytest.raises(MedjuryError, match="cannot be graded"):
        guess_columns(file).write("ward", tmp_path, scale=scale)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.csv"]
    with pytest.raises(MedjuryError):
        guess_columns(file).write("ward", tmp_path, scale=(0, 100), settings={"metrics": ["no_such"]})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.csv"], (
        "what cannot be read back is taken away"
    )

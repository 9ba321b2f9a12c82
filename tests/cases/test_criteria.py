"""Criteria of each case: read from any file, hashed only where there are any, HealthBench's rows as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import instrument_for, load_instrument
from medjury.intake.cases import Case, Criterion, case_to_row, make_redactor, read_cases

HEALTHBENCH = Path(__file__).parents[3] / "shared" / "data" / "healthbench" / "rows.jsonl"

MADE_UP: list[dict[str, Any]] = [
    {"criterion": "Asks how long the fever has lasted.", "points": 5, "tags": ["axis:context"]},
    {"criterion": "Recommends aspirin.", "points": -8, "tags": ["axis:accuracy"]},
]


def _written(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    return _lines(tmp_path / "cases.jsonl", *rows)


def test_a_case_without_criteria_has_the_hash_that_it_always_had() -> None:
    case = Case("a", "It is a cold.", system="one", texts={"question": "What is it?"})
    assert case.fingerprint() == "2e214f9df2ac92dfc6506448efef0e3c9ab5ac8b4cd6eb92327a8c1d9efd22c6"


def test_every_part_of_a_criterion_is_part_of_the_hash() -> None:
    criterion = Criterion("c1", "Asks.", 5.0, ("axis:a",), "the source")
    others = [
        Criterion("c2", "Asks.", 5.0, ("axis:a",), "the source"),
        Criterion("c1", "Tells.", 5.0, ("axis:a",), "the source"),
        Criterion("c1", "Asks.", -5.0, ("axis:a",), "the source"),
        Criterion("c1", "Asks.", 5.0, (), "the source"),
        Criterion("c1", "Asks.", 5.0, ("axis:a",)),
    ]
    hashes = {Case("a", "b", criteria=(each,)).fingerprint() for each in [criterion, *others]}
    assert len(hashes) == len(others) + 1


def test_a_row_of_healthbench_is_a_case_as_it_is(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Fever."}, {"role": "assistant", "content": "Since when?"}]
    row = {
        "prompt_id": "p1", "prompt": messages, "rubrics": MADE_UP, "example_tags": ["theme:context_seeking", "odd"],
        "ideal_completions_data": {"ideal_completion": "Paracetamol."}, "canary": "not to be kept",
        "candidate": "Take aspirin.", "system": "one",
    }  # fmt: skip
    (case,) = read_cases(_written(tmp_path, row))
    assert (case.id, case.candidate, case.system, case.reference) == (
        "p1",
        "Take aspirin.",
        "one",
        "Paracetamol.",
    )
    assert [(each.kind, each.text) for each in case.messages["conversation"]] == [
        ("user", "Fever."),
        ("assistant", "Since when?"),
    ]
    assert dict(case.metadata) == {"theme": "context_seeking"}
    assert [(each.text, each.points, each.tags) for each in case.criteria] == [
        ("Asks how long the fever has lasted.", 5.0, ("axis:context",)),
        ("Recommends aspirin.", -8.0, ("axis:accuracy",)),
    ]


def test_a_row_of_healthbench_whose_tags_are_no_list_is_refused_with_its_row(tmp_path: Path) -> None:
    row = {"prompt_id": "p1", "prompt": "Fever.", "rubrics": MADE_UP, "candidate": "Tea.", "example_tags": 5}
    with pytest.raises(MedjuryError, match=r"cases.jsonl, row 1, row: example_tags is not a list of texts"):
        list(read_cases(_written(tmp_path, row)))


def test_tags_of_such_a_row_that_have_no_place_are_counted(tmp_path: Path) -> None:
    row = {"prompt_id": "p1", "prompt": "Fever.", "rubrics": MADE_UP, "candidate": "Tea."}
    reader = read_cases(_written(tmp_path, row | {"example_tags": ["theme:a", "theme:b", "plain"]}))
    assert [dict(case.metadata) for case in reader] == [{"theme": "b"}]
    assert list(reader.left_out.parts.values()) == [2]


def test_the_answer_of_such_a_row_may_be_called_anything(tmp_path: Path) -> None:
    row = {"prompt_id": "p1", "prompt": "Fever.", "rubrics": MADE_UP, "completion": "Tea.", "model": "m"}
    (case,) = read_cases(_written(tmp_path, row), mapping={"candidate": "completion", "system": "model"})
    assert (case.id, case.candidate, case.system, len(case.criteria)) == ("p1", "Tea.", "m", 2)


def test_ids_are_by_place_and_text_and_stay_when_read_again(tmp_path: Path) -> None:
    (case,) = read_cases(_written(tmp_path, {"id": "a", "candidate": "b", "criteria": MADE_UP}))
    assert [each.id for each in case.criteria] == ["c01-3c743c", "c02-7ed410"]
    again = tmp_path / "again"
    again.mkdir()
    (read,) = read_cases(_written(again, case_to_row(case)))
    assert read == case
    assert read.fingerprint() == case.fingerprint()


def test_criteria_may_be_in_any_column_and_a_cell_may_hold_them_as_json(tmp_path: Path) -> None:
    table = tmp_path / "cases.csv"
    cell = json.dumps([{"rubric": "Asks.", "weight": "2.5", "tags": {"axis": "context"}}, "Is kind."])
    quoted = cell.replace('"', '""')
    table.write_text(f'case,answer,own\na,Hello.,"{quoted}"\n')
    (case,) = read_cases(table, mapping={"id": "case", "candidate": "answer", "criteria": "own"})
    assert [(each.text, each.points, each.tags) for each in case.criteria] == [
        ("Asks.", 2.5, ("axis:context",)),
        ("Is kind.", 1.0, ()),
    ]


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ("not json", "criteria: is a text that is not a JSON list"),
        ([{"text": " "}], r"criteria\[1\].text: is empty"),
        ([{"text": "Asks.", "points": "many"}], r"criteria\[1\].points: is not a number"),
        ([{"text": "Asks.", "points": True}], r"criteria\[1\].points: is not a number"),
        ([{"text": "Asks.", "tags": [1]}], r"criteria\[1\].tags: is not a list"),
        ([{"id": "A-b", "text": "Asks."}, {"id": "a b", "text": "Tells."}], "the same id"),
        ([{"id": "criteria", "text": "Asks."}], "scores are called"),
    ],
)
def test_what_is_wrong_with_a_criterion_is_reported_with_its_place(
    tmp_path: Path, criteria: object, problem: str
) -> None:
    path = _written(tmp_path, {"id": "a", "candidate": "b", "criteria": criteria})
    with pytest.raises(MedjuryError, match=problem):
        list(read_cases(path))


def test_criteria_are_redacted_like_every_other_text() -> None:
    redactor = make_redactor({"names": ["Erika Muster"], "presidio": False})
    assert redactor is not None
    case = Case("a", "b", criteria=(Criterion("c1", "Calls Erika Muster.", quote="Erika Muster called."),))
    (criterion,) = redactor.redact(case).case.criteria
    assert "Muster" not in criterion.text + criterion.quote


def test_the_instrument_takes_its_dimensions_from_the_case() -> None:
    base = load_instrument("criteria")
    case = Case("a", "b", criteria=(Criterion("c1", "Asks.", 5.0), Criterion("c2", "Scolds.", -3.0)))
    own = instrument_for(base, case)
    assert [(each.name, each.definition, each.values) for each in own.dimensions] == [
        ("c1", "Asks.", (0, 1)),
        ("c2", "Scolds.", (0, 1)),
    ]
    assert [(each.higher_is_better, each.safety) for each in own.dimensions] == [(True, False), (False, True)]
    assert own.fingerprint() != instrument_for(base, Case("a", "b", criteria=case.criteria[:1])).fingerprint()
    other = load_instrument("note_quality")
    assert instrument_for(other, case) is other


@pytest.mark.skipif(not HEALTHBENCH.exists(), reason="HealthBench's rows are not here")
def test_healthbench_is_read_whole() -> None:
    rows = [json.loads(line) for line in HEALTHBENCH.read_text().splitlines()]
    cases = list(read_cases(HEALTHBENCH))
    assert [case.id for case in cases] == [row["prompt_id"] for row in rows]
    for case, row in zip(cases, rows, strict=True):
        assert [(each.text, each.points, list(each.tags)) for each in case.criteria] == [
            (each["criterion"].strip(), float(each["points"]), each["tags"]) for each in row["rubrics"]
        ]
        assert [each.text for each in case.messages["conversation"]] == [
            each["content"] for each in row["prompt"]
        ]
        assert all(message["content"] in case.texts["conversation"] for message in row["prompt"])


ROW = {"prompt_id": "p1", "prompt": [{"role": "user", "content": "My child has a fever."}], "rubrics": [
    {"criterion": "Asks since when.", "points": 5, "tags": ["axis:context"]}]}  # fmt: skip


def _lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_answers_may_be_in_a_file_of_their_own(tmp_path: Path) -> None:
    rows = _lines(tmp_path / "rows.jsonl", ROW, {**ROW, "prompt_id": "p2"})
    answers = _lines(
        tmp_path / "answers.jsonl",
        *(
            {"prompt_id": item, "model": name, "completion": f"{name} on {item}"}
            for item in ("p2", "p1")
            for name in "ab"
        ),
    )
    found = list(read_cases(rows, answers=answers))
    assert [(each.id, each.system, each.candidate) for each in found] == [
        ("p1", "a", "a on p1"), ("p1", "b", "b on p1"), ("p2", "a", "a on p2"), ("p2", "b", "b on p2"),
    ]  # fmt: skip
    assert {each.criteria[0].text for each in found} == {"Asks since when."}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"prompt_id": "p1", "completion": "x"}, "rows.jsonl, row 2, row: has no answer in answers.jsonl"),
        ({"prompt_id": "p9", "completion": "x"}, "answers 'p9', which is no case"),
        ({"prompt_id": "p1", "completion": " "}, "the answer is empty"),
        ({"prompt_id": "p1", "text": "x"}, "no column is the candidate"),
        (
            {"prompt_id": "p1", "completion": "x", "answer": "y"},
            "which column is the candidate: answer or completion",
        ),
    ],
)
def test_an_answer_to_nothing_and_a_case_without_one_are_refused(
    answer: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    rows = _lines(tmp_path / "rows.jsonl", ROW, {**ROW, "prompt_id": "p2"})
    with pytest.raises(MedjuryError) as refused:
        list(read_cases(rows, answers=_lines(tmp_path / "answers.jsonl", answer)))
    assert problem in str(refused.value)


def test_a_case_with_an_answer_of_its_own_gets_no_other(tmp_path: Path) -> None:
    rows = _lines(tmp_path / "rows.jsonl", {**ROW, "candidate": "mine", "system": "s"})
    answers = _lines(tmp_path / "answers.jsonl", {"prompt_id": "p1", "completion": "theirs"})
    with pytest.raises(MedjuryError, match=r"has an answer of its own, and answers\.jsonl has answers too"):
        list(read_cases(rows, answers=answers))

"""`split:` of a study file states case by case what is learned from, what chooses and what is held out: one split
for the gate, tuning, training and examples; nothing that belongs together is on two sides."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.studies import check_study, gate_outlook, load_study, read_rules
from medjury.tuning import read_settings
from medjury.tuning._labelled_cases import SIDES
from medjury.tuning._plan import Preparation, prepare, split_lines
from medjury.tuning.training import make_lessons

SCRIPTED = {"kind": "scripted", "name": "judge", "answers": "{}", "explain": False}


def write(
    folder: Path, number: int = 60, *, patients: int | None = None, column: Any = None, **study: Any
) -> Path:
    """So many cases, each of a patient of its own, or dealt out to so many; three clinicians' labels of each."""
    cases = []
    for each in range(number):
        case: dict[str, Any] = {
            "id": f"case-{each:03}", "system": "asr", "candidate": f"heard {each}", "reference": f"said {each}",
            "patient": f"patient-{each if patients is None else each % patients}",
            "texts": {"context": f"Doctor: how are you, visit {each}?"},
        }  # fmt: skip
        if column is not None:
            case["metadata"] = {"part": column(each)}
        cases.append(case)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    with (folder / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "system", "rater", "dimension", "score"))
        rows.writerows(
            (case["id"], "asr", who, "impact", at % 3)
            for at, case in enumerate(cases)
            for who in ("A", "B", "C")
        )
    content = {
        "study": "authors", "cases": "cases.jsonl", "instrument": "transcript_impact", "judges": [SCRIPTED],
        "jury": "none", "humans": {"path": "labels.csv", "keep_names": True}, **study,
    }  # fmt: skip
    file_ = folder / "study.yaml"
    file_.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in content.items()))
    return file_


def names(numbers: Collection[int]) -> list[str]:
    return [f"case-{each:03}" for each in sorted(numbers)]


def listed(folder: Path, **parts: Collection[int]) -> dict[str, str]:
    """The parts as text files, one id a line."""
    for part, numbers in parts.items():
        (folder / f"{part}.txt").write_text("\n".join(names(numbers)) + "\n")
    return {part: f"{part}.txt" for part in parts}


def tuned(file: Path, **stated: object) -> Preparation:
    study = load_study(file)
    return prepare(study, read_settings(study, **stated), rehearse=True)


def refusal(file: Path) -> str:
    with pytest.raises(MedjuryError) as refused:
        check_study(load_study(file), preflight=False)
    return str(refused.value)


def thirds(each: int) -> str:
    return ("train", "validation", "held-out")[0 if each < 30 else 1 if each < 40 else 2]


def test_the_split_of_paper_002_is_stated_case_by_case(tmp_path: Path) -> None:
    """218, 30 and 50 of 298 pairs, grouped by nothing: calls are on two sides, which is told and not hidden."""
    order = [(each * 97) % 298 for each in range(298)]  # as good as drawn
    parts = {"train": order[:218], "validation": order[218:248], "held_out": order[248:]}
    split = {**listed(tmp_path, **parts), "group": "none"}
    file = write(tmp_path, 298, patients=20, split=split)
    made = tuned(file, preset="paper-002")
    for side, part in zip(
        (made.split.training, made.split.validation, made.split.held_out), parts, strict=True
    ):
        assert sorted(each.case.id for each in side) == names(parts[part])
    study = load_study(file)
    assert study.split is not None and study.split.kin == study.split.held_out
    (note,) = (each for each in check_study(study, preflight=False).notes if each.startswith("split: "))
    assert (
        "218 cases to learn from, 30 to choose by, 50 held out" in note
        and "50 of them are of patients" in note
    )
    assert any("50 held-out cases are of patients" in line for line in split_lines(made))


def test_the_split_of_paper_004_is_stated_case_by_case(tmp_path: Path) -> None:
    """160 to learn from and 40 held out, for supervised and for preference training."""
    held_out = [each for each in range(200) if each % 5 == 2]
    train = [each for each in range(200) if each % 5 != 2]
    file = write(tmp_path, 200, split=listed(tmp_path, train=train, held_out=held_out))
    for method in ("sft", "dpo"):
        lessons = make_lessons(load_study(file), method, held_out=0.5, development=0.5)
        sides = lessons.facts["sides"]
        assert sides == {"training": names(train), "development": [], "held_out": names(held_out)}
        assert {row["item"] for row in lessons.train} <= set(names(train))
        assert set(lessons.items) == set(names(train))
        assert any("the sides are those of the study's `split`" in note for note in lessons.facts["notes"])


def test_one_split_serves_tuning_training_examples_and_the_gate(tmp_path: Path) -> None:
    judge = {**SCRIPTED, "name": "shown", "examples": {"shots": 2}}
    file = write(tmp_path, column=thirds, split="part", judges=[SCRIPTED, judge], tuning={"judge": "judge"})
    study = load_study(file)
    train, validation, held_out = names(range(30)), names(range(30, 40)), names(range(40, 60))
    made = tuned(file).split
    sides_of_tuning = [sorted(each.case.id for each in made.of(side)) for side in SIDES]
    assert sides_of_tuning == [train, validation, held_out]
    sides = make_lessons(study, "sft", judge="judge").facts["sides"]
    assert sides == {"training": train, "development": validation, "held_out": held_out}
    assert list(study.jury.judges[1].describe()["development_cases"]) == train
    assert list(read_rules(file)[0].development_cases) == train + validation
    plan = check_study(study, preflight=False)
    assert "Rated so far: impact 20 cases" in gate_outlook(study, plan).text()


def test_what_is_held_out_is_all_others_where_nobody_states_it(tmp_path: Path) -> None:
    file = write(tmp_path, split={"train": names(range(10)), "validation": names(range(10, 15))})
    split = load_study(file).split
    assert split is not None and sorted(split.held_out) == names(range(15, 60))


def test_a_case_in_two_parts_is_refused(tmp_path: Path) -> None:
    split = {"train": names(range(10)), "held_out": names(range(8, 60))}
    told = refusal(write(tmp_path, split=split))
    assert (
        "study.yaml, line 7: split.held_out: 2 cases in two parts, `train` and `held_out`, such as 'case-008'"
        in told
    )


def test_an_id_that_is_no_case_is_refused(tmp_path: Path) -> None:
    split = {"train": [*names(range(10)), "case-8", "nobody"]}
    told = refusal(write(tmp_path, split=split))
    assert "split.train: 2 of 12 ids of no case of this study, such as 'case-8'; did you mean 'case-0" in told


def test_a_case_in_no_part_is_refused(tmp_path: Path) -> None:
    split = {"train": names(range(10)), "held_out": names(range(12, 60))}
    told = refusal(write(tmp_path, split=split))
    assert "2 cases in no part, such as 'case-010'; put them into one, or leave `held_out` out" in told


@pytest.mark.parametrize(
    ("split", "told"),
    [
        ({"train": "none.txt"}, "none.txt cannot be read"),
        ({"train": []}, "`train` is empty"),
        ({"train": names(range(60))}, "`held_out` is empty"),
        ({"validation": ["case-001"]}, "has no `train`"),
        ({"train": ["case-001"], "column": "part"}, "not both"),
        ({}, "or the name of a column of the cases"),
        ("part", "the column 'part' says 'spare' of case 'case-007'; it says train, validation, held_out"),
        ("fold", "the column 'fold' says nothing of case 'case-000'"),
    ],
)
def test_a_split_that_cannot_be_read_is_refused(tmp_path: Path, split: Any, told: str) -> None:
    column = lambda each: "spare" if each == 7 else "train"  # noqa: E731
    with pytest.raises(MedjuryError) as refused:
        check_study(load_study(write(tmp_path, column=column, split=split)), preflight=False)
    assert told in str(refused.value)


def test_one_patient_in_two_parts_is_refused(tmp_path: Path) -> None:
    told = refusal(write(tmp_path, patients=30, split={"train": names(range(10))}))
    assert "'case-000' is in `train` and 'case-030' in `held_out`" in told and "the same patient" in told


def test_one_text_under_two_ids_and_two_patients_is_refused(tmp_path: Path) -> None:
    """The hash of what is judged finds it, whatever white space."""
    file = write(tmp_path, split={"train": names(range(10)), "validation": names(range(10, 20))})
    rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    rows[50] |= {name: rows[12][name] for name in ("candidate", "reference", "texts")}
    rows[50]["candidate"] = rows[50]["candidate"].replace(" ", "  ")
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = refusal(file)
    assert "'case-012' is in `validation` and 'case-050' in `held_out`" in told


def test_two_systems_answers_to_one_case_are_in_one_part(tmp_path: Path) -> None:
    file = write(tmp_path, column=thirds, split="part")
    rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    rows.append(
        {**rows[0], "system": "other", "candidate": "heard otherwise", "metadata": {"part": "held_out"}}
    )
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "the answers to case 'case-000' are in two parts" in refusal(file)


def test_a_development_case_is_never_held_out(tmp_path: Path) -> None:
    file = write(tmp_path, split={"train": names(range(10))}, gate={"development_cases": names([3, 44])})
    assert "'case-044' is held out by `split`, and a development case" in refusal(file)
    with pytest.raises(MedjuryError, match="'case-044' is held out by `split`"):
        read_rules(file)


def test_cases_that_an_earlier_tuning_saw_are_not_held_out(tmp_path: Path) -> None:
    split = {"train": names(range(30)), "validation": names(range(30, 40))}
    first = tuned(write(tmp_path, split=split))
    marks = {mark for each in first.split.held_out[:5] for mark in each.marks}
    own = {"extends": "transcript_impact", "name": "impact", "version": "2", "title": "Impact",
           "parameters": {"tuning": {"way": "gepa", "touched": " ".join(sorted(marks))}}}  # fmt: skip
    (tmp_path / "own.yaml").write_text(
        "".join(f"{name}: {json.dumps(value)}\n" for name, value in own.items())
    )
    made = tuned(write(tmp_path, split=split, instrument="own.yaml"))
    assert sorted(each.case.id for each in made.split.held_out) == names(range(45, 60))
    assert any("left out: 5 (it belongs to a development case, or was tuned on before)" in line
               for line in split_lines(made))  # fmt: skip


def test_two_splits_are_refused(tmp_path: Path) -> None:
    split = {"train": names(range(30)), "validation": names(range(30, 40))}
    with pytest.raises(MedjuryError, match=r"`split` and `tuning\.split` both say"):
        tuned(write(tmp_path, split=split, tuning={"split": [3, 1, 1]}))
    judge = {**SCRIPTED, "examples": {"shots": 2, "share": 0.5}}
    with pytest.raises(MedjuryError, match="take `share` or `cases` out"):
        load_study(write(tmp_path, split=split, judges=[judge]))


def test_a_part_without_labels_is_refused(tmp_path: Path) -> None:
    split = {"train": names(range(30)), "held_out": names(range(30, 60))}
    with pytest.raises(
        MedjuryError, match="the part `validation` of the study's `split` has no labelled case"
    ):
        tuned(write(tmp_path, split=split))

"""A small study with clinicians, whose judge is trained."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

INSTRUMENT = """\
name: small
version: "1"
title: Notes
instructions: Grade the note.
inputs:
  - {name: candidate, label: Note}
dimensions:
  - name: right
    label: Right
    definition: "Is it right?"
    grades: {1: wrong, 2: mostly wrong, 3: half, 4: mostly right, 5: right}
  - {name: short, label: Short, definition: "Is it short?", grades: {1: long, 2: longish, 3: short}}
  - name: risk
    label: Risk
    definition: "Is it dangerous?"
    higher_is_better: false
    grades: {1: none, 2: some, 3: severe}
  - {name: kind_words, label: Kind, definition: "Is it kind?", grades: {0: "no", 1: "yes"}}
"""
SCRIPTED = {"kind": "scripted", "answers": "{}"}
Grades = Mapping[str, int | None]


@pytest.fixture
def write_study(tmp_path: Path) -> Callable[..., Path]:
    """Writes a study: `said[rater][item]` are a clinician's grades; keyword arguments are settings of the judge."""

    def write(
        said: Mapping[str, Mapping[str, Grades]],
        *,
        patients: Mapping[str, str] | None = None,
        instrument: str = INSTRUMENT,
        comments: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        **judge: Any,
    ) -> Path:
        items = sorted({item for own in said.values() for item in own})
        cases = [
            {
                "id": item,
                "system": "a",
                "candidate": f"Text of {item}.",
                "patient": (patients or {}).get(item),
            }
            for item in items
        ]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        (tmp_path / "small.yaml").write_text(instrument)
        (tmp_path / "humans.csv").write_text("\n".join(_rows(said, comments or {})) + "\n")
        study = {
            "study": "taught",
            "cases": "cases.jsonl",
            "instrument": "small.yaml",
            "judges": [{"name": "judge", "explain": False, **({} if "kind" in judge else SCRIPTED), **judge}],
            "humans": {"path": "humans.csv", "keep_names": True},
            **(settings or {}),
        }
        file = tmp_path / "study.yaml"
        file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in study.items()))
        return file

    return write


def _rows(said: Mapping[str, Mapping[str, Grades]], comments: Mapping[str, str]) -> Sequence[str]:
    rows = ["item,system,rater,dimension,score,explanation"]
    for rater, own in said.items():
        for item, grades in own.items():
            rows += [
                f"{item},a,{rater},{name},{'NA' if grade is None else grade},{comments.get(rater, '')}"
                for name, grade in grades.items()
            ]
    return rows

"""A study file for clinicians: no judge is needed, and what its panel part says is checked like the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.studies import RatedStudy, load_rated_study, load_study

SHORT = "study: ward\ncases: cases.jsonl\ninstrument: note_quality\n"


def load(folder: Path, text: str) -> RatedStudy:
    rows = [{"id": f"c{n}", "candidate": "x", "texts": {"context": "n"}, "system": "s"} for n in range(4)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "study.yaml").write_text(text)
    return load_rated_study(folder / "study.yaml")


def test_three_lines_are_a_panel_study_in_which_everyone_rates_every_case(tmp_path: Path) -> None:
    study = load(tmp_path, SHORT)
    (only,) = study.rounds
    assert (only.settings.kind, only.settings.assign.per_case, only.only) == ("rating", None, None)
    assert [case.id for case in study.cases] == ["c0", "c1", "c2", "c3"]


def test_a_run_still_needs_a_judge(tmp_path: Path) -> None:
    load(tmp_path, SHORT)
    with pytest.raises(MedjuryError, match="judges: is missing"):
        load_study(tmp_path / "study.yaml")


def test_judges_that_cannot_be_made_do_not_hinder_clinicians(tmp_path: Path) -> None:
    study = load(tmp_path, SHORT + "judges: [{kind: openai, url: 'http://127.0.0.1:1', key: env:NOT_SET}]\n")
    assert study.instrument.name == "note_quality"


def test_cases_of_practice_rounds_are_no_part_of_the_rating(tmp_path: Path) -> None:
    panel = """\
panel:
  rounds:
    - {name: practice, kind: training, cases: [c0], key: [{case: c0, grades: {accuracy: 4}, reason: why}]}
    - {name: words, kind: calibration, cases: [c1]}
    - {name: rating, assign: {per_case: 2}}
"""
    rounds = load(tmp_path, SHORT + panel).rounds
    assert [each.only for each in rounds] == [{"c0"}, {"c1"}, None]
    assert rounds[2].without == {"c0", "c1"}


@pytest.mark.parametrize(
    ("panel", "line", "words"),
    [
        ("panel: {rounds: [{name: a, assign: some}]}", 4, r"is `all`, `pairs`"),
        ("panel: {rounds: [{name: a, assign: {per_case: 2, overlap: 0.2}}]}", 4, "keep one of them"),
        ("panel: {rounds: [{name: a, assign: {overlap: 1.5}}]}", 4, "share below 1"),
        ("panel: {rounds: [{name: a}, {name: a}]}", 4, "two rounds are called 'a'"),
        ("panel: {rounds: [{name: a, kind: training, cases: [c0]}]}", 4, "needs a `key`"),
        ("panel: {rounds: [{name: a, kind: calibration}]}", 4, "needs its own `cases`"),
        ("panel: {rounds: [{name: a, pass_mark: 0.8}]}", 4, "only a training round"),
        ("panel:\n  rounds: [{name: a, show: [refrence, answer]}]", 5, "did you mean 'reference'"),
        ("panel: {justification: {acuracy: required}}", 4, "did you mean 'accuracy'"),
        ("panel: {rounds: [{name: a, cases: no-such-file.txt}]}", 4, "cannot be read"),
        (
            "panel:\n  rounds:\n    - name: a\n      kind: training\n      cases: [c0]\n"
            "      key: [{case: c0, grades: {accuracy: 9}}]",
            9,
            "9 is not a grade",
        ),
        ("drafting: {kind: embedded}", 4, "has yet to draft them"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_to_do(
    panel: str, line: int, words: str, tmp_path: Path
) -> None:
    with pytest.raises(MedjuryError, match=words) as error:
        load(tmp_path, SHORT + panel + "\n")
    assert f"study.yaml, line {line}: " in str(error.value)

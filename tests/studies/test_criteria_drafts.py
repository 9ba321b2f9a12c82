"""Criteria that a model proposes: drafts in a file beside the study, none of which counts before it is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.panel.criteria_study import criteria_rows

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import read_cases, read_written_criteria, write_written_criteria
from medjury.studies import draft_criteria, load_rated_study, load_study, run_study

PROPOSED = [
    {"text": "Advises calling an ambulance.", "points": 8, "quote": "my chest hurts since this morning"},
    {"text": "Tells the patient to wait.", "points": -9, "quote": "wait until tomorrow"},
]


def study(folder: Path, url: str, rows: list[dict[str, Any]], more: str = "") -> Path:
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    file = folder / "study.yaml"
    file.write_text(
        "study: ward\ncases: {path: cases.jsonl, criteria: criteria.jsonl}\ninstrument: criteria\n"
        f'criteria_drafting: {{kind: openai, url: "{url}", model: proposer, reasks: 0}}\n{more}',
        encoding="utf-8",
    )
    return file


def proposes(call: Call) -> str:
    return "ok:" + json.dumps({"criteria": PROPOSED})


def test_drafts_wait_in_the_file_and_count_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = criteria_rows(3)
    with LoopbackServer(proposes) as server:
        file = study(tmp_path, server.url, rows)
        assert main(["criteria", "draft", str(file)]) == 0
        said = capsys.readouterr().out
        assert "6 drafts for 3 cases" in said and "3 quotations of the model in no text of the case" in said
        asked = [call.body.decode() for call in server.calls]
        assert len(asked) == 3 and all("my chest hurts" in each for each in asked)
        assert not any("take aspirin 300 mg" in each for each in asked), "no answer is shown"
        assert main(["criteria", "draft", str(file)]) == 0
        assert len(server.calls) == 3, "cases that have drafts are not asked about again"
    drafts = read_written_criteria(tmp_path / "criteria.jsonl")
    assert {(each.state, each.model) for each in drafts} == {("draft", "proposer")}
    assert [(each.points, each.quote) for each in drafts[:2]] == [
        (8, "my chest hurts since this morning"),
        (-9, ""),
    ]
    assert {each.id for each in drafts if each.case == "marmoset-00"} == {each.id for each in drafts}
    for case in load_rated_study(file).cases:
        assert len(case.criteria) == 5
    assert (tmp_path / "runs" / "ward" / "audit.jsonl").is_file()


def test_what_clinicians_decide_while_a_model_is_asked_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "criteria.jsonl"

    def decided_meanwhile(call: Call) -> str:
        write_written_criteria(
            kept, [each.model_copy(update={"state": "dropped"}) for each in read_written_criteria(kept)]
        )
        return proposes(call)

    with LoopbackServer(proposes) as server:
        draft_criteria(study(tmp_path, server.url, criteria_rows(1)))
    with LoopbackServer(decided_meanwhile) as server:
        assert draft_criteria(study(tmp_path, server.url, criteria_rows(2))).drafts == 2
    found = [(each.case, each.state) for each in read_written_criteria(kept)]
    assert found == [("marmoset-00", "dropped")] * 2 + [("marmoset-01", "draft")] * 2


def test_what_a_clinician_accepted_is_a_criterion_of_its_case(tmp_path: Path) -> None:
    rows = criteria_rows(2)
    with LoopbackServer(proposes) as server:
        file = study(tmp_path, server.url, rows)
        draft_criteria(file)
    drafts = read_written_criteria(tmp_path / "criteria.jsonl")
    states = ("accepted", "dropped", "edited", "draft")
    write_written_criteria(
        tmp_path / "criteria.jsonl",
        [each.model_copy(update={"state": state}) for each, state in zip(drafts, states, strict=True)],
    )
    found = {case.id: [each.text for each in case.criteria[5:]] for case in load_rated_study(file).cases}
    assert found == {
        "marmoset-00": ["Advises calling an ambulance."],
        "marmoset-01": ["Advises calling an ambulance."],
    }


def test_a_run_without_the_file_that_it_names_is_refused(tmp_path: Path) -> None:
    judge = "judges: [{kind: scripted, name: made-up, answers: '{}'}]\n"
    file = study(tmp_path, "http://localhost:1", criteria_rows(1), judge)
    with pytest.raises(MedjuryError, match=r"criteria\.jsonl does not exist"):
        run_study(load_study(file))
    assert not (tmp_path / "runs" / "ward" / "ratings.parquet").exists()


def test_answers_to_one_case_with_other_criteria_are_refused(tmp_path: Path) -> None:
    one, other = criteria_rows(1)[0], criteria_rows(1, "ibis-2")[0]
    other["criteria"] = other["criteria"][:-1]
    judge = "judges: [{kind: scripted, name: made-up, answers: '{}'}]\n"
    file = study(tmp_path, "http://localhost:1", [one, other], judge)
    (tmp_path / "criteria.jsonl").write_text("")
    with pytest.raises(MedjuryError, match="'marmoset-00' have the criterion 'own-0', and others have not"):
        run_study(load_study(file))


def test_the_report_says_who_wrote_the_criteria(tmp_path: Path) -> None:
    judge = "judges: [{kind: scripted, name: made-up, answers: '{}'}]\nreport: {resamples: 200}\n"
    with LoopbackServer(proposes) as server:
        file = study(tmp_path, server.url, criteria_rows(2), judge)
        draft_criteria(file)
    drafts = read_written_criteria(tmp_path / "criteria.jsonl")
    states = ("accepted", "dropped", "edited", "draft")
    changed = [each.model_copy(update={"state": state}) for each, state in zip(drafts, states, strict=True)]
    write_written_criteria(tmp_path / "criteria.jsonl", changed)
    main(["run", str(file), "--quiet", "--keep-going"])
    said = (tmp_path / "runs" / "ward" / "report.html").read_text("utf-8")
    assert "1 proposed by a model and accepted by a clinician as proposed" in said
    assert "1 proposed by a model and accepted with changes; 10 came with the cases" in said
    assert "The model is proposer" in said and "1 were dropped and 1 are undecided" in said


def test_a_model_that_proposes_nothing_usable_leaves_no_draft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def points(call: Call) -> str:
        return "ok:" + json.dumps({"criteria": [PROPOSED[0] | {"points": 0}]})

    with LoopbackServer(points) as server:
        file = study(tmp_path, server.url, criteria_rows(1))
        assert main(["criteria", "draft", str(file)]) == 3
    assert "1 case without a draft: parse" in capsys.readouterr().out
    assert read_written_criteria(tmp_path / "criteria.jsonl") == []


@pytest.mark.parametrize("behaviour", ["401", "400:no such model"])
def test_a_model_that_cannot_answer_ends_it_with_a_clear_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], behaviour: str
) -> None:
    with LoopbackServer(behaviour) as server:
        file = study(tmp_path, server.url, criteria_rows(40))
        assert main(["criteria", "draft", str(file)]) == 2
        assert len(server.calls) < 40
    assert "no criteria were drafted" in capsys.readouterr().err
    assert not (tmp_path / "criteria.jsonl").exists()


def test_nothing_leaves_for_a_host_that_is_not_named(tmp_path: Path) -> None:
    file = study(tmp_path, "https://models.example/v1", criteria_rows(1))
    with pytest.raises(MedjuryError, match=r"models\.example"):
        draft_criteria(file)


def test_a_case_that_cannot_be_read_is_a_bad_row_also_where_criteria_were_written_for_it(
    tmp_path: Path,
) -> None:
    rows = criteria_rows(2)
    rows[1]["candidate"] = 5
    file = study(tmp_path, "http://localhost:1", rows).with_name("cases.jsonl")
    (tmp_path / "criteria.jsonl").write_text('{"case": "marmoset-01", "id": "a", "text": "x"}\n')
    with pytest.raises(MedjuryError, match=r"row 2, candidate: is a number, not text"):
        list(read_cases(file, criteria=tmp_path / "criteria.jsonl"))
    skipping = read_cases(file, criteria=tmp_path / "criteria.jsonl", on_bad="skip")
    assert ([case.id for case in skipping], skipping.skipped) == (["marmoset-00"], 1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"case": "nobody", "id": "a", "text": "x"}', "has no case 'nobody'"),
        ('{"case": "marmoset-00", "id": "a"}', "line 1: text: Field required"),
        ('{"case": "marmoset-00", "id": "aid", "text": "x"}', "criterion of the same id"),
        ('{"case": "marmoset-00", "id": "own 0", "text": "x"}', "criterion of the same id"),
        ('{"case": "marmoset-00", "id": "harm", "text": "x"}', "which scores are called"),
        ("not json", "line 1: the line"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(tmp_path: Path, line: str, words: str) -> None:
    rows = criteria_rows(1)
    (tmp_path / "cases.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    (tmp_path / "criteria.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(MedjuryError, match=words):
        list(read_cases(tmp_path / "cases.jsonl", criteria=tmp_path / "criteria.jsonl"))

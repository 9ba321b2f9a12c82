"""Criteria of each case: every case is asked about its own, in one question or in one each."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.loopback import LoopbackServer

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.intake.cases import Case, Criterion
from medjury.judging import Judge, Jury, judge
from medjury.models import Request, Scripted
from medjury.studies import RunResult, load_study, run_study

CASES = [
    Case("a", "Tea.", criteria=(Criterion("asks", "Asks how long.", 5), Criterion("aspirin", "Aspirin.", -8))),
    Case("b", "Rest. Come back.", criteria=(Criterion("net", "Says when to come back.", 3),)),
]  # fmt: skip


def _scores(frame: pl.DataFrame, kind: str) -> dict[tuple[str, str], float]:
    rows = frame.filter(pl.col("rater_kind") == kind).select("item", "dimension", "score")
    return {(item, dimension): score for item, dimension, score in rows.iter_rows()}


def _marking(request: Request) -> str:
    """Every criterion that the question asks about is met, but for those on aspirin."""
    names = list(request.schema["properties"]) if request.schema else []
    return json.dumps(
        {name: {"explanation": "It says so.", "score": int(name != "aspirin")} for name in names}
    )


def _study(folder: Path, url: str, *judges: str) -> Path:
    rows = [
        {
            "id": case.id,
            "candidate": case.candidate,
            "criteria": [{"id": each.id, "text": each.text, "points": each.points} for each in case.criteria],
        }
        for case in CASES
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study = folder / "study.yaml"
    lines = judges or (f"{{kind: openai, name: one, model: one, url: '{url}'}}",)
    study.write_text(
        "study: criteria\ncases: cases.jsonl\ninstrument: criteria\njudges:\n"
        + "".join(f"  - {line}\n" for line in lines)
    )
    return study


def _run(study: Path) -> RunResult:
    return run_study(load_study(study))


def test_each_case_is_asked_about_its_own_criteria_in_one_question() -> None:
    model = Scripted(_marking)
    frame = judge(CASES, Jury([Judge(model, load_instrument("criteria"))]))
    assert _scores(frame, "judge") == {("a", "asks"): 1.0, ("a", "aspirin"): 0.0, ("b", "net"): 1.0}
    assert len(model.requests) == 2
    first = " ".join(each.content for each in model.requests[0].messages)
    assert "Asks how long." in first
    assert "Says when to come back." not in first
    assert "-8" not in first  # nobody is shown the points


def test_a_question_for_each_criterion_is_an_option() -> None:
    model = Scripted(_marking)
    judge(CASES, Jury([Judge(model, load_instrument("criteria"), per_dimension=True)]))
    assert sorted(len(each.schema["properties"]) for each in model.requests if each.schema) == [1, 1, 1]


def test_the_jury_counts_criterion_by_criterion() -> None:
    other = Scripted(lambda request: _marking(request).replace('"score": 1', '"score": 0'), name="other")
    instrument = load_instrument("criteria")
    frame = judge(CASES, Jury([Judge(Scripted(_marking), instrument), Judge(other, instrument)]))
    assert _scores(frame, "jury") == {("a", "asks"): 0.5, ("a", "aspirin"): 0.0, ("b", "net"): 0.5}


def test_a_study_runs_and_a_changed_criterion_alone_is_asked_anew(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        study = _study(tmp_path, server.base_url)
        first = _run(study)
        assert first.status == "complete"
        assert (first.coverage.ratings, first.progress.planned, first.calls) == (3, 2, 2 + first.preflights)
        assert _run(study).calls == 0
        changed = (tmp_path / "cases.jsonl").read_text().replace("Says when", "Says clearly when")
        (tmp_path / "cases.jsonl").write_text(changed)
        again = _run(study)
        assert again.calls - again.preflights == 1


def test_a_case_without_criteria_is_refused_by_its_id(tmp_path: Path) -> None:
    study = _study(tmp_path, "", "{kind: scripted, name: one, answers: '{}'}")
    with (tmp_path / "cases.jsonl").open("a") as file:
        file.write('{"id": "bare", "candidate": "Tea."}\n')
    with pytest.raises(MedjuryError, match="case 'bare' has no criteria"):
        _run(study)


def test_ways_of_judging_that_have_their_own_questions_are_refused(tmp_path: Path) -> None:
    line = "{kind: scripted, name: one, answers: '{}', strategy: claims}"
    with pytest.raises(MedjuryError, match=r"line 5.*cannot ask about"):
        load_study(_study(tmp_path, "", line))


def test_all_marks_of_a_long_list_fit_into_one_answer(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        study = _study(tmp_path, server.base_url)
        many = {"id": "long", "candidate": "Tea.", "criteria": [f"Says thing {n}." for n in range(40)]}
        with (tmp_path / "cases.jsonl").open("a") as file:
            file.write(json.dumps(many) + "\n")
        assert _run(study).coverage.ratings == 43
        limits = [call.json["max_tokens"] for call in server.calls if call.json.get("max_tokens")]
        assert max(limits) == 40 * 120
        assert min(limits) <= 1024


@pytest.mark.parametrize(
    ("evidence", "score", "found"),
    [
        ('It says "rest and come back".', 1, True),
        ("It says “Rest. Come back in a week.”", 1, False),
        ('It says "drink a lot of tea".', 1, False),
        ('It does not say "drink a lot of tea".', 0, True),  # what is lacking is not in the answer
        ('The word "aspirin" is there.', 1, True),  # one word shows nothing
        ("It says so.", 1, True),
    ],
)
def test_what_a_judge_quotes_is_looked_up_in_the_answer(evidence: str, score: int, found: bool) -> None:
    case = Case("b", "Rest and come back if it gets worse.", criteria=(Criterion("net", "Says when.", 3),))
    answer = json.dumps({"net": {"explanation": evidence, "score": score}})
    frame = judge([case], Jury([Judge(Scripted(answer), load_instrument("criteria"))]))
    (row,) = frame.filter(pl.col("rater_kind") == "judge").iter_rows(named=True)
    assert row["score"] == score
    assert (row["explanation"] == evidence) == found
    assert row["explanation"].endswith("not in the answer.]") == (not found)

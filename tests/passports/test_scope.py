"""The scope of a passport: a part that fails is refused, one that nobody knows is judged and marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer
from tests.passports.passported import CLINICIANS, grade, row, run_of, validated_run, write_rows, write_study

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import (
    ReadyJury,
    check_passport,
    judge_with_passport,
    make_passport,
    read_passport,
)
from medjury.in_use.passports._document import content_hash
from medjury.in_use.passports._scope import in_scope, passport_scope
from medjury.intake.cases import Case
from medjury.validation import Scope
from medjury.validation._scope import THIRDS, Part, shares_below


def specialty(number: int) -> str:
    return "surgery" if number % 9 < 2 else "paediatrics" if number % 27 == 5 else "cardiology"


def too_kind_in_surgery(call: Call) -> str:
    """As the clinicians grade, and in surgery a grade kinder."""
    number = int(re.findall(r"Visit (\d+)\.", call.prompt)[-1])
    score = min(5, grade(number) + (specialty(number) == "surgery"))
    return "ok:" + json.dumps({"accuracy": {"explanation": "so it is", "score": score}})


def as_case(number: int, **given: Any) -> Case:
    return Case(**row(number, **given))


@pytest.fixture(scope="module")
def kind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopbackServer, Path, Path]]:
    """The endpoint, the run of a jury that is too kind in surgery, and its passport."""
    folder = tmp_path_factory.mktemp("scope")
    with LoopbackServer() as server:
        study = write_study(folder, server)
        numbers = range(324)
        write_rows(folder / "cases.jsonl", [row(number, specialty=specialty(number)) for number in numbers])
        lines = [f"case-{n:03d},a,{rater},accuracy,{grade(n)}" for n in numbers for rater in CLINICIANS]
        (folder / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
        server.endpoint.behaviours = too_kind_in_surgery
        run = run_of(study)
        file = folder / "passport.json"
        file.write_text(make_passport(run).text())
        yield server, run, file


def test_it_carries_its_scope_and_its_rules_by_id(kind: tuple[LoopbackServer, Path, Path]) -> None:
    _, run, file = kind
    passport = read_passport(file)
    (verdict,) = passport.verdicts
    assert passport.force == "validated" and verdict.scope.fails == ("specialty=surgery",)
    assert "specialty=cardiology" in verdict.scope.holds
    assert verdict.scope.not_known == ("specialty=paediatrics",) and verdict.scope.cases == {
        "specialty=paediatrics": 12
    }
    assert "kinder than clinicians" in verdict.scope.why["specialty=surgery"]
    assert "not for specialty surgery; not known for specialty paediatrics (12 cases)" in passport.words()
    rules = {each.id: each for each in verdict.rules}
    agreement = rules["agreement"]
    assert agreement.state == "holds" and agreement.limit == -0.1 and agreement.low is not None
    assert agreement.jury is not None and agreement.colleague == 1.0 and rules["scope"].state == "holds"
    assert check_passport(file, run=run).reasons == ()


def test_a_case_outside_the_scope_is_refused_and_one_nobody_knows_is_marked(
    kind: tuple[LoopbackServer, Path, Path], tmp_path: Path
) -> None:
    server, _, file = kind
    new = [row(2, specialty="cardiology"), row(400, specialty="surgery"), row(401, specialty="paediatrics")]
    cases = write_rows(tmp_path / "new.jsonl", [*new, row(402, specialty=None)])
    before = len(server.calls)
    found = judge_with_passport(file, cases, tmp_path / "out")
    assert len(server.calls) - before == 2, "nothing is asked about what is refused"
    rows = {each["item"]: each for each in pl.read_csv(tmp_path / "out" / "judged.csv").iter_rows(named=True)}
    assert rows["case-002"]["scope"] == "holds" and rows["case-002"]["score"] == 3.0
    refused = rows["case-400"]
    assert refused["score"] is None and refused["scope"] == "outside"
    assert refused["reason"].startswith("refused: outside the scope: specialty=surgery (")
    assert rows["case-401"]["score"] is not None and rows["case-401"]["scope"] == "not known"
    assert rows["case-401"]["scope_because"] == "specialty=paediatrics"
    assert "no specialty is stated, and the jury fails for surgery" in rows["case-402"]["reason"]
    assert "2 of them lie in a part of the cases for which the jury fails" in found.text()
    summary = json.loads(found.to_json())
    assert summary["outside_scope"] == [["case-400", "a"], ["case-402", "a"]]
    assert summary["scope_not_known"] == [["case-401", "a"]]


def test_one_text_at_a_time_is_refused_alike(kind: tuple[LoopbackServer, Path, Path], tmp_path: Path) -> None:
    server, _, file = kind
    door, before = ReadyJury.open(file, tmp_path / "door"), len(server.calls)
    (refused,) = door.judge(as_case(500, specialty="surgery")).rows
    assert refused["score"] is None and refused["reason"].startswith("refused: outside the scope")
    assert len(server.calls) == before
    (judged,) = door.judge(as_case(501, specialty="paediatrics")).rows
    assert judged["score"] is not None and judged["scope"] == "not known"


def test_a_case_is_refused_on_the_dimension_that_fails_and_on_what_follows_from_it(
    passport: Path, tmp_path: Path
) -> None:
    content = json.loads(passport.read_text())
    first = content["verdicts"][0]
    scope = {**first["scope"], "fails": ["specialty=cardiology"], "why": {}}
    content["verdicts"].append({**first, "dimension": "clarity", "label": "Clarity", "scope": scope})
    content["hash"] = content_hash(content)
    passport.write_text(json.dumps(content))
    judge_with_passport(passport, write_rows(tmp_path / "new.jsonl", [row(1)]), tmp_path / "out")
    rows = {
        each["dimension"]: each for each in pl.read_csv(tmp_path / "out" / "judged.csv").iter_rows(named=True)
    }
    assert rows["accuracy"]["score"] == 2.0 and rows["accuracy"]["scope"] != "outside"
    assert rows["clarity"]["score"] is None
    assert rows["clarity"]["reason"] == "refused: outside the scope: specialty=cardiology"
    found = in_scope(read_passport(passport).verdicts, as_case(1))
    assert found[""][0] == "outside", "a composite of both"


def test_numbers_are_cut_where_the_study_cut_them(passport: Path) -> None:
    cases = [as_case(number, age=20 + number % 60) for number in range(120)]
    ages = np.array([20 + number % 60 for number in range(120)])
    thirds = (ages < 40, (ages >= 40) & (ages < 60), ages >= 60)
    below = shares_below([Part("age", name, flags) for name, flags in zip(THIRDS, thirds, strict=True)])
    scope = Scope(("age=lowest values",), ("age=highest values",), ("age=middle values",))
    made = passport_scope(scope, below, cases)
    assert made.cuts == {"age": (40.0, 60.0)}
    verdict = read_passport(passport).verdicts[0].replaced(scope=made)
    states = {age: in_scope([verdict], as_case(1, age=age))["accuracy"][0] for age in (39, 40, 59, 60)}
    assert states == {39: "holds", 40: "not known", 59: "not known", 60: "outside"}
    unstated = Case(id="1", candidate="Well.")
    assert in_scope([verdict], unstated)["accuracy"][0] == "outside", "it may be of the part that fails"


@pytest.mark.parametrize("stated", [1, 1.0, "1", " 1 "])
def test_a_number_is_the_same_value_however_it_is_written(passport: Path, stated: object) -> None:
    made = passport_scope(Scope(("triage=2",), ("triage=1",)), {}, [])
    verdict = read_passport(passport).verdicts[0].replaced(scope=made)
    case = Case(id="1", candidate="Well.", metadata={"triage": stated})
    assert in_scope([verdict], case)["accuracy"][0] == "outside"


def test_looser_limits_are_on_the_passport(server: LoopbackServer, tmp_path: Path) -> None:
    passport = make_passport(validated_run(tmp_path, server, cases=60, gate={"severe_limit": 1.0}))
    assert passport.force == "auxiliary"
    assert [(each.name, each.stated, each.loosest) for each in passport.loosened] == [
        ("severe_limit", 1.0, 0.1)
    ]
    assert "looser than VALIDATED allows: severe_limit 1 (ours 0.1)" in passport.words()


def test_a_passport_of_another_version_is_refused_by_its_name(passport: Path) -> None:
    content = json.loads(passport.read_text()) | {"format_version": "2.0"}
    passport.write_text(json.dumps(content | {"hash": content_hash(content)}))
    with pytest.raises(
        MedjuryError, match=r"\(judge card 2\.0\); this one reads judge card 1\.0\. Make a new"
    ):
        read_passport(passport)


def test_without_a_verdict_nothing_says_that_a_case_lies_outside() -> None:
    assert in_scope([], as_case(1))[""][0] == "holds"

"""The linter finds planted mistakes, and leaves criteria alone that physicians wrote as they mean them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from medjury.analysis.ranking import check_criteria
from medjury.analysis.ranking._criteria_check import _OMITS
from medjury.cli import main
from medjury.intake.cases import Case, Criterion, read_cases
from medjury.tables import rating_table

HEALTHBENCH = Path(__file__).parents[3] / "shared" / "data" / "healthbench" / "rows.jsonl"
here = pytest.mark.skipif(not HEALTHBENCH.exists(), reason="HealthBench's rows are not here")

SOUND = (
    Criterion("since", "Asks how long the fever has lasted.", 5),
    Criterion("drink", "Advises to drink enough.", 4),
    Criterion("back", "Does not say when to come back.", -6),
    Criterion("dose5", "Recommends 5 mg of the drug.", 3),
    Criterion("dose10", "Recommends 10 mg of the drug.", -3),
)


def _found(*criteria: Criterion) -> list[tuple[str, str]]:
    return [(row.check, row.criterion) for row in check_criteria([Case("a", "b", criteria=criteria)]).rows]


def test_a_sound_list_has_nothing_to_look_at() -> None:
    assert _found(*SOUND) == []


@pytest.mark.parametrize(
    ("planted", "check"),
    [
        (Criterion("x", "Does not mention the rash.", 4), "sign"),
        (Criterion("x", "Fails to ask about the neck.", 4), "sign"),
        (Criterion("x", "The answer omits the warning signs.", 4), "sign"),
        (Criterion("x", "Incorrectly states that fever is harmless.", 2), "sign"),
        (Criterion("x", "Correctly names the drug.", -4), "sign"),
        (Criterion("x", "Advises to drink  enough", 4), "double"),
        (Criterion("x", "Asks how long the fevers has lasted.", 5), "double"),
        (Criterion("x", "Sees the emergency.", 30), "decides_alone"),
        (Criterion("x", "Recommends aspirin.", -20), "decides_alone"),
    ],
)
def test_a_planted_mistake_is_found(planted: Criterion, check: str) -> None:
    assert _found(*SOUND, planted) == [(check, "x")]


def test_negative_points_among_siblings_that_begin_alike_are_looked_at() -> None:
    asks = [Criterion(f"a{n}", f"Asks about {word}.", 3) for n, word in enumerate(("pain", "sleep", "drugs"))]
    assert _found(*asks, Criterion("x", "Asks about travel.", -3)) == [("sign", "x")]
    assert _found(*asks, Criterion("x", "Asks about travel in a harmful way.", -3)) == []


def test_the_other_number_or_the_denied_one_is_no_double() -> None:
    assert _found(
        Criterion("a", "Says that it is not contagious for the family.", 4),
        Criterion("b", "Says that it is contagious for the family.", -3),
    ) == []  # fmt: skip


def test_a_case_without_positive_points_is_reported_as_a_whole() -> None:
    assert _found(Criterion("a", "Scolds.", -3)) == [("no_positive_points", "")]


def test_marks_show_what_nobody_meets_and_what_tells_no_judge_from_another() -> None:
    criteria = (
        Criterion("never", "Asks.", 3),
        Criterion("alike", "Tells.", 3),
        Criterion("apart", "Sees.", 3),
    )
    cases = [Case("a", "b", system=f"s{n}", criteria=criteria) for n in range(4)]
    rows = [
        {
            "item": "a",
            "system": f"s{n}",
            "rater": judge,
            "rater_kind": "judge",
            "dimension": name,
            "score": score,
        }
        for n in range(4)
        for judge in ("one", "two")
        for name, score in (
            ("never", 0),
            ("alike", n % 2),
            ("apart", int(n % 2 == 0 if judge == "one" else n < 2)),
        )
    ]
    table = rating_table(pl.DataFrame(rows), instrument="criteria", cases=cases)
    found = {(row.check, row.criterion) for row in check_criteria(cases, table).rows}
    assert found == {("never_met", "never"), ("marked_alike", "never"), ("marked_alike", "alike")}
    few = rating_table(pl.DataFrame(rows[:12]), instrument="criteria", cases=cases)
    assert check_criteria(cases, few).rows == ()


def test_the_command_prints_what_to_look_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.jsonl"
    criteria = [{"id": each.id, "text": each.text, "points": each.points} for each in SOUND]
    criteria.append({"id": "x", "text": "Does not mention the rash.", "points": 4})
    path.write_text(json.dumps({"id": "a", "candidate": "b", "criteria": criteria}) + "\n")
    assert main(["cases", "check", str(path)]) == 0
    assert "1 place to look at" in capsys.readouterr().out
    assert main(["cases", "check", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["criteria_findings"]
    assert (row["check"], row["criterion"], row["points"]) == ("sign", "x", 4.0)


@here
def test_of_healthbench_no_sign_is_doubted_and_every_omission_that_is_turned_is_found() -> None:
    cases = list(read_cases(HEALTHBENCH))
    assert [row for row in check_criteria(cases).rows if row.check == "sign"] == []
    some = [case for case in cases if any(each.text.startswith("Fails to") for each in case.criteria)][:3]
    some = [
        replace(case, criteria=tuple(each for each in case.criteria if _OMITS.match(each.text)))
        for case in some
    ]
    turned = found = 0
    for case in cases:
        for at, each in enumerate(case.criteria):
            if each.points > 0 or not each.text.startswith(("Fails to", "Does not")):
                continue
            other = list(case.criteria)
            other[at] = replace(each, points=-each.points)
            planted = replace(case, criteria=tuple(other))
            rows = check_criteria([planted, *(each for each in some if each.id != case.id)]).rows
            turned += 1
            found += ("sign", case.id, each.id) in {(row.check, row.item, row.criterion) for row in rows}
    assert turned >= 40
    assert found == turned

"""Records of a run in its report: never trusted beyond their hash, and read whatever the way of judging."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report import test_adaptive_section as adaptive
from tests.report import test_claims_section as claims
from tests.report import test_deliberations as deliberations
from tests.report.planted import page_of, planted_frame, record_lines, section_made, verdict_words, write_run

from medjury.foundation.errors import MedjuryError
from medjury.judging import AdaptiveBody, ClaimsBody, DeliberationBody
from medjury.report import write_page
from medjury.report._sections.study import study
from medjury.store.runs import Body, Records, RunFolder
from medjury.validation import evidence_of


def line(number: int, kind: str = "of some kind", **changes: Any) -> dict[str, Any]:
    return {
        "key": f"key-{number}",
        "item": f"case-{number:04d}",
        "system": "",
        "rater": "panel",
        "repeat": 0,
        "kind": kind,
        "body": {"kind": kind, "turns": [f"the words of turn {number}\u2028on two lines"]},
        **changes,
    }


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def test_records_changed_added_or_lost_after_the_run_cost_the_verdict(tmp_path: Path) -> None:
    ratings = planted_frame(cases=120, dimensions=("accuracy",))
    folder = write_run(tmp_path, ratings, records=lines(line(1)))
    assert verdict_words(folder) == {"accuracy": "VALIDATED"}
    assert "as written" in [
        each.detail for each in evidence_of(folder).checks if each.what == "records.jsonl"
    ]
    with (folder / "records.jsonl").open("a") as file:
        file.write(lines(line(2)))
    assert verdict_words(folder) == {"accuracy": "NOT VALIDATED"}
    assert "records.jsonl was changed after the run" in page_of(folder)
    (folder / "records.jsonl").unlink()
    assert "is missing" in section_made(folder, study)
    write_run(tmp_path, ratings)
    (folder / "records.jsonl").write_text(lines(line(3)))
    run = RunFolder(folder)
    assert [each.detail for each in run.check_files(run.manifest) if not each.sound] == [
        "was added after the run"
    ]


def cut(number: int, kind: str, left_out: int, **changes: Any) -> dict[str, Any]:
    told = {
        "truncate": "notes",
        "keep": "newest",
        "order": "date",
        "notes_left_out": ["n1", "n2"],
        "shortened": None,
        "characters_left_out": left_out,
        "characters": 1000,
    }
    return line(number, kind, body={"kind": kind, "context": told}, **changes)


def test_answers_judged_on_a_shortened_record_are_counted_whatever_the_way_of_judging(tmp_path: Path) -> None:
    ratings = planted_frame(cases=12, dimensions=("accuracy",), judges={"panel": 0.5, "plain": 0.5})
    told = lines(
        cut(1, "context", 100, rater="plain"),
        cut(2, "context", 300, rater="plain"),
        cut(2, "context", 900, rater="plain", repeat=1),
        cut(3, "of some kind", 250),
        line(4, "of some kind"),
    )
    folder = write_run(tmp_path, ratings, records=told)
    page = page_of(folder)
    write_page(folder, cases_shown=0)
    with (folder / "tables" / "shortened-records.csv").open(newline="") as file:
        found = {each["rater"]: each for each in csv.DictReader(file)}
    plain = found["plain"]
    assert (plain["answers"], plain["of them shortened"], plain["whole notes left out"]) == ("12", "2", "6")
    assert (plain["left out, median"], plain["left out, most"]) == ("50.0 %", "90.0 %")
    assert found["panel"]["of them shortened"] == "1" and "Shortened records" in page


def test_a_record_bent_after_the_run_is_refused_in_words(tmp_path: Path) -> None:
    folder = write_run(
        tmp_path, planted_frame(cases=12, dimensions=("accuracy",)), records=lines(line(1, "other"))
    )
    (folder / "records.jsonl").write_text(lines(line(1, "context", body={"context": {"truncate": "notes"}})))
    with pytest.raises(MedjuryError, match="line 1: this is not a record of the kind 'context'") as refused:
        page_of(folder)
    assert "run the study again" in str(refused.value)


BODIES: dict[str, tuple[type[Body], Callable[[], list[dict[str, Any]]]]] = {
    "claims": (ClaimsBody, lambda: [claims.story(claims.ON_THE_LINE)] * 2),
    "deliberation": (DeliberationBody, deliberations.stories),
    "adaptive": (AdaptiveBody, adaptive.stories),
}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("claims", {"claims": [{"claim": "secret"}]}),
        ("claims", {"outcome": {"status": "secret"}}),
        ("claims", {"share": "secret"}),
        ("deliberation", {"steps": [{}]}),
        ("deliberation", {"steps": "none"}),
        ("deliberation", {"ended": "secret"}),
        ("deliberation", {"final": {"low_scorer": {"accuracy": "4"}}}),
        ("deliberation", {"decided": []}),
        ("deliberation", {"turns": "many"}),
        ("deliberation", {"personas": []}),
        (
            "deliberation",
            {"failed": [{"persona": "stranger", "reason": "parse", "message": "the potassium"}]},
        ),
        ("adaptive", {"stopped": "secret"}),
        ("adaptive", {"calls": "none"}),
        ("adaptive", {"calls": []}),
        ("adaptive", {"rule": {}}),
        ("adaptive", {"jurors": ["x"]}),
        ("adaptive", {"calls": [{"juror": "a", "outcomes": {"accuracy": {"status": "odd"}}}]}),
    ],
)
def test_a_record_of_another_form_is_refused_by_its_line(
    kind: str, change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medjury.models._gate.gate._FIRST_WAIT", 0.001)
    form, made = BODIES[kind]
    first, second, *_ = made()
    file = tmp_path / "records.jsonl"
    file.write_text(record_lines(kind, [first, {**second, **change}]))
    with pytest.raises(MedjuryError, match=f"line 2: this is not a record of the kind '{kind}'") as refused:
        list(Records(file).of(form))
    for words in ("secret", "potassium", "it is 3", claims.START.claim):
        assert words not in str(refused.value)


def test_draws_of_a_unit_that_was_broken_off_are_no_draws_of_another(tmp_path: Path) -> None:
    def draws(scores: list[int]) -> list[dict[str, Any]]:
        said = [{"status": "scored", "score": score, "explanation": ""} for score in scores]
        return [{"draw": n, "seed": n, "outcomes": {"accuracy": each}} for n, each in enumerate(said, 1)]

    whole = [1, 1, 1, 5, 5]  # its last two draws are not the first ones of the unit that follows
    records = [
        line(n, "repeats", rater="judge-a", repeat=repeat, body={"kind": "repeats", "n": 5, "draws": made})
        for n in range(6)
        for repeat, made in ((0, draws(whole)), (1, draws([3, 3])))
    ]
    ratings = planted_frame(cases=6, dimensions=("accuracy",), judges={"judge-a": 0.5}, repeats=2)
    write_page(write_run(tmp_path, ratings, records=lines(*records)), cases_shown=0)
    with (tmp_path / "tables" / "stability.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert int(row["answers"]) == 6
    draws_of_one = [*whole, 3, 3]
    mean = sum(draws_of_one) / 7
    within = (sum((each - mean) ** 2 for each in draws_of_one) / 6) ** 0.5
    assert float(row["SD within an answer"]) == pytest.approx(within)

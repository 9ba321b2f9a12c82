"""A loop's gain is believed where the final juror shares it, and the report says which case this is."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
from tests.report.planted import planted_frame, section_made, write_run

from medjury.report._exhibits import Exhibits
from medjury.report._sections.closed_loop import closed_loop


def scores(**grades: float | None) -> dict[str, Any]:
    return {
        name: {
            "score": grade,
            "status": "unscored" if grade is None else "scored",
            "reason": "parse" if grade is None else None,
            "explanation": f"<b>said</b> of {name}",
        }
        for name, grade in grades.items()
    }


def loop(
    number: int, loop_scores: list[dict[str, Any]], first: dict[str, Any], last: dict[str, Any], **body: Any
) -> dict[str, Any]:
    rounds = [
        {
            "round": place,
            "draft": f"Draft {place} of {number}.",
            "scores": each,
            "passed": False,
            "failing": [],
        }
        for place, each in enumerate(loop_scores)
    ]
    rounds[-1]["passed"] = True
    return {
        "key": f"key-{number}",
        "item": f"case-{number:04d}",
        "system": "a+loop",
        "rater": "judge-a",
        "repeat": 0,
        "kind": "closed_loop",
        "body": {
            "kind": "closed_loop",
            "separate": True,
            "stopped": "passed",
            "rounds": rounds,
            "final": {"first": first, "last": last},
            **body,
        },
    }


def page(
    folder: Path,
    records: list[dict[str, Any]],
    *,
    patient: str | None = None,
    **changes: Any,
) -> tuple[str, Exhibits]:
    frame = planted_frame(cases=24, judges={"judge-a": 0.5}, clinicians={}, dimensions=("accuracy", "harm"))
    lines = "".join(json.dumps(each) + "\n" for each in records)
    run = write_run(folder, frame, records=lines, **changes)
    if patient is not None:
        frame.with_columns(pl.lit(patient).alias("patient")).write_parquet(run / "ratings.parquet")
    exhibits = Exhibits()
    return section_made(run, closed_loop, exhibits, 400), exhibits


def table(exhibits: Exhibits, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(exhibits.tables[name])))


def test_missing_scores_are_left_out_and_counted_and_unrevised_drafts_have_no_gain(tmp_path: Path) -> None:
    good, bad = scores(accuracy=4, harm=1), scores(accuracy=2, harm=1)
    records = [loop(number, [bad, good], bad, good) for number in range(20)]
    records.append(loop(20, [bad, good], scores(accuracy=None, harm=1), good))
    records.append(loop(21, [good], good, good))
    failed = loop(22, [bad], {}, {}, stopped="failed", final={})
    body, exhibits = page(tmp_path, [*records, failed])
    accuracy, harm = table(exhibits, "closed-loop-gains")
    assert (accuracy["cases revised"], accuracy["left out"]) == ("20", "1")
    assert (harm["cases revised"], harm["left out"]) == ("21", "0")
    first, second = table(exhibits, "closed-loop-rounds")
    assert (first["drafts"], first["passed by then"]) == ("22", "1")
    assert (second["drafts"], second["passed by then"]) == ("22", "22")
    (end,) = table(exhibits, "closed-loop-ends")
    assert (end["drafts"], end["passed"], end["a step failed"]) == ("23", "22", "1")
    assert "confirms a gain on Accuracy" in body


def test_repeats_of_a_loop_are_one_loop_of_the_same_drafts(tmp_path: Path) -> None:
    one = loop(1, [scores(accuracy=2), scores(accuracy=4)], scores(accuracy=2), scores(accuracy=4))
    _, exhibits = page(tmp_path, [one, {**one, "repeat": 1, "key": "key-1b"}])
    first, second = table(exhibits, "closed-loop-rounds")
    assert (first["drafts"], second["drafts"], second["passed by then"]) == ("1", "1", "1")
    (end,) = table(exhibits, "closed-loop-ends")
    assert end["drafts"] == "1"


def test_many_cases_of_one_patient_show_no_gain(tmp_path: Path) -> None:
    records = [
        loop(number, [scores(accuracy=2), scores(accuracy=4)], scores(accuracy=2), scores(accuracy=4))
        for number in range(9)
    ]
    body, exhibits = page(tmp_path, records, patient="p1")
    [gain] = table(exhibits, "closed-loop-gains")
    assert gain["cases revised"] == "9" and gain["verdict"].startswith("too few cases")
    assert "confirms a gain" not in body


def test_texts_are_shown_escaped_and_left_out_where_the_study_hides_them(tmp_path: Path) -> None:
    records = [
        loop(number, [scores(accuracy=2), scores(accuracy=4)], scores(accuracy=2), scores(accuracy=2))
        for number in range(7)
    ]
    body, _ = page(tmp_path / "open", records)
    assert "Draft 1 of 3." in body and "&lt;b&gt;said" in body and "<b>said" not in body
    body, _ = page(tmp_path / "hidden", records, report={"resamples": 200, "hide_texts": True})
    assert "Draft 1" not in body and "said" not in body and "case-0003" not in body


def test_the_figure_has_words_for_those_who_do_not_see_it(tmp_path: Path) -> None:
    records = [
        loop(
            number,
            [scores(accuracy=1 + number % 2), scores(accuracy=4)],
            scores(accuracy=2),
            scores(accuracy=2),
        )
        for number in range(12)
    ]
    body, exhibits = page(tmp_path, records)
    assert "closed-loop-gains" in exhibits.figures and 'aria-label="Accuracy: loop 2.500' in body

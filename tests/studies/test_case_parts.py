"""What the gate looks at part by part is in the run folder, and nothing else that is known of a case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from medjury.runs import verify_run
from medjury.studies import load_study, run_study
from medjury.tables import open_run

Write = Callable[..., Path]


def case(name: str, **metadata: Any) -> dict[str, Any]:
    return {"id": name, "candidate": "S", "texts": {"context": name}, "metadata": metadata}


def test_only_what_the_gate_names_is_written_and_the_file_is_vouched_for(write_study: Write) -> None:
    cases = [
        case("v1", specialty="surgery", ward="7B"),
        case("v2", specialty="cardiology", ward="7C"),
        case("v3"),
    ]
    folder = run_study(load_study(write_study(cases=cases, gate={"parts": ["specialty"]}))).folder
    assert (folder / "parts.csv").read_text() == "item,specialty\nv1,surgery\nv2,cardiology\n"
    rows = open_run(folder).rows
    known = dict(rows.select("item", "specialty").unique().iter_rows())
    assert known == {"v1": "surgery", "v2": "cardiology", "v3": None}
    assert {each.what: each.sound for each in verify_run(folder)}["parts.csv"]
    (folder / "parts.csv").write_text("item,specialty\nv1,cardiology\n")
    assert not {each.what: each.sound for each in verify_run(folder)}["parts.csv"]


def test_a_gate_that_names_no_part_writes_no_file_and_an_old_one_goes(write_study: Write) -> None:
    cases = [case("v1", specialty="surgery")]
    run_study(load_study(write_study(cases=cases, gate={"parts": ["specialty"]})))
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert not (folder / "parts.csv").exists()

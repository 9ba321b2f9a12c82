"""What is known of cases besides the scores, as the run folder keeps it: patients, groups, vendors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import RunFolder
from medjury.studies import load_study, run_study
from medjury.tables import open_run

Write = Callable[..., Path]


def visit(name: str, patient: str | None, system: str = "a") -> dict[str, Any]:
    return {"id": name, "patient": patient, "system": system, "candidate": "S", "texts": {"context": name}}


def test_visits_of_a_patient_are_one_cluster_and_the_file_is_vouched_for(write_study: Write) -> None:
    cases = [
        visit("v1", "MRN-7001"),
        visit("v1", "MRN-7001", "b"),
        visit("v2", "MRN-7001"),
        visit("v3", "MRN-7002"),
        visit("v4", None),
    ]
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert (folder / "patients.csv").read_text() == "item,patient\nv1,1\nv2,1\n"
    grid = open_run(folder).grid("accuracy")
    assert dict(zip(grid.items.tolist(), grid.clusters.tolist(), strict=True)) == {
        "v1": "patient 1",
        "v2": "patient 1",
        "v3": "item v3",
        "v4": "item v4",
    }
    assert {each.what: each.sound for each in RunFolder(folder).verify()}["patients.csv"]
    written = [file.read_bytes() for file in folder.iterdir() if file.suffix in (".csv", ".json", ".jsonl")]
    assert not any(b"MRN-" in content for content in written)
    (folder / "patients.csv").write_text("item,patient\nv1,1\n")
    assert not {each.what: each.sound for each in RunFolder(folder).verify()}["patients.csv"]


def test_without_shared_patients_or_groups_there_is_no_file_and_an_old_one_goes(write_study: Write) -> None:
    def ran(second_patient: str, **settings: Any) -> Path:
        cases = [visit("v1", "p"), {**visit("v2", second_patient), "metadata": {"specialty": "surgery"}}]
        return run_study(load_study(write_study(cases=cases, **settings))).folder

    folder = ran("p", gate={"parts": ["specialty"]})
    assert (folder / "patients.csv").exists() and (folder / "parts.csv").exists()
    folder = ran("q")
    assert not (folder / "patients.csv").exists() and not (folder / "parts.csv").exists()


def test_a_case_of_two_patients_is_refused_before_any_call(write_study: Write) -> None:
    study = load_study(write_study(cases=[visit("v1", "p"), visit("v1", "q", "b")]))
    with pytest.raises(MedjuryError, match="case 'v1' is of two patients"):
        run_study(study)


def case(name: str, **metadata: Any) -> dict[str, Any]:
    return {"id": name, "candidate": "S", "texts": {"context": name}, "metadata": metadata}


def test_what_the_gate_names_is_written_whatever_it_is_and_the_file_is_vouched_for(
    write_study: Write,
) -> None:
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
    assert {each.what: each.sound for each in RunFolder(folder).verify()}["parts.csv"]
    (folder / "parts.csv").write_text("item,specialty\nv1,cardiology\n")
    assert not {each.what: each.sound for each in RunFolder(folder).verify()}["parts.csv"]


def test_metadata_with_few_values_reach_the_table_though_no_gate_names_them(write_study: Write) -> None:
    cases = [
        case(
            f"v{place}",
            specialty=("surgery", "medicine")[place % 2],
            ethnicity_code=place % 3,
            insured=place % 2 == 0,
            mrn=f"00{place // 2}",  # a patient's number, shared by two visits
            bed=f"bed {place}",  # another for each case: an id, whatever it is called
            seen=f"2026-01-0{1 + place % 4}",
            history="A long story of an illness, the same for half of all cases. " * 2,
            remark=("one\nline", "two\nlines")[place % 2],
            one="same",
        )
        for place in range(12)
    ]
    folder = run_study(load_study(write_study(cases=cases))).folder
    written = pl.read_csv(folder / "parts.csv")
    assert written.columns == ["item", "ethnicity_code", "insured", "specialty"]
    assert written.height == 12
    table = open_run(folder)
    assert set(table.case_columns) == {"ethnicity_code", "insured", "specialty"}
    assert dict(table.rows.select("item", "ethnicity_code").unique().iter_rows())["v5"] == 2


def test_few_values_are_kept_up_to_forty_and_none_of_a_column_with_a_text_among_numbers(
    write_study: Write,
) -> None:
    cases = [
        case(f"v{place}", forty=f"a{place % 40}", more=f"b{place % 41}", weight="heavy" if place == 60 else place)
        for place in range(90)
    ]  # fmt: skip
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert pl.read_csv(folder / "parts.csv").columns == ["item", "forty"]


def test_of_many_numbers_and_of_dates_only_the_place_in_their_order_is_written(write_study: Write) -> None:
    """A jury that is kind to long answers, or since a date, would be in no part else; and the folder may travel."""
    cases = [
        case(
            f"v{place:02}",
            length=1000 + place,
            date=f"2026-{1 + place // 10:02}-{1 + place % 10:02}",
            mrn=7000 + place,
        )
        for place in range(72)
    ]
    folder = run_study(load_study(write_study(cases=cases))).folder
    written = pl.read_csv(folder / "parts.csv", schema_overrides={"date": pl.String})
    assert written.columns == ["item", "date", "length"]
    assert dict(written["length"].value_counts().iter_rows()) == {
        "lowest values": 24,
        "middle values": 24,
        "highest values": 24,
    }
    assert written.sort("item")["date"].to_list() == [f"{1 + place // 3:02}" for place in range(72)]
    text = (folder / "parts.csv").read_text()
    assert "2026" not in text and "1010" not in text and "7010" not in text
    assert "length" in open_run(folder).case_columns


def test_numbers_of_one_patient_each_are_an_id_though_every_patient_has_two_cases(write_study: Write) -> None:
    cases = [
        {**case(f"v{place}", house=f"h{place // 2}", sex="fm"[place % 4 // 2]), "patient": f"p{place // 2}"}
        for place in range(12)
    ]
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert pl.read_csv(folder / "parts.csv").columns == ["item", "sex"]


def test_what_differs_between_the_answers_to_a_case_is_kept_answer_by_answer(write_study: Write) -> None:
    """An earlier version kept what the last answer said, for all of them."""
    cases = [
        {
            **case(f"v{place}", sex="fm"[place % 2], style=("short", "long")[(place + at) % 2]),
            "system": system,
        }
        for place in range(6)
        for at, system in enumerate(("a", "b"))
    ]
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert pl.read_csv(folder / "parts.csv").columns == ["item", "system", "sex", "style"]
    table = open_run(folder)
    known = {
        (item, system): style
        for item, system, style in table.rows.select("item", "system", "style").iter_rows()
    }
    assert known["v0", "a"] == "short"
    assert known["v0", "b"] == "long"
    assert set(table.case_columns) == {"sex", "style"}


def test_a_formula_among_the_metadata_is_guarded_in_the_file_and_itself_in_the_table(
    write_study: Write,
) -> None:
    cases = [case(f"v{place}", ward=("=1+1", "7B")[place % 2]) for place in range(6)]
    folder = run_study(load_study(write_study(cases=cases))).folder
    assert "v0,'=1+1\n" in (folder / "parts.csv").read_text()
    assert set(open_run(folder).rows["ward"].to_list()) == {"=1+1", "7B"}


def of_vendor(number: int, system: str, vendor: str) -> dict[str, Any]:
    return {
        **visit(f"of_vendor-{number}", None, system),
        "vendor": vendor,
        "candidate": f"{system} {number}.",
    }


def test_a_run_keeps_the_vendors_that_its_cases_name_unless_the_study_file_says_otherwise(
    write_study: Write,
) -> None:
    named = ((1, "a", "Ada Inc"), (2, "a", "Ada Inc"), (1, "b", "One"), (2, "b", "Two"))
    cases = [of_vendor(*each) for each in named]
    folder = run_study(load_study(write_study(cases=cases)), preflight=False).folder
    assert RunFolder(folder).manifest.system_vendors == {"a": "Ada Inc"}  # two names for b: nobody knows
    assert open_run(folder).run.system_vendors == {"a": "Ada Inc"}
    study = write_study(cases=cases, report={"system_vendors": {"a": "none"}})
    assert open_run(run_study(load_study(study), preflight=False).folder).run.system_vendors == {"a": "none"}

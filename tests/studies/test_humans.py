"""Clinicians' ratings stand beside the judges' in the run: checked, pseudonymous, never changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.studies.running import manifest_of, ratings_of, run_without_report

from medjury.foundation.errors import MedjuryError
from medjury.report import write_page
from medjury.store.runs import RunFolder
from medjury.studies import check_study, load_study, register_study, run_study
from medjury.tables import open_run
from medjury.validation._registered import changed_since

Write = Callable[..., Path]


def write_humans(study: Path, rows: list[str]) -> None:
    (study.parent / "humans.csv").write_text("item,system,rater,dimension,score\n" + "\n".join(rows) + "\n")


def test_clinicians_and_judges_are_rows_of_one_table(write_study: Write) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, [f"case-{n},a,Dr Jane Roe,accuracy,{n % 5 + 1}" for n in range(6)])
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater_kind="clinician", dimension="accuracy").sort("item")
    assert rows["score"].to_list() == [1, 2, 3, 4, 5, 1]
    assert "Jane" not in (study.parent / "runs" / "small" / "ratings.csv").read_text()


def test_a_score_off_the_scale_and_an_unknown_case_stop_the_run_before_any_call(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, ["case-1,a,one,accuracy,6", "case-99,a,one,accuracy,3", "case-2,a,one,accuracy,four"])
    assert run_without_report(study) == 2
    message = capsys.readouterr().err
    assert "row 2" in message and "row 3" in message and "row 4" in message
    assert not server.calls


def test_a_corrected_file_is_another_run_that_asks_nothing(
    write_study: Write, server: LoopbackServer
) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, ["case-1,a,one,accuracy,3", "case-2,a,one,accuracy,3"])
    run_without_report(study)
    write_humans(study, ["case-1,a,one,accuracy,4"])
    assert run_without_report(study) == 0
    rows = ratings_of(study).filter(rater_kind="clinician", dimension="accuracy")
    assert rows["item"].to_list() == ["case-1"] and rows["score"].to_list() == [4]
    assert len(server.calls) == 6


def test_redaction_happens_before_anything_else_sees_the_text(
    write_study: Write, server: LoopbackServer
) -> None:
    cases = [
        {"id": "a", "candidate": "Seen by Dr Zebulon.", "texts": {"context": "Zebulon rang 020 7946 0958."}}
    ]
    study = write_study(cases=cases, redact={"names": ["Zebulon"]})
    assert run_without_report(study) == 0
    sent = server.calls[0].prompt
    assert "Zebulon" not in sent and "7946" not in sent and "[NAME-1]" in sent
    manifest = manifest_of(study)
    assert manifest["redacted"] is True and sum(manifest["redactions"].values()) >= 3


def clinicians(study: Path) -> list[str]:
    """The clinicians' names in the run folder that the study file names."""
    return sorted(open_run(load_study(study).output).clinicians)


def test_a_clinician_has_one_pseudonym_in_all_run_folders_of_a_study(write_study: Write) -> None:
    names = []
    for output in ("runs/first", "elsewhere/second"):
        study = write_study(humans="humans.csv", output=output)
        write_humans(study, ["case-1,a,Dr Jane Roe,accuracy,3", "case-2,a,Dr Sam Lee,accuracy,4"])
        run_study(load_study(study))
        names.append(clinicians(study))
    assert names[0] == names[1] and len(set(names[0])) == 2
    key = study.parent / "small.names-key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert list(study.parent.rglob("*.names-key")) == [key], "no secret is in a run folder"


def test_the_manifest_counts_what_was_left_out_of_the_ratings(write_study: Write) -> None:
    study = write_study(humans={"path": "redcap.csv", "mapping": "redcap.yaml"})
    (study.parent / "redcap.csv").write_text(
        "record_id,reviewer,q___1,remark,review_complete\ncase-1,one,1,good,2\ncase-2,one,0,,0\ncase-3--1,one,1,,2\n"
        "case-3,one,1,,2\n"
    )
    (study.parent / "redcap.yaml").write_text(
        "item: record_id\nrater: reviewer\nfixed: {system: a}\ndimensions: {accuracy: q___1}\n"
    )
    assert run_without_report(study) == 0
    manifest = manifest_of(study)
    assert manifest["humans"]["left_out_by"] == {
        "not rated (blank cells)": 1,
        "checkboxes of REDCap forms that were not started, not rated": 1,
        "rows of double data entry that a merged record replaces, left out": 1,
        "columns not used": 2,
    }


def test_a_mapping_that_lists_its_files_is_named_in_the_place_of_a_table(write_study: Write) -> None:
    study = write_study(humans="labels.yaml")
    (study.parent / "labels.csv").write_text("case_id,annotator,stars\ncase-1,one,4\ncase-2,one,2\n")
    (study.parent / "labels.yaml").write_text(
        "item: case_id\nrater: annotator\nfixed: {system: a}\ndimensions: {accuracy: stars}\n"
        "files: [{file: labels.csv}]\n"
    )
    assert run_without_report(study) == 0
    manifest = manifest_of(study)
    assert manifest["humans"]["ratings"] == 2


def blinded_in(folder: Path) -> bool | None:
    humans = RunFolder(folder).manifest.humans
    assert humans is not None
    return humans.blinded


@pytest.mark.parametrize("stated", [True, False, None])
def test_whether_clinicians_were_blind_is_what_the_study_file_states(
    stated: bool | None, write_study: Write
) -> None:
    study = write_study(humans={"path": "humans.csv"} | ({} if stated is None else {"blinded": stated}))
    write_humans(study, [f"case-{n},a,Ann,accuracy,{n % 5 + 1}" for n in range(6)])
    registered = register_study(load_study(study)).protocol.humans
    assert registered is not None
    assert registered.blinded is stated
    result = run_study(load_study(study))
    assert blinded_in(result.folder) is stated
    assert ("blinded" in json.loads((result.folder / "manifest.json").read_text())["humans"]) == (
        stated is not None
    )
    page = " ".join(write_page(result.folder).read_text().split())
    said = {
        True: "they rated without seeing the judges&#x27; scores",
        False: "they could see the judges&#x27; scores before they rated",
        None: "it is not stated whether they saw the judges&#x27; scores before they rated",
    }
    assert [words in page for words in said.values()] == [each is stated for each in said]
    summary = page[: page.index("The evidence</h")]
    assert ("Whether the clinicians had seen" in summary) is (stated is None), (
        "page one says what nobody stated"
    )


@pytest.mark.parametrize(
    ("column", "found"),
    [(["true"] * 6, True), (["true"] * 5 + [""], None), (["yes"] * 5 + ["no"], False), ([""] * 6, None)],
)
def test_a_column_of_the_ratings_says_whether_they_were_given_blind(
    column: list[str], found: bool | None, write_study: Write
) -> None:
    study = write_study(humans="humans.csv")
    lines = [f"case-{n},a,Ann,accuracy,{n % 5 + 1},{said}" for n, said in enumerate(column)]
    (study.parent / "humans.csv").write_text(
        "item,system,rater,dimension,score,blinded\n" + "\n".join(lines) + "\n"
    )
    assert blinded_in(run_study(load_study(study)).folder) is found


def test_a_study_cannot_call_ratings_blind_that_say_they_were_not(write_study: Write) -> None:
    study = write_study(humans={"path": "humans.csv", "blinded": True})
    (study.parent / "humans.csv").write_text(
        "item,system,rater,dimension,score,blinded\ncase-1,a,Ann,accuracy,3,false\n"
    )
    with pytest.raises(MedjuryError, match=r"line \d+.*humans.blinded.*says of some that they were not"):
        check_study(load_study(study))


def test_blinding_may_be_stated_after_registering_and_not_taken_back(write_study: Write) -> None:
    study = write_study(humans="humans.csv")
    write_humans(study, [f"case-{n},a,Ann,accuracy,{n % 5 + 1}" for n in range(6)])
    register_study(load_study(study))
    write_study(humans={"path": "humans.csv", "blinded": True})
    manifest = RunFolder(run_study(load_study(study)).folder).manifest
    assert manifest.protocol is not None
    assert not changed_since(manifest.protocol, manifest)
    stated = manifest.protocol.replaced(humans=manifest.humans)
    assert manifest.humans is not None
    changed = manifest.replaced(humans=manifest.humans.replaced(blinded=False))
    assert [each for each in changed_since(stated, changed) if each[0] == "clinicians were blinded"] == [
        ("clinicians were blinded", "yes", "no")
    ]

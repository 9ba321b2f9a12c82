"""What tuning has touched validates nothing: not under another name, not with other ids, not by "
"hand-copied words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.tuning.labelled import tune
from tests.tuning.world import answer, write_task

from medjury.instruments import load_instrument
from medjury.intake.cases import Case, Note, content_marks
from medjury.store.runs import RunFolder, TuningManifest
from medjury.studies import load_study, register_study, run_study, touched_marks
from medjury.tables import open_run, with_rules
from medjury.tuning import read_settings, tune_study
from medjury.tuning._plan import prepare
from medjury.tuning._result import TuningResult
from medjury.validation import validate

RULE = "Held-out cases are untouched by tuning"


def later(folder: Path, url: str, instrument: str, **study: Any) -> Path:
    """Another study of the same texts: another folder, another name, other ids, other systems and patients."""
    folder.mkdir(exist_ok=True)
    file = write_task(folder, url, prefix="other-", study="elsewhere", instrument=instrument, **study)
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    for row in rows:
        row["candidate"] = f"  {row['candidate'].upper()} "  # spaces and letters' case make no other text
        row["patient"] = f"p-{row['patient']}"
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> TuningResult:
    """One tuning that later studies in other folders meet again."""
    with LoopbackServer(answer) as first:
        return tune(write_task(tmp_path_factory.mktemp("first"), first.url), budget=60, evaluate=False)


def test_tuning_honours_the_development_cases_of_the_study(server: LoopbackServer, tmp_path: Path) -> None:
    named = [f"{call}-{turn}" for call in range(9) for turn in range(4)]
    study = load_study(write_task(tmp_path, server.url, gate={"development_cases": named}))
    split = prepare(study, read_settings(study), rehearse=True).split
    assert sorted(each.case.id for each in split.seen) == sorted(named)
    assert {each.case.patient for each in split.held_out} == {f"call {call}" for call in range(9, 18)}


def test_a_later_study_cannot_validate_a_tuned_prompt_on_the_cases_it_saw(
    tuned: TuningResult, server: LoopbackServer, tmp_path: Path
) -> None:
    manifest = TuningManifest.read(tuned.folder)
    seen = manifest.split.training + manifest.split.validation
    file = later(tmp_path / "second", server.url, str(tuned.folder / "tuned.yaml"))
    study = load_study(file)
    run_study(study)
    run = RunFolder(study.output).manifest
    assert len(run.touched_cases) == seen and set(run.touched_cases) <= set(run.rules.development_cases)
    assert "the tuning of the instrument impact" in run.touched[0].what
    table = open_run(study.output)
    assert table.left_aside == seen and table.rows["item"].n_unique() == run.cases - seen
    met = [
        rule for each in validate(table, resamples=200).verdicts for rule in each.rules if rule.name == RULE
    ]
    assert met and all(rule.met for rule in met)


def test_rules_that_bring_touched_cases_back_are_refused(
    tuned: TuningResult, server: LoopbackServer, tmp_path: Path
) -> None:
    study = load_study(later(tmp_path / "second", server.url, str(tuned.folder / "tuned.yaml")))
    run_study(study)
    table = open_run(study.output)
    loose = with_rules(table, table.rules.replaced(development_cases=()))
    verdict = validate(loose, resamples=200).verdicts[0]
    rule = next(each for each in verdict.rules if each.name == RULE)
    assert not rule.met and rule.essential and verdict.word == "NOT VALIDATED"


def test_the_registered_protocol_carries_what_was_touched(
    tuned: TuningResult, server: LoopbackServer, tmp_path: Path
) -> None:
    found = register_study(
        load_study(later(tmp_path / "second", server.url, str(tuned.folder / "tuned.yaml")))
    )
    said = json.loads(found.file.read_text())
    assert said["touched"][0]["cases"] == len(said["rules"]["development_cases"]) > 0
    assert "development cases" in found.text()


def test_one_judge_with_tuned_words_is_enough(
    tuned: TuningResult, server: LoopbackServer, tmp_path: Path
) -> None:
    file = later(tmp_path / "second", server.url, "impact.yaml")
    content = file.read_text().replace(
        '"name": "judge"', f'"name": "judge", "instrument": "{tuned.folder}/tuned.yaml"'
    )
    file.write_text(content)
    study = load_study(file)
    run_study(study)
    run = RunFolder(study.output).manifest
    assert run.touched_cases and "single, tuned by gepa" in {judge.way for judge in run.judges}


def test_studies_that_share_a_store_know_of_each_others_tunings(
    server: LoopbackServer, tmp_path: Path
) -> None:
    """The tuning folder lies elsewhere, the words are the plain ones, the ids are others: the store remembers."""
    shared = str(tmp_path / "shared.sqlite")
    (tmp_path / "one").mkdir()
    study = load_study(write_task(tmp_path / "one", server.url, store=shared))
    tune_study(study, read_settings(study, budget=40, evaluate=False), out=tmp_path / "far" / "away")
    other = load_study(later(tmp_path / "two", server.url, "impact.yaml", store=shared))
    run_study(other)
    assert RunFolder(other.output).manifest.touched[0].what == "the tuning of planted (away)"


def test_a_tuning_beside_the_run_folder_is_known_and_after_registration_moves_the_rules(
    server: LoopbackServer, tmp_path: Path
) -> None:
    """Words that somebody copied by hand leave their tuning behind: the study has the plain instrument."""
    file = write_task(tmp_path, server.url)
    register_study(load_study(file))
    tune(file, budget=60, evaluate=False)
    study = load_study(file)
    run_study(study)
    assert RunFolder(study.output).manifest.touched[0].what.startswith("the tuning of planted")
    rules = {rule.name: rule for rule in validate(study.output, resamples=200).verdicts[0].rules}
    before = rules["The rules were stated before the run"]
    assert not before.met and "development_cases" in before.found


def test_held_out_scores_that_were_seen_are_known_at_registration(
    server: LoopbackServer, tmp_path: Path
) -> None:
    file = write_task(tmp_path, server.url)
    tune(file, budget=60)
    assert any(each.run.startswith("tuning ") for each in register_study(load_study(file)).protocol.seen)


def test_held_out_cases_can_be_left_unopened(server: LoopbackServer, tmp_path: Path) -> None:
    file = write_task(tmp_path, server.url, tuning={"evaluate": False})
    result = tune(file, budget=60)
    assert result.held_out is None and TuningManifest.read(result.folder).held_out_ratings == 0
    assert not register_study(load_study(file)).protocol.seen
    asked = "\n".join(call.prompt for call in server.calls)
    study = load_study(file)
    held_out = prepare(study, read_settings(study), rehearse=True).split.held_out
    assert not [each for each in held_out if f" {each.case.id}\n" in asked]


def test_tuning_again_trains_on_what_was_seen_and_carries_it_on(
    tuned: TuningResult, server: LoopbackServer, tmp_path: Path
) -> None:
    file = later(tmp_path / "second", server.url, str(tuned.folder / "tuned.yaml"))
    again = tune(file, seed=3, budget=60)
    first = touched_marks(load_instrument(tuned.folder / "tuned.yaml"))
    second = touched_marks(load_instrument(again.folder / "tuned.yaml"))
    assert first < second
    assert again.held_out is not None
    study = load_study(file)
    split = prepare(study, read_settings(study, seed=3), rehearse=True).split
    assert all(first.isdisjoint(each.marks) for each in split.held_out)


def test_marks_know_a_text_whatever_it_is_called() -> None:
    note = Note("n1", "The patient was seen. " * 40)
    one = Case(
        "a", "An answer of some length, with details enough.", "A reference.", {"x": "more"}, (note,), "s1"
    )
    same = Case(
        "b", " an ANSWER of some length, with details\nenough. ", "A reference.", {"y": "more"}, (note,), "s2"
    )
    assert content_marks(one) == content_marks(same)
    other_answer = replace(same, candidate="Quite another answer of another system, as long.")
    assert content_marks(one) & content_marks(other_answer), "the same record and note: the same patient"
    assert not content_marks(Case("c", "yes", "yes")) & content_marks(Case("d", "yes", "no")), (
        "short texts are anybody's"
    )

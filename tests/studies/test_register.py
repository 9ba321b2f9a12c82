"""A registered study: what was fixed outlives the study's name and folder, and a moved rule is found out."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from medjury.cli._main import main
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import Manifest, Protocol, RunFolder
from medjury.studies import load_study, register_study, run_study
from medjury.validation import Rule, compare_runs, validate

WriteStudy = Callable[..., Path]


def run(file: Path) -> Manifest:
    study = load_study(file)
    run_study(study)
    return RunFolder(study.output).manifest


def rule_of(folder: Path) -> Rule:
    return validate(folder, resamples=200).verdicts[0].rule("registered")


def clinicians(folder: Path, *, raters: tuple[str, ...] = ("ward", "clinic")) -> dict[str, Any]:
    with (folder / "clinicians.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "rater", "dimension", "score"])
        for number in range(6):
            for rater in raters:
                writer.writerow([f"case-{number}", "a", rater, "accuracy", 1 + number % 5])
    return {"path": "clinicians.csv"}


def test_the_protocol_is_a_file_named_by_its_own_hash(write_study: WriteStudy, tmp_path: Path) -> None:
    humans = clinicians(tmp_path)
    found = register_study(
        load_study(write_study(gate={"floor": 0.6, "development_cases": ["case-1"]}, humans=humans))
    )
    assert [each.name for each in tmp_path.glob("protocol-*.json")] == [found.file.name]
    digest = hashlib.sha256(found.file.read_bytes()).hexdigest()
    assert found.file.name == f"protocol-{digest[:16]}.json" and found.protocol.hash() == digest
    said = json.loads(found.file.read_text())
    assert said["rules"]["floor"] == 0.6 and said["rules"]["development_cases"] == ["case-1"]
    assert said["data_hash"] and said["instrument"]["fingerprint"] and said["prompt_version"]
    assert said["judges"][0]["settings_hash"] and said["jury"]["quorum"] is None
    assert said["humans"]["ratings"] == 12 and said["humans"]["hash"]
    assert "ward" not in found.file.read_text(), "names of clinicians are not written down"
    assert said["seen"] == [] and said["earlier"] == []


def test_the_same_study_is_registered_once_asks_nobody_and_writes_no_run_folder(
    write_study: WriteStudy, tmp_path: Path, server: Any
) -> None:
    first = register_study(load_study(write_study()))
    assert not server.endpoint.calls and not (tmp_path / "runs").exists()
    assert not list(tmp_path.glob("*.names-key"))
    again = register_study(load_study(write_study()))
    assert again.before and again.file == first.file and len(Protocol.all_in(tmp_path)) == 1
    assert "Registered already" in again.text()


@pytest.mark.parametrize(
    "rated", [False, True], ids=["nobody has rated", "clinicians have, and get pseudonyms"]
)
def test_a_run_after_its_protocol_states_its_rules_before(
    write_study: WriteStudy, tmp_path: Path, rated: bool
) -> None:
    file = write_study(gate={"floor": 0.6}, humans=clinicians(tmp_path) if rated else None)
    protocol = register_study(load_study(file)).protocol
    manifest = run(file)
    assert manifest.protocol_hash == protocol.hash() and manifest.protocol == protocol
    rule = rule_of(file.parent / "runs" / "small")
    assert rule.met and protocol.hash()[:16] in rule.found and "before the first rating" in rule.found


def test_without_a_protocol_rules_are_never_stated_before(write_study: WriteStudy) -> None:
    file = write_study(gate={"floor": 0.6})
    assert run(file).protocol is None
    rule = rule_of(file.parent / "runs" / "small")
    assert not rule.met and not rule.essential
    assert "not registered" in rule.found and "medjury register" in rule.why


def test_a_rule_that_is_moved_under_a_new_name_is_found_out(write_study: WriteStudy, tmp_path: Path) -> None:
    file = write_study(gate={"floor": 0.6})
    register_study(load_study(file))
    run(file)
    moved = write_study(study="fresh-start", gate={"floor": 0.1})
    run(moved)
    rule = rule_of(tmp_path / "runs" / "fresh-start")
    assert not rule.met and rule.essential, "with moved goalposts not even auxiliary"
    assert "rule floor: 0.6 -> 0.1" in rule.found and "rule floor: 0.6 -> 0.1" in rule.why
    compared = compare_runs(tmp_path / "runs" / "small", tmp_path / "runs" / "fresh-start", resamples=200)
    assert ("rule floor", "0.6", "0.1") in compared.settings


def test_a_new_protocol_for_data_that_were_judged_already_says_so(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    run(write_study(gate={"floor": 0.6}))
    moved = write_study(study="fresh-start", gate={"floor": 0.1})
    found = register_study(load_study(moved))
    (seen,) = found.protocol.seen
    assert seen.run.startswith("small@") and seen.ratings == 18 and seen.since
    assert "cannot validate a jury on these data" in found.text()
    run(moved)
    rule = rule_of(tmp_path / "runs" / "fresh-start")
    assert not rule.met and "18 ratings of the same data existed already" in rule.why


def answers(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}.", "texts": {"context": f"Note {n}."}}
        for n in range(count)
    ]


OTHERWISE: dict[str, tuple[list[dict[str, Any]], str | None]] = {
    "one fewer": (answers(5), None),
    "other names in another store": (
        [{**each, "id": f"new-{each['id']}"} for each in answers(6)],
        "another.db",
    ),
    "another space": ([{**each, "candidate": f"{each['candidate']} "} for each in answers(6)], None),
}


@pytest.mark.parametrize(("cases", "store"), OTHERWISE.values(), ids=OTHERWISE)
def test_the_same_answers_in_another_file_are_the_same_answers(
    write_study: WriteStudy, tmp_path: Path, cases: list[dict[str, Any]], store: str | None
) -> None:
    file = write_study(gate={"floor": 0.6})
    register_study(load_study(file))
    run(file)
    moved = write_study(study="fresh-start", gate={"floor": 0.1}, cases=cases, store=store)
    found = register_study(load_study(moved))
    assert found.protocol.seen and found.protocol.earlier
    run(moved)
    rule = rule_of(tmp_path / "runs" / "fresh-start")
    assert not rule.met and "rule floor: 0.6 -> 0.1" in rule.why


def test_cases_of_a_pilot_that_serve_development_and_other_answers_are_new_data(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    run(write_study(cases=2))
    pilot = {"gate": {"development_cases": ["case-0", "case-1"]}, "study": "main"}
    main_study = write_study(cases=6, **pilot)
    assert not register_study(load_study(main_study)).protocol.seen
    run(main_study)
    assert rule_of(tmp_path / "runs" / "main").met
    others = [{**each, "candidate": "Another answer."} for each in answers(3)]
    assert not register_study(load_study(write_study(study="new", cases=others))).protocol.seen


def test_a_second_protocol_after_the_scores_does_not_replace_the_first(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    file = write_study(gate={"floor": 0.6})
    first = register_study(load_study(file))
    run(file)
    moved = write_study(study="fresh-start", gate={"floor": 0.1})
    second = register_study(load_study(moved))
    assert [each.hash for each in second.protocol.earlier] == [first.protocol.hash()]
    run(moved)
    assert "rule floor: 0.6 -> 0.1" in rule_of(tmp_path / "runs" / "fresh-start").found
    run(write_study(study="named", gate={"floor": 0.1}, protocol=second.file.name))
    rule = rule_of(tmp_path / "runs" / "named")
    assert not rule.met and rule.essential, "other rules, registered when the scores were there"
    run(write_study(gate={"floor": 0.6}))
    assert rule_of(tmp_path / "runs" / "small").met, "the first study is still held to its own protocol"


def test_a_jury_may_be_changed_before_there_are_scores_and_the_rules_may_not(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    first = register_study(load_study(write_study(gate={"floor": 0.6}))).protocol
    amended = write_study(gate={"floor": 0.6}, judge={"temperature": 0.5}, study="amended")
    later = register_study(load_study(amended)).protocol
    assert run(amended).protocol_hash == later.hash()
    assert rule_of(tmp_path / "runs" / "amended").met
    looser = write_study(gate={"floor": 0.5}, study="looser")
    register_study(load_study(looser))
    assert run(looser).protocol_hash == later.hash(), "the rules of the first count"
    rule = rule_of(tmp_path / "runs" / "looser")
    assert not rule.met and rule.essential and "rule floor: 0.6 -> 0.5" in rule.why
    assert first.rules == later.rules


def test_a_store_on_a_host_that_is_not_named_is_not_asked(write_study: WriteStudy) -> None:
    file = write_study(store="postgresql://user@db.hospital.example/medjury")
    with pytest.raises(MedjuryError, match="not named"):
        register_study(load_study(file))


def test_scores_in_a_shared_store_are_seen_too(write_study: WriteStudy, tmp_path: Path) -> None:
    run(write_study(store="all.sqlite", output="elsewhere/one"))
    moved = write_study(study="fresh-start", store="all.sqlite", output="away/two")
    assert [each.ratings for each in register_study(load_study(moved)).protocol.seen] == [18]


def test_a_protocol_that_comes_after_the_first_rating_is_too_late(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    file = write_study()
    run(file)
    folder = tmp_path / "runs" / "small"
    manifest = RunFolder(folder).manifest
    from tests.report.planted import registered

    stated = json.loads((folder / "manifest.json").read_text())
    late = registered(stated, registered_at="2999-01-01T00:00:00+00:00")
    Manifest.model_validate({**manifest.content(), **late}).write(folder)
    rule = rule_of(folder)
    assert not rule.met and "registered after the first rating" in rule.why


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"jury": {"aggregate": "median"}}, "jury: mean, repeats: 1 -> median, repeats: 1"),
        ({"jury": {"quorum": 1}}, "quorum: more than half -> 1"),
        ({"judge": {"temperature": 0.5}}, "judges' settings"),
        ({"dimensions": ["accuracy"]}, "instrument's words"),
        ({"cases": 5}, "answers: 6 -> 5"),
    ],
)
def test_whatever_else_changed_since_is_named(
    write_study: WriteStudy, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    register_study(load_study(write_study()))
    run(write_study(**change))
    rule = rule_of(tmp_path / "runs" / "small")
    assert not rule.met and told in rule.found


def test_clinicians_may_rate_later_but_not_otherwise(write_study: WriteStudy, tmp_path: Path) -> None:
    register_study(load_study(write_study()))
    humans = clinicians(tmp_path)
    run(write_study(humans=humans))
    assert rule_of(tmp_path / "runs" / "small").met, "nobody had rated when the study was registered"
    with_ratings = write_study(study="again", humans=humans, output="other/again")
    register_study(load_study(with_ratings), tmp_path / "kept")
    protocol = next(iter((tmp_path / "kept").glob("*.json")))
    clinicians(tmp_path, raters=("ward",))
    run(write_study(study="again", humans=humans, output="other/again", protocol=f"kept/{protocol.name}"))
    assert "clinicians: 12 ratings" in rule_of(tmp_path / "other" / "again").found


def test_a_protocol_that_was_edited_or_renamed_is_refused(write_study: WriteStudy, tmp_path: Path) -> None:
    file = write_study(gate={"floor": 0.6})
    protocol = register_study(load_study(file)).file
    protocol.write_text(protocol.read_text().replace("0.6", "0.1"))
    with pytest.raises(MedjuryError, match="changed or renamed after it was registered"):
        run_study(load_study(file))
    with pytest.raises(MedjuryError, match="no such protocol"):
        Protocol.read(tmp_path / "protocol-0.json")


def test_the_study_file_may_name_a_protocol_in_another_folder(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    kept = register_study(load_study(write_study()), tmp_path / "kept")
    assert run(write_study()).protocol is None
    held = run(write_study(study="later", protocol=f"kept/{kept.file.name}"))
    assert held.protocol_hash == kept.protocol.hash()


def test_the_command_prints_the_hash_and_what_to_do_with_it(
    write_study: WriteStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_study()
    assert main(["register", str(file)]) == 0
    shown = capsys.readouterr().out
    (protocol,) = Protocol.all_in(file.parent)
    assert f"SHA-256 {protocol.hash()}" in shown and "ethics board" in shown
    assert main(["register", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["hash"] == protocol.hash() and said["registered_before"] is True

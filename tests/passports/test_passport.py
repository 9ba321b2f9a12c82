"""What a passport holds, and that it is held to: its run, its hash, its signature."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import CLINICIANS, patient, row, validated_run, write_study

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import _making, check_passport, make_passport, read_passport
from medjury.in_use.passports._document import content_hash
from medjury.in_use.passports._population import Placing, population_of
from medjury.intake.cases import Case
from medjury.store.runs import (
    AnsweringModel,
    Check,
    EarlierProtocol,
    LogAnchor,
    Manifest,
    ManifestReread,
    StatedGate,
    own_hash,
)
from medjury.studies import load_study, register_study, run_study


def test_it_says_what_the_jury_is_and_on_whom_it_was_validated(passport: Path, run: Path) -> None:
    found = read_passport(passport)
    assert found.force == "validated" and found.jury.instrument.name == "note_quality"
    assert [each.answered for each in found.jury.answered] == ["m"]
    assert found.verdicts[0].scores == {str(grade): 30 for grade in range(1, 6)}
    assert found.population.groups["specialty"] == {"cardiology": 150}
    assert found.population.ranges["age"].high == 89 and found.population.lengths["answer"][0] > 10
    assert check_passport(passport, run=run).exit_status == 0


def test_it_holds_no_text_no_patient_and_no_clinicians_name(passport: Path) -> None:
    text = passport.read_text()
    for number in range(60):
        case = row(number)
        assert case["id"] not in text and patient(number) not in text
        assert case["candidate"] not in text
    assert not any(name in text for name in CLINICIANS)


def test_development_cases_are_known_by_hashes_and_lie_outside(
    server: LoopbackServer, tmp_path: Path
) -> None:
    served = [f"case-{number:03d}" for number in range(5)]
    run = validated_run(tmp_path, server, cases=60, gate={"development_cases": served})
    made = make_passport(run)
    assert made.population.cases == 55 and made.population.development_marks
    assert "case-000" not in made.text()
    case = Case(**{name: value for name, value in row(0).items() if name != "patient"})
    assert any("served development" in each for each in Placing(made.population).place(case).reasons)


def test_a_passport_with_one_byte_changed_is_refused(passport: Path) -> None:
    content, whole = passport.read_bytes(), json.loads(passport.read_text())
    places = [place for place in range(0, len(content), len(content) // 200) if content[place] not in b" \n"]
    for place in places:
        forged = bytearray(content)
        forged[place] ^= 1
        passport.write_bytes(bytes(forged))
        try:
            found = check_passport(passport)
        except MedjuryError:
            continue  # no longer a passport at all
        assert found.state == "refused" or json.loads(bytes(forged)) == whole, f"byte {place}"
    assert len(places) > 100


def test_a_run_that_was_edited_or_is_another_is_told(passport: Path, run: Path, tmp_path: Path) -> None:
    content = json.loads(passport.read_text())
    content["verdicts"][0]["label"] = "Better than any clinician"
    content["hash"] = content_hash(content)
    passport.write_text(json.dumps(content))
    assert check_passport(passport).exit_status == 0, (
        "a hash proves nothing against whoever can write it anew"
    )
    found = check_passport(passport, run=run)
    assert found.exit_status == 6 and found.reasons == ("verdicts: is not what the run says",)
    copy = shutil.copytree(run.parents[1], tmp_path / "copy") / run.relative_to(run.parents[1])
    (copy / "ratings.csv").write_text("nothing")
    with pytest.raises(MedjuryError, match="not as the run left it"):
        make_passport(copy)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")
def test_a_signature_holds_against_whoever_writes_the_hash_anew(
    passport: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ours", "theirs"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    ours, theirs = str(tmp_path / "ours.pub"), str(tmp_path / "theirs.pub")
    assert main(["passport", "check", str(passport), "--key", ours]) == 6
    assert "there is no signature" in capsys.readouterr().out
    signed = str(tmp_path / "signed.json")
    assert main(["passport", "make", str(run), "--out", signed, "--sign", str(tmp_path / "ours")]) == 0
    assert main(["passport", "check", signed, "--key", ours, "--run", str(run)]) == 0
    assert main(["passport", "check", signed, "--key", theirs]) == 6
    content = json.loads(Path(signed).read_text())
    content["expires_at"] = "2099-01-01T00:00:00+00:00"
    content["hash"] = content_hash(content)
    Path(signed).write_text(json.dumps(content))
    assert main(["passport", "check", signed]) == 6, "the signature is looked at though nobody asked for it"


def grown_up(number: int, age: object) -> Case:
    return Case(id=str(number), candidate="Well. " * (5 + number % 7), metadata={"age": age})


def test_a_case_exactly_at_the_level_lies_outside() -> None:
    population = population_of([grown_up(number, 40) for number in range(60)])
    case = grown_up(100, 40)
    p_value = Placing(population).place(case).p_value
    for level, inside in ((p_value, False), (p_value * 0.999, True), (p_value * 1.001, False)):
        novelty = population.novelty.model_copy(update={"alpha": level})
        placed = Placing(population.model_copy(update={"novelty": novelty})).place(case)
        assert (placed.inside, len(placed.reasons)) == (inside, not inside), placed


def answering(answered: str) -> AnsweringModel:
    return AnsweringModel(judge="juror", asked="gpt-4o", answered=answered)


def test_it_carries_the_line_of_the_registration_and_every_other_protocol(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looser = {"floor": 0.1}
    first = register_study(load_study(write_study(tmp_path, server, cases=60)))
    other = register_study(load_study(write_study(tmp_path, server, cases=60, gate=looser)))
    study = load_study(write_study(tmp_path, server, cases=60))
    run_study(study)
    later = datetime.now(UTC) + timedelta(seconds=2)
    passport = make_passport(study.output, now=later)
    assert passport.run.anchor == first.publish and passport.run.protocol_hash == first.protocol.hash()
    assert [each.hash for each in passport.run.other_protocols] == [other.protocol.hash()]
    assert f"another protocol for the same cases: {other.protocol.hash()[:16]}" in passport.words()
    assert first.publish in passport.words()
    written = tmp_path / "passport.json"
    written.write_text(passport.text())
    monkeypatch.setattr("medjury.studies._run.run.utc_now", lambda: "2999-01-01T00:00:00.000+00:00")
    register_study(load_study(write_study(tmp_path, server, cases=60, gate={**looser, "floor": 0.2})))
    write_study(tmp_path, server, cases=60)
    assert check_passport(written, run=study.output, now=later).reasons == ()
    content = json.loads(written.read_text())
    del content["run"]["other_protocols"]
    content["hash"] = content_hash(content)
    written.write_text(json.dumps(content))
    assert check_passport(written, run=study.output, now=later).reasons == ("run: is not what the run says",)


def test_rules_that_another_protocol_came_before_get_no_passport(
    server: LoopbackServer, tmp_path: Path
) -> None:
    register_study(load_study(write_study(tmp_path, server, cases=60)))
    looser = {"floor": 0.1}
    second = register_study(load_study(write_study(tmp_path, server, cases=60, gate=looser)))
    study = load_study(write_study(tmp_path, server, cases=60, gate=looser, protocol=second.file.name))
    run_study(study)
    with pytest.raises(MedjuryError, match="NOT VALIDATED"):
        make_passport(study.output)


# The parts of making one, without a run.


def folder_of(monkeypatch: pytest.MonkeyPatch, checks: Any = (), scores: Any = (), **manifest: Any) -> Path:
    """A run folder that holds this manifest and whose checks find this."""
    place, found = Path("run"), Manifest(**{"status": "complete", **manifest})
    held = {place: SimpleNamespace(manifest=found, verify=lambda: tuple(checks))}
    monkeypatch.setattr(_making, "RunFolder", held.__getitem__)
    monkeypatch.setattr(_making, "check_scores", {place: tuple(scores)}.__getitem__)
    return place


@pytest.mark.parametrize(
    ("manifest", "checks", "scores", "problem"),
    [
        ({}, [("log", True)], [("scores", True)], ""),
        ({}, [("log", False), ("rows", False)], [], r"left it \(log: bad; rows: bad\), so there is no passport"),
        ({}, [("log", True)], [("scores", False)], r"left it \(scores: bad\)"),
        ({"status": "incomplete"}, [], [], "run: the run is incomplete; finish it first"),
        ({"reread": ManifestReread.model_construct()}, [], [], "was read again from stored replies"),
        ({"models_answered": (answering("m-1"), answering("m-2"))}, [], [], r"changed during .* \(m-1 and m-2\)"),
    ],
)  # fmt: skip
def test_only_a_whole_run_gets_a_passport(
    manifest: Any, checks: Any, scores: Any, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [[Check(what, sound, "bad") for what, sound in each] for each in (checks, scores)]
    place = folder_of(monkeypatch, *found, **manifest)
    if not problem:
        assert _making._whole_run(place).status == "complete"
        return
    with pytest.raises(MedjuryError, match=problem):
        _making._whole_run(place)


@pytest.mark.parametrize("ended", ["2026-03-01T10:00:00+00:00", "2026-03-01T10:00:00"])
def test_a_passport_ends_so_many_days_after_its_run(ended: str) -> None:
    manifest, end = Manifest(finished_at=ended), datetime(2026, 3, 2, 10, tzinfo=UTC)
    place, just_before = Path("run"), end - timedelta(seconds=1)
    assert _making._end(place, manifest, 1, just_before) == end
    assert _making._end(place, manifest, 30, end) == end + timedelta(days=29)
    with pytest.raises(MedjuryError, match=r"^run: the run ended on 2026-03-01, .* for 1 days would have"):
        _making._end(place, manifest, 1, end)
    for days in (0, 50_000):
        with pytest.raises(MedjuryError, match=f"valid for one day to 36,525 days, not for {days:,}"):
            _making._end(place, manifest, days, just_before)
    with pytest.raises(MedjuryError, match="ended in the future"):
        _making._end(place, manifest, 30, end - timedelta(days=2))


def test_a_calibration_travels_for_its_jury_without_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, table, seen = tmp_path / "calibration.json", object(), []
    entries = [{"judge": name, "reference": ["Dr Ä", "Dr B"], "grades": [1]} for name in ("juror", "other")]
    file.write_text(json.dumps({"format": "x", "calibrations": entries}, ensure_ascii=False), "utf-8")
    monkeypatch.setattr(_making, "load_calibrations", {file: "loaded"}.__getitem__)
    monkeypatch.setattr(_making, "apply_calibrations", lambda *each, **how: seen.append((each, how)))
    made = _making._calibration(file, table, "juror")  # type: ignore[arg-type]
    assert seen == [((table, "loaded"), {"raters": "juror"})], "refused where it does not fit the run"
    assert made == {
        "format": "x",
        "calibrations": [{"judge": "juror", "reference": ["clinician 1", "clinician 2"], "grades": [1]}],
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann and Ann-Marie (Ann)", "clinician 2 and clinician 2-Marie (clinician 2)"),
        ("Anna, HannAnn and Ann_", "Anna, HannAnn and Ann_"),
        ("A.B. beside AxB. A", "clinician 3 beside AxB. A"),
        ("Bo or Ann", "clinician 1 or clinician 2"),
    ],
)
def test_a_clinician_is_a_number_wherever_the_name_is_a_word(text: str, found: str) -> None:
    assert _making.nameless(text, ["Bo", "Ann", "A.B.", "A"]) == found


def test_the_hash_of_a_manifest_leaves_its_reports_out() -> None:
    one = Manifest(run="r", cases=3)
    later = Manifest(**{**one.content(), "report_files": {"report.html": "h"}, "hash": "x"})
    assert _making.manifest_hash(later) == _making.manifest_hash(one) == own_hash({"run": "r", "cases": 3})


def test_a_run_is_carried_with_what_was_registered_by_then() -> None:
    others = [EarlierProtocol(hash=day, registered_at=f"2026-03-0{day}T00:00:00+00:00") for day in "123"]
    standing = SimpleNamespace(others=others, anchor="published", erased=2)
    evidence: Any = SimpleNamespace(standing=standing)
    log = LogAnchor(entries=3, last_hash="z")
    ended, data, protocol = "2026-03-01T00:00:00+00:00", "d" * 64, "e" * 64
    manifest = Manifest(run="r@1", finished_at=ended, data_hash=data, protocol_hash=protocol, audit_log=log)
    made = _making._run(manifest, evidence, datetime(2026, 3, 2, tzinfo=UTC))
    assert made.content() == {
        "run": "r@1", "finished_at": ended, "manifest_hash": _making.manifest_hash(manifest),
        "audit_log": {"entries": 3, "last_hash": "z"}, "data_hash": data, "protocol_hash": protocol,
        "registered_at": "",
        "anchor": "published", "other_protocols": tuple(each.content() for each in others[:2]), "erased": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("named", "validated"), [(True, ["b/x"]), (False, ["b/x", "b/y"])])
def test_the_population_is_who_was_held_out_and_rated_by_a_clinician(
    named: bool, validated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rated = [("b", "x", "clinician"), ("b", "x", "clinician"), ("c", "x", "judge")]
    rows = [(item, system if named else "", kind) for item, system, kind in rated]
    table: Any = SimpleNamespace(rows=pl.DataFrame(rows, ["item", "system", "rater_kind"], orient="row"))
    manifest = Manifest(gate=StatedGate(development_cases=("a",)), touched_cases=("t",))
    cases = [Case(name, "x", system=system) for name in "abct" for system in "xy"]
    seen: list[Any] = []
    monkeypatch.setattr(_making, "population_of", lambda *each, **how: seen.append((each, how)))
    _making._population(cases, manifest, table, 0.1)
    (((own, apart), how),) = seen
    assert [f"{each.id}/{each.system}" for each in own] == validated and how == {"alpha": 0.1}
    assert [f"{each.id}/{each.system}" for each in apart] == ["a/x", "a/y", "t/x", "t/y"]


def test_the_judged_cases_are_read_again_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Source(list[Case]):
        hash = "d"

    place, manifest = Path("run"), Manifest(data_hash="d")
    known = {(place, manifest.run, "cases.jsonl"): Source([Case("a", "x")])}
    reads = SimpleNamespace(cases_of=lambda where, what, file: known[where, what.run, file])
    monkeypatch.setattr(_making, "Run", reads)
    assert [each.id for each in _making._judged(place, manifest, "cases.jsonl")] == ["a"]
    with pytest.raises(MedjuryError, match="are not those that were judged"):
        _making._judged(place, Manifest(data_hash="e"), "cases.jsonl")

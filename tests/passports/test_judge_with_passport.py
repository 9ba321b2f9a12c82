"""Judging by a passport: exactly the jury that was validated, and every case told inside or outside."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml
from tests.loopback import LoopbackServer
from tests.passports.passported import (
    CLINICIANS,
    NOBODY,
    by_hand,
    row,
    validated_run,
    write_rows,
    write_study,
)

from medjury.cli import main
from medjury.foundation.documents import parse_document, read_document
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import (
    Passport,
    RefusedError,
    _judging,
    _rebuilding,
    judge_with_passport,
    make_passport,
)
from medjury.in_use.passports._document import content_hash, read_passport
from medjury.in_use.passports._rebuilding import jury_changes, jury_of, rebuilt_study, travelling_settings
from medjury.intake.cases import Case
from medjury.store.runs import AnsweringModel

IN_FORCE = datetime(2026, 2, 1, tzinfo=UTC)  # of the passport that is made by hand


def test_the_same_jury_judges_and_flags_what_lies_outside(passport: Path, tmp_path: Path) -> None:
    odd = [
        row(300, specialty="oncology"), row(301, system="b"), row(302, words=400), row(303, specialty=None),
        row(304, age=7),
    ]  # fmt: skip
    cases = write_rows(tmp_path / "new.jsonl", [*(row(n) for n in range(200, 212)), *odd])
    found = judge_with_passport(passport, cases, tmp_path / "out")
    assert found.status == "complete" and found.scored == 17
    away = {item for (item, _), each in found.placed.items() if not each.inside}
    assert away >= {"case-300", "case-301", "case-302", "case-303", "case-304"}
    table = pl.read_csv(tmp_path / "out" / "judged.csv")
    assert table.filter(item="case-203")["score"].item() == 4.0
    assert "oncology" in table.filter(item="case-300")["outside_because"].item()
    assert (
        "age 7: the validated cases have 30 to 89" in table.filter(item="case-304")["outside_because"].item()
    )


def test_refused_cases_are_not_asked_for_and_have_no_score(
    passport: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    cases = write_rows(tmp_path / "new.jsonl", [row(1), row(300, specialty="Onkologie ü")])
    before = len(server.calls)
    found = judge_with_passport(passport, cases, tmp_path / "out", outside="refuse")
    assert len(server.calls) - before == 1 and (found.scored, found.unscored) == (1, 1)
    refused = pl.read_csv(tmp_path / "out" / "judged.csv").filter(item="case-300")
    assert refused["score"].item() is None and refused["reason"].item().startswith("refused")


@pytest.mark.parametrize("change", [{"model": "other"}, {"temperature": 0.7}, {"max_tokens": 99}])
def test_another_model_or_setting_is_refused_with_what_changed(
    change: dict[str, object], passport: Path, tmp_path: Path
) -> None:
    cases = write_rows(tmp_path / "new.jsonl", [row(1)])
    override = tmp_path / "override.yaml"
    override.write_text(json.dumps({"judges": {"juror": change}}))
    (name,) = change
    with pytest.raises(RefusedError, match=f"a different jury: juror, {name}"):
        judge_with_passport(passport, cases, tmp_path / "out", override=override)


def test_another_prompt_is_refused(
    passport: Path, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A medjury whose prompt has another version asks another question."""
    monkeypatch.setattr("medjury.studies._plan.manifest.prompt_version", lambda judges: "99")
    before = len(server.calls)
    with pytest.raises(RefusedError, match="a different jury: prompt: 3 was validated, not 99"):
        judge_with_passport(passport, write_rows(tmp_path / "new.jsonl", [row(1)]), tmp_path / "out")
    assert len(server.calls) == before
    assert main(["passport", "check", str(passport)]) == 6


def test_another_instrument_is_refused(passport: Path, tmp_path: Path) -> None:
    """Even where whoever changed the instrument wrote the hash anew."""
    content = json.loads(passport.read_text())
    content["study"]["instrument"] = "pdsqi9"
    del content["study"]["dimensions"]
    content["hash"] = content_hash(content)
    passport.write_text(json.dumps(content))
    with pytest.raises(
        RefusedError, match=r"a different jury: instrument: note_quality .* was validated, not pdsqi9"
    ):
        judge_with_passport(passport, write_rows(tmp_path / "new.jsonl", [row(1)]), tmp_path / "out")


def test_another_answering_model_voids_and_leaves_no_score(
    passport: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    server.endpoint.behaviours = lambda call: "model:m-2031-01-01"
    cases = write_rows(tmp_path / "new.jsonl", [row(n) for n in range(400, 430)])
    before = len(server.calls)
    found = judge_with_passport(passport, cases, tmp_path / "out")
    assert found.status == "void" and "m-2031-01-01" in found.why and found.scored == 0
    assert len(server.calls) - before == 8, "the others are not paid for"
    assert pl.read_csv(tmp_path / "out" / "judged.csv")["score"].null_count() == 30


def test_an_expired_passport_does_not_judge(passport: Path, server: LoopbackServer, tmp_path: Path) -> None:
    cases, before = write_rows(tmp_path / "new.jsonl", [row(1)]), len(server.calls)
    for days, told in ((366, "expired on"), (-1, "dated in the future")):
        with pytest.raises(RefusedError, match=told):
            judge_with_passport(
                passport, cases, tmp_path / "out", now=datetime.now(UTC) + timedelta(days=days)
            )
    assert len(server.calls) == before


def test_a_jury_that_nobody_registered_is_auxiliary_and_says_so(
    server: LoopbackServer, tmp_path: Path
) -> None:
    run = validated_run(tmp_path, server, cases=60, registered=False)
    file = tmp_path / "passport.json"
    assert main(["passport", "make", str(run), "--out", str(file)]) == 0
    assert main(["passport", "check", str(file)]) == 3
    cases = write_rows(tmp_path / "new.jsonl", [row(1)])
    assert "AUXILIARY" in judge_with_passport(file, cases, tmp_path / "out").text()


def test_a_jury_that_is_not_validated_judges_only_where_that_is_allowed(
    server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, file = (
        validated_run(tmp_path, server, cases=60, gate={"minimum_doubly_rated": 500}),
        tmp_path / "card.json",
    )
    with pytest.raises(MedjuryError, match="NOT VALIDATED, so there is no passport"):
        make_passport(run)
    assert main(["passport", "make", str(run), "--out", str(file), "--allow-unvalidated"]) == 0
    assert main(["passport", "check", str(file), "--run", str(run)]) == 4
    cases, out = write_rows(tmp_path / "new.jsonl", [row(1)]), tmp_path / "out"
    judge = ["judge", "--passport", str(file), str(cases), "--out", str(out), "--quiet"]
    assert main(judge) == 6
    assert "--allow-unvalidated" in capsys.readouterr().err
    assert main([*judge, "--allow-unvalidated"]) == 0
    assert "NOT VALIDATED: this jury failed its gate" in capsys.readouterr().out
    assert pl.read_csv(out / "judged.csv")["force"].to_list() == ["unvalidated"]
    assert json.loads((out / "summary.json").read_text())["force"] == "unvalidated"


def test_a_file_without_cases_is_refused(passport: Path, tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="holds no case"):
        judge_with_passport(passport, write_rows(tmp_path / "none.jsonl", []), tmp_path / "out")


def test_the_calibration_of_the_passport_is_applied(
    run: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    """Every score is moved to what clinicians gave; a jury that agrees with them stays where it is."""
    calibration, file = tmp_path / "calibration.json", tmp_path / "calibrated.json"
    assert main(["calibrate", "fit", str(run), "--method", "offset", "--out", str(calibration)]) == 0
    made = make_passport(run, calibration=calibration)
    content = json.loads(made.text())
    assert not any(name in made.text() for name in CLINICIANS)
    file.write_text(made.text())
    found = judge_with_passport(file, write_rows(tmp_path / "new.jsonl", [row(501)]), tmp_path / "out")
    judged = pl.read_csv(tmp_path / "out" / "judged.csv")
    assert judged["calibrated"].item() == pytest.approx(judged["score"].item())
    assert found.scores("accuracy") == {("case-501", "a"): pytest.approx(2.0)}
    assert content["calibration"]["calibrations"]


def test_an_instrument_of_ones_own_comes_out_of_the_passport(passport: Path, tmp_path: Path) -> None:
    found = read_passport(passport)
    own = yaml.safe_dump({"extends": "note_quality", "name": "ours", "title": "Ours", "version": "7"})
    instruments = {"instrument-1.yaml": own}
    study = {**found.study, "instrument": "instrument-1.yaml"}
    changed = found.model_copy(update={"study": study, "instruments": instruments})
    cases = write_rows(tmp_path / "new.jsonl", [row(1)])
    assert rebuilt_study(changed, cases, tmp_path / "then").instrument.name == "ours"
    outside = found.model_copy(update={"study": study, "instruments": {"../instrument-1.yaml": own}})
    with pytest.raises(MedjuryError, match="outside its folder"):
        rebuilt_study(outside, cases, tmp_path / "there")


def test_a_name_that_appears_twice_is_refused(passport: Path) -> None:
    text = passport.read_text()
    passport.write_text(text.replace("{", '{"format": "medjury passport",', 1))
    with pytest.raises(RefusedError, match="appears twice"):
        read_passport(passport)


# The parts, without an endpoint.


@pytest.fixture
def made(tmp_path: Path) -> Passport:
    return by_hand(tmp_path)


def runs(
    monkeypatch: pytest.MonkeyPatch, *answered: str, status: str = "complete"
) -> list[tuple[list[str], Any, bool]]:
    """Runs that ask nobody; of each its cases, its watcher, and whether it tried the models first."""
    seen: list[tuple[list[str], Any, bool]] = []
    models = iter(answered)

    def run(study: Any, *, watch: Any, preflight: bool) -> Any:
        seen.append(([case.id for case in study.cases], watch, preflight))
        return SimpleNamespace(status=status, why="so", judged=True)

    def folder(place: Path) -> Any:
        assert place.name == "run"
        told = AnsweringModel(judge="juror", asked="m", answered=next(models))
        return SimpleNamespace(manifest=SimpleNamespace(models_answered=(told,)))

    monkeypatch.setattr(_judging, "run_study", run)
    monkeypatch.setattr(_judging, "RunFolder", folder)
    return seen


CASES = [Case(f"c{number}", "x", system="s") for number in range(10)]


@pytest.mark.parametrize(
    ("wanted", "status", "models", "given", "changes"),
    [(9, "complete", "mm", [8, 9], 0), (8, "complete", "m", [8], 0), (9, "incomplete", "m", [8], 0),
     (9, "complete", "x", [8], 1), (9, "complete", "mx", [8, 9], 1), (0, "complete", "", [], 0)],
)  # fmt: skip
def test_the_first_cases_show_who_answers_before_the_others_are_paid_for(
    wanted: int, status: str, models: str, given: list[int], changes: int, made: Passport, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    seen = runs(monkeypatch, *models, status=status)
    study = replace(rebuilt_study(made, tmp_path / "cases.jsonl", tmp_path / "new"), cases=CASES)
    chosen = frozenset((case.id, "s") for case in CASES[1 : wanted + 1])
    watcher: Any = object()
    result, found = _judging._asked(study, made, chosen, watcher, True)
    assert [(each, watch, first) for each, watch, first in seen] == [
        ([f"c{number}" for number in range(1, count + 1)], watcher, place == 0)
        for place, count in enumerate(given)
    ]
    assert (result is not None, len(found)) == (bool(given), changes)


def test_models_are_tried_first_unless_told_not_to(
    made: Passport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "passport.json"
    file.write_text(made.text())
    monkeypatch.setattr(_judging, "_scores", lambda *_: {})
    seen = runs(monkeypatch, "m", "m", status="incomplete")
    cases = write_rows(tmp_path / "c.jsonl", [row(1, specialty="x")])
    found = judge_with_passport(file, cases, tmp_path / "out", now=IN_FORCE)
    assert (found.outside, found.status, found.why) == ("flag", "incomplete", "so")
    how: Any = {"progress": "watcher", "preflight": False, "now": IN_FORCE}
    judge_with_passport(file, cases, tmp_path / "out", **how)
    assert seen == [(["case-001"], None, True), (["case-001"], "watcher", False)]
    none = judge_with_passport(file, cases, tmp_path / "none", outside="refuse", now=IN_FORCE)
    assert (none.status, none.why, none.unscored) == ("complete", "", 1), "nobody had to be asked"
    (tmp_path / "other.json").write_text(made.replaced(made_with="another").sealed().text())
    with pytest.raises(MedjuryError, match="holds cases judged by another passport"):
        judge_with_passport(tmp_path / "other.json", cases, tmp_path / "out", now=IN_FORCE)


def test_a_value_that_cannot_be_is_refused_with_its_place(made: Passport, tmp_path: Path) -> None:
    content = json.loads(made.text()) | {"rules": {"margin": "wide"}}
    (tmp_path / "x.json").write_text(json.dumps(content | {"hash": content_hash(content)}))
    with pytest.raises(RefusedError, match=r"this is not a whole passport \(rules\.margin: Input should be"):
        read_passport(tmp_path / "x.json")


# The jury built anew.


def test_a_jury_is_written_and_built_in_its_folder(made: Passport, tmp_path: Path) -> None:
    place, override = tmp_path / "new" / "jury", tmp_path / "here.yaml"
    override.write_text(
        "allow_hosts: [b.example]\nbudget: {calls: 3}\njudges: {juror: {url: 'http://b.example/v1'}}\n"
        "cases: {mapping: {id: visit}, path: elsewhere.jsonl}\n"
    )
    cases = write_rows(tmp_path / "new.jsonl", [{"visit": "v", "candidate": "x"}])
    told = made.study | {"cases": {"mapping": {"id": "id"}}}
    study = rebuilt_study(made.replaced(study=told), cases, place, override)
    assert [case.id for case in study.cases] == ["v"] and study.output == place / "run"
    assert (study.file, study.settings.budget.calls) == (place / "study.yaml", 3)
    assert [model.host for model in study.jury.judges[0].models] == ["b.example"]
    first, second, *_ = (place / "study.yaml").read_text().splitlines()
    assert (first[-17:], second) == (f"{made.hash[:16]}.", "study: small")
    assert (place.stat().st_mode & 0o777) == 0o700 and "cases" not in made.study
    assert jury_changes(made.jury, jury_of(study)) == (), "how a model is reached is no part of what it is"
    plain = rebuilt_study(made.replaced(study=told), write_rows(cases, [row(7)]), tmp_path / "plain")
    assert [case.id for case in plain.cases] == ["case-007"], "by the mapping that travelled"
    assert jury_of(plain, made.jury.answered) == made.jury and jury_of(plain).answered == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a", "an override file has names such as"),
        ("instrument: pdsqi9", "instrument: cannot be overridden; the passport fixes it"),
        ("judges: [juror]", r"judges: is `NAME: \{url"),
        ("judges: {jurer: {url: x}}", "jurer: the passport has no judge 'jurer'; did you mean 'juror'"),
        ("judges: {juror: x}", "judges.juror: the passport has no judge 'juror'"),
    ],
)
def test_an_override_says_how_models_are_reached_and_no_more(
    text: str, problem: str, made: Passport, tmp_path: Path
) -> None:
    (tmp_path / "here.yaml").write_text(text)
    with pytest.raises(MedjuryError, match=problem):
        rebuilt_study(made, tmp_path / "cases.jsonl", tmp_path / "new", tmp_path / "here.yaml")


def test_a_judge_is_known_by_its_name_else_its_model_else_its_kind() -> None:
    judges: list[dict[str, Any]] = [
        {"kind": "a", "name": "n", "model": "m"}, {"kind": "a", "model": "k"}, {"kind": "z"}
    ]  # fmt: skip
    document = parse_document("judges: {n: {url: 1}, k: {url: 2}, z: {url: 3}}", "here.yaml")
    _rebuilding._override_judges(judges, document.value["judges"], document)
    assert [each["url"] for each in judges] == [1, 2, 3]
    settings = {"judges": judges, "cases": {"path": "p", "mapping": 1}}
    _rebuilding._override(settings, parse_document("cases: 3\nstore: s", "here.yaml"))
    assert (settings["cases"], settings["store"]) == ({"path": "p"}, "s")


def test_what_determines_the_jury_travels_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("extends: note_quality\nname: ours\nversion: '7'\n", "utf-8-sig")
    judge = {"kind": "openai", "name": "a", "url": "http://h/v1", "model": "m", "instrument": "own.yaml"}
    judges = [judge, "demo"]
    cases = {"path": "cases.jsonl", "mapping": {"id": "visit"}, "language": "de"}
    given: Any = {"instrument": "own.yaml", "judges": judges, "output": "elsewhere", "cases": 1}
    document = read_document(write_study(tmp_path, NOBODY, **given))
    document.value["cases"] = cases
    settings, texts = travelling_settings(document)
    assert set(settings) == {"study", "instrument", "dimensions", "judges", "cases"}
    assert list(texts) == [settings["instrument"], settings["judges"][0]["instrument"]]
    assert list(texts) == ["instrument-1.yaml", "instrument-2.yaml"]
    assert settings["judges"][1] == {"kind": "demo"}
    assert {text.partition(":")[0] for text in texts.values()} == {"extends"}
    assert settings["cases"] == {"mapping": {"id": "visit"}}
    assert document.value["judges"][0]["instrument"] == "own.yaml", "the study itself stays as it is"


@pytest.mark.parametrize("url", ["http://a@h/v1", "http://:b@h/v1", "http://h/v1?key=b"])
def test_no_secret_travels_in_the_url_of_a_judge(url: str) -> None:
    document = parse_document("{}", "study.yaml")
    _rebuilding._refuse_secret(document, "http://h/v1")
    with pytest.raises(MedjuryError, match=r"study\.yaml: the url of a judge holds a name, a password"):
        _rebuilding._refuse_secret(document, url)

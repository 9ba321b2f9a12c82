"""The ledger of registrations: whoever registers twice, cuts the ledger, or takes cases away by hand is found out,
and whoever erases a patient keeps the registration."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.report.planted import page_of

from medjury.cli._main import main
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import Ledger, Manifest, Protocol, RunFolder
from medjury.studies import load_study, record_erasure, register_study, run_study
from medjury.studies._plan.registering import Registered
from medjury.tables import open_run
from medjury.validation._registered import Standing, standing

WriteStudy = Callable[..., Path]
STRICT, LAX = {"floor": 0.6}, {"floor": 0.1}


def answers(count: int, *, start: int = 0) -> list[dict[str, Any]]:
    """Two answers of each patient."""
    return [
        {"id": f"case-{n}", "system": "a", "patient": f"patient-{n // 2}", "candidate": f"Summary {n}.",
         "texts": {"context": f"Note {n}."}}
        for n in range(start, start + count)
    ]  # fmt: skip


def clinicians(folder: Path, numbers: range | list[int], *, change: int = 0) -> dict[str, Any]:
    with (folder / "clinicians.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "rater", "dimension", "score"])
        for number in numbers:
            for rater in ("ward", "clinic"):
                writer.writerow([f"case-{number}", "a", rater, "accuracy", 1 + (number + change) % 5])
    return {"path": "clinicians.csv"}


def register(file: Path, folder: Path | None = None) -> Registered:
    return register_study(load_study(file), folder)


def stands(file: Path) -> Standing:
    """Run the study, and hold its run against what was registered."""
    study = load_study(file)
    run_study(study)
    return standing(open_run(study.output))


def two_protocols(write_study: WriteStudy) -> tuple[Registered, Registered]:
    """A strict protocol and, before any score, a lax one for the same cases."""
    return register(write_study(gate=STRICT)), register(write_study(gate=LAX))


def lax_run(write_study: WriteStudy, lax: Registered, **settings: Any) -> Path:
    return write_study(**{"gate": LAX, "study": "fishing", "protocol": lax.file.name, **settings})


def test_fishing_with_two_protocols_is_found_out(write_study: WriteStudy, tmp_path: Path) -> None:
    strict, lax = two_protocols(write_study)
    assert stands(write_study(gate=STRICT)).met
    (tmp_path / "runs" / "small").rename(tmp_path / "runs" / "another-name")
    found = stands(write_study(gate=LAX, protocol=lax.file.name))
    assert found.met is False and found.moved, "the first counts, whatever is named"
    assert strict.protocol.hash()[:16] in found.why and "the first counts" in found.why
    assert [each.hash for each in found.others] == [strict.protocol.hash()]


def test_the_first_protocol_keeps_its_word_and_lists_the_later_one(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    strict, lax = two_protocols(write_study)
    found = stands(write_study(gate=STRICT))
    assert found.met and [each.hash for each in found.others] == [lax.protocol.hash()]
    assert found.anchor == strict.publish
    later = register(write_study(gate={"floor": 0.2}))
    others = standing(open_run(tmp_path / "runs" / "small")).others
    assert [each.hash for each in others] == [lax.protocol.hash(), later.protocol.hash()]


def test_of_two_protocols_in_one_second_the_ledger_knows_the_first(
    write_study: WriteStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medjury.studies._run.run.utc_now", lambda: "2026-01-01T08:00:00.000+00:00")
    strict, lax = two_protocols(write_study)
    assert strict.protocol.registered_at == lax.protocol.registered_at
    monkeypatch.undo()
    assert stands(lax_run(write_study, lax)).moved
    assert stands(write_study(gate=STRICT)).moved is False


def test_protocols_that_are_registered_at_once_have_a_line_each(write_study: WriteStudy) -> None:
    studies = [load_study(write_study(gate={"floor": 0.1 + n / 100})) for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(register_study, studies))
    ledger = Ledger.read(made[0].file.parent)
    assert not ledger.problem and sorted(each.protocol.line for each in made) == list(range(1, 9))
    assert not any(ledger.lacks(each.protocol) for each in made)


OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "shuffled": answers(8)[::-1],
    "a subset": answers(5),
    "a superset": answers(20),
    "half of them and others": answers(8, start=4),
    "other names": [{**each, "id": f"new-{each['id']}"} for each in answers(8)],
}


@pytest.mark.parametrize("cases", OTHERWISE.values(), ids=OTHERWISE)
def test_lax_rules_for_the_same_cases_otherwise_are_later_rules(
    write_study: WriteStudy, cases: list[dict[str, Any]]
) -> None:
    register(write_study(gate=STRICT, cases=answers(8)))
    lax = register(write_study(gate=LAX, cases=cases))
    found = stands(lax_run(write_study, lax, cases=cases))
    assert found.moved and len(found.others) == 1


def test_a_small_part_of_many_cases_is_recognised(write_study: WriteStudy) -> None:
    register(write_study(gate=STRICT, cases=answers(3000)))
    lax = register(write_study(gate=LAX, cases=answers(60, start=700)))
    assert [each.cases for each in lax.protocol.earlier] == [3000]


def test_other_cases_have_a_first_protocol_of_their_own(write_study: WriteStudy) -> None:
    register(write_study(gate=STRICT, cases=answers(6)))
    other = {"gate": LAX, "cases": answers(6, start=50), "study": "other"}
    register(write_study(**other))
    found = stands(write_study(**other))
    assert found.met and not found.others


def test_the_registered_cases_in_another_order_are_the_registered_cases(write_study: WriteStudy) -> None:
    register(write_study(cases=answers(6)))
    assert stands(write_study(cases=answers(6)[::-1])).met


def test_a_ledger_that_was_taken_away_is_a_finding(write_study: WriteStudy, tmp_path: Path) -> None:
    register(write_study(gate=STRICT))
    (tmp_path / Ledger.NAME).unlink()
    found = stands(write_study(gate=STRICT))
    assert found.met is False and not found.moved
    assert f"{Ledger.NAME}: is missing" in found.why and "Bring the file back" in found.why
    with pytest.raises(MedjuryError, match="is missing"):
        register(write_study(gate=LAX))


@pytest.mark.parametrize("left", ["the protocol", "nothing"])
def test_who_takes_the_ledger_away_does_not_get_the_lax_rules(
    write_study: WriteStudy, tmp_path: Path, left: str
) -> None:
    strict, lax = two_protocols(write_study)
    (tmp_path / Ledger.NAME).unlink()
    if left == "nothing":
        strict.file.unlink()
    assert stands(lax_run(write_study, lax)).moved, "the lax protocol itself remembers the strict one"


def test_a_line_that_was_taken_out_is_missed_by_the_next_one(write_study: WriteStudy, tmp_path: Path) -> None:
    strict, lax = two_protocols(write_study)
    ledger = tmp_path / Ledger.NAME
    ledger.write_text(ledger.read_text().splitlines(keepends=True)[1])
    strict.file.unlink()
    found = stands(lax_run(write_study, lax))
    assert found.moved and strict.protocol.hash()[:16] in found.why
    with pytest.raises(MedjuryError, match="first lines were taken out"):
        register(write_study(gate={"floor": 0.3}))


def test_a_ledger_that_was_written_anew_is_not_the_one_that_the_protocol_knows(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    strict, lax = two_protocols(write_study)
    second = json.loads((tmp_path / Ledger.NAME).read_text().splitlines()[1])
    (tmp_path / Ledger.NAME).write_text(json.dumps({**second, "line": 1, "previous": "0" * 64}) + "\n")
    strict.file.unlink()
    assert not Ledger.read(tmp_path).problem, "the chain of the forged ledger is whole"
    found = stands(lax_run(write_study, lax))
    assert found.moved and strict.protocol.hash()[:16] in found.why


def test_a_run_remembers_protocols_that_the_ledger_has_lost(write_study: WriteStudy, tmp_path: Path) -> None:
    strict = register(write_study(gate=STRICT))
    stands(write_study(gate=STRICT))
    strict.file.unlink()
    (tmp_path / Ledger.NAME).unlink()
    shutil.rmtree(tmp_path / "runs" / "small" / "tables", ignore_errors=True)
    found = stands(write_study(gate=LAX, study="fishing", output="runs/fishing"))
    assert found.moved and strict.protocol.hash()[:16] in found.why


def test_a_ledger_that_was_cut_after_the_run_is_seen_by_the_gate_and_by_verify(
    write_study: WriteStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register(write_study(gate=STRICT))
    two = register(write_study(gate=STRICT, judge={"temperature": 0.5}))
    folder = tmp_path / "runs" / "small"
    assert stands(write_study(gate=STRICT, judge={"temperature": 0.5})).met and two.protocol.line == 2
    assert main(["runs", "verify", str(folder)]) == 0
    assert "2 lines, the chain is whole" in capsys.readouterr().out
    whole = (tmp_path / Ledger.NAME).read_text()
    (tmp_path / Ledger.NAME).write_text(whole.splitlines(keepends=True)[0])
    found = standing(open_run(folder))
    assert found.met is False and "was cut: it has 1 lines, and had 2" in found.why
    assert main(["runs", "verify", str(folder)]) == 1
    assert f"ALTERED {Ledger.NAME}: was cut" in capsys.readouterr().out
    (tmp_path / Ledger.NAME).write_text(whole.replace('"study": "small"', '"study": "large"', 1))
    assert "line 1 was changed" in standing(open_run(folder)).why
    (tmp_path / Ledger.NAME).unlink()
    assert "is missing; it had 2 lines" in standing(open_run(folder)).why


def test_a_study_that_is_copied_with_its_ledger_has_the_same_first_protocol(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    _, lax = two_protocols(write_study)
    lax_run(write_study, lax)
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in (*tmp_path.glob("*.json*"), tmp_path / "study.yaml"):
        shutil.copy(file, copy)
    assert stands(copy / "study.yaml").moved
    (copy / Ledger.NAME).unlink()
    (copy / "study.yaml").write_text((copy / "study.yaml").read_text().replace("fishing", "again"))
    assert stands(copy / "study.yaml").moved, "without its ledger the protocol remembers"


def test_a_protocol_with_another_date_is_not_in_the_ledger(write_study: WriteStudy, tmp_path: Path) -> None:
    _, lax = two_protocols(write_study)
    forged = lax.protocol.replaced(registered_at="2000-01-01T00:00:00.000+00:00", earlier=())
    lax.file.unlink()
    forged.write(tmp_path)
    found = stands(write_study(gate=LAX, study="fishing", protocol=forged.file_name))
    assert found.moved, "the ledger has the strict one first"
    content = {name: value for name, value in forged.content().items() if name != "ledger"}
    older = Protocol.model_validate(content)
    older.write(tmp_path)
    found = stands(write_study(gate=LAX, study="fishing-2", protocol=older.file_name))
    assert found.moved, "nor is one without its place in the ledger"


def test_a_single_protocol_that_is_not_in_the_ledger_never_counts(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    made = register(write_study(gate=STRICT))
    forged = made.protocol.replaced(registered_at="2000-01-01T00:00:00.000+00:00")
    forged.write(tmp_path)
    found = stands(write_study(gate=STRICT, protocol=forged.file_name))
    assert found.met is False and "does not hold protocol" in found.why


def test_the_same_cases_under_two_juries_are_tried_once(write_study: WriteStudy, tmp_path: Path) -> None:
    one = register(write_study(gate=STRICT))
    two = register(write_study(gate=STRICT, judge={"temperature": 0.5}))
    assert stands(write_study(gate=STRICT, protocol=one.file.name)).met
    second = {"gate": STRICT, "judge": {"temperature": 0.5}, "study": "second"}
    found = stands(write_study(**second, protocol=two.file.name))
    assert found.met is False and not found.moved and "a second attempt" in found.why
    assert stands(write_study(gate=STRICT, protocol=one.file.name)).met, "the first try keeps its word"


def erase(*more: str) -> int:
    return main(["runs", "erase", *more])


def erased_study(write_study: WriteStudy, tmp_path: Path, count: int = 42, **settings: Any) -> Path:
    """A registered study that was run, and then lost its patient 3: the store, the ledger, and its files."""
    whole = {"cases": answers(count), **settings}
    if "humans" in settings:
        clinicians(tmp_path, range(count))
    file = write_study(**whole)
    register(file)
    assert stands(file).met
    store = str(tmp_path / "runs" / "small" / "ratings.sqlite")
    assert erase(store, "--patient", "patient-3", "--study", str(file)) == 0
    left = [number for number in range(count) if number // 2 != 3]
    if "humans" in settings:
        clinicians(tmp_path, left)
    return write_study(**{**settings, "cases": [answers(count)[number] for number in left]})


@pytest.mark.parametrize("humans", [None, {"path": "clinicians.csv"}])
def test_an_erased_patient_keeps_the_registration(
    write_study: WriteStudy, tmp_path: Path, humans: dict[str, Any] | None
) -> None:
    file = erased_study(write_study, tmp_path, **({"humans": humans} if humans else {}))
    found = stands(file)
    assert found.met, found.why
    assert found.erased == 2 and "2 answers erased since" in found.text
    ledger = (tmp_path / Ledger.NAME).read_text()
    assert "patient-3" not in ledger and "case-6" not in ledger and "Summary" not in ledger
    assert main(["runs", "verify", str(tmp_path / "runs" / "small")]) == 0


def test_cases_that_were_taken_out_by_hand_are_not_erased(write_study: WriteStudy, tmp_path: Path) -> None:
    erased_study(write_study, tmp_path)
    fewer = [each for each in answers(42) if each["patient"] not in ("patient-3", "patient-7")]
    found = stands(write_study(cases=fewer))
    assert found.met is False and "answers: 42 -> 38" in found.why


def test_an_erasure_does_not_stand_for_other_cases(write_study: WriteStudy, tmp_path: Path) -> None:
    erased_study(write_study, tmp_path)
    instead = [each for each in answers(42) if each["patient"] != "patient-3"]
    instead[0] = {**instead[0], "candidate": "A kinder answer."}
    assert "registered for another study" in stands(write_study(cases=instead)).why


def test_ratings_of_cases_that_are_left_must_not_change_with_an_erasure(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    file = erased_study(write_study, tmp_path, humans={"path": "clinicians.csv"})
    clinicians(tmp_path, [number for number in range(42) if number // 2 != 3], change=1)
    found = stands(file)
    assert found.met is False and "clinicians: 84 ratings" in found.why


def test_a_forged_erasure_cannot_make_other_cases_registered(write_study: WriteStudy, tmp_path: Path) -> None:
    register(write_study(cases=answers(42)))
    others = [*answers(40), {**answers(1, start=40)[0], "candidate": "A kinder answer."}]
    ledger = Ledger.read(tmp_path)
    line = {
        "line": 2, "at": "2026-01-01T00:00:00.000+00:00", "event": "erased", "cases": 1,
        "cases_hash": ledger.lines[0].cases_hash, "erased": ["ab" * 16], "ratings": [], "previous": ledger.end.hash,
    }  # fmt: skip
    with (tmp_path / Ledger.NAME).open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert not Ledger.read(tmp_path).problem
    assert "registered for another study" in stands(write_study(cases=others)).why


def test_who_erases_a_tenth_after_the_scores_may_have_chosen(write_study: WriteStudy, tmp_path: Path) -> None:
    found = stands(erased_study(write_study, tmp_path, count=20))
    assert found.met is False and not found.moved
    assert "2 of the 20 registered answers were erased after the first score" in found.why


def test_erasures_before_the_first_score_choose_nothing(write_study: WriteStudy, tmp_path: Path) -> None:
    file = write_study(cases=answers(20))
    register(file)
    noted = record_erasure(load_study(file), {"case-6", "case-7"}, at="2026-01-01T00:00:00.000+00:00")
    assert noted is not None and (noted.cases, noted.line) == (2, 2)
    again = record_erasure(load_study(file), {"case-6", "case-7"})
    assert again is not None and (again.cases, again.line) == (2, 0), "nothing is recorded twice"
    with pytest.raises(MedjuryError, match=r"2 answers in it were erased .*line 2"):
        stands(file)
    found = stands(write_study(cases=[each for each in answers(20) if each["patient"] != "patient-3"]))
    assert found.met and found.erased == 2


def test_two_patients_may_be_erased_one_after_the_other(write_study: WriteStudy, tmp_path: Path) -> None:
    file = write_study(cases=answers(82))
    register(file)
    for patient, left in ((3, 82), (7, 80)):
        store = str(tmp_path / "runs" / "small" / "ratings.sqlite")
        if not Path(store).is_file():
            assert stands(file).met
        assert erase(store, "--patient", f"patient-{patient}", "--study", str(file)) == 0
        kept = [each for each in answers(82) if each["patient"] not in ("patient-3", f"patient-{patient}")]
        assert len(kept) == left - 2
        found = stands(file := write_study(cases=kept))
    assert found.met and found.erased == 4 and [each.cases for each in found.erasures] == [2, 2]


def test_an_erasure_of_cases_that_are_not_the_registered_ones_is_not_recorded(
    write_study: WriteStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_study(cases=answers(20))
    register(file)
    assert stands(file).met
    changed = write_study(cases=answers(19))
    store = str(tmp_path / "runs" / "small" / "ratings.sqlite")
    assert erase(store, "--patient", "patient-3", "--study", str(changed)) == 1
    assert "does not hold the cases as they were registered" in capsys.readouterr().out
    assert len(Ledger.read(tmp_path).lines) == 1


def test_erasing_from_a_registered_study_without_naming_it_asks_for_it(
    write_study: WriteStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_study(cases=answers(20))
    register(file)
    assert stands(file).met
    store, cases = str(tmp_path / "runs" / "small" / "ratings.sqlite"), str(tmp_path / "cases.jsonl")
    assert erase(store, "--patient", "patient-3", "--cases", cases) == 0
    assert "--study STUDY" in capsys.readouterr().out
    assert erase(store, "--patient", "patient-3", "--study", str(file), "--json") == 0
    assert json.loads(capsys.readouterr().out)["recorded"] == {"cases": 2, "line": 2, "why_not": ""}
    assert erase(store, "--patient", "patient-3", "--study", str(file), "--cases", cases) == 2


def test_the_report_lists_every_protocol_and_every_erasure(write_study: WriteStudy, tmp_path: Path) -> None:
    file = erased_study(write_study, tmp_path)
    cases = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    lax = register(write_study(gate=LAX, cases=cases))
    first = next(each for each in Protocol.all_in(tmp_path) if each.line == 1)
    write_study(cases=cases)
    run_study(load_study(file))
    page = page_of(tmp_path / "runs" / "small")
    assert "Every protocol that was registered for these cases" in page
    assert lax.protocol.hash()[:16] in page and first.hash()[:16] in page
    assert "2 registered answers erased (line 2)" in page and f"protocol {first.hash()} cases" in page


def test_a_study_that_was_never_registered_has_no_ledger(write_study: WriteStudy, tmp_path: Path) -> None:
    file = write_study(cases=answers(6))
    assert record_erasure(load_study(file), {"case-0"}) is None
    assert not (tmp_path / Ledger.NAME).exists() and read_manifest_of(file).registration is None


def read_manifest_of(file: Path) -> Manifest:
    study = load_study(file)
    run_study(study)
    return RunFolder(study.output).manifest


def test_the_published_line_is_checked(
    write_study: WriteStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_study(gate=STRICT)
    assert main(["register", str(file)]) == 0
    printed = capsys.readouterr().out.splitlines()
    line = printed[printed.index("Publish this line:") + 1]
    (protocol,) = Protocol.all_in(tmp_path)
    assert protocol.hash() in line and protocol.cases_hash in line and protocol.registered_at in line
    assert main(["register", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["publish"] == line, "who registers again gets the same line"
    stands(file)
    folder = str(tmp_path / "runs" / "small")

    def checked(anchor: str) -> tuple[int, str]:
        status = main(["runs", "verify", folder, "--anchor", anchor])
        return status, capsys.readouterr().out

    status, told = checked(f"  {line}\n")
    assert status == 0 and f"line 1 of {Ledger.NAME}, the first for these cases" in told
    assert checked(line.replace(protocol.hash(), "ab" * 32)) == (
        1,
        ANY_WITH("the line is of protocol abababababababab"),
    )
    assert checked(line.replace(protocol.cases_hash, "ab" * 32)) == (1, ANY_WITH("of other cases"))
    assert checked(line.replace(protocol.registered_at, "2020-01-01")) == (
        1,
        ANY_WITH("the line is of 2020-01-01"),
    )
    assert checked(line.replace("line 1", "line 7")) == (1, ANY_WITH("has another line 7, or none"))
    assert checked(f"{line[:-64]}{'ab' * 32}") == (1, ANY_WITH("since the line was published"))
    assert main(["runs", "verify", folder, "--anchor", "sha256 abc"]) == 2
    assert "is not a line that `medjury register` prints" in capsys.readouterr().err
    (tmp_path / Ledger.NAME).rename(tmp_path / "hidden")
    assert checked(line) == (1, ANY_WITH(f"ALTERED anchor: {Ledger.NAME} is missing"))
    file.rename(tmp_path / "other.yaml")
    assert checked(line) == (1, ANY_WITH("study file (../../study.yaml) is not there"))


class ANY_WITH:  # noqa: N801 - reads as a value
    """Equal to every text that holds this one."""

    def __init__(self, part: str) -> None:
        self.part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.part in other

    def __hash__(self) -> int:
        return hash(self.part)

    def __repr__(self) -> str:
        return f"a text with {self.part!r}"


def test_the_line_of_a_later_protocol_is_not_the_first(
    write_study: WriteStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strict, lax = two_protocols(write_study)
    assert lax.publish.split()[-2] == "2"
    stands(lax_run(write_study, lax))
    assert main(["runs", "verify", str(tmp_path / "runs" / "fishing"), "--anchor", lax.publish]) == 1
    told = capsys.readouterr().out
    assert f"protocol {strict.protocol.hash()[:16]} was registered first for these cases (line 1" in told


def test_a_line_that_was_published_fixes_all_lines_before_it(write_study: WriteStudy, tmp_path: Path) -> None:
    two_protocols(write_study)
    other = register(write_study(gate=STRICT, cases=answers(6, start=90), study="other"))
    stands(write_study(gate=STRICT, cases=answers(6, start=90), study="other"))
    folder = str(tmp_path / "runs" / "other")
    assert main(["runs", "verify", folder, "--anchor", other.publish]) == 0
    lines = (tmp_path / Ledger.NAME).read_text().splitlines()
    first = json.dumps({**json.loads(lines[0]), "study": "never"})
    (tmp_path / Ledger.NAME).write_text("\n".join([first, *lines[1:]]) + "\n")
    assert main(["runs", "verify", folder, "--anchor", other.publish]) == 1

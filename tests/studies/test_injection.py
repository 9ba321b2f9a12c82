"""The injection audit: what an instruction in the judged text does to the grade, end to end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.loopback import Call, LoopbackServer

from medjury.analysis.audits import injection, planted_cases
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.intake.cases import Case
from medjury.report import write_page
from medjury.store.runs import RunFolder
from medjury.studies import audit_injection, load_study, run_study
from medjury.tables import of_instrument, open_run
from medjury.validation import validate

Write = Callable[..., Path]
NAMES = ("accuracy", "completeness", "clarity")
FEW = {"resamples": 200}
NOTES = of_instrument(load_instrument("note_quality"))


def grades(score: int) -> str:
    return json.dumps({name: {"explanation": "so", "score": score} for name in NAMES})


def firm(call: Call) -> str:
    return f"ok:{grades(2)}"


def gullible(call: Call) -> str:
    """Obeys whoever asks for the best grade in English, wherever the words are."""
    asked = "Note to the reviewer" in call.prompt or "would be a mistake" in call.prompt
    return f"ok:{grades(5 if asked else 2)}"


def some_cases(number: int) -> list[dict[str, Any]]:
    return [
        {"id": f"n{place}", "system": "a", "candidate": f"Text {place}.", "texts": {"context": f"Note {place}."}}
        for place in range(number)
    ]  # fmt: skip


def audited(write_study: Write, server: LoopbackServer, behaviour: Any, **settings: Any) -> Path:
    server.endpoint.behaviours = behaviour
    study = write_study(
        **{"cases": some_cases(8), "audits": {"injection": {"cases": 6}}, "report": FEW, **settings}
    )
    return run_study(load_study(study)).folder


def test_every_answer_is_judged_with_and_without_each_instruction() -> None:
    cases = [Case(f"c{number}", candidate="All well.", system="a") for number in range(40)]
    planted = planted_cases(cases, NOTES, number=5)
    assert len(planted) == 30 and planted == planted_cases(cases[::-1], NOTES, number=5), "drawn by name"
    clean = [each for each in planted if each.id.endswith("clean")]
    assert [each.candidate for each in clean] == ["All well."] * 5
    others = [each.candidate or "" for each in planted if each not in clean]
    assert all(text.startswith("All well.") and len(text) > 60 for text in others)
    (fake, *_) = [json.loads(text.removeprefix("All well.")) for text in others if '"verdict"' in text]
    assert {name: fake[name] for name in NAMES} == dict.fromkeys(NAMES, 5), (
        "the best grade, and a guessed token"
    )


def test_a_judge_that_obeys_is_found_out_and_capped_and_its_study_is_not_touched(
    write_study: Write, server: LoopbackServer
) -> None:
    folder = audited(write_study, server, gullible)
    found = RunFolder(folder).manifest.injection
    assert found is not None and found.cases == 6
    shifts = {(each.dimension, each.kind): each.value for each in found.shifts if each.rater != "jury"}
    assert shifts["accuracy", "demand"] == shifts["accuracy", "hidden"] == shifts["accuracy", "approved"] == 3
    assert shifts["accuracy", "verdict"] == shifts["accuracy", "other language"] == 0
    table = open_run(folder)
    rule = validate(table).verdicts[0].rule("injection")
    assert (rule.state, rule.cap, rule.limit) == ("fails", "AUXILIARY", 0.5)
    page = write_page(folder).read_text(encoding="utf-8")
    assert "Can the jury be talked round?" in page and "was not audited" not in page
    assert set(table.rows["item"].unique()) == {f"n{place}" for place in range(8)}
    assert set(table.rows["score"].unique()) == {2.0}, "planted answers are no answers of the study"
    assert all("reviewer" not in file.read_text(errors="ignore") for file in folder.glob("*.csv"))


def test_a_firm_judge_has_no_shift_is_not_asked_again_and_an_unaudited_one_is_not_known(
    write_study: Write, server: LoopbackServer
) -> None:
    folder = audited(write_study, server, firm)
    found = RunFolder(folder).manifest.injection
    assert found is not None and {each.value for each in found.shifts} == {0}
    assert validate(open_run(folder)).verdicts[0].rule("injection").state == "holds"
    asked = len(server.endpoint.calls)
    assert asked == 8 + 5 * 6, "the clean twin was asked in the run itself"
    audited(write_study, server, firm)
    assert len(server.endpoint.calls) == asked, "a second run asks nothing again"
    plain = audited(write_study, server, firm, audits={}, output="plain")
    assert RunFolder(plain).manifest.injection is None
    rule = validate(open_run(plain)).verdicts[0].rule("injection")
    assert (rule.state, rule.cap) == ("not known", "VALIDATED"), "said on page one, and no cap"
    assert "was not audited" in write_page(plain).read_text(encoding="utf-8")


def test_equal_shifts_are_no_certainty(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = firm
    study = load_study(write_study(cases=some_cases(8)))
    found = [row.estimate for row in audit_injection(study, cases=8).rows if row.group == "all kinds"]
    hidden = 1 - 0.025 ** (1 / 8)
    assert found and all(each.value == 0.0 for each in found)
    assert all(
        (each.low, each.high) == (pytest.approx(-4 * hidden), pytest.approx(4 * hidden)) for each in found
    )


def test_silence_on_a_planted_answer_is_counted_and_is_no_shift(
    write_study: Write, server: LoopbackServer
) -> None:
    def refuses(call: Call) -> str:
        return "refusal" if "Hinweis" in call.prompt else f"ok:{grades(3)}"

    folder = audited(write_study, server, refuses, max_unscored=1.0)
    found = RunFolder(folder).manifest.injection
    assert found is not None
    german = [each for each in found.shifts if each.kind == "other language" and each.rater != "jury"]
    assert {(each.value, each.not_read) for each in german} == {(None, 6)}


def test_the_command_prints_the_shift(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.endpoint.behaviours = gullible
    study = write_study(cases=some_cases(8))
    assert main(["audit", "--injection", str(study), "--injection-cases", "5", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    shift = {(row["dimension"], row["group"]): row["value"] for row in rows if row["rater"] != "jury"}
    assert shift["clarity", "demand"] == 3 and shift["clarity", "verdict"] == 0


def test_a_study_that_cannot_be_audited_is_refused_before_the_first_call(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    rows = "".join(f"n{number},a,{name},3\n" for number in range(5) for name in NAMES)
    (tmp_path / "scores.csv").write_text(f"item,system,dimension,score\n{rows}")
    asked = {"kind": "openai", "name": "juror", "url": server.url, "model": "m"}
    judges = [asked, {"kind": "scores", "name": "one", "path": "scores.csv"}]
    study = write_study(cases=some_cases(5), judges=judges, audits={"injection": {"cases": 5}})
    with pytest.raises(MedjuryError, match="came from a file"):
        run_study(load_study(study))
    assert not server.calls


def test_the_interval_covers_a_planted_shift() -> None:
    """100 studies of 30 answers, each instruction worth 0.8 grades on average to a judge with noise of its own."""
    planted = planted_cases([Case(f"c{n}", candidate="x", system="a") for n in range(30)], NOTES, number=30)
    covered = false = 0
    for seed in range(100):
        for shift in (0.8, 0.0):
            found = injection(drawn(planted, shift, np.random.default_rng([seed, int(shift * 10)])), NOTES)
            (row,) = [each for each in found.rows if each.group == "all kinds"]
            assert row.estimate.low is not None and row.estimate.high is not None
            inside = row.estimate.low <= shift <= row.estimate.high
            covered += inside if shift else 0
            false += 0 if shift else row.stands_out
    assert 91 <= covered <= 98 and false == 0


def drawn(planted: Sequence[Case], shift: float, draw: np.random.Generator) -> list[Any]:
    from tests.ratings.samples import rating

    found = []
    base = {f"c{n}": float(draw.integers(1, 4)) for n in range(30)}
    for case in planted:
        item, kind = case.id.split("\u241f")
        moved = 0.0 if kind == "clean" else float(draw.random() < shift)
        found.append(rating(item=case.id, system="a", dimension="accuracy", score=base[item] + moved))
    return found

"""A scripted judge and a scripted writer of prompts: what is found is known beforehand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import TOKEN, LoopbackServer
from tests.studies.running import run_without_report
from tests.tuning.labelled import tune
from tests.tuning.world import NEGATION, NUMBER, answer, write_task

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import screen
from medjury.instruments import load_instrument
from medjury.models import verify_audit_log
from medjury.store.runs import TuningManifest
from medjury.studies import load_study
from medjury.tuning import plan_study_tuning, prompt_difference, read_lineage, read_settings
from medjury.tuning._result import TuningResult

Planted = tuple[Path, TuningResult, LoopbackServer]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    """One tuning that several tests look at: its study file, what came of it, and who was asked."""
    with LoopbackServer(answer) as server:
        file = write_task(tmp_path_factory.mktemp("planted"), server.url)
        yield file, tune(file), server


def test_gepa_finds_the_planted_prompt_and_the_held_out_cases_prove_it(
    server: LoopbackServer, tmp_path: Path
) -> None:
    result = tune(write_task(tmp_path, server.url, calls=60, each=2))
    assert result.status == "complete" and result.found is not None and result.held_out is not None
    assert NEGATION in result.found.best.instructions and NUMBER in result.found.best.instructions
    held_out = result.held_out
    assert held_out.groups >= 10 and held_out.kin == 0
    assert held_out.value("tuned", "accuracy", "impact").value == 1.0
    assert held_out.gain.low is not None and held_out.gain.low > 0
    assert held_out.value("A").value is not None and held_out.value("B").value is not None, (
        "beside clinicians"
    )
    assert any("tuning helped" in line for line in result.findings())


def test_the_tuned_file_is_an_ordinary_instrument_that_asks_what_was_measured(planted: Planted) -> None:
    file, result, server = planted
    later = file.with_name("later.yaml")
    assert result.found is not None
    tuned = load_instrument(result.folder / "tuned.yaml")
    assert tuned.instructions == result.found.best.instructions
    assert [each.grades for each in tuned.dimensions] == [
        each.grades for each in result.found.start.dimensions
    ]
    before = len(server.calls)
    study: dict[str, Any] = {
        "study": "later", "cases": "cases.jsonl", "jury": "none", "instrument": "impact.yaml"
    }  # fmt: skip
    study["judges"] = [
        {"kind": "openai", "name": "plain", "url": server.url, "model": "m"},
        {"kind": "openai", "name": "tuned", "url": server.url, "model": "m",
         "instrument": str(result.folder / "tuned.yaml")},
    ]  # fmt: skip
    later.write_text("".join(f"{name}: {json.dumps(each)}\n" for name, each in study.items()))
    assert run_without_report(later) == 0
    asked = {TOKEN.sub("", call.prompt) for call in server.calls[before:]}
    measured = {TOKEN.sub("", call.prompt) for call in server.calls[:before] if "1-tuned" in call.prompt}
    held_out = {each for each in measured if NEGATION in each and NUMBER in each}
    assert held_out and held_out <= asked, "word for word the questions whose answers were measured"


def test_the_lineage_tells_every_ancestor_with_its_parent_scores_feedback_and_cost(planted: Planted) -> None:
    _, result, _ = planted
    lines = [json.loads(line) for line in (result.folder / "lineage.jsonl").read_text().splitlines()]
    kept = [line for line in lines if line["kind"] == "ancestor" and line["status"] == "kept"]
    assert kept[0]["number"] == 0 and not kept[0]["parents"]
    for each in kept[1:]:
        assert each["parents"][0] in {one["hash"] for one in kept}
        assert each["changed"] == ["instructions"] and each["after"] > each["before"]
        assert each["validation"] is not None and each["cost"] > 0 and each["calls"] > 0
        assert any("The clinicians say" in told and "as heard" in told for told in each["feedback"])
    shown, _ = read_lineage(result.folder)
    assert kept[-1]["hash"] in shown and "as heard" not in shown, "clinical text only where it is asked for"
    assert "as heard" in read_lineage(result.folder, feedback=True)[0]
    with screen(80):
        assert max(map(len, read_lineage(result.folder)[0].splitlines())) <= 80
    assert f"+A {NEGATION} is significant." in prompt_difference(str(result.folder))
    assert verify_audit_log(result.folder / "audit.jsonl")


def test_every_call_passes_the_gate(server: LoopbackServer, tmp_path: Path) -> None:
    file = write_task(tmp_path, server.url, budget={"calls": 40})
    stopped = tune(file)
    assert stopped.status == "incomplete" and "over_budget" in stopped.why
    assert len(server.calls) == 40, "the budget holds for judgements and proposals alike"
    manifest = TuningManifest.read(stopped.folder)
    assert manifest.status == "incomplete" and manifest.touched
    seen = {call.body for call in server.calls}
    file.write_text(file.read_text().replace('budget: {"calls": 40}', 'budget: {"calls": 4000}'))
    result = tune(file)
    assert result.status == "complete"
    assert len(seen) == 40 and len({call.body for call in server.calls}) == len(server.calls), (
        "nothing asked twice"
    )


def test_a_host_that_is_not_named_hears_nothing(server: LoopbackServer, tmp_path: Path) -> None:
    away = {"kind": "openai", "url": "http://prompts.example/v1", "model": "m"}
    file = write_task(tmp_path, server.url, tuning={"reflector": away})
    with pytest.raises(MedjuryError, match=r"prompts\.example"):
        tune(file)
    assert not server.calls


def test_running_again_asks_nothing_and_finds_the_same(planted: Planted) -> None:
    file, first, server = planted
    asked, lineage = len(server.calls), (first.folder / "lineage.jsonl").read_bytes()
    (first.folder / "ratings.sqlite").unlink()  # the lineage alone is enough to go on from
    again = tune(file)
    assert len(server.calls) == asked and (first.folder / "lineage.jsonl").read_bytes() == lineage
    assert again.found is not None and first.found is not None
    assert again.found.best.fingerprint() == first.found.best.fingerprint()


def test_another_tuning_does_not_go_on_in_the_same_folder(planted: Planted) -> None:
    file, _, _ = planted
    with pytest.raises(MedjuryError, match="holds another tuning"):
        tune(file, seed=5)


def failing(folder: Path, url: str) -> Path:
    """The endpoint refuses to judge every case of call 1."""
    file = write_task(folder, url)
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    for row in rows:
        if row["patient"] == "call 1":
            row["texts"]["context"] += " [[loopback:refusal]]"
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_an_item_that_fails_is_a_failure_with_its_reason_never_an_exception(tmp_path: Path) -> None:
    with LoopbackServer() as plain:  # conforming answers by hash; markers are obeyed
        result = tune(failing(tmp_path, plain.url), budget=40, evaluate=False)
    lines = [json.loads(line) for line in (result.folder / "lineage.jsonl").read_text().splitlines()]
    failed = [each for each in lines if each["kind"] == "judged" and "unscored" in each["outcomes"]["impact"]]
    assert failed and {each["outcomes"]["impact"]["unscored"] for each in failed} == {"refusal"}
    assert result.status == "complete"


def shortcut_world(folder: Path, url: str, group: str) -> TuningResult:
    settings = {"group": group, "budget": 250, "minibatch": 24}
    return tune(write_task(folder, url, calls=60, each=2, shortcut=True, tuning=settings))


def test_a_shortcut_by_case_id_fools_a_split_by_nothing_and_the_report_says_so(
    server: LoopbackServer, tmp_path: Path
) -> None:
    result = shortcut_world(tmp_path, server.url, "none")
    found = result.held_out
    assert found is not None and found.gain.low is not None and found.gain.low > 0, "it looks like a gain"
    assert found.kin > found.cases / 2 and found.on_kin is not None and found.on_strangers is not None
    assert (found.on_kin.value or 0) > 2 * (found.on_strangers.value or 0), (
        "which only patients it knows show"
    )
    assert "what they show may be memory" in (result.folder / "report.md").read_text()


def test_the_split_by_patient_exposes_the_shortcut(server: LoopbackServer, tmp_path: Path) -> None:
    result = shortcut_world(tmp_path, server.url, "patient")
    found = result.held_out
    assert found is not None and found.kin == 0
    assert not result.changed and found.gain.value == 0.0, "nothing carries over to other patients"
    elsewhere, plain = found.value("memorised"), found.value("plain")
    assert (
        elsewhere.high is not None
        and found.fits["memorised"] > elsewhere.high
        and elsewhere.value == plain.value
    )
    assert "collapses on patients it has not seen" in (result.folder / "report.md").read_text()


def test_a_dry_run_tells_split_calls_and_price_and_writes_nothing(
    planted: Planted, server: LoopbackServer, tmp_path: Path
) -> None:
    file = write_task(tmp_path, server.url)
    assert main(["tune", str(file), "--dry-run"]) == 0
    study = load_study(file)
    plan = plan_study_tuning(study, read_settings(study))
    assert plan.money is not None and plan.money > 0 and "kept together by patient" in plan.text()
    assert not server.calls and not (tmp_path / "runs").exists()
    _, done, _ = planted
    assert done.calls <= plan.calls, "the plan is no promise that the tuning breaks"


def test_commands(planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, result, _ = planted
    assert main(["tune", str(file), "--out", str(result.folder), "--budget", "150"]) == 0
    assert "Tuning took" in capsys.readouterr().out
    assert main(["tune", "prompts", "log", str(result.folder)]) == 0
    assert "kept" in capsys.readouterr().out
    assert main(["tune", "prompts", "diff", str(result.folder), "0", "1"]) == 0
    assert "+A lost" in capsys.readouterr().out
    assert main(["tune", "prompts", "diff", "transcript_impact", str(result.folder / "tuned.yaml")]) == 0
    assert main(["tune", "prompts", "log", str(tmp_path)]) == 2
    assert "not a tuning folder" in capsys.readouterr().err


def test_several_proposals_are_drawn_for_the_same_misses(server: LoopbackServer, tmp_path: Path) -> None:
    tune(write_task(tmp_path, server.url, tuning={"candidates": 3, "evaluate": False}))
    asked: dict[str, list[Any]] = {}
    for call in server.calls:
        if "You improve" in call.prompt:
            asked.setdefault(call.prompt, []).append(call.json.get("seed"))
    assert max(map(len, asked.values())) == 3
    assert all(len(set(seeds)) == len(seeds) for seeds in asked.values()), "each with a seed of its own"


def test_a_prompt_that_quotes_a_training_case_is_refused(tmp_path: Path) -> None:
    text = "the patient says that since last Tuesday the left knee has been swollen and sore at night"
    stolen = f"ok:<new text>\nLook at this: {text}.\n</new text>"
    with LoopbackServer(lambda call: stolen if "You improve" in call.prompt else None) as thief:
        file = write_task(tmp_path, thief.url, tuning={"budget": 60, "evaluate": False})
        rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
        said = [{**row, "reference": f"{text} {row['id']}"} for row in rows]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
        result = tune(file)
    assert result.status == "complete" and not result.changed
    lines = [json.loads(line) for line in (result.folder / "lineage.jsonl").read_text().splitlines()]
    refused = [each for each in lines if each.get("status") == "refused"]
    assert refused and all("quotes 12 words" in each["why"] for each in refused)
    assert all(not each["texts"]["instructions"] for each in refused), "the quotation is not kept"

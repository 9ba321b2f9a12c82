"""`--json` on every command that prints a result: one document on standard output, and all else beside it."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main
from medjury.cli._main import COMMANDS, add_commands
from medjury.cli._options import leaves

# Commands that print no result: they serve, ask people, or print a text that is the result itself.
WITHOUT = {
    "demo", "tune prompts diff", "cases redact", "criteria draft", "instruments show", "bench fetch",
    "bench new", "passport export", "passport import",
    "train serve", "train export", "view", "panel serve", "panel invite", "panel trail", "panel include",
    "panel export", "panel import", "panel references", "panel questions", "panel erase", "mcp",
}  # fmt: skip
# Whose JSON is read by the tests of the command itself, which have what it needs.
ELSEWHERE = {
    "register", "tune", "tune prompts log", "runs reread", "draft", "models pull", "models check", "agreement",
    "plan kappa", "plan icc", "plan f1", "plan more", "plan review", "plan gate", "plan blinded",
    "calibrate fit", "calibrate panel", "calibrate apply", "calibrate report", "estimate", "plan simulate-jury",
    "triage", "audit", "criteria scores",
    "rank", "bench run", "bench leaderboard", "bench judges", "train sft", "train dpo", "gate", "validate",
    "compare",
    "passport make", "passport check", "judge", "watch", "recipes check",
}  # fmt: skip
# command -> its words, and names that the document (or its first row) has. They run in this order.
CALLS = {
    "init": ("init new.yaml", {"study"}),
    "instruments list": ("instruments list", {"name", "version", "dimensions"}),
    "instruments check": ("instruments check own.yaml", {"name", "dimensions"}),
    "models list": ("models list", {"kind", "options", "needed"}),
    "models prices": ("models prices", {"as_of"}),
    "train presets": ("train presets", {"training", "asking"}),
    "bench list": ("bench list", {"name"}),
    "bench tasks": ("bench tasks", None),
    "bench check": ("bench check medcalc_bench", {"name", "items", "problems"}),
    "look": ("look cases.jsonl", None),
    "cases check": ("cases check cases.jsonl", {"cases", "systems", "left_out", "problems"}),
    "run": ("run study.yaml --quiet", {"status", "coverage", "money", "report", "verdict"}),
    "runs verify": ("runs verify runs/small", {"what", "sound", "detail"}),
    "report": ("report runs/small --quiet", {"report", "altered"}),
    "runs record": ("runs record runs/small --out answers.jsonl", {"file", "answers", "models"}),
    "runs ratings runs": ("runs ratings runs store.sqlite", {"run", "scored", "calls"}),
    "runs ratings export": ("runs ratings export store.sqlite --out all.csv", {"ratings", "file"}),
    "runs ratings import": ("runs ratings import humans.csv --out read.csv", {"ratings", "left_out", "warnings"}),
    "metrics": ("metrics pairs.csv --reference said --hypothesis heard --out m.csv", {"metrics"}),
    "impact": ("impact pairs.csv --reference said --hypothesis heard --out i.csv", {"pairs", "impact"}),
    "align": ("align gold.txt heard.txt", None),
    "completion": ("completion fish", {"shell", "script", "after"}),
    "runs store copy": ("runs store copy store.sqlite copy.sqlite", {"source", "target", "tables"}),
    "runs erase": ("runs erase copy.sqlite --case c1", {"store", "dry_run", "rows", "runs", "unlinked"}),
    "transcripts": ("transcripts gold.txt heard.txt --out study", {"study", "word_error_rates"}),
}  # fmt: skip


def commands() -> Iterator[argparse.ArgumentParser]:
    for name in COMMANDS:
        if name != "runs":  # a heading of others
            yield from leaves(add_commands(argparse.ArgumentParser(prog="medjury"), name))


def test_every_command_that_prints_a_result_prints_it_as_json() -> None:
    options = {
        command.prog.removeprefix("medjury "): command._option_string_actions.keys() for command in commands()
    }
    assert {name for name, known in options.items() if "--json" not in known} == WITHOUT & options.keys()
    assert {name for name, known in options.items() if "--json" in known} == {*CALLS, *ELSEWHERE}
    assert all("--wide" in known for known in options.values() if "--json" in known)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A study of four cases with its endpoint, clinicians' ratings, pairs of texts and two transcripts."""
    place = tmp_path_factory.mktemp("json")
    cases = [{"id": f"c{n}", "candidate": f"Summary {n}.", "texts": {"context": "Note."}} for n in range(4)]
    (place / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (place / "humans.csv").write_text(
        "item,rater,dimension,score\n" + "".join(f"c{n},ward,clarity,{n + 1}\n" for n in range(4))
    )
    (place / "pairs.csv").write_text("said,heard\nno chest pain,chest pain\ntwo tablets,two tablets\n")
    (place / "gold.txt").write_text("Doctor: Any pain?\nPatient: No chest pain at all.\n")
    (place / "heard.txt").write_text("Doctor: Any pain?\nPatient: Chest pain at all.\n")
    own = Path(__file__).parents[2] / "src/medjury/instruments/library/note_quality.yaml"
    (place / "own.yaml").write_text(own.read_text())
    with LoopbackServer() as server:
        judge = {"kind": "openai", "name": "juror", "url": server.url, "model": "m"}
        study = {"study": "small", "cases": "cases.jsonl", "instrument": "note_quality", "judges": [judge],
                 "dimensions": ["clarity"], "store": "store.sqlite", "humans": "humans.csv"}  # fmt: skip
        (place / "study.yaml").write_text(json.dumps(study))
        yield place


def parsed(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    status = main([*shlex.split(words), "--json"])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    return json.loads(printed.out)


def test_the_document_is_all_that_is_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MEDJURY_WIDTH", "40")  # a program's text is not fitted to any screen
    for name, (words, wanted) in CALLS.items():
        found = parsed(words, capsys)
        first = found[0] if isinstance(found, list) else found
        assert wanted is None or wanted <= first.keys(), name
        if name == "run":
            assert found["status"] == "complete" and Path(found["report"]).exists()
            assert found["coverage"]["scored"] == 4
    plan = parsed("run study.yaml --dry-run", capsys)
    assert plan["cases"] == 4 and plan["parts"][-1]["name"] == "juror" and plan["gate"]
    assert {each["name"] for each in parsed("init --list-recipes", capsys)} >= {"diagnosis-jury"}

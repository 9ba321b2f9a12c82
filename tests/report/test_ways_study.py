"""One study file, three ways of judging the same cases: what the endpoint was asked is what the report tells."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path

import pytest
from tests.loopback import Call, LoopbackServer

from medjury.cli import main
from medjury.validation import compare_ways

CASES = 32
DIMENSIONS = ("accuracy", "clarity")


def truth(number: int) -> int:
    return 1 + number % 5


def answer(call: Call) -> str:
    """`good` gives the true grade; `noisy` errs by chance, anew for every seed."""
    number = int(re.findall(r"Summary (\d+)\.", call.prompt)[-1])
    grade = truth(number)
    if call.json["model"] == "noisy":
        chance = hashlib.sha256(f"{number} {call.json.get('seed')}".encode()).digest()[0]
        grade = min(5, max(1, grade + (-2, -1, 0, 1, 2)[chance % 5]))
    return "ok:" + json.dumps({name: {"explanation": "as it is", "score": grade} for name in DIMENSIONS})


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rows = [
        {"id": f"case-{n:02d}", "system": "a", "candidate": f"Summary {n}.", "texts": {"context": "Note."}}
        for n in range(CASES)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [
        f"case-{n:02d},a,{doctor},{dimension},{max(1, truth(n) - (n % 7 == place))}"
        for n in range(CASES)
        for place, doctor in enumerate(("ward", "clinic"))
        for dimension in DIMENSIONS
    ]
    (tmp_path / "clinicians.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
    return tmp_path / "study.yaml"


def judge(server: LoopbackServer, name: str, model: str, strategy: object) -> dict[str, object]:
    price = {"input": 1.0, "output": 2.0}
    return {
        "kind": "openai",
        "name": name,
        "url": server.url,
        "model": model,
        "price": price,
        "strategy": strategy,
    }


def table(folder: Path, name: str, key: str = "rater") -> dict[str, dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        return {line[key]: line for line in csv.DictReader(file)}


def test_the_report_shows_agreement_errors_cost_seconds_and_calls_of_each_way(study: Path) -> None:
    with LoopbackServer(answer) as server:
        settings = {
            "study": "ways",
            "cases": "cases.jsonl",
            "instrument": "note_quality",
            "dimensions": DIMENSIONS,
            "judges": [
                judge(server, "thrice", "noisy", {"name": "repeats", "n": 3}),
                judge(server, "plain", "noisy", "single"),
                judge(server, "panel", "good", "deliberation"),
            ],
            "humans": {"path": "clinicians.csv", "keep_names": True},
            "report": {"resamples": 200},
        }
        study.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items()))
        assert main(["run", str(study), "--quiet", "--no-preflight"]) == 0
        sent = dict.fromkeys(("noisy", "good"), 0)
        for call in server.calls:
            sent[call.json["model"]] += 1
    folder = study.parent / "runs" / "ways"
    manifest = json.loads((folder / "manifest.json").read_text())
    found = table(folder, "ways-of-judging")
    calls = {name: float(line["calls"]) for name, line in found.items()}
    assert calls == {
        "thrice": 3,
        "plain": 1,
        "panel": 4,
        "jury": 8,
    }  # all three agree at once, then the decision
    assert sent == {"noisy": 4 * CASES, "good": 4 * CASES}
    costs = {name: float(line["cost (USD)"]) for name, line in found.items()}
    assert CASES * costs["jury"] == pytest.approx(manifest["cost"])
    assert costs["plain"] < costs["thrice"] < costs["panel"]
    assert {name: line["way of judging"] for name, line in found.items()} == {
        "thrice": "repeats",
        "plain": "single",
        "panel": "deliberation",
        "jury": "jury of 3",
    }
    assert all(float(line["seconds"]) > 0 for line in found.values())
    assert int(found["panel"]["errors"]) == 0 < int(found["plain"]["errors"])
    ways = compare_ways(folder)
    assert ways is not None and ways.yardstick == "plain" and ways.cases == CASES
    assert ways.sure_of(ways.find(rater="panel")) and ways.find(rater="panel").on_front
    page = (folder / "report.html").read_text()
    assert "agrees better than plain" in page
    # The draws of one judge tell how stable it is, although each case has one rating of it.
    stable = table(folder, "stability", "judge")
    assert list(stable) == ["thrice"] and float(stable["thrice"]["SD within an answer"]) > 0.5


def test_answers_found_in_the_store_count_with_their_price_and_are_not_spent_again(study: Path) -> None:
    with LoopbackServer(answer) as server:
        settings: dict[str, object] = {
            "cases": "cases.jsonl",
            "store": "shared.db",
            "instrument": "note_quality",
            "dimensions": DIMENSIONS,
            "judges": [judge(server, "plain", "noisy", "single")],
        }
        spent = []
        for name in ("first", "second"):
            whole = {"study": name, **settings}
            study.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in whole.items()))
            assert main(["run", str(study), "--quiet", "--no-preflight"]) == 0
            spent.append(json.loads((study.parent / "runs" / name / "manifest.json").read_text()))
    assert [each["calls"] for each in spent] == [CASES, 0] and spent[1]["cost"] == 0
    first, second = (table(study.parent / "runs" / name, "cost")["plain"] for name in ("first", "second"))
    assert (
        float(second["total cost (USD)"])
        == float(first["total cost (USD)"])
        == pytest.approx(spent[0]["cost"])
    )
    assert float(second["calls"]) == 1
    assert (
        "This study itself made 0 calls; 0.00 USD spent"
        in (study.parent / "runs" / "second" / "report.html").read_text()
    )

"""Concordance in a study file: three calls for a concordant pair, one for a discordant one, order bias shown."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import Call, LoopbackServer
from tests.processes import kill, start, wait_until

from medjury.foundation.errors import MedjuryError
from medjury.report._exhibits import Exhibits
from medjury.report._material import Material
from medjury.report._sections.preference import preference
from medjury.statistics import proportion
from medjury.studies import RunResult, load_study, run_study
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of

Write = Callable[..., Path]
STUDY: dict[str, Any] = {"instrument": "preference", "dimensions": None}
JUDGE = {"strategy": "concordance"}


def pairs(count: int, *, discordant: int = 0) -> list[dict[str, Any]]:
    """Pairs whose candidate and reference say who wrote them, for the scripted endpoint only."""
    return [
        {
            "id": f"case-{number}",
            "system": "drafter",
            "candidate": f"CANDIDATE {number}{' DISCORDANT' if number < discordant else ''}.",
            "reference": f"REFERENCE {number}.",
            "texts": {"question": f"Question {number}?"},
        }
        for number in range(count)
    ]


def compares(call: Call) -> bool:
    return "Answer 1:" in call.json["messages"][-1]["content"]


def verdict(call: Call) -> str:
    agree = int("DISCORDANT" not in call.json["messages"][-1]["content"])
    scores = {"concordant": agree, "concordance_grade": 5 if agree else 1}
    return "ok:" + json.dumps({name: {"explanation": "e", "score": each} for name, each in scores.items()})


def choice(place: int) -> str:
    return "ok:" + json.dumps({"reason": "clearer", "preferred": place})


def prefers_candidate(call: Call) -> str:
    if not compares(call):
        return verdict(call)
    said = call.json["messages"][-1]["content"]
    return choice(1 if said.index("CANDIDATE") < said.index("REFERENCE") else 2)


def prefers_first(call: Call) -> str:
    return choice(1) if compares(call) else verdict(call)


def run(file: Path) -> RunResult:
    return run_study(load_study(file), preflight=False)


def votes(result: RunResult) -> polars.DataFrame:
    return polars.read_parquet(result.folder / "ratings.parquet").filter(rater_kind="judge")


def page(result: RunResult) -> tuple[str, dict[str, list[dict[str, str]]]]:
    evidence = evidence_of(open_run(result.folder, resamples=400))
    exhibits = Exhibits()
    section = preference(Material(evidence, validation_of(evidence), exhibits))
    assert section is not None
    return section.body, {
        name: list(csv.DictReader(io.StringIO(table))) for name, table in exhibits.tables.items()
    }


def test_concordant_pairs_are_compared_in_both_orders_and_discordant_ones_are_not(
    write_study: Write, server: LoopbackServer
) -> None:
    server.endpoint.behaviours = prefers_candidate
    price = {"input": 10.0, "output": 20.0}
    file = write_study(cases=pairs(4, discordant=1), judge={**JUDGE, "price": price}, **STUDY)
    first = run(file)
    assert first.status == "complete" and first.calls == len(server.calls) == 1 + 3 * 3
    table = votes(first)
    assert table["calls"].sum() == 10 and table["cost"].sum() == pytest.approx(first.money)
    wanted = table.filter(dimension="preference").sort("item")
    assert wanted["score"].to_list() == [None, 1, 1, 1]
    assert wanted["status"].to_list()[0] == "not_applicable"
    again = run(file)
    assert again.calls == 0 and again.status == "complete"
    lines = (first.folder / "records.jsonl").read_text().splitlines()
    assert [len(json.loads(line)["body"]["orders"]) for line in lines] == [0, 2, 2, 2]
    _, tables = page(first)
    (row,) = tables["preference"]
    assert float(row["concordant"]) == 0.75 and row["compared"] == "3"
    assert float(row["answer preferred"]) == 1 and "Clopper-Pearson" in row["answer preferred method"]
    assert row["answer preferred n"] == "3", "two orders of a pair are one preference"
    assert float(row["answer preferred low"]) < 0.5, "three pairs prove little"


def test_a_judge_that_likes_the_first_place_is_found_out(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = prefers_first
    result = run(write_study(cases=pairs(8), judge=JUDGE, **STUDY))
    wanted = votes(result).filter(dimension="preference")
    assert set(wanted["score"]) == {0.0} and all("no stable" in each for each in wanted["explanation"])
    body, tables = page(result)
    (orders,) = tables["preference-orders"]
    assert orders["order bias"] == "favours the answer shown first"
    assert orders["won by first"] == "16 of 16" and orders["first twice"] == "8"
    assert 0.5 < float(orders["lean to first low"]) < 0.7
    assert float(orders["changed"]) == 1
    assert "changed its verdict with the order on 100 %" in body


def test_a_few_pairs_prove_no_order_bias(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = prefers_first
    _, tables = page(run(write_study(cases=pairs(3), repeats=2, judge=JUDGE, **STUDY)))
    (orders,) = tables["preference-orders"]
    assert orders["first twice"] == "6" and orders["order bias"] == "none shown", (
        "six verdicts, but only three cases"
    )


def test_a_judge_without_order_bias_is_not_accused(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = prefers_candidate
    body, tables = page(run(write_study(cases=pairs(8), judge=JUDGE, **STUDY)))
    (orders,) = tables["preference-orders"]
    assert orders["order bias"] == "none shown" and orders["won by first"] == "8 of 16"
    assert "changed its verdict" not in body


def test_an_order_that_fails_costs_the_preference_alone(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: "refusal" if compares(call) else verdict(call)
    result = run(write_study(cases=pairs(2), judge=JUDGE, max_unscored=1.0, **STUDY))
    table = votes(result)
    assert set(table.filter(dimension="concordant")["score"]) == {1.0}
    assert set(table.filter(dimension="preference")["reason"]) == {"refusal"}
    _, tables = page(result)
    assert tables["preference"][0]["not known"] == "2"
    assert tables["preference-orders"][0]["failed"] == "2"


def test_clinicians_stand_beside_the_judge(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    server.endpoint.behaviours = prefers_candidate
    (tmp_path / "humans.csv").write_text(
        "item,system,rater,dimension,score\n"
        + "".join(
            f"case-{number},drafter,Dr A,concordant,1\ncase-{number},drafter,Dr A,preference,-1\n"
            for number in range(3)
        )
    )
    humans = {"path": "humans.csv", "keep_names": True}
    _, tables = page(run(write_study(cases=pairs(3), judge=JUDGE, humans=humans, **STUDY)))
    assert [(row["rater"], row["specialist preferred"]) for row in tables["preference"]] == [
        ("Dr A", "1.0"),
        ("juror", "0.0"),
    ]


def test_repeats_that_differ_are_worth_no_more_than_their_pairs(
    write_study: Write, server: LoopbackServer
) -> None:
    """The first of four pairs is preferred by its answer, the others by the specialist's, in every repeat."""
    server.endpoint.behaviours = lambda call: (
        prefers_candidate(call)
        if "CANDIDATE 0" in call.prompt or not compares(call)
        else choice(2 if prefers_candidate(call) == choice(1) else 1)
    )
    _, tables = page(run(write_study(cases=pairs(4), repeats=3, judge=JUDGE, **STUDY)))
    (row,) = tables["preference"]
    assert row["pairs"] == "12" and row["answer preferred n"] == "4"
    assert float(row["answer preferred"]) == 0.25
    low, high = float(row["answer preferred low"]), float(row["answer preferred high"])
    one_of_four = proportion(1, 4, interval="wilson")
    assert one_of_four.low is not None and one_of_four.high is not None
    assert low <= one_of_four.low and high >= one_of_four.high, "not narrower than one of four"


def test_the_instrument_without_preference_asks_once(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = prefers_candidate
    result = run(write_study(cases=pairs(2), judge=JUDGE, instrument="concordance", dimensions=None))
    assert len(server.calls) == 2 and not (result.folder / "records.jsonl").exists()
    _, tables = page(result)
    assert list(tables) == ["preference"] and float(tables["preference"][0]["concordant"]) == 1
    # The bare verdict is the instrument with one dimension.
    file = write_study(cases=pairs(2), judge=JUDGE, instrument="preference", dimensions=["concordant"])
    assert set(votes(run(file))["dimension"]) == {"concordant"}


def test_another_instrument_is_refused_with_its_line(write_study: Write) -> None:
    with pytest.raises(MedjuryError, match=r"line 5: judges\[0\].*a dimension `concordant`"):
        load_study(write_study(judge=JUDGE))
    with pytest.raises(MedjuryError, match="`per_dimension` has no meaning"):
        load_study(write_study(judge={**JUDGE, "per_dimension": True}, **STUDY))


def test_a_comparison_killed_between_orders_does_not_repeat_what_was_answered(
    write_study: Write, server: LoopbackServer
) -> None:
    stuck = True

    def behave(call: Call) -> str:
        said = call.json["messages"][-1]["content"]
        if compares(call) and said.index("CANDIDATE") < said.index("REFERENCE") and stuck:
            return "latency:60"
        return prefers_candidate(call)

    server.endpoint.behaviours = behave
    file = write_study(cases=pairs(1), judge=JUDGE, **STUDY)
    killed = start(file)
    wait_until(lambda: len(server.calls) >= 3, killed)
    assert len(server.calls) == 3
    kill(killed)
    stuck = False
    assert run(file).status == "complete"
    assert sorted(Counter(call.body for call in server.calls).values()) == [1, 1, 2]

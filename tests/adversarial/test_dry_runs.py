"""What a dry run calls the most is never exceeded, and what it expects is what an ordinary run makes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.store.runs import RunFolder
from medjury.studies import check_study, load_study
from medjury.studies._plan.plan import RunPlan

Write = Callable[..., Path]
PRICE = {"input": 10.0, "output": 30.0}
TOLD = "Your quotations were looked up"  # the second question of a verifier begins with these words
CASES = [
    {
        "id": f"case-{number}",
        "system": "a",
        "candidate": f"Summary {number}. He took aspirin 75 mg, and his cough of {number + 3} days was gone. "
        * 3,
        "reference": f"Give aspirin 75 mg for {number + 3} days. " * 4,
        "texts": {
            "context": f"Note {number}: cough, aspirin 75 mg. " * 8,
            "question": f"What is to be done on day {number}?",
        },
        "notes": [
            {"id": f"n{n}", "text": f"Note {n}: cough for {number} days, aspirin 75 mg. " * 6} for n in (1, 2)
        ],
    }
    for number in range(3)
]


@dataclass
class Dear:
    """Answers as dearly as it can: twice with something that cannot be used, then so that the talk goes on. Every
    answer has as many bytes, and as many tokens on the bill, as it may have."""

    claims: int = 4
    wrong: int = 2  # unusable answers before a good one
    graded: str = "middle"
    asked: int = field(default=0, init=False)
    seen: set[str] = field(default_factory=set, init=False)
    words: int = field(default=0, init=False)  # so that nothing is said twice

    def __call__(self, call: Call) -> str:
        self.asked += 1
        messages = call.json["messages"]
        # Handed back is what begins as an earlier question; worked examples are not.
        starts = [json.dumps([call.json["model"], messages[:end]]) for end in range(1, len(messages))]
        before = sum(start in self.seen for start in starts)
        before -= any(TOLD in message["content"] for message in messages)
        self.seen.add(json.dumps([call.json["model"], messages]))
        limit = call.json["max_tokens"]
        if before < self.wrong:
            return "dear:" + ("I had rather not say so. " * limit)[: limit - 5]
        assert call.schema is not None
        value = self.value(call.schema, "")
        spare = limit - len(json.dumps(value)) - 20
        return "dear:" + json.dumps(self.padded(value, max(0, spare)))

    def value(self, schema: Mapping[str, Any], name: str) -> Any:
        if "enum" in schema:
            return self.choice(list(schema["enum"]), name)
        kind = schema["type"]
        if kind == "object":
            return {key: self.value(each, key) for key, each in schema["properties"].items()}
        if kind == "array":
            times = self.claims if name == "claims" else 2 if name == "verdicts" else 1
            if name == "verdicts":
                numbers = schema["items"]["properties"]["number"]["enum"]
                return [{**self.value(schema["items"], ""), "number": number} for number in numbers]
            return [self.value(schema["items"], f"{name} {number}") for number in range(times)]
        if kind == "boolean":
            return True
        assert kind == "string", schema
        self.words += 1
        return " ".join(f"{sign}{self.words}" for sign in "abcd")

    def choice(self, choices: list[Any], name: str) -> Any:
        if name == "verdict":
            return "supported"
        if name == "preferred":
            return 1
        grades = [each for each in choices if isinstance(each, int)]
        if not grades:
            return choices[0]
        if self.graded == "middle":
            return grades[len(grades) // 2]
        return min(grades) if self.graded == "lowest" else max(grades)

    def padded(self, value: Any, spare: int) -> Any:
        """The longest string there is room for, in the first place that takes one."""
        for key, each in value.items() if isinstance(value, dict) else ():
            if key in ("explanation", "statement", "assessment", "text", "reason"):
                filler = " ".join(f"p{self.asked}q{number}" for number in range(spare))[:spare].strip()
                return {**value, key: f"{each} {filler}"}
            if isinstance(each, dict):
                return {**value, key: self.padded(each, spare)}
        return value


def deliberation(**settings: Any) -> dict[str, Any]:
    return {"strategy": {"name": "deliberation", "when_agreed": "discuss", **settings}}


def adaptive(**rule: Any) -> dict[str, Any]:
    jurors = [{"name": name, "model": name, "price": PRICE} for name in ("one", "two", "three")]
    return {"temperature": 0.5, "strategy": {"name": "adaptive", "jurors": jurors, "rule": rule}}


WAYS: dict[str, tuple[Dear, dict[str, Any], dict[str, Any]]] = {
    "single": (Dear(), {}, {}),
    "per dimension": (Dear(), {"per_dimension": True}, {}),
    "asked again once": (Dear(wrong=1), {"reasks": 1}, {}),
    "study repeats": (Dear(), {}, {"repeats": 3}),
    "repeats": (Dear(), {"strategy": {"name": "repeats", "n": 3}}, {}),
    "concordance": (
        Dear(graded="highest"),
        {"strategy": "concordance"},
        {"instrument": "preference", "dimensions": None},
    ),
    "claims": (
        Dear(),
        {"strategy": {"name": "claims", "most_claims": 4}},
        {"instrument": "concordance", "dimensions": None},
    ),
    "claims without a bound": (
        Dear(claims=10),
        {"strategy": {"name": "claims", "batch": 5, "piece": 500}},
        {"instrument": "grounding", "dimensions": None},
    ),
    "deliberation": (Dear(), deliberation(max_turns=3), {}),
    "deliberation that sees little": (Dear(), deliberation(max_turns=3, turns_shown=1), {"repeats": 2}),
}


def checked(study: Path) -> RunPlan:
    return check_study(load_study(study))


def write(write_study: Write, server: LoopbackServer, judge: dict[str, Any], **settings: Any) -> Path:
    own = {"url": server.url, "price": PRICE, "concurrency": 4, **judge}
    return write_study(cases=CASES, judge=own, max_unscored=1.0, **settings)


def never_more(study: Path, server: LoopbackServer) -> None:
    """Run it, and hold what it took against what the dry run calls the most."""
    plan = checked(study)
    assert run_without_report(study, "--keep-going") == 0
    found = RunFolder(study.parent / "runs" / "small").manifest
    assert found.calls == len(server.calls) + len(server.preflights) <= plan.most.calls
    assert plan.most.money is not None and found.cost is not None
    assert 0 < found.cost <= plan.most.money
    bill = [
        json.loads(line)
        for line in (study.parent / "runs" / "small" / "audit.jsonl").read_text().splitlines()
    ]
    assert sum(line.get("tokens_in", 0) for line in bill) <= plan.most.tokens_in
    assert sum(line.get("tokens_out", 0) for line in bill) <= plan.most.tokens_out
    assert len(server.calls) >= plan.calls > 0, "it was not as dear as it could be"


@pytest.mark.parametrize("way", WAYS)
def test_the_dearest_run_stays_within_the_most(way: str, write_study: Write) -> None:
    dear, judge, settings = WAYS[way]
    with LoopbackServer(dear) as server:
        study = write(write_study, server, judge, **settings)
        never_more(study, server)
        made, most = len(server.calls) + len(server.preflights), checked(study).most.calls
        assert made < most if "without a bound" in way else made == most, "the bound is met, not just kept"


def test_an_adaptive_jury_that_never_agrees_stays_within_the_most(write_study: Write) -> None:
    with LoopbackServer(Dear()) as server:
        study = write(write_study, server, adaptive(tolerance=0.0, maximum=6))
        never_more(study, server)
        assert len(server.calls) == 3 * 6 * 3


def test_a_closed_loop_that_never_passes_stays_within_the_most(write_study: Write) -> None:
    strategy = {
        "name": "closed_loop",
        "rounds": 2,
        "loop_judge": {"kind": "openai", "model": "loop", "price": PRICE},
        "writer": {"kind": "openai", "model": "writer", "price": PRICE, "max_tokens": 1500},
    }
    with LoopbackServer(Dear(graded="lowest")) as server:
        for role in ("loop_judge", "writer"):
            strategy[role] |= {"url": server.url}  # type: ignore[operator]
        study = write(write_study, server, {"strategy": strategy})
        never_more(study, server)
        assert len(server.calls) == 3 * 3 * (3 + 2 + 2)


def test_a_jury_stays_within_the_most_of_all_its_judges(write_study: Write) -> None:
    with LoopbackServer(Dear()) as server:
        judges = [
            {
                "kind": "openai", "name": name, "url": server.url, "model": name, "price": PRICE,
                "max_tokens": tokens,
            }
            for name, tokens in (("a", 600), ("b", 2000))
        ]  # fmt: skip
        study = write_study(cases=CASES, judges=judges, max_unscored=1.0)
        never_more(study, server)
        assert len(server.calls) == 2 * 3 * 3


def test_drafts_and_their_judging_stay_within_the_most(write_study: Write) -> None:
    with LoopbackServer(Dear()) as server:
        rows = [
            {key: value for key, value in case.items() if key not in ("candidate", "system")}
            for case in CASES
        ]
        model = {"kind": "openai", "url": server.url, "model": "writer", "price": PRICE}
        drafting = {**model, "system": "drafter", "vendor": "openai"}
        judge = {**model, "name": "juror", "model": "m"}
        study = write_study(cases=rows, judges=[judge], drafting=drafting, max_unscored=1.0)
        never_more(study, server)
        assert len(server.calls) == 2 * 3 * 3


# What is expected


@pytest.mark.parametrize(
    ("judge", "settings", "calls"),
    [
        ({}, {}, 3),
        ({"per_dimension": True}, {}, 9),
        ({}, {"repeats": 2}, 6),
        ({"strategy": {"name": "repeats", "n": 3}}, {}, 9),
        ({"strategy": "concordance"}, {"instrument": "preference", "dimensions": None}, 9),
        ({"strategy": {"name": "adaptive", "rule": {"minimum": 2, "maximum": 2}}}, {}, 6),
        ({"strategy": {"name": "deliberation", "max_turns": 0}}, {}, 12),
    ],
)
def test_an_ordinary_run_makes_the_calls_that_are_expected(
    judge: dict[str, Any], settings: dict[str, Any], calls: int, write_study: Write
) -> None:
    ordinary = Dear(wrong=0, graded="highest")
    with LoopbackServer(ordinary) as server:
        study = write(write_study, server, judge, **settings)
        plan = checked(study)
        assert run_without_report(study) == 0
        assert len(server.calls) == plan.calls == calls
        assert sum(part.calls for part in plan.parts) == calls + len(server.preflights) == calls + 1


def test_both_numbers_are_shown_and_labelled(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write(write_study, server, {})
    assert main(["run", str(study), "--dry-run"]) == 0
    told = capsys.readouterr().out
    rows = {
        tuple(line.split()[:-6]) if "min" in line else tuple(line.split()[:1]) for line in told.splitlines()
    }
    assert "In all 4 calls expected, price " in told and "at most 10 calls, price " in told
    assert told.count(" expected ") >= 2 and told.count(" most ") >= 2 and ("most",) in rows
    assert "preflight" in told
    assert main(["run", str(study), "--dry-run", "--no-preflight"]) == 0
    told = capsys.readouterr().out
    assert "In all 3 calls expected" in told and "preflight" not in told


def test_the_manifest_keeps_both(write_study: Write, server: LoopbackServer) -> None:
    study = write(write_study, server, {})
    assert run_without_report(study) == 0
    planned = RunFolder(study.parent / "runs" / "small").manifest.planned["juror"]
    assert planned.calls == 3 and planned.most is not None and planned.most.calls == 9
    assert planned.most.money is not None and planned.money is not None and planned.most.money > planned.money


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ({"calls": 10}, "The budget (10 calls) covers the most."),
        ({"calls": 9}, "The budget (9 calls) is less than the most: the run may stop before its end"),
        ({"money": 1000}, "The budget (1,000 in money) covers the most."),
        ({"money": 0.01}, "The budget (0.01 in money) is less than the most"),
    ],
)
def test_the_budget_is_held_against_the_most(
    budget: dict[str, Any], told: str, write_study: Write, server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main(["run", str(write(write_study, server, {}, budget=budget)), "--dry-run"]) == 0
    assert told in capsys.readouterr().out


def test_a_budget_that_covers_the_most_never_stops_the_dearest_run(write_study: Write) -> None:
    with LoopbackServer(Dear()) as server:
        study = write(write_study, server, {}, budget={"calls": 10})
        assert run_without_report(study) == 0
        assert RunFolder(study.parent / "runs" / "small").manifest.calls == 10

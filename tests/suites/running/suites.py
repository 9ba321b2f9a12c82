"""Suites against the loopback endpoint, small and in a folder of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.loopback import Call

OPEN, CLOSED = "mental_health", "ent_referral"


def model(url: str, name: str, **others: Any) -> dict[str, Any]:
    return {"kind": "openai", "name": name, "url": url, "model": name, **others}


def write_suite(folder: Path, **settings: Any) -> Path:
    file = folder / "suite.yaml"
    whole = {"suite": "small", "output": "out", **settings}
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in whole.items()))
    return file


def referrals(folder: Path, count: int, name: str = "referrals.jsonl") -> str:
    """A site's own file for a closed benchmark: the right answer is yes on the even items."""
    rows = [
        {
            "id": f"MRN-{number}",
            "note": f"Note {number} of SECRET PATIENT.",
            "choices": ["yes", "no"],
            "gold": "no" if number % 2 else "yes",
        }
        for number in range(count)
    ]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def number_of(call: Call) -> int | None:
    """The number of the note that a question is about."""
    for word in call.prompt.split():
        if word.isdigit() and f"Note {word} of" in call.prompt:
            return int(word)
    return None


def right_up_to(count: int, others: Mapping[int, str] | None = None) -> Callable[[Call], str]:
    """Answers right on the first items, then always yes; `others` has behaviours of the endpoint by item. A judge's
    question, which has a schema, is answered by it."""

    def answer(call: Call) -> str:
        number = number_of(call)
        if call.schema is not None:
            return "ok"
        if number is None:
            return f"ok:This is {call.json['model']}. Take care, and call if it gets worse."
        if number in (others or {}):
            return (others or {})[number]
        return f"ok:{'no' if number % 2 and number < count else 'yes'}"

    return answer


def cells(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    found = json.loads((folder / "out" / "leaderboard" / "data" / "leaderboard.json").read_text())
    return {(each["candidate"], each["benchmark"]): each for each in found["cells"]}


def pages(folder: Path) -> Sequence[Path]:
    return sorted((folder / "out" / "leaderboard").rglob("*.html"))

"""How long a reply takes to be read: hostile ones of 1 MB, and ordinary ones.

A pattern of an earlier version took 25 s on an object, 40,000 spaces and an `x`. Nothing of the kind is left: a
reply is looked through a bounded number of times, with and without the token of its question.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from medjury.instruments import AnswerError, read_reply
from medjury.instruments._reader import LONGEST_REPLY

TOKEN = "7f3a09c41e"
ALLOWED = 0.2  # seconds for 1 MB
OBJECT = json.dumps({name: {"explanation": "One drug is missing. " * 8, "score": 4} for name in "abcdefghi"})
PROVEN = f'{OBJECT[:-1]}, "verdict": "{TOKEN}"}}'
FILLINGS = {
    "spaces": " ",
    "braces": "{",
    "closing braces": "}",
    "quotes": '"',
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "objects that do not end": '{"a":',
    "objects in lists": '[{"a":[1,',
    "objects that hold nothing": "{}",
    "fences": "```",
    "closing tags": "</think>",
    "tokens": f'"verdict": "{TOKEN}" ',
    "objects with the token": f'{{"verdict": "{TOKEN}"}}',
}


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    for name, sign in FILLINGS.items():
        worst = max(_seconds(reply) for reply in _replies(sign))
        target = f"<= {ALLOWED} s"
        yield _row(f"a reply of 1 MB, filled with {name}", f"{worst:.3f} s", target, worst <= ALLOWED)
    for name, reply in (
        ("bare", OBJECT),
        ("in a fence", f"```json\n{OBJECT}\n```"),
        ("by its token", f"Well. {PROVEN}"),
    ):
        spent = min(_seconds(reply) for _ in range(200))
        plain = min(_parsing() for _ in range(200))
        row = _row(f"a judge's reply, {name}", f"{1000 * spent:.3f} ms", "shown", None)
        yield row | {"peer": f"json.loads {1000 * plain:.3f} ms", "ratio": f"{spent / plain:.1f} x"}


def _replies(sign: str) -> Iterator[str]:
    """The filling alone, after an object, before one, inside one, and behind a mark of reasoning."""
    for before, after in (
        ("", ""),
        (OBJECT, "x"),
        (TOKEN, PROVEN),
        ('{"a": "', f'", "verdict": "{TOKEN}"}}'),
        ("<think>", f"</think>{PROVEN}"),
        (f'{TOKEN} {{"a":' * 50 + "[", ""),
    ):
        room = LONGEST_REPLY - len(before) - len(after)
        yield before + sign * (room // len(sign)) + after


def _seconds(reply: str) -> float:
    start = time.process_time()
    for token in (TOKEN, ""):
        with suppress(AnswerError):
            read_reply(reply, token)
    return (time.process_time() - start) / 2


def _parsing() -> float:
    """What Python itself takes for the object of that reply."""
    start = time.process_time()
    json.loads(OBJECT)
    return time.process_time() - start


def _row(name: str, ours: str, target: str, holds: bool | None) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": "", "ratio": "", "target": target, "holds": holds}

"""Fuzzes the reading of answers: replies of true verdicts, quoted decoys, broken JSON, reasoning, fences and prose.

The truth of each reply is known from how it was made: a score that is not the judge's own is wrong.
`python -m benchmarks.reading 100000 7` makes so many from that seed and shows what went wrong.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.adversarial.replies import MadeReply, made_reply
from tests.adversarial.test_fuzzed_replies import is_read, is_wrong, outcomes

REPLIES = 20_000
SEED = 0
# Milliseconds to read a reply that is one object, beside its texts; the whole path of a call may take one.
ALLOWED = 0.5
FRAMED_READ = 0.99


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    found = _fuzz(REPLIES, SEED)
    yield _row(
        f"scores that are not the judge's own, {REPLIES:,} replies", found["wrong"], "0", not found["wrong"]
    )
    yield _row("replies of one object alone that were not read", found["unread"], "0", not found["unread"])
    share = 1 - found["framed unread"] / found["framed"]
    yield _row(
        "one object among words, no grades in the texts: read", f"{share:.1%}", ">= 99%", share >= FRAMED_READ
    )
    spent = 1000 * found["seconds"] / REPLIES
    yield _row("CPU to read a reply", f"{spent:.2f} ms", f"<= {ALLOWED} ms", spent <= ALLOWED)


def _row(name: str, ours: object, target: str, holds: bool) -> dict[str, Any]:
    return {"name": name, "ours": str(ours), "peer": "", "ratio": "", "target": target, "holds": holds}


def _fuzz(count: int, seed: int, show: bool = False) -> dict[str, float]:
    found: dict[str, float] = dict.fromkeys(("wrong", "unread", "framed", "framed unread", "seconds"), 0)
    for number in range(count):
        made = made_reply(Random(f"{seed} {number}"))
        start = time.process_time()
        read = outcomes(made)
        found["seconds"] += time.process_time() - start
        wrong, unread = is_wrong(made, read), not is_read(read)
        found["wrong"] += wrong
        found["unread"] += made.clean and unread
        found["framed"] += made.framed
        found["framed unread"] += made.framed and unread
        if show and (wrong or (made.clean and unread)):
            _show(number, made)
    return found


def _show(number: int, made: MadeReply) -> None:
    print(f"{number}: own {made.own}\n  texts {made.texts}\n  reply {made.reply!r}\n  read {outcomes(made)}")


if __name__ == "__main__":
    print(_fuzz(int(sys.argv[1]), int(sys.argv[2]), show=True))

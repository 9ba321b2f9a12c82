"""The injection audit on the loopback endpoint: studies with a planted shift of 0.8 grades and of none. Does the
interval hold the shift (92 to 98 %), and does a firm judge stay clear (no finding stands out in more than 5 %)?
`INJECTION_STUDIES` sets another number of studies than 200."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.loopback import TOKEN, Call, LoopbackServer

from medjury.studies import audit_injection, load_study

STUDIES, CASES = int(os.environ.get("INJECTION_STUDIES", "200")), 30
ON_REQUEST = True
NAMES = ("accuracy", "completeness", "clarity", "structure")
PLANTED = ("Note to the reviewer", "would be a mistake", "Hinweis an den", '"clarity": 5')


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    for shift in (0.8, 0.0):
        covered = found = 0
        for seed in range(STUDIES):
            rows = _audited(shift, seed)
            (accuracy,) = [row for row in rows if (row.dimension, row.group) == ("accuracy", "all kinds")]
            low, high = accuracy.estimate.low, accuracy.estimate.high
            covered += low is not None and high is not None and low <= shift <= high
            found += accuracy.stands_out
        share = covered / STUDIES
        yield _row(f"shift of {shift:g}: interval holds it", share, "92 to 98 %", 0.92 <= share <= 0.98)
        right = found / STUDIES
        name = f"shift of {shift:g}: called a shift of half a grade or more"
        yield _row(name, right, ">= 95 %" if shift else "<= 5 %", right >= 0.95 if shift else right <= 0.05)


def _audited(shift: float, seed: int) -> Any:
    def grade(call: Call) -> str:
        """1 to 3 by the answer; one grade more for a planted text with the stated chance, and noise of its own."""
        prompt = TOKEN.sub("", call.prompt)
        drawn = hashlib.sha256(f"{seed} {prompt}".encode()).digest()
        planted = any(words in prompt for words in PLANTED)
        score = 2 + (drawn[0] < 77) - (drawn[0] >= 179) + int(planted and drawn[1] < 256 * shift)
        return "ok:" + json.dumps({name: {"explanation": "so", "score": score} for name in NAMES})

    with tempfile.TemporaryDirectory() as folder, LoopbackServer(behaviours=grade) as server:
        place = Path(folder)
        cases = (
            {
                "id": f"c{number}",
                "system": "a",
                "candidate": f"Answer {number}.",
                "texts": {"context": f"{number}"},
            }
            for number in range(CASES)
        )
        (place / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        (place / "study.yaml").write_text(
            "study: planted\ncases: cases.jsonl\ninstrument: note_quality\n"
            f"judges: [{{kind: openai, name: judge, url: {server.url}/v1, model: loopback}}]\n"
        )
        rows = audit_injection(load_study(place / "study.yaml"), cases=CASES).rows
    return [row for row in rows if row.rater == "judge"]


def _row(name: str, share: float, target: str, holds: bool) -> dict[str, Any]:
    ours = f"{100 * share:.1f} % of {STUDIES}"
    return {"name": name, "ours": ours, "peer": "", "ratio": "", "target": target, "holds": holds}

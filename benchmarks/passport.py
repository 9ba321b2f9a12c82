"""How many cases does a passport call unlike the validated ones? `python -m benchmarks passport` draws populations
of made-up notes and writes the table of docs/passport.md.

Of cases of the same population at most the stated share may be flagged for their distance, on average over
validations. Of cases from another specialty as many as possible should be: here they do not say which specialty
they are from (one that is stated, and that no validated case had, is always flagged).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from medjury.in_use.passports._population import Placing, population_of
from medjury.intake.cases import Case

PAGE = Path(__file__).parents[1] / "docs" / "passport.md"
BEGIN, END = "<!-- simulation begins -->", "<!-- simulation ends -->"
SIZES, ALPHA, NEW = (40, 100, 200, 400), 0.05, 50
VALIDATIONS = {40: 150, 100: 80, 200: 50, 400: 30}
_SHARED, _OWN = 300, 150


def words(kind: str, many: int) -> list[str]:
    """Made-up words: the specialties have some in common and some of their own."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [kind + letters[each % 26] + letters[each // 26] + letters[each * 7 % 26] for each in range(many)]


_KNOWN = {"": words("", _SHARED), "c": words("c", _OWN), "d": words("d", _OWN)}


def note(generator: np.random.Generator, specialty: str, share: float, identifier: str) -> Case:
    """An answer and its record; `share` of their words are the specialty's own. Frequent words come first."""

    def text(length: int) -> str:
        own = generator.random(length) < share
        places = generator.zipf(1.3, length).tolist()
        return " ".join(
            _KNOWN[specialty][place % _OWN] if mine else _KNOWN[""][place % _SHARED]
            for mine, place in zip(own, places, strict=True)
        )

    length = int(np.clip(generator.lognormal(3.6, 0.4), 12, 200))
    return Case(id=identifier, candidate=text(length), texts={"context": text(3 * length)})


def flagged(size: int, seed: int) -> tuple[float, float, float]:
    """One validation: the share flagged of the same population, of one with some other words, of quite another."""
    generator = np.random.default_rng([20, size, seed])
    known = [note(generator, "c", 0.3, f"v{number}") for number in range(size)]
    placing = Placing(population_of(known, alpha=ALPHA, seed=seed))
    shares = []
    for specialty, share in (("c", 0.3), ("d", 0.1), ("d", 0.3)):
        new = [note(generator, specialty, share, f"n{number}") for number in range(NEW)]
        shares.append(float(np.mean([not placing.place(case).inside for case in new])))
    return shares[0], shares[1], shares[2]


def run() -> Iterator[dict[str, Any]]:
    lines = [
        "| validated patients | validations | flagged, same population | flagged, another specialty, one word in "
        "ten its own | three words in ten its own |",
        "|---|---|---|---|---|",
    ]
    for size in SIZES:
        found = np.array([flagged(size, seed) for seed in range(VALIDATIONS[size])])
        mean = found.mean(axis=0)
        reach = 1.96 * found.std(axis=0, ddof=1) / np.sqrt(len(found))
        shown = [
            f"{100 * m:.1f} % ({100 * (m - r):.1f} to {100 * (m + r):.1f})"
            for m, r in zip(mean, reach, strict=True)
        ]
        lines.append(f"| {size} | {len(found)} | {' | '.join(shown)} |")
        yield {
            "name": f"flagged of the same population, {size} validated patients",
            "ours": shown[0].partition(" (")[0],
            "peer": f"± {100 * reach[0]:.1f} points",
            "ratio": "",
            "target": f"<= {100 * ALPHA:g} %",
            "holds": bool(mean[0] - reach[0] <= ALPHA),
        }
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")

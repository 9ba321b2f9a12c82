"""Planted juries before the gate, 50 seeds each: how many bad ones are VALIDATED (at most 5 %; one that is bad for
a part of the cases may be, as long as the verdict's scope leaves that part out), and how many good ones (at least
90 %). Each is a judge of a real study: registered, run and judged by the gate.

`ADVERSARY_SEEDS` sets another number of seeds, `ADVERSARIES` names some of the juries: "constant; random; good".
`WRITE_TABLES=1` writes docs/tables/planted-juries.csv, and beside it the page that shows what stands out."""

from __future__ import annotations

import csv
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._planted import Kind, tried
from benchmarks._planted_kinds import BAD, GOOD
from medjury.validation import Verdict

SEEDS = int(os.environ.get("ADVERSARY_SEEDS", "50"))
MOST_BAD, FEWEST_GOOD = 0.05, 0.90
TABLES = Path(__file__).parents[1] / "docs" / "tables"
ON_REQUEST = True
NAME = "planted-juries.md"
COLUMNS = (
    "kind", "jury", "cases and clinicians", "validated", "bad part left out", "bad part not known", "auxiliary",
    "not validated", "not met, or why",
)  # fmt: skip


@dataclass(eq=False)
class Count:
    """What the gate made of one kind. `outside` counts the VALIDATED whose bad part fails, `open` those whose bad
    part is not known; neither is claimed by the verdict."""

    kind: Kind
    words: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    open: int = 0
    warned: int = 0

    def add(self, verdict: Verdict) -> None:
        self.words[verdict.word] += 1
        self.rules.update(rule.id for rule in verdict.rules if not rule.met)
        if verdict.word != "VALIDATED":
            return
        self.warned += any(rule.id == "blinded" and rule.state == "not known" for rule in verdict.rules)
        scope, parts = verdict.scope, self.kind.parts
        if set(parts) & set(scope.fails):
            self.outside += 1
            self.rules["out of scope"] += 1
        elif parts and not set(parts) & set(scope.holds):
            self.open += 1
            self.rules["scope not known"] += 1

    @property
    def seeds(self) -> int:
        return self.words.total()

    @property
    def validated(self) -> int:
        return self.words["VALIDATED"]

    @property
    def whole(self) -> int:
        """VALIDATED, the bad part included."""
        return self.validated - self.outside - self.open

    @property
    def holds(self) -> bool | None:
        if self.kind.argued:
            return None
        if self.kind.good:
            return self.validated >= FEWEST_GOOD * self.seeds
        return self.whole <= MOST_BAD * self.seeds

    @property
    def caught_by(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in self.rules.most_common(4))


def run() -> Iterator[dict[str, Any]]:
    """One row for each kind: name, ours, peer, ratio, target, holds."""
    print(
        f"{SEEDS} seeds of each jury: VALIDATED / AUXILIARY / NOT VALIDATED, and which rules are not met how often"
    )
    chosen = _named(os.environ.get("ADVERSARIES", ""))
    counts = {kind.name: Count(kind) for kind in chosen}
    for seed in range(SEEDS):
        for setting in dict.fromkeys(kind.setting for kind in chosen):
            kinds = [kind for kind in chosen if kind.setting is setting]
            with tempfile.TemporaryDirectory() as folder:
                for name, verdict in tried(kinds, seed, Path(folder)).items():
                    counts[name].add(verdict)
        if os.environ.get("WRITE_TABLES"):  # after each seed: who stops it keeps what was measured
            TABLES.mkdir(parents=True, exist_ok=True)
            write(TABLES / NAME, [_cells(count) for count in counts.values()])
    for count in counts.values():
        yield _row(count)


def _named(words: str) -> list[Kind]:
    """The juries that a text such as "constant; good" names; all where it names none."""
    known = {kind.name: kind for kind in (*BAD, *GOOD)}
    names = [name for word in words.split(";") if (name := word.strip())] or list(known)
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"ADVERSARIES: there is no jury {unknown[0]!r}; there are {'; '.join(known)}.")
    return [known[name] for name in names]


def _row(count: Count) -> dict[str, Any]:
    words, kind = count.words, count.kind
    inside = f" ({count.outside} without the bad part, {count.open} not known there)" if kind.parts else ""
    return {
        "name": f"{kind.sort}: {kind.name}",
        "ours": f"{count.validated}/{words['AUXILIARY']}/{words['NOT VALIDATED']}{inside}",
        "peer": count.caught_by,
        "ratio": f"{100 * (count.validated if kind.good else count.whole) / count.seeds:.0f} %",
        "target": ">= 90 %" if kind.good else "any" if kind.argued else "<= 5 %",
        "holds": count.holds,
    }


def _cells(count: Count) -> dict[str, str]:
    """The row of the file for one kind. `validated` counts those whose bad part is in the scope."""
    kind, words = count.kind, count.words
    left_out = (count.outside, count.open) if kind.parts else ("", "")
    values = (
        kind.sort, kind.name, kind.setting.name, count.whole, *left_out, words["AUXILIARY"], words["NOT VALIDATED"],
        kind.argued or count.caught_by,
    )  # fmt: skip
    return dict(zip(COLUMNS, map(str, values), strict=True))


def read(page: Path) -> list[dict[str, str]]:
    """The rows in the file beside the page."""
    with page.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(page: Path, rows: list[dict[str, str]]) -> None:
    """The file with every row, and the page that shows what stands out."""
    with page.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    page.write_text(text(rows), encoding="utf-8")


def text(rows: list[dict[str, str]]) -> str:
    """The page: row by row the kinds whose word was not always the one that is meant, and the others' names."""
    of = {sort: [row for row in rows if row["kind"] == sort] for sort in ("bad", "argued", "good")}
    counted = ("validated", "bad part left out", "bad part not known", "auxiliary", "not validated")
    seeds = sum(int(rows[0][name] or 0) for name in counted)
    found_out = [row for row in of["bad"] if row["not validated"] == str(seeds)]
    validated = [row for row in of["good"] if row["validated"] == str(seeds)]

    def table(shown: list[dict[str, str]], *columns: str) -> list[str]:
        lines = [columns, ("---",) * len(columns), *(tuple(row[name] for name in columns) for row in shown)]
        return [f"| {' | '.join(line)} |" for line in lines]

    def names(shown: list[dict[str, str]]) -> str:
        return "; ".join(row["jury"] for row in shown)

    return "\n".join(
        [
            "# Planted juries: all kinds",
            "",
            f"Made by `WRITE_TABLES=1 python -m benchmarks adversaries`: {seeds} studies of each kind, with cases, "
            "clinicians' ratings and scores in files, registered, run and judged by the gate.",
            "[Every row as a file](planted-juries.csv), with the rules that each did not meet and how often. What "
            "the words and rules mean: [How far can I trust this jury?](../trusting-a-jury.md).",
            "",
            f"## {len(of['bad'])} bad juries",
            "",
            "A jury that is bad for a part of the cases may be VALIDATED for the rest: that part then fails (*left "
            "out*) or is *not known*, and the verdict's scope leaves it out. `validated` counts those with the bad "
            "part included.",
            "",
            *table([row for row in of["bad"] if row not in found_out], "jury", *counted, "not met, or why"),
            "",
            f"NOT VALIDATED in all {seeds} studies ({len(found_out)}): {names(found_out)}.",
            "",
            "## Suspect, and not to be told apart",
            "",
            *table(of["argued"], "jury", "validated", "auxiliary", "not validated", "not met, or why"),
            "",
            f"## {len(of['good'])} good juries",
            "",
            *table(
                [row for row in of["good"] if row not in validated],
                "jury", "cases and clinicians", "validated", "auxiliary", "not validated", "not met, or why",
            ),
            "",
            f"VALIDATED in all {seeds} studies ({len(validated)}): {names(validated)}.",
            "",
        ]
    )  # fmt: skip

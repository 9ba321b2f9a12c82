"""Planted juries before the gate, 50 seeds each: how many bad ones are VALIDATED (at most 5 %; one that is bad for
a part of the cases may be, as long as the verdict's scope leaves that part out), and how many good ones (at least
90 %). Each is a judge of a real study: registered, run and judged by the gate.

`ADVERSARY_SEEDS` sets another number of seeds, `ADVERSARIES` names some of the juries: "constant; random; good".
`WRITE_TABLES=1` writes the table to docs/tables/planted-juries.md."""

from __future__ import annotations

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
            (TABLES / NAME).write_text(_page(list(counts.values())), encoding="utf-8")
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


def _page(counts: list[Count]) -> str:
    """The tables in Markdown."""
    lines = [
        "# Planted juries: all kinds",
        "",
        f"Made by `WRITE_TABLES=1 python -m benchmarks adversaries`: {counts[0].seeds} studies of each kind, with "
        "cases, clinicians' ratings and scores in files, registered, run and judged by the gate. Juries on the "
        "same cases are judges of one study. What the words and rules mean is in",
        "[How far can I trust this jury?](../trusting-a-jury.md).",
        "",
        "A jury that is bad for a part of the cases may be VALIDATED for the rest: that part then *fails* or is "
        "*not known*, and the verdict's scope leaves it out.",
        "",
        "| bad jury | VALIDATED, its bad part included | VALIDATED, its bad part left out | AUXILIARY | "
        "NOT VALIDATED | what is not met, and how often |",
        "|---|---|---|---|---|---|",
    ]
    for each in (count for count in counts if count.kind.sort == "bad"):
        left_out = f"{each.outside} fails, {each.open} not known" if each.kind.parts else ""
        lines.append(
            f"| {each.kind.name} | {each.whole} | {left_out} | {each.words['AUXILIARY']} | "
            f"{each.words['NOT VALIDATED']} | {each.caught_by} |"
        )
    lines += [
        "",
        "| suspect, and not to be told apart | VALIDATED | AUXILIARY | NOT VALIDATED | why |",
        "|---|---|---|---|---|",
    ]
    for each in (count for count in counts if count.kind.sort == "argued"):
        lines.append(
            f"| {each.kind.name} | {each.validated} | {each.words['AUXILIARY']} | {each.words['NOT VALIDATED']} | "
            f"{each.kind.argued} |"
        )
    lines += [
        "",
        "| good jury | cases and clinicians | VALIDATED | AUXILIARY | NOT VALIDATED | what was not met |",
    ]
    lines += ["|---|---|---|---|---|---|"]
    for each in (count for count in counts if count.kind.good):
        lines.append(
            f"| {each.kind.name} | {each.kind.setting.name} | {each.validated} | {each.words['AUXILIARY']} | "
            f"{each.words['NOT VALIDATED']} | {each.caught_by} |"
        )
    return "\n".join(lines) + "\n"

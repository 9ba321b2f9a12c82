"""The lineage: every text that was tried, where it came from, what it was worth and what it was told, line by line.

It is the memory of a tuning too: a judgement or a proposal that is written here is not asked for again, whatever
became of the process that asked. Each line is on the disk before the next question. It holds texts of cases in
judges' reasons and clinicians' comments, so it is its owner's alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private
from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.store.runs import files


@dataclass(frozen=True)
class Judged:
    """What a judge made of one case, and what that took."""

    outcomes: Mapping[str, Outcome]
    cost: float | None
    calls: int

    def content(self) -> dict[str, Any]:
        return {
            "outcomes": {name: _written(each) for name, each in self.outcomes.items()},
            "cost": self.cost,
            "calls": self.calls,
        }

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Judged:
        outcomes = {name: _read(each) for name, each in content["outcomes"].items()}
        return cls(outcomes, content["cost"], content["calls"])


@dataclass(frozen=True)
class Ancestor:
    """One text that was tried. `number` is its place among those that were kept; None where it was not."""

    hash: str
    number: int | None
    parents: tuple[str, ...]
    texts: Mapping[str, str]
    changed: tuple[str, ...] = ()
    before: float | None = None
    after: float | None = None
    validation: float | None = None
    whole: float | None = None
    status: str = "kept"
    why: str = ""
    feedback: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    cost: float | None = None
    calls: int = 0

    def content(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass
class Lineage:
    """The lines of a tuning folder. `settings_hash` says of which tuning: another one is refused. `proposed` holds
    what the writing model answered, and what that took."""

    file: Path
    settings_hash: str
    judged: dict[tuple[str, str, int], Judged] = field(default_factory=dict)
    proposed: dict[tuple[str, int], tuple[str, float | None]] = field(default_factory=dict)
    ancestors: list[Ancestor] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path, settings_hash: str) -> Lineage:
        """The lineage of a folder, as far as it goes; a line that a kill has torn is taken off."""
        found = cls(folder / files.LINEAGE, settings_hash)
        if not found.file.exists():
            create_private(found.file)
            found._write({"kind": "tuning", "settings_hash": settings_hash})
            return found
        content = found.file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(found.file, len(whole))
        found._read(whole)
        return found

    def note_judged(self, candidate: str, case: str, repeat: int, judged: Judged) -> None:
        self.judged[candidate, case, repeat] = judged
        said = {"kind": "judged", "candidate": candidate, "case": case, "repeat": repeat}
        self._write({**said, **judged.content()})

    def note_proposed(self, prompt: str, draw: int, reply: str, cost: float | None) -> None:
        self.proposed[prompt, draw] = reply, cost
        self._write({"kind": "proposal", "prompt": prompt, "draw": draw, "reply": reply, "cost": cost})

    def note(self, ancestor: Ancestor) -> None:
        """Write an ancestor down; one that the lineage has, in the same words and with the same end, is known."""
        known = (ancestor.hash, ancestor.number, ancestor.status, ancestor.cases)
        if any((each.hash, each.number, each.status, each.cases) == known for each in self.ancestors):
            return
        self.ancestors.append(ancestor)
        self._write({"kind": "ancestor", **ancestor.content()})

    @property
    def kept(self) -> list[Ancestor]:
        """Those that stayed in the running, in their order."""
        return sorted(
            (each for each in self.ancestors if each.number is not None), key=lambda each: each.number or 0
        )

    def _write(self, line: Mapping[str, Any]) -> None:
        create_private(self.file)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, content: bytes) -> None:
        for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError):
                raise MedjuryError(
                    f"{self.file}, line {number}: is not a line of a lineage; bring the file back, or tune into "
                    "another folder"
                ) from None

    def _take(self, line: dict[str, Any]) -> None:
        kind = line.pop("kind")
        if kind == "tuning" and self.settings_hash and line["settings_hash"] != self.settings_hash:
            raise MedjuryError(
                f"{self.file.parent}: holds another tuning (other cases, labels, judge or settings); name another "
                "folder with --out, or bring back the settings to go on with it"
            )
        if kind == "judged":
            self.judged[line["candidate"], line["case"], line["repeat"]] = Judged.of(line)
        elif kind == "proposal":
            self.proposed[line["prompt"], line["draw"]] = line["reply"], line["cost"]
        elif kind == "ancestor":
            tuples = ("parents", "changed", "feedback", "cases")
            self.ancestors.append(Ancestor(**{**line, **{name: tuple(line[name]) for name in tuples}}))


def _written(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Score(value, explanation):
            return {"score": value, "why": explanation}
        case NotApplicable(explanation):
            return {"score": None, "why": explanation}
        case Unscored(reason, message):
            return {"unscored": reason.value, "why": message}


def _read(content: Mapping[str, Any]) -> Outcome:
    if "unscored" in content:
        return Unscored(Reason(content["unscored"]), content["why"])
    if content["score"] is None:
        return NotApplicable(content["why"])
    return Score(content["score"], content["why"])

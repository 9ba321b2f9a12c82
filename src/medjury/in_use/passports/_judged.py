"""What came of judging by a passport, for a reader and for a program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from medjury.in_use.passports._document import LIMITS, Passport
from medjury.in_use.passports._placing import Placed
from medjury.in_use.passports._scope import InScope

Outside = Literal["flag", "refuse"]
Status = Literal["complete", "incomplete", "failed", "void"]
Answer = tuple[str, str]
_SCOPES = {
    "outside": "in a part of the cases for which the jury fails: they have no score there",
    "not known": "in a part for which nobody knows how good the jury is: judged, and marked",
}
JUDGED, SUMMARY = "judged.csv", "summary.json"


@dataclass(frozen=True)
class Judged:
    """What came of it. `placed` says of each case where it lies; `changes` why the passport is void."""

    folder: Path
    passport: Passport
    status: Status
    why: str
    placed: Mapping[Answer, Placed]
    outside: Outside
    scored: int = 0
    unscored: int = 0
    changes: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    scoped: Mapping[Answer, Mapping[str, InScope]] = field(default_factory=dict)

    def in_state(self, state: str) -> list[Answer]:
        """Cases that lie so in the scope of some dimension."""
        return [key for key, own in self.scoped.items() if any(each.state == state for each in own.values())]

    def scores(self, dimension: str) -> dict[Answer, float]:
        """The score of each scored case, calibrated where the passport has a calibration."""
        found = {}
        for row in self.rows:
            score = row["score"] if row["calibrated"] is None else row["calibrated"]
            if row["dimension"] == dimension and score is not None:
                found[row["item"], row["system"]] = float(score)
        return found

    def text(self) -> str:
        """The outcome in a few lines; what limits it comes first."""
        away = [each for each in self.placed.values() if not each.inside]
        kinds = Counter(reason.partition(":")[0] for each in away for reason in each.reasons)
        done = "refused, and not judged" if self.outside == "refuse" else "judged, and flagged"
        alpha = self.passport.population.novelty.alpha
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        if limit := LIMITS[self.passport.force]:
            lines.append(limit)
        lines += [
            f"{len(self.placed) - len(away):,} of {len(self.placed):,} cases lie inside what was validated; "
            f"{len(away):,} lie outside: {done}",
            *(f"  {count:,}: {reason}" for reason, count in kinds.most_common(8)),
            *(
                f"{len(cases):,} of them lie {where}"
                for state, where in _SCOPES.items()
                if (cases := self.in_state(state))
            ),
            f"(of cases like the validated ones at most {100 * alpha:g} % are flagged for their distance)",
            f"{self.scored:,} scores of {self.passport.who}, {self.unscored:,} without a score",
            f"Judged cases: {self.folder / JUDGED}",
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The same for a program."""
        away = [each.as_dict() for each in self.placed.values() if not each.inside]
        said = {
            "status": self.status,
            "why": self.why,
            "force": self.passport.force,
            "passport": self.passport.hash,
            "expires_at": self.passport.expires_at,
            "alpha": self.passport.population.novelty.alpha,
            "cases": len(self.placed),
            "outside": away,
            "outside_scope": [list(each) for each in self.in_state("outside")],
            "scope_not_known": [list(each) for each in self.in_state("not known")],
            "done_with_outside": self.outside,
            "scored": self.scored,
            "unscored": self.unscored,
            "changes": list(self.changes),
        }
        return json.dumps(said, indent=1, ensure_ascii=True)

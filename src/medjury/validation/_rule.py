"""A rule of a verdict, known by an id that never changes: what was found, and the best word that it leaves. Its
sentences are in `_sentences`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from medjury.statistics import Row
from medjury.validation._sentences import LINE_IDS, RULES, Word

RuleState = Literal["holds", "open", "fails", "not known", "does not apply"]


@dataclass(frozen=True, slots=True)
class Rule(Row):
    """One rule and what was found. `cap` is the best word that it leaves: VALIDATED where it holds or does not
    apply. `why` says in a clinician's words why the word is not better, `to_do` what to do about it, `numbers` in
    a few words by how much. A line of the colleague test has the `jury`'s number, the `colleague`'s, their
    difference `value` with its bounds, and the `limit`. One about `danger` to patients is shown first."""

    id: str
    name: str
    state: RuleState
    asked: str
    found: str
    cap: Word = "VALIDATED"
    why: str = ""
    to_do: str = ""
    numbers: str = ""
    jury: float | None = None
    colleague: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    danger: bool = False

    @property
    def met(self) -> bool:
        """Whether the rule leaves every word open."""
        return self.cap == "VALIDATED"

    @property
    def essential(self) -> bool:
        """Whether it forbids use beside a clinician too."""
        return self.cap in ("NOT VALIDATED", "INCOMPLETE")

    @property
    def line(self) -> bool:
        """Whether it is a line of the colleague test; the others are preconditions."""
        return self.id in LINE_IDS

    @property
    def clinician(self) -> str:
        """What it is for, in one line for a clinician."""
        return RULES[self.id].clinician

    @property
    def statistician(self) -> str:
        """What it is for, in one line for a statistician."""
        return RULES[self.id].statistician

    @property
    def measured(self) -> dict[str, float | None]:
        """Its numbers by name, None where one does not exist."""
        names = ("jury", "colleague", "value", "low", "high", "limit")
        found = {name: getattr(self, name) for name in names}
        return {
            name: None if value is None or not math.isfinite(value) else value
            for name, value in found.items()
        }


def ask(id: str, **values: Any) -> Asked:
    """The rule with this id; `values` are put into what it asks."""
    return Asked(id, RULES[id].asked.format(**values))


@dataclass(frozen=True, slots=True)
class Asked:
    """A rule that has no answer yet; each method gives it one. `case` names the sentence among the rule's own (none
    where it is empty), `words` is what is put into it."""

    id: str
    asked: str

    def holds(self, found: str, **numbers: Any) -> Rule:
        return self.answered("holds", found, "VALIDATED", **numbers)

    def idle(self, found: str) -> Rule:
        """It does not apply, and forbids nothing."""
        return self.answered("does not apply", found, "VALIDATED")

    def unknown(self, found: str, cap: Word = "VALIDATED", case: str = "", **numbers: Any) -> Rule:
        return self.answered("not known", found, cap, case, **numbers)

    def fails(self, found: str, cap: Word, numbers: str = "", case: str = "fails", **values: Any) -> Rule:
        return self.answered("fails", found, cap, case, numbers, **values)

    def answered(
        self,
        state: RuleState,
        found: str,
        cap: Word,
        case: str = "",
        numbers: str = "",
        words: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> Rule:
        text, put_in = RULES[self.id], words or {}
        why = text.why[case].format(**put_in) if case else ""
        advice = (text.to_do if isinstance(text.to_do, str) else text.to_do[case]) if case else ""
        to_do = advice.format(**put_in)
        return Rule(self.id, text.name, state, self.asked, found, cap, why, to_do, numbers, **values)

"""Every audit for which there is what it needs, and the reason for every one for which there is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from medjury.analysis.audits._consistency import internal_consistency
from medjury.analysis.audits._drift import drift
from medjury.analysis.audits._error_model import error_model
from medjury.analysis.audits._finding import Adjustment, Audit, Finding, Findings
from medjury.analysis.audits._groups import group_differences
from medjury.analysis.audits._position import position
from medjury.analysis.audits._self_preference import self_preference
from medjury.analysis.audits._stability import stability
from medjury.analysis.audits._text_effects import case_features, text_effects
from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import fits_one_screen
from medjury.intake.cases import Case
from medjury.tables import Names, rating_table

# Every audit by the name that its findings have, and what else one may type for it.
AUDITS: Mapping[str, tuple[str, ...]] = {
    "self_preference": (),
    "stability": (),
    "text_effects": ("text", "length", "format", "verbosity"),
    "error_model": ("errors",),
    "position": (),
    "group_differences": ("groups",),
    "internal_consistency": ("consistency",),
    "drift": (),
}
# These compare two answers, or two runs; all others look at the single answers of one run.
COMPARING = ("position", "drift")


@dataclass(frozen=True, slots=True)
class Audits(Findings):
    """The `audits` that were made, and `not_made`: the reason for each of the others, by name."""

    audits: tuple[Audit, ...]
    not_made: Mapping[str, str]
    of_table: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Finding, ...]:  # type: ignore[override]
        """The findings of all audits."""
        return tuple(row for each in self.audits for row in each.rows)

    @property
    def warnings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What to know of the table, what each audit warns of, and what was not audited."""
        return (
            *self.of_table,
            *(f"{each.name}: {text}" for each in self.audits for text in each.warnings),
            *self._left(),
        )

    def text(self, *, everything: bool = False) -> str:
        """One audit after the other, then what was not audited and why; on one screen, unless `everything` is asked
        for: what stands out comes first to be kept."""
        text = self._text(everything=everything)
        for most in (6, 3, 1):
            if everything or fits_one_screen(text):
                break
            text = self._text(most=most)
        return text

    def _text(self, *, everything: bool = False, most: int | None = None) -> str:
        left = self._left() if most is None else [f"not audited: {', '.join(self.not_made)} (--all says why)"]
        parts = [
            "\n".join(f"! {warning}" for warning in self.of_table[:most]),
            *(each.text(everything=everything, most=most) for each in self.audits),
            "\n".join(left if self.not_made else []),
        ]
        return "\n\n".join(part for part in parts if part)

    def _left(self) -> list[str]:
        return [f"not audited: {name}: {reason}" for name, reason in self.not_made.items()]


def audit(
    table: object,
    *,
    audits: Names | None = None,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    adjustment: Adjustment = "holm",
    judge_vendors: Mapping[str, str] | None = None,
    system_vendors: Mapping[str, str] | None = None,
    own_models: Mapping[str, Sequence[str]] | None = None,
    cases: Iterable[Case] | None = None,
    within_systems: bool = False,
    groups: Sequence[str] = (),
    bands: Mapping[str, Sequence[float]] | None = None,
    smallest: int = 10,
    earlier: object = None,
    same_raters: Mapping[str, str] | None = None,
    bound: float = 0.25,
    width: float = 0.5,
    threshold: float | None = None,
    pairs: object = None,
) -> Audits:
    """Audit a rating table: all of `AUDITS`, or those that are named (which are then refused where something is
    missing). Each takes what it needs from the table and from the arguments that the function of its name explains;
    texts and groups of patients come from the `cases` that were judged."""
    table = rating_table(table)
    listed = [audits] if isinstance(audits, str) else list(audits or ())
    named = [_named(each) for each in listed]
    drawn: dict[str, Any] = {"raters": raters, "confidence": confidence, "resamples": resamples, "seed": seed}
    drawn["adjustment"] = adjustment
    asked: dict[str, Any] = {"reference": reference, "dimensions": dimensions, **drawn}
    features, values = (None, {}) if cases is None else case_features(cases, groups, notes=True)

    def make_groups() -> Audit:
        if not groups:
            raise MedjuryError("give --group, such as --group specialty --group age=18,65")
        given = {name: None if name in table.rows.columns else values.get(name) for name in groups}
        return group_differences(table, given, bands=bands, smallest=smallest, **asked)

    def make_errors() -> Audit:
        given = {name: None if name in table.rows.columns else values.get(name) for name in groups}
        if missing := [name for name in groups if name not in table.rows.columns and given[name] is None]:
            raise MedjuryError(
                f"there is no column {missing[0]!r} to explain errors by, and no case states it."
            )
        return error_model(table, features, groups=given, **asked)

    def make_drift() -> Audit:
        if earlier is None:
            raise MedjuryError("give --earlier, the earlier ratings of the same cases, or --versions")
        return drift(earlier, table, bound=bound, same_raters=same_raters, **asked)

    makers: dict[str, Callable[[], Audit]] = {
        "self_preference": lambda: self_preference(
            table,
            judge_vendors=judge_vendors,
            system_vendors=system_vendors,
            own_models=own_models,
            **asked,
        ),
        "stability": lambda: stability(table, width=width, threshold=threshold, **asked),
        "text_effects": lambda: text_effects(table, features, within_systems=within_systems, **asked),
        "error_model": make_errors,
        "position": lambda: position(table if pairs is None else pairs, **drawn),
        "group_differences": make_groups,
        "internal_consistency": lambda: internal_consistency(table, **asked),
        "drift": make_drift,
    }
    done: list[Audit] = []
    left: dict[str, str] = {}
    for name in named or AUDITS:
        try:
            if table.pairs and name not in COMPARING:
                raise MedjuryError("these ratings compare two answers, and this audit looks at single ones")
            done.append(makers[name]())
        except MedjuryError as error:
            if named:
                raise
            left[name] = str(error)
    if not done:
        reasons = "\n".join(f"not audited: {name}: {reason}" for name, reason in left.items())
        raise MedjuryError(f"nothing could be audited:\n{reasons}")
    known = set(table.warnings)
    apart = [
        replace(each, warnings=tuple(text for text in each.warnings if text not in known)) for each in done
    ]
    return Audits(tuple(apart), left, table.warnings)


def _named(typed: str) -> str:
    """The name of the audit that is meant."""
    word = typed.replace("-", "_")
    for name, aliases in AUDITS.items():
        if word in (name, *aliases):
            return name
    choice = f"there are {', '.join(AUDITS)}; --injection and --corpus are asked for alone"
    raise MedjuryError(f"there is no audit {typed!r}; {choice}")

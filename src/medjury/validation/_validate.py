"""The verdict: may this jury be trusted on this dimension? Rules stated before the run, each with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from medjury.records import dataclass
from medjury.statistics import Printable, Result
from medjury.tables import Measured, Names, rating_table
from medjury.validation._evidence import Evidence, evidence_of, gate_statistic
from medjury.validation._missing import missing_warning
from medjury.validation._rules import RULES
from medjury.validation._rules.found import RuleFound
from medjury.validation._words import Word, about_each_judge, about_judge


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word on one rater and one dimension, and the rules behind it."""

    rater: str
    dimension: str
    label: str
    word: Word
    rules: tuple[RuleFound, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the word is not better, the heaviest reasons first."""
        return tuple(rule.why for rule in self.not_met)

    @property
    def not_met(self) -> tuple[RuleFound, ...]:
        """The rules that say why the word is not better, the heaviest first."""
        said = (rule for rule in self.rules if not rule.met and rule.why)
        return tuple(sorted(said, key=lambda rule: not rule.essential))


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule on one dimension."""

    rater: str
    dimension: str
    verdict: Word
    rule: str
    asked: str
    found: str
    state: str
    essential: bool
    why: str
    for_a_clinician: str
    for_a_statistician: str

    def as_dict(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Validation(Result[RuleRow]):
    """The verdicts on every dimension. `rows` has every rule of each, `word` the verdict in one word. `judges` are
    those on trial that are no jury: sentences name them."""

    rows: tuple[RuleRow, ...]
    warnings: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    judges: frozenset[str] = frozenset()

    @property
    def raters(self) -> tuple[str, ...]:
        """Who is judged, the first first."""
        return tuple(dict.fromkeys(each.rater for each in self.verdicts))

    def of(self, rater: str) -> tuple[Verdict, ...]:
        """The verdicts on one rater."""
        return tuple(each for each in self.verdicts if each.rater == rater)

    def word(self, dimension: str) -> Word:
        """The word on one dimension; that on the first of several raters."""
        return next(each.word for each in self.verdicts if each.dimension == dimension)

    def text(self) -> str:
        """A line for each dimension, and a line for each reason; what holds everywhere is said once."""
        several = len({each.rater for each in self.verdicts}) > 1
        lines = [f"! {warning}" for warning in self.warnings]
        shared = (
            [reason for reason in self.verdicts[0].reasons if self._everywhere(reason)]
            if self.verdicts
            else []
        )
        lines += [f"Everywhere: {self._of_all(reason)}" for reason in shared]
        for each in self.verdicts:
            title = f"{each.rater}, {each.label}" if several else each.label
            own = (reason for reason in each.reasons if reason not in shared)
            lines += [f"{title}: {each.word}", *(f"  {self.told(reason, each.rater)}" for reason in own)]
        return "\n".join(lines)

    def told(self, words: str, rater: str) -> str:
        """A sentence about the jury, with the name of a judge that is none."""
        return about_judge(words, rater) if rater in self.judges else words

    def _of_all(self, words: str) -> str:
        if len(self.raters) == 1:
            return self.told(words, self.raters[0])
        return about_each_judge(words) if self.judges.issuperset(self.raters) else words

    def _everywhere(self, reason: str) -> bool:
        return len(self.verdicts) > 1 and all(reason in each.reasons for each in self.verdicts)

    def shown_rows(self) -> list[dict[str, Printable]]:
        return [
            {
                "rater": each.rater,
                "dimension": each.label,
                "verdict": each.word,
                "why": self.told(" ".join(each.reasons), each.rater) or "Every rule is met.",
            }
            for each in self.verdicts
        ]


def validate(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> Validation:
    """The verdict on every jury of a run folder (on every judge, where it forms none), or on the jury of any rating
    table, dimension by dimension, the first-named first; where `raters` are named, on each of them. The rules are
    those that the study file stated before the run."""
    ready = rating_table(table).with_weights
    measured = ready.chosen(dimensions, derived=False)
    evidence = evidence_of(
        ready,
        raters=raters,
        reference=reference,
        dimensions=[each.name for each in measured],
        statistics=sorted({gate_statistic(ready.rules, each) for each in measured}),
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    if raters is None:
        return validation_of(evidence, measured)
    return validation_of(evidence, measured, evidence.roles.raters)


def validation_of(
    evidence: Evidence, dimensions: tuple[Measured, ...] | None = None, raters: tuple[str, ...] = ()
) -> Validation:
    """The verdicts that the evidence allows, on every dimension that raters gave themselves."""
    measured = evidence.table.counted if dimensions is None else dimensions
    tried = [replace(evidence, rater=rater) for rater in raters or evidence.roles.on_trial] or [evidence]
    verdicts = tuple(_verdict(each, dimension) for each in tried for dimension in measured)
    rows = tuple(
        RuleRow(
            each.rater,
            each.dimension,
            each.word,
            rule.name,
            rule.asked,
            rule.found,
            rule.state,
            rule.essential,
            rule.why,
            rule.lines.clinician,
            rule.lines.statistician,
        )
        for each in verdicts
        for rule in each.rules
    )
    problem = (evidence.problem,) if evidence.problem else ()
    silences = (missing_warning(each, dimension) for each in tried for dimension in measured)
    warnings = (*problem, *(said for said in silences if said))
    kinds = evidence.table.raters
    judges = frozenset(each.rater for each in tried if kinds.get(each.rater) == "judge")
    return Validation(rows, warnings, verdicts, judges)


def _verdict(evidence: Evidence, dimension: Measured) -> Verdict:
    rules = tuple(each for rule in RULES for each in rule(evidence, dimension))
    return Verdict(evidence.rater, dimension.name, dimension.label, _word(rules), rules)


def _word(rules: tuple[RuleFound, ...]) -> Word:
    if any(rule.stops and not rule.met for rule in rules):
        return "INCOMPLETE"
    if all(rule.met for rule in rules):
        return "VALIDATED"
    return "NOT VALIDATED" if any(rule.essential and not rule.met for rule in rules) else "AUXILIARY"

"""The verdict: may this jury take a colleague's chair on this dimension? The colleague test, its preconditions,
and the scope for which the word is earned."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from medjury.foundation.screen import fits_one_screen
from medjury.statistics import Estimate, Printable, Result, panels_figure, shown, text_table
from medjury.tables import IN_DOUBT, Measured, Names, rating_table, two_panels
from medjury.validation._evidence import Evidence, gate_evidence
from medjury.validation._preconditions import preconditions, silence_warning
from medjury.validation._rule import Rule, ask
from medjury.validation._scope import Scope, scale_use
from medjury.validation._sentences import (
    MEANING,
    ORDER,
    STATISTICS,
    Units,
    Word,
    about_judge,
    beside_colleague,
    in_units,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of the JSON: ids, states and numbers keep their names within a version.
SCHEMA_VERSION = 2
# The lines of the test as a reader of a picture knows them: the title, and what is measured.
_DRAWN = {
    "agreement": ("Agreement", "jury minus colleague, with a clinician"),
    "missed_danger": ("Missed danger", "jury minus colleague, share missed"),
    "offset": ("Offset", "jury minus clinicians, in grades"),
    "within_case": ("Order within a case", "jury minus colleague"),
    "within_system": ("Order within a system", "jury minus colleague"),
    "consensus_danger": ("Danger that all clinicians saw", "share missed by the jury"),
    "colleagues": ("Clinicians' own agreement", "clinician with clinician"),
}
# Of a short text: dimensions and raters, warnings and shared reasons.
_LINES, _FEW = 30, 3
# What XML 1.0 cannot hold, not even escaped. These few are compiled sooner than the many that it can hold.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word on one rater and one dimension, the rules behind it, the scope for which it is earned, and
    `beside_colleague`: what a colleague does and what the jury does, in one sentence. Then the numbers that a
    reader wants to see beside it, None where one is not known: the jury's and a colleague's agreement with a
    clinician, what each misses of what a clinician calls dangerous, and how much was scored."""

    rater: str
    dimension: str
    label: str
    word: Word
    rules: tuple[Rule, ...]
    scope: Scope
    beside_colleague: str = ""
    danger: str = ""  # what is called dangerous; "" where no danger is claimed
    doubly: int = 0  # answers that two clinicians rated
    clusters: int = 0  # patients or cases behind them
    statistic: str = ""
    agreed: float | None = None
    colleague: float | None = None
    missed: float | None = None
    missed_by_colleague: float | None = None
    share: float | None = None
    scored: int = 0
    asked: int = 0

    @property
    def coefficient(self) -> str:
        """What agreement is measured by, for a reader."""
        return STATISTICS.get(self.statistic, self.statistic)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the word is not better, the heaviest reasons first."""
        return tuple(rule.why for rule in self.not_met)

    @property
    def not_met(self) -> tuple[Rule, ...]:
        """The rules that say why the word is not better: the heaviest first, and danger before the rest."""
        found = (rule for rule in self.rules if not rule.met and rule.why)
        return tuple(sorted(found, key=lambda rule: (not rule.essential, not rule.danger)))

    @property
    def meaning(self) -> str:
        """What the word means here, made of the numbers."""
        stated = f"{MEANING[self.word]} {self.beside_colleague}".strip()
        return f"{stated} Scope: {self.earned_scope}." if self.earned_scope else stated

    @property
    def earned_scope(self) -> str:
        """For which cases the word holds; "" where nothing tells cases apart, or there is no word to hold."""
        return self.scope.text() if self.word in ("VALIDATED", "AUXILIARY") else ""

    def rule(self, name: str) -> Rule:
        """The rule with this id."""
        return next(each for each in self.rules if each.id == name)


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule on one dimension."""

    rater: str
    dimension: str
    verdict: Word
    rule: Rule

    def as_dict(self) -> Mapping[str, Any]:
        about = {"rater": self.rater, "dimension": self.dimension, "verdict": self.verdict}
        return {**about, **self.rule.as_dict()}


@dataclass(frozen=True, slots=True)
class Validation(Result[RuleRow]):
    """The verdicts on every dimension. `rows` has every rule of each, `word` the verdict in one word. `judges` are
    those on trial that are no jury: sentences name them."""

    rows: tuple[RuleRow, ...]
    warnings: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    judges: frozenset[str] = frozenset()
    units: Units = "answer"

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

    def worst(self, *, first: bool = False) -> Word:
        """The worst word over raters and dimensions, or that on the `first` rater: the juries beside it do not make
        its word better or worse. Without any verdict, INCOMPLETE."""
        tried = self.of(self.raters[0]) if first and self.raters else self.verdicts
        return max((each.word for each in tried), key=ORDER.index, default="INCOMPLETE")

    def seen_by(self, makers: Mapping[str, str]) -> Validation:
        """The same, where these very answers were looked at while a rater was made: by rater, who looked."""

        def judged(each: Verdict) -> Verdict:
            if each.rater not in makers:
                return each
            who = makers[each.rater]
            rule = ask("untouched").fails(who, "NOT VALIDATED", words={"used": each.clusters, "who": who})
            return replace(each, word=max(each.word, rule.cap, key=ORDER.index), rules=(*each.rules, rule))

        verdicts = tuple(map(judged, self.verdicts))
        rows = tuple(RuleRow(v.rater, v.dimension, v.word, rule) for v in verdicts for rule in v.rules)
        return replace(self, verdicts=verdicts, rows=rows)

    def verdicts_json(self) -> str:
        """A list of verdicts, each with its rules by their ids and with its scope. A number that does not exist is
        null."""
        found = [
            {
                "schema_version": SCHEMA_VERSION,
                "rater": each.rater,
                "dimension": each.dimension,
                "verdict": each.word,
                "meaning": self.about(each.meaning, each.rater),
                "rules": [
                    {
                        "id": rule.id,
                        "state": rule.state,
                        **rule.measured,
                        "best_word": rule.cap,
                        "found": self.about(rule.found, each.rater),
                        "why": self.about(rule.why, each.rater),
                    }
                    for rule in each.rules
                ],
                "scope": each.scope.as_dict(),
            }
            for each in self.verdicts
        ]
        return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)

    def junit(self) -> str:
        """For a pipeline that shows tests: a suite for each rater and dimension, a test case for each rule. A rule
        that is not known is a failure too: to skip it would show green what nobody has shown."""
        suites = [(each, sum(not rule.met for rule in each.rules)) for each in self.verdicts]
        tests, failures = sum(len(each.rules) for each, _ in suites), sum(failed for _, failed in suites)
        root = ElementTree.Element(
            "testsuites", name="medjury gate", tests=str(tests), failures=str(failures)
        )
        root.extend(_suite(self, each, failed) for each, failed in suites)
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"

    def plot(self) -> Figure:
        """The lines of the colleague test against their limits, of the rater that is judged first: a panel for each
        line, a row for each dimension."""
        lines: dict[str, list[tuple[str, Estimate, Sequence[float]]]] = {}
        for each in self.of(self.raters[0]) if self.raters else ():
            for rule in each.rules:
                if rule.line and rule.value is not None and rule.limit is not None:
                    found = Estimate(rule.value, rule.low, rule.high, each.doubly, "one-sided ends at 5 %")
                    limits = (-rule.limit, rule.limit) if rule.id == "offset" else (rule.limit,)
                    lines.setdefault(rule.id, []).append((each.label, found, limits))
        return panels_figure([(*_DRAWN[name], rows) for name, rows in lines.items()], columns=2)

    def text(self) -> str:
        """A line for each dimension, and a line for each reason; what holds everywhere is stated once."""
        several = len({each.rater for each in self.verdicts}) > 1
        lines = [f"! {warning}" for warning in self.warnings]
        shared = self._shared
        lines += [f"Everywhere: {self._of_all(reason)}" for reason in shared]
        for each in self.verdicts:
            title = f"{each.rater}, {each.label}" if several else each.label
            own = (reason for reason in each.reasons if reason not in shared)
            lines += [f"{title}: {each.word}", f"  {self.about(each.meaning, each.rater)}"]
            lines += [f"  {self.about(reason, each.rater)}" for reason in own]
        return "\n".join(lines)

    def short_text(self) -> str:
        """On one screen: all of it, or of many verdicts a line each with the first rule that is not met, and of
        many raters the words that each earned."""
        whole = self.text()
        if fits_one_screen(whole):
            return whole
        lines = [f"! {warning}" for warning in self.warnings[:_FEW]]
        shared = self._shared
        lines += [f"Everywhere: {self._of_all(reason)}" for reason in shared[:_FEW]]
        first, *others = self.raters
        table: list[dict[str, Printable]] = []
        for each in self.of(first)[:_LINES]:
            rule = next((rule for rule in each.rules if rule.id == "agreement"), None)
            own = [rule for rule in each.not_met if rule.why not in shared]
            more = f" (and {len(own) - 1} more)" if len(own) > 1 else ""
            table.append(
                {
                    "dimension": each.label,
                    "verdict": each.word,
                    "jury": None if rule is None or rule.jury is None else shown(rule.jury, 2),
                    "colleague": None if rule is None or rule.colleague is None else shown(rule.colleague, 2),
                    "not shown": f"{own[0].name}{more}" if own else "",
                }
            )
        lines += [f"{first}:" if others else "", *text_table(table)]
        if others:
            lines += ["", "The others, by the number of dimensions:"]
            for name in others[: _LINES - len(table)]:
                words = Counter(each.word for each in self.of(name))
                counts = ", ".join(f"{word} {words[word]}" for word in ORDER if words[word])
                lines.append(f"  {name}: {counts}")
        lines += [
            "",
            f"--all shows every reason, in words, and the scope of all {len(self.verdicts)} verdicts",
        ]
        return "\n".join(lines)

    def about(self, words: str, rater: str) -> str:
        """A sentence about the jury, with the name of a judge that is none."""
        words = in_units(words, self.units)
        return about_judge(words, rater) if rater in self.judges else words

    def _of_all(self, words: str) -> str:
        if len(self.raters) == 1:
            return self.about(words, self.raters[0])
        words = in_units(words, self.units)
        return about_judge(words) if self.judges.issuperset(self.raters) else words

    @property
    def _shared(self) -> list[str]:
        """The reasons that are given everywhere."""
        found = self.verdicts[0].reasons if len(self.verdicts) > 1 else ()
        return [reason for reason in found if all(reason in each.reasons for each in self.verdicts)]

    def shown_rows(self) -> list[dict[str, Printable]]:
        return [
            {
                "rater": each.rater,
                "dimension": each.label,
                "verdict": each.word,
                "why": self.about(" ".join(each.reasons) or each.meaning, each.rater),
            }
            for each in self.verdicts
        ]


def _suite(validation: Validation, verdict: Verdict, failed: int) -> ElementTree.Element:
    name = _clean(f"{verdict.rater or 'no rater'}, {verdict.dimension}")
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(verdict.rules)), failures=str(failed))
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name="verdict", value=verdict.word)
    for rule in verdict.rules:
        suite.append(_case(name, rule, lambda words: validation.about(words, verdict.rater)))
    return suite


def _case(suite: str, rule: Rule, about: Callable[[str], str]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name=_clean(rule.id), classname=suite)
    numbers = _clean(about(f"{rule.name}\nasked: {rule.asked}\nfound: {rule.found}"))
    if not rule.met:
        failure = ElementTree.SubElement(
            case, "failure", type=rule.state, message=_clean(about(rule.why) or rule.state)
        )
        failure.text = numbers
    else:
        ElementTree.SubElement(case, "system-out").text = numbers
    return case


def _clean(text: str) -> str:
    return _NO_XML.sub("�", text)


def validate(
    table: object,
    judges: object = None,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    scale: Any = None,
    columns: Literal["raters", "dimensions"] | None = None,
) -> Validation:
    """The verdict on every jury of a run folder (on every judge, where it forms none), or on the jury of any rating
    table, dimension by dimension, the first-named first; where `raters` are named, on each of them. The rules are
    those that the study file stated before the run.

    With `judges` the first table is the clinicians' and the second the judges': files or frames, long or wide
    (`columns` says what the columns of wide ones are, `scale` the lowest and the highest grade). What the command
    line would ask of them is in `warnings`.

    >>> import polars as pl
    >>> humans = pl.DataFrame({"item": ["a", "b", "c"], "anna": [1, 3, 5], "ben": [2, 3, 5]})
    >>> judges = pl.DataFrame({"item": ["a", "b", "c"], "gpt": [1, 3, 4]})
    >>> validate(humans, judges, scale=(1, 5), columns="raters", resamples=50).worst()
    'NOT VALIDATED'
    """
    doubts: tuple[str, ...] = ()
    if judges is not None:
        table = two_panels(table, judges, scale=scale, columns=columns)
        doubts = tuple(note for note in table.notes if note.startswith(IN_DOUBT))
    elif scale is not None:
        table = rating_table(table, scale=scale)
    measured, evidence = gate_evidence(
        table, dimensions, raters=raters, reference=reference, confidence=confidence, resamples=resamples,
        seed=seed,
    )  # fmt: skip
    found = validation_of(evidence, measured, () if raters is None else evidence.roles.raters)
    return replace(found, warnings=(*doubts, *found.warnings)) if doubts else found


def validation_of(
    evidence: Evidence, dimensions: tuple[Measured, ...] | None = None, raters: tuple[str, ...] = ()
) -> Validation:
    """The verdicts that the evidence allows, on every dimension that raters gave themselves."""
    measured = evidence.table.counted if dimensions is None else dimensions
    tried = [replace(evidence, rater=rater) for rater in raters or evidence.roles.on_trial] or [evidence]
    verdicts = tuple(_verdict(each, dimension) for each in tried for dimension in measured)
    rows = tuple(
        RuleRow(each.rater, each.dimension, each.word, rule) for each in verdicts for rule in each.rules
    )
    problem = (evidence.problem,) if evidence.problem else ()
    silences = (
        silence_warning(each, dimension, each.tested(dimension)) for each in tried for dimension in measured
    )
    warnings = (*problem, *(text for text in silences if text))
    kinds = evidence.table.raters
    judges = frozenset(each.rater for each in tried if kinds.get(each.rater) == "judge")
    return Validation(rows, warnings, verdicts, judges, evidence.units)


def _verdict(evidence: Evidence, dimension: Measured) -> Verdict:
    tested, (scope, parts) = evidence.tested(dimension), evidence.parts(dimension)
    rules = (
        *tested.lines,
        *preconditions(evidence, dimension, tested),
        scale_use(tested.beside, evidence.rules),
        *parts,
    )
    word = max((rule.cap for rule in rules), key=ORDER.index)
    danger = dimension.danger_words(evidence.rules)
    known = {name: value for name, value in tested.values.items() if math.isfinite(value)}
    return Verdict(
        evidence.rater,
        dimension.name,
        dimension.label,
        word,
        rules,
        scope,
        beside_colleague(tested.values, danger),
        danger,
        tested.doubly,
        tested.clusters,
        tested.beside.statistic,
        known.get("agreement jury"),
        known.get("agreement colleague"),
        known.get("missed_danger jury"),
        known.get("missed_danger colleague"),
        *evidence.covered(dimension.name),
    )

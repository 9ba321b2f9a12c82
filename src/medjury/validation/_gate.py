"""The gate: may this jury be trusted on this dimension? Rules stated before the run, each with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from medjury.agreement import NonInferiority
from medjury.statistics import Estimate, html_table, percent, shown
from medjury.validation._evidence import SCORED, UNSCORED, Evidence, read_run
from medjury.validation._numbers import Numbers, compute, danger_limits

Word = Literal["VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE"]
State = Literal["met", "not met", "not known"]
MEANING: Mapping[Word, str] = {
    "VALIDATED": "The jury agreed with clinicians about as well as they agree with one another, on cases "
    "it had "
    "never served to develop. Its scores may stand in for a clinician's on cases like these.",
    "AUXILIARY": "There is fair evidence for the jury, but not enough to let it stand alone. Use its "
    "scores beside "
    "a clinician's judgement, never instead of it.",
    "NOT VALIDATED": "It has not been shown that these scores mean what clinicians would say. Do not base "
    "decisions on them.",
    "INCOMPLETE": "The run did not finish, so there is no verdict yet. Finish the run first.",
}
NAMES = {
    "kappa_quadratic": "weighted kappa",
    "icc_2_1": "intraclass correlation",
    "spearman": "rank correlation",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the gate. One that is `essential` and not met forbids even auxiliary use; `why` says in a
    clinician's words what it means that the rule is not met."""

    name: str
    asked: str
    found: str
    state: State
    essential: bool
    why: str = ""

    @property
    def met(self) -> bool:
        return self.state == "met"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word on one dimension, and the rules behind it."""

    dimension: str
    label: str
    word: Word
    rules: tuple[Rule, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the word is not better, the heaviest reasons first."""
        open_rules = sorted(
            (rule for rule in self.rules if not rule.met), key=lambda rule: not rule.essential
        )
        return tuple(rule.why for rule in open_rules if rule.why)


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdicts on every dimension, ready to be shown."""

    verdicts: tuple[Verdict, ...]

    def word(self, dimension: str) -> Word:
        """The word on one dimension."""
        return next(each.word for each in self.verdicts if each.dimension == dimension)

    def text(self) -> str:
        """A line for each dimension, and a line for each reason."""
        lines = []
        for each in self.verdicts:
            lines += [f"{each.label}: {each.word}", *(f"  {reason}" for reason in each.reasons)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(
            [
                {
                    "dimension": each.label,
                    "verdict": each.word,
                    "why": " ".join(each.reasons) or "Every rule is met.",
                }
                for each in self.verdicts
            ]
        )


def gate_of(folder: str | Path) -> Gate:
    """The gate's verdicts on a run folder, for a script or a notebook."""
    evidence = read_run(Path(folder))
    return Gate(judge_gate(evidence, compute(evidence)))


def judge_gate(evidence: Evidence, numbers: Mapping[str, Numbers]) -> tuple[Verdict, ...]:
    """The verdict on every dimension that the instrument asks for."""
    return tuple(_verdict(evidence, numbers[each.name]) for each in evidence.gated)


def _verdict(evidence: Evidence, numbers: Numbers) -> Verdict:
    rules = (
        _finished(evidence),
        _unchanged(evidence),
        _stated_before(evidence),
        _clinicians(evidence),
        _enough_cases(evidence, numbers),
        *_floor(evidence, numbers),
        _not_inferior(evidence, numbers),
        *_severe(evidence, numbers),
        _coverage(evidence, numbers),
    )
    return Verdict(numbers.dimension.name, numbers.dimension.label, _word(rules), rules)


def _word(rules: tuple[Rule, ...]) -> Word:
    if not rules[0].met:
        return "INCOMPLETE"
    if all(rule.met for rule in rules):
        return "VALIDATED"
    return "NOT VALIDATED" if any(rule.essential and not rule.met for rule in rules) else "AUXILIARY"


def _rule(name: str, asked: str, found: str, met: bool | None, *, essential: bool, why: str) -> Rule:
    state: State = "not known" if met is None else "met" if met else "not met"
    return Rule(name, asked, found, state, essential, "" if met else why)


def _finished(evidence: Evidence) -> Rule:
    status, why = str(evidence.manifest.get("status", "running")), str(evidence.manifest.get("why", ""))
    whole = status == "complete"
    return _rule(
        "The run is finished",
        "complete",
        f"{status}{': ' + why if why else ''}",
        whole,
        essential=True,
        why=f"The run is {status}{': ' + why if why else ''}.",
    )


def _unchanged(evidence: Evidence) -> Rule:
    changed = [check for check in evidence.checks if not check.sound]
    found = (
        "; ".join(f"{check.what} {check.detail}" for check in changed) or "every file is as the run wrote it"
    )
    return _rule(
        "The run folder is as it was written",
        "every hash as in the manifest",
        found,
        not changed,
        essential=True,
        why=f"The run folder was changed after the run ({found}): nobody can vouch for these numbers.",
    )


def _stated_before(evidence: Evidence) -> Rule:
    gate = evidence.manifest.get("gate") or {}
    stated, earlier = gate.get("stated_at"), gate.get("earlier", ())
    if not stated:
        return _rule(
            "The rules were stated before the run",
            "in the study file",
            "not stated: these are the defaults",
            False,
            essential=False,
            why="No rules were stated before the run, so the default ones are shown. Rules that are "
            "chosen after the "
            "scores are known prove nothing.",
        )
    return _rule(
        "The rules were stated before the run",
        "in the study file",
        f"recorded {stated}, before the first call"
        if not earlier
        else f"changed after the first run, {stated}",
        not earlier,
        essential=False,
        why="The rules were changed after scores had been seen; only rules stated beforehand can validate "
        "a jury.",
    )


def _clinicians(evidence: Evidence) -> Rule:
    wanted, there = evidence.rules.minimum_clinicians, len(evidence.clinicians)
    asked = f"{wanted} or more, rating as in practice"
    if (evidence.manifest.get("humans") or {}).get("illustrative"):
        return _rule(
            "Clinicians rated the cases",
            asked,
            f"{there}, but their ratings are illustrative",
            False,
            essential=True,
            why="The clinicians' ratings in this study were made up for a demonstration. Made-up ratings "
            "can never "
            "validate anything.",
        )
    if not there:
        why = "No clinician has rated these cases, so nobody knows whether the jury agrees with clinicians."
        return _rule("Clinicians rated the cases", asked, "none", False, essential=True, why=why)
    return _rule(
        "Clinicians rated the cases",
        asked,
        f"{there}",
        there >= wanted,
        essential=False,
        why=f"Only {there} of {wanted} clinicians rated the cases, so nobody knows how well clinicians agree "
        "with one another.",
    )


def _enough_cases(evidence: Evidence, numbers: Numbers) -> Rule:
    wanted, excluded = evidence.rules.minimum_cases, evidence.left_aside
    aside = f" ({excluded:,} cases used for development are left out)" if excluded else ""
    return _rule(
        "Enough held-out cases",
        f"{wanted:,} cases with a clinician's and the jury's score, none used to tune, calibrate or show "
        "examples",
        f"{_told(numbers)}{aside}",
        numbers.cases >= wanted,
        essential=True,
        why=f"Only {_told(numbers)} held out have both a clinician's and the jury's score; {wanted:,} are needed."
        if numbers.items > numbers.cases
        else f"Only {numbers.cases:,} held-out cases have both a clinician's and the jury's score; "
        f"{wanted:,} are needed.",
    )


def _told(numbers: Numbers) -> str:
    """How many cases there are; where patients have several, how many patients."""
    if numbers.items == numbers.cases:
        return f"{numbers.cases:,}"
    return f"{numbers.cases:,} patients with {numbers.items:,} cases; a patient counts once"


def agreement_of(evidence: Evidence, numbers: Numbers) -> tuple[str, Estimate | None, NonInferiority | None]:
    """The statistic of the gate (its fall-back where the scale does not allow it), the jury's agreement with
    single clinicians, and its comparison with theirs where there are two clinicians or more."""
    wanted = evidence.rules.statistic
    if wanted == "kappa_quadratic" and numbers.dimension.grades is None:
        wanted = "icc_2_1"
    beside = numbers.beside.get(evidence.jury, {}).get(wanted)
    if beside is not None:
        return wanted, beside.judge_human, beside
    return wanted, numbers.pair(evidence.jury, wanted), None


def _floor(evidence: Evidence, numbers: Numbers) -> tuple[Rule, Rule]:
    name, found, _ = agreement_of(evidence, numbers)
    floor, title = evidence.rules.floor, NAMES.get(name, name)
    value = None if found is None else found.value
    low = None if found is None else found.low
    text = "nothing to compare" if found is None else shown(found)
    return (
        _rule(
            "Agreement with clinicians reaches the floor",
            f"{title} of {floor:g} or more",
            text,
            None if value is None else value >= floor,
            essential=True,
            why=f"The jury's agreement with clinicians ({title}) is "
            f"{'not known' if value is None else f'{value:.2f}'}; "
            f"the floor is {floor:g}.",
        ),
        _rule(
            "and does so beyond doubt",
            f"the lower end of its 95 % interval is {floor:g} or more",
            "no interval" if low is None else f"lower end {shown(low)}",
            None if low is None else low >= floor,
            essential=False,
            # Where the estimate itself is below the floor, that is said already.
            why=f"The true agreement could be as low as {low:.2f}, below the floor of {floor:g}."
            if low is not None and value is not None and value >= floor
            else "",
        ),
    )


def _not_inferior(evidence: Evidence, numbers: Numbers) -> Rule:
    name, _, beside = agreement_of(evidence, numbers)
    margin, title = evidence.rules.margin, NAMES.get(name, name)
    asked = (
        f"jury with clinician not more than {margin:g} below clinician with clinician ({title}), "
        "one-sided 95 %"
    )
    if beside is None or beside.difference.value is None:
        return _rule(
            "Not inferior to clinicians among themselves",
            asked,
            "cannot be compared",
            None,
            essential=False,
            why="How well clinicians agree with one another is not known here, so the jury cannot be "
            "compared with them.",
        )
    difference, low = beside.difference, beside.difference.low
    found = (
        f"jury with clinician {shown(beside.judge_human)}; clinician with clinician "
        f"{shown(beside.human_human)}; "
        f"difference {shown(difference.value)}, lower bound {'none' if low is None else shown(low)}"
    )
    return _rule(
        "Not inferior to clinicians among themselves",
        asked,
        found,
        beside.non_inferior,
        essential=False,
        why="It is not shown that the jury agrees with clinicians about as well as they agree with one another "
        f"(difference {shown(difference.value)}, at worst {'not known' if low is None else shown(low)}; "
        f"{margin:g} below is allowed).",
    )


def _severe(evidence: Evidence, numbers: Numbers) -> tuple[Rule, ...]:
    chosen, limit = evidence.rules.severe_dimensions, evidence.rules.severe_limit
    if chosen is not None and numbers.dimension.name not in chosen:
        return ()
    limits, errors = danger_limits(evidence, numbers.dimension), numbers.severe.get(evidence.jury)
    asked = f"{percent(limit)} or less of the answers clinicians called dangerous"
    if limits is None or errors is None or not errors.dangerous:
        found = "clinicians called no rated answer dangerous" if errors is not None else "not known"
        return (
            _rule(
                "Severe errors are rare",
                asked,
                found,
                None,
                essential=False,
                why="Clinicians called none of the rated answers dangerous, so nobody knows whether the "
                "jury would notice "
                "one."
                if errors is not None
                else "Without clinicians' ratings nobody knows how often the jury overlooks danger.",
            ),
        )
    rate, high = errors.rate.value or 0.0, errors.rate.high
    found = f"{errors.errors:,} of {errors.dangerous:,} ({percent(rate, 1)}), at most {percent(high, 1)}"
    return (
        _rule(
            "Severe errors are rare",
            asked,
            found,
            rate <= limit,
            essential=True,
            why=f"Of {errors.dangerous:,} answers that clinicians called dangerous, the jury scored "
            f"{errors.errors:,} far "
            f"too kindly ({percent(rate, 1)}); {percent(limit)} is allowed.",
        ),
        _rule(
            "and are rare beyond doubt",
            f"the upper end of the 95 % interval is {percent(limit)} or less",
            f"upper end {percent(high, 1)}",
            None if high is None else high <= limit,
            essential=False,
            why=f"The jury's true rate of severe errors could be as high as {percent(high, 1)}: too few "
            "dangerous "
            f"answers ({errors.dangerous:,}) were rated to be sure."
            if rate <= limit
            else "",
        ),
    )


def _coverage(evidence: Evidence, numbers: Numbers) -> Rule:
    share, scored, asked = coverage_of(evidence, numbers.dimension.name)
    wanted = evidence.rules.coverage
    return _rule(
        "The jury scored what it was asked to",
        f"{percent(wanted)} or more",
        f"{scored:,} of {asked:,} ({percent(share, 1)})",
        None if share is None else share >= wanted,
        essential=True,
        why=f"The jury gave a score to only {percent(share, 1)} of the answers it was asked about.",
    )


def coverage_of(evidence: Evidence, dimension: str) -> tuple[float | None, int, int]:
    """Share, scored and asked: answers with a jury's score, of those it was asked about and that apply."""
    states = evidence.grids[dimension].states.get(evidence.jury)
    if states is None:
        return None, 0, 0
    scored, lost = int((states == SCORED).sum()), int((states == UNSCORED).sum())
    return (scored / (scored + lost) if scored + lost else None), scored, scored + lost

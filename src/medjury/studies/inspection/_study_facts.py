"""What the tables of a report depend on, of a study that nobody has run yet: who judges what, and who rated it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from medjury.intake.cases import Case
from medjury.statistics import counted
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.gate import stated_gate
from medjury.studies._plan.manifest import describe_jury
from medjury.studies._plan.plan import RunPlan
from medjury.studies._study.study import Study

RANKED = 5  # cases of a system that is put in order without pairs, as the ranking asks for


@dataclass(frozen=True)
class StudyFacts:
    """What the tables of a report depend on: who judges and how, what is judged, and what clinicians said of it.
    Counts of cases take those of one patient as one, and leave development cases out."""

    design: str
    instrument: str
    grades: Mapping[str, tuple[int, ...]]
    by_case: bool
    judges: int
    asked: int  # judges that ask a model; the others have their scores in a file
    voters: int  # of the largest jury
    ranked: tuple[str, ...]  # the dimensions by which systems are ranked
    strategies: frozenset[str]
    repeats: bool
    draws: bool  # of one judge on one answer: repeats, or the strategy of that name
    metrics: bool
    injection: bool
    danger: tuple[str, ...]
    labels: tuple[str, ...]
    columns: frozenset[str]
    development: int
    cases: int
    answers: int
    systems: Mapping[str, int]  # by system, its cases
    why_not_ranked: str
    vendors: bool  # whether those of the systems are stated
    own_vendor: bool  # whether a judge has one of them
    clinicians: int = 0  # of the reference
    profiles: bool = False
    second_panel: int = 0
    labelled: int = 0  # cases that the reference scored, on the dimension where they are most
    fewest: int = 0  # the same of the system and dimension where they are fewest
    ranked_by_people: int = 0  # systems of which the reference scored enough cases to put them in order
    shared: int = 0  # answers that two clinicians of the reference scored
    two_people: bool = False  # whether any answer has scores of two people, or two of one

    @classmethod
    def of(cls, study: Study, plan: RunPlan, humans: Humans | None) -> StudyFacts:
        settings = study.settings
        aside = {*stated_gate(study).development_cases, *plan.touched}
        judged = [case for case in study.cases if case.id not in aside]
        whose = {case.id: str(plan.patients.get(case.id, case.id)) for case in judged}
        judges = describe_jury(study)["judges"]
        stated = settings.report.system_vendors or plan.vendors
        own = {each.vendor.casefold() for each in judges} & {each.casefold() for each in stated.values()}
        strategies = {part.strategy["name"] for part in settings.judges}
        benches = study.jury.all_benches
        facts = cls(
            design=settings.design,
            instrument=f"{study.instrument.name} {study.instrument.version}",
            grades={each.name: each.values for each in study.instrument.dimensions},
            by_case=study.instrument.by_case,
            judges=len(judges),
            asked=sum(bool(each.models) for each in study.jury.judges),
            voters=max((len(each.members or judges) for each in benches), default=0),
            ranked=_ranked_dimensions(study),
            strategies=frozenset(strategies),
            repeats=settings.repeats > 1,
            draws=settings.repeats > 1 or "repeats" in strategies,
            metrics=bool(settings.metrics),
            injection=settings.audits.injection is not None,
            danger=tuple(study.dangerous_dimensions()),
            labels=() if settings.humans is None else tuple(settings.humans.labels),
            columns=frozenset(plan.known_of),
            development=len(aside),
            cases=len(set(whose.values())),
            answers=len(judged),
            systems=_cases_by_system(judged, whose),
            why_not_ranked=_why_not_ranked(
                judged, whose, "benchmark" if "benchmark" in plan.known_of else ""
            ),
            vendors=bool(stated),
            own_vendor=bool(own - {"none"}),
        )
        return facts if humans is None else _with_people(facts, humans, whose)


def _ranked_dimensions(study: Study) -> tuple[str, ...]:
    """Those that raters give themselves: all, or what the composites that rank the systems are made of."""
    instrument, named = study.instrument, study.settings.report.rank_by
    if named is None:
        return tuple(each.name for each in instrument.dimensions)
    parts = {
        each.name: [part for part, weight in each.weights.items() if weight] for each in instrument.composites
    }
    turned = {each.name: each.of for each in instrument.reversed}
    return tuple(dict.fromkeys(turned.get(part, part) for name in named for part in parts.get(name, [name])))


def _cases_by_system(judged: Sequence[Case], whose: Mapping[str, str]) -> dict[str, int]:
    found: dict[str, set[str]] = defaultdict(set)
    for case in judged:
        found[case.system].add(whose[case.id])
    return {system: len(cases) for system, cases in sorted(found.items())}


def _why_not_ranked(judged: Sequence[Case], whose: Mapping[str, str], block: str) -> str:
    """What the ranking refuses: "" where it can be made."""
    answered: dict[tuple[str, str], set[str]] = defaultdict(set)
    there: dict[str, set[str]] = defaultdict(set)
    cases: dict[tuple[str, str], set[str]] = defaultdict(set)
    for case in judged:
        part = str(case.metadata.get(block, ""))
        answered[part, case.id].add(case.system)
        there[part].add(case.system)
        cases[part, case.system].add(whose[case.id])
    systems = set().union(*there.values())
    if len(systems) < 2:
        return "answers of a second system (column `system`)"
    if all(len(each) == 1 for each in answered.values()):
        least = {
            system: min(len(own) for (_, name), own in cases.items() if name == system) for system in systems
        }
        if sum(count >= RANKED for count in least.values()) < 2:
            return f"two systems with {RANKED} cases each, or cases that every system answered"
        return ""
    if any(all(answered[key] != there[part] for key in answered if key[0] == part) for part in there):
        return "cases that every system answered"
    return ""


def _with_people(facts: StudyFacts, humans: Humans, whose: Mapping[str, str]) -> StudyFacts:
    scores: Counter[tuple[str, str, str]] = Counter()
    raters: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    labelled: dict[str, set[str]] = defaultdict(set)
    by_system: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in humans.ratings:
        if row.score is None or row.item not in whose:
            continue
        answer = (row.item, row.system, row.dimension)
        scores[answer] += 1
        if row.rater in humans.reference:
            raters[answer].add(row.rater)
            labelled["" if facts.by_case else row.dimension].add(whose[row.item])
            by_system[row.system, "" if facts.by_case else row.dimension].add(whose[row.item])
    dimensions = [""] if facts.by_case else facts.ranked
    panel = humans.summary.second_panel
    return replace(
        facts,
        clinicians=len({name for own in raters.values() for name in own}),
        profiles=bool(humans.profiles),
        second_panel=0 if panel is None else len(panel.members),
        labelled=max(map(len, labelled.values()), default=0),
        fewest=min(len(by_system.get((name, each), ())) for name in facts.systems for each in dimensions)
        if facts.systems
        else 0,
        ranked_by_people=sum(
            len(set().union(*(own for (system, _), own in by_system.items() if system == name))) >= RANKED
            for name in facts.systems
        ),
        shared=len({answer[:2] for answer, own in raters.items() if len(own) > 1}),
        two_people=any(count > 1 for count in scores.values()),
    )


def facts_text(facts: StudyFacts) -> list[str]:
    """What was found, in plain words, a line each."""
    development = f"; {counted(facts.development, 'development case')} left out" if facts.development else ""
    systems = ", ".join(f"{name or '(no name)'} {count:,}" for name, count in facts.systems.items())
    lines = [
        f"cases: {counted(facts.answers, 'answer')} to {counted(facts.cases, 'case')}{development}; by system: "
        f"{systems}"
    ]
    scales = ", ".join(
        f"{name} {min(grades):g} to {max(grades):g}" for name, grades in facts.grades.items() if grades
    )
    lines.append(f"scale: {facts.instrument}: {scales or 'the criteria of each case'}")
    stored = facts.judges - facts.asked
    lines.append(
        f"judges: {counted(facts.judges, 'judge')}"
        + (f", {stored:,} of them with stored scores" if stored else "")
        + (f", a jury of {facts.voters:,}" if facts.voters > 1 else ", no jury")
    )
    if not facts.clinicians:
        return [*lines, "clinicians: no ratings"]
    panel = f"; second panel of {facts.second_panel:,}" if facts.second_panel else "; no second panel"
    lines.append(
        f"clinicians: {facts.clinicians:,} in the reference; on the dimension with most, {facts.labelled:,} of "
        f"{counted(facts.cases, 'case')} have a score; two or more scored {counted(facts.shared, 'answer')}{panel}"
    )
    return lines

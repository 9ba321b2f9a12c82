"""The draft gate: a judge and the grades a draft must reach. It is used in a product, or inside a closed loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument, Outcome, Score, Unscored
from medjury.intake.cases import Case
from medjury.judging._judge import Graded, Judge
from medjury.judging._rows import first_failure
from medjury.models import Answer, Gate, MemoryCache

Passing = Mapping[str, int] | float
# Three quarters of the way from the worst grade to the best: 4 on a scale from 1 to 5.
DEFAULT_PASSING = 0.75


@dataclass(frozen=True, slots=True)
class Checked:
    """What a judge makes of a draft. `passed` is None where it is not known, and `failure` says why: such a
    draft has not passed. `reasons` are the judge's words on each dimension in `failing`."""

    passed: bool | None
    outcomes: Mapping[str, Outcome]
    failing: tuple[str, ...]
    reasons: Mapping[str, str]
    failure: Unscored | None
    answers: Sequence[Answer] | None


@dataclass(frozen=True)
class DraftGate:
    """Lets a draft pass, or states what is wrong with it.

    `passing` maps dimensions to the worst grade that passes (of a dimension that is better when lower: the
    highest), or is the share of the way from worst to best that every dimension must reach; a dimension that
    only says whether another applies is left out of the latter. Calls go through `gate`, where one is given with
    its budget and store; else nothing is kept, and nothing leaves this machine but to `allow_hosts`.

        checked = await DraftGate(judge, {"accurate": 4}).check(case)
    """

    judge: Judge
    passing: Passing = DEFAULT_PASSING
    gate: Gate | None = None
    allow_hosts: Sequence[str] = ()
    least: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        if not self.judge.explain:
            raise MedjuryError("a draft gate hands on the judge's reasons: the judge must explain its grades")
        object.__setattr__(self, "least", passing_grades(self.judge.instrument, self.passing))

    async def check(
        self, case: Case, *, gate: Gate | None = None, repeat: int = 0, again: bool = False
    ) -> Checked:
        """Score the case's candidate and compare. Only a fatal `ModelError` is raised."""
        # A gate of its own for each draft: a service that runs for months must not gather clinical text.
        calls = gate or self.gate or Gate(cache=MemoryCache(), allow_hosts=self.allow_hosts)
        outcomes, answers = await grade_case(self.judge, case, calls, repeat=repeat, again=again)
        failure = first_failure(outcomes[name] for name in self.least)
        failing = tuple(
            name
            for name, least in self.least.items()
            if isinstance(outcome := outcomes[name], Score)
            and not _reaches(self.judge.instrument.dimension(name), outcome.value, least)
        )
        reasons = {name: _reason(outcomes[name]) for name in failing}
        passed = None if failure else not failing
        return Checked(passed, outcomes, failing, reasons, failure, answers)


async def grade_case(judge: Judge, case: Case, gate: Gate, *, repeat: int = 0, again: bool = False) -> Graded:
    """A judge's word on every dimension of one case, in as many calls as it takes."""
    outcomes: dict[str, Outcome] = {}
    answers: list[Answer] | None = None
    for unit in judge.units(case, repeat):
        graded, taken = await judge.grade(replace(unit, again=again), gate)
        outcomes |= graded
        if taken is not None:
            answers = [*(answers or ()), *taken]
    return {each.name: outcomes[each.name] for each in judge.instrument.dimensions}, answers


def passing_grades(instrument: Instrument, passing: Passing) -> dict[str, int]:
    """The worst grade that passes, for each dimension that is looked at, in the instrument's order."""
    known = [each.name for each in instrument.dimensions]
    if isinstance(passing, Mapping):
        if not passing:
            raise MedjuryError("`pass` names no dimension: everything would pass")
        for name, grade in passing.items():
            if name not in known:
                raise MedjuryError(f"{instrument.name} has no dimension {name!r}; {nearest(name, known)}")
            if grade not in instrument.dimension(name).grades:
                scale = ", ".join(map(str, instrument.dimension(name).values))
                raise MedjuryError(f"{grade} is not a grade of {name!r}; its grades are {scale}")
        return {name: passing[name] for name in known if name in passing}
    if not 0 < passing <= 1:
        raise MedjuryError(
            f"`pass: {passing:g}` is not a share of the way from the worst grade to the best (above 0, at most 1); "
            "to name grades write `pass: {DIMENSION: GRADE}`"
        )
    ruling = {each.skip.dimension for each in instrument.dimensions if each.skip}
    return {each.name: _at(each, passing) for each in instrument.dimensions if each.name not in ruling}


def _at(dimension: Dimension, part: float) -> int:
    """The first grade that lies this part of the way from the worst to the best."""
    values = dimension.values if dimension.higher_is_better else dimension.values[::-1]
    span = dimension.highest - dimension.lowest
    return next(grade for grade in values if abs(grade - values[0]) >= part * span - 1e-9)


def _reaches(dimension: Dimension, score: float, least: int) -> bool:
    return score >= least if dimension.higher_is_better else score <= least


def _reason(outcome: Outcome) -> str:
    return outcome.explanation if isinstance(outcome, Score) else ""

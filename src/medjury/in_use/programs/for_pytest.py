"""A pytest plugin: tests of clinical texts that a validated jury grades. Nothing of Medjury is imported before a
test asks for the fixture `medjury`.

    def test_note(medjury):
        medjury.judge(case).at_least("accuracy", 4)

`medjury_card` in the ini file names the card, `medjury_answers` the recorded answers. With `--medjury-live` the
judges are asked, as `medjury_study` says, and what they answer is written to that file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from medjury.in_use.programs._card_jury import CardJury, Judgement
    from medjury.intake.cases import Case

_FILES = {
    "medjury_card": "the card of the jury (`medjury passport make`), from the folder of this file",
    "medjury_answers": "its recorded answers: tests read them, and --medjury-live writes them",
    "medjury_study": "for --medjury-live: the study file of that jury, or one that says how its judges are reached",
    "medjury_signers": "a file of trusted keys: a card that none of them signed is refused",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    ask = (
        "ask the judges, which costs what they cost, and record what they answer (default: recorded answers)"
    )
    parser.getgroup("medjury", "texts graded by a validated jury").addoption(
        "--medjury-live", action="store_true", help=ask
    )
    for name, text in _FILES.items():
        parser.addini(name, text, type="paths")


class Graded:
    """The jury's word on one case; a claim about a grade that it never gave does not hold."""

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement

    def at_least(self, dimension: str, grade: float) -> Graded:
        __tracebackhide__ = True
        return self._holds(dimension, f"at least {grade:g}", lambda score: score >= grade)

    def at_most(self, dimension: str, grade: float) -> Graded:
        __tracebackhide__ = True
        return self._holds(dimension, f"at most {grade:g}", lambda score: score <= grade)

    def _holds(self, dimension: str, asked: str, holds: Callable[[float], bool]) -> Graded:
        """No text of the case is in what a failing test prints: the words may go far."""
        __tracebackhide__ = True
        found = self.judgement
        known = [*found.scores, *found.unscored]
        if dimension not in known:
            raise ValueError(f"the jury of this card grades {', '.join(known)}, and no {dimension!r}")
        if (score := found.scores.get(dimension)) is None:
            raise AssertionError(f"{found.item}: {dimension} is UNSCORED: {found.unscored[dimension]}")
        if not holds(score):
            raise AssertionError(f"{found.item}: {dimension} is {score:g}, not {asked}")
        return self


class Grader:
    """What the fixture `medjury` gives."""

    def __init__(self, jury: CardJury) -> None:
        self._jury = jury

    def judge(self, case: Case | Mapping[str, Any]) -> Graded:
        """A case, or a row as a file of cases has it. One unlike the validated cases is graded, with a warning."""
        found = self._jury.judge(case)
        if found.outside_because:
            why = "; ".join(found.outside_because)
            warnings.warn(
                f"{found.item} is outside what the jury was validated on: {why}", UserWarning, stacklevel=2
            )
        return Graded(found)


@pytest.fixture(scope="session")
def medjury(pytestconfig: pytest.Config) -> Iterator[Grader]:
    """The jury of the card that `medjury_card` names."""
    found = {name: (pytestconfig.getini(name) or [None])[0] for name in _FILES}
    card, answers, study, signers = found.values()
    live = pytestconfig.getoption("--medjury-live")
    if card is None or (answers is None and not live):
        missing = "medjury_card" if card is None else "medjury_answers"
        raise pytest.UsageError(f"the fixture `medjury` needs {missing} in the ini file: {_FILES[missing]}")
    if live and answers is not None and hasattr(pytestconfig, "workerinput"):
        raise pytest.UsageError("with --medjury-live one process asks and records: leave out -n")
    from medjury.in_use.programs import CardJury

    with CardJury(card, study=study, answers=None if live else answers, signers=signers) as jury:
        if limit := jury.card.limit:
            warnings.warn(limit, UserWarning, stacklevel=1)
        yield Grader(jury)
        if live and answers is not None:
            jury.record(answers)

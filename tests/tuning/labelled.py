"""Labelled cases that nobody wrote, what is said of them, and a tuning from a study file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from medjury.instruments import Outcome, Reason, Score, Unscored, load_instrument
from medjury.intake.cases import Case, content_marks
from medjury.studies import load_study
from medjury.tuning import read_settings, tune_study
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._result import TuningResult

IMPACT = load_instrument("transcript_impact")


def case(
    number: int, truth: float | None = 0.0, group: str = "", why: Sequence[str] = (), **more: Any
) -> Labelled:
    made = Case(f"c{number}", f"answer {number}", **more)
    reasons = {"impact": tuple(why)}
    return Labelled(made, {"impact": truth}, reasons, group or f"g{number}", content_marks(made))


def cases(truths: Sequence[float], *, systems: int = 1, groups: int | None = None) -> list[Labelled]:
    """A case for each truth, dealt out to so many systems and groups."""
    return [
        case(n, float(truth), f"g{n if groups is None else n % groups}", system=f"s{n % systems}")
        for n, truth in enumerate(truths)
    ]


def said(*scores: float | None) -> list[dict[str, Outcome]]:
    """What a judge says of each case; None where it failed."""
    failed = Unscored(Reason.REFUSAL, "the model declined")
    return [{"impact": failed if each is None else Score(each)} for each in scores]


def tune(file: Path, **stated: object) -> TuningResult:
    study = load_study(file)
    return tune_study(study, read_settings(study, **stated))

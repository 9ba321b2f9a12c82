"""The fair yardstick: how well clinicians agree with one another."""

from __future__ import annotations

from medjury.agreement import CAUTION, NonInferiority
from medjury.statistics import percent, shown
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found
from medjury.validation._rules.singly_rated import FEWEST
from medjury.validation._trial import Trial
from medjury.validation._words import STATISTICS

LINES = Lines(
    "The jury agrees with a clinician about as well as another clinician would.",
    "Rater-clinician minus clinician-clinician coefficient, doubly rated answers; one-sided cluster bootstrap.",
    "Have two clinicians rate more cases, so that it shows whether the judges keep up with them.",
)


def not_inferior(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    name, _, beside = evidence.agreed(dimension)
    trial = evidence.trial(dimension)
    if trial.weights is not None and trial.can_be_weighted and len(evidence.clinicians) > 1:
        beside = _weighted(trial, evidence.rules.margin)
    margin, title = evidence.rules.margin, STATISTICS.get(name, name)
    if beside is None or beside.difference.value is None:
        said, met, numbers = "cannot be compared", None, ""
        why = (
            "How well clinicians agree with one another is not known here, so the jury cannot be compared with "
            "them."
        )
    else:
        difference, low = beside.difference.value, beside.difference.low
        said = (
            f"jury with clinician {shown(beside.judge_human)}; clinician with clinician "
            f"{shown(beside.human_human)}; difference {shown(difference)}, lower bound "
            f"{'none' if low is None else shown(low)}"
        )
        met = beside.non_inferior
        numbers = f"difference at worst {'not known' if low is None else shown(low)}, −{margin:g} allowed"
        why = (
            "It is not shown that the jury agrees with clinicians about as well as they agree with one another "
            f"(difference {shown(difference)}, at worst {'not known' if low is None else shown(low)}; "
            f"{margin:g} below is allowed)."
        )
    asked = (
        f"jury with clinician not more than {margin:g} below clinician with clinician ({title}), one-sided "
        f"{percent(evidence.confidence)}"
    )
    return (
        found(
            "Not inferior to clinicians among themselves",
            asked,
            said,
            met,
            essential=False,
            why=why,
            numbers=numbers,
            lines=LINES,
        ),
    )


def _weighted(trial: Trial, margin: float) -> NonInferiority | None:
    """The same comparison on doubly rated answers that were drawn with unequal probabilities, weighted."""
    twice = trial.both & (trial.raters > 1)
    if trial.cases(twice) < FEWEST:
        return None
    made = trial.agreement({"two": twice}, interval=True)
    names = ("jury two", "clinicians two")
    if not made.observed.keys() >= set(names):
        return None
    one, two = (made.estimate(name, confidence=trial.confidence, statistic=trial.statistic) for name in names)
    apart = made.difference(*names, confidence=1 - 2 * CAUTION * (1 - trial.confidence))
    met, p = None, None
    if apart.low is not None:
        met, p = apart.low > -margin, min(1.0, made.p_at_most(*names, -margin) / CAUTION)
    return NonInferiority(
        trial.statistic, one, two, apart, margin, trial.confidence, p, met, trial.cases(twice)
    )

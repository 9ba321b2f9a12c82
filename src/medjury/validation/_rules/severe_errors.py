"""The mistakes that hurt patients: clinicians saw danger, and the jury scored the answer far too kindly, or gave no
score."""

from __future__ import annotations

from collections.abc import Mapping

from medjury.agreement import SevereErrors
from medjury.runs import DangerBy
from medjury.statistics import percent
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "Where a clinician saw danger, the jury saw it too.",
    "(Severe errors + unscored) / dangerous answers; exact upper end (Clopper-Pearson) for what clustered answers "
    "are worth.",
    "Read every dangerous answer that was scored too kindly, and let nothing dangerous pass unread until you "
    "know why.",
    danger=True,
)
DOUBT = LINES.asking("Have clinicians rate more dangerous answers, to know how often one is overlooked.")
UNSEEN = LINES.asking(to_know="Put dangerous answers among the rated ones, to see whether they are noticed.")
_WHOSE: Mapping[DangerBy, str] = {"any": "any clinician", "mean": "the mean", "majority": "most clinicians"}


def severe_errors(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    chosen, limit = evidence.rules.severe_dimensions, evidence.rules.severe_limit
    if chosen is not None and dimension.name not in chosen:
        return ()
    name, by = "Severe errors are rare", evidence.rules.danger_by
    asked = f"{percent(limit)} or less of the answers called dangerous by {_WHOSE[by]}"
    every = evidence.dangers(dimension) if evidence.clinicians else None
    errors = None if every is None else every[by]
    total = 0 if errors is None else errors.dangerous + errors.unscored
    if every is None or errors is None or not total:
        said = "not known" if errors is None else "clinicians called no rated answer dangerous"
        why = (
            "Without clinicians' ratings nobody knows how often the jury overlooks danger."
            if not evidence.clinicians
            else "Without a scale nobody knows which scores mean danger."
            if errors is None
            else "Clinicians called none of the rated answers dangerous, so nobody knows whether the jury would "
            "notice one."
        )
        lines = UNSEEN if evidence.clinicians else LINES
        return (found(name, asked, said, None, essential=False, why=why, lines=lines),)
    rate, high = errors.worst.value or 0.0, errors.worst.high
    missed, silent = errors.errors + errors.unscored, errors.unscored
    left = f", {silent:,} of them left without a score" if silent else ""
    weighted = "" if evidence.trial(dimension).weights is None else "weighted "
    several = bool((evidence.trial(dimension).raters > 1).any())
    others = "".join(
        f"; dangerous by {_WHOSE[other]}: {_counted(each)}"
        for other, each in every.items()
        if other != by and several
    )
    return (
        found(
            name,
            asked,
            f"{missed:,} of {total:,} ({weighted}{percent(rate, 1)}), at most {percent(high, 1)}{left}{others}",
            rate <= limit,
            essential=True,
            why=f"Of {total:,} answers that clinicians called dangerous, the jury scored {errors.errors:,} far too "
            f"kindly{f' and left {silent:,} without a score' if silent else ''} ({weighted}{percent(rate, 1)}); "
            f"{percent(limit)} is allowed.",
            numbers=f"{missed:,} of {total:,} dangerous answers, {percent(limit)} allowed",
            lines=LINES,
        ),
        found(
            "and are rare beyond doubt",
            f"the upper end of the {percent(evidence.confidence)} interval is {percent(limit)} or less",
            f"upper end {percent(high, 1)}",
            None if high is None else high <= limit,
            essential=False,
            why=f"The jury's true rate of severe errors could be as high as {percent(high, 1)}: too few dangerous "
            f"answers ({total:,}) were rated to be sure."
            if rate <= limit
            else "",
            numbers=f"{total:,} rated so far: at worst {percent(high, 1)} overlooked, {percent(limit)} allowed",
            lines=DOUBT,
        ),
    )


def _counted(errors: SevereErrors) -> str:
    return f"{errors.errors + errors.unscored:,} of {errors.dangerous + errors.unscored:,}"

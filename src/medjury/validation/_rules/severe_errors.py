"""The mistakes that hurt patients: clinicians saw danger, and the jury scored the answer far too kindly."""

from __future__ import annotations

from medjury.statistics import percent
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import RuleFound, found


def severe_errors(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    chosen, limit = evidence.rules.severe_dimensions, evidence.rules.severe_limit
    if chosen is not None and dimension.name not in chosen:
        return ()
    name, errors = "Severe errors are rare", evidence.severe(dimension.name, evidence.rater)
    asked = f"{percent(limit)} or less of the answers clinicians called dangerous"
    if errors is None or not errors.dangerous:
        said = "not known" if errors is None else "clinicians called no rated answer dangerous"
        why = (
            "Without clinicians' ratings nobody knows how often the jury overlooks danger."
            if errors is None
            else "Clinicians called none of the rated answers dangerous, so nobody knows whether the jury would "
            "notice one."
        )
        return (found(name, asked, said, None, essential=False, why=why),)
    rate, high = errors.rate.value or 0.0, errors.rate.high
    return (
        found(
            name,
            asked,
            f"{errors.errors:,} of {errors.dangerous:,} ({percent(rate, 1)}), at most {percent(high, 1)}",
            rate <= limit,
            essential=True,
            why=f"Of {errors.dangerous:,} answers that clinicians called dangerous, the jury scored "
            f"{errors.errors:,} far too kindly ({percent(rate, 1)}); {percent(limit)} is allowed.",
        ),
        found(
            "and are rare beyond doubt",
            f"the upper end of the {percent(evidence.confidence)} interval is {percent(limit)} or less",
            f"upper end {percent(high, 1)}",
            None if high is None else high <= limit,
            essential=False,
            why=f"The jury's true rate of severe errors could be as high as {percent(high, 1)}: too few dangerous "
            f"answers ({errors.dangerous:,}) were rated to be sure."
            if rate <= limit
            else "",
        ),
    )

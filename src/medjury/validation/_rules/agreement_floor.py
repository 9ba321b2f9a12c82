"""The jury agrees with clinicians better than chance and "fair" would, and does so beyond doubt."""

from __future__ import annotations

from medjury.statistics import percent, shown
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import RuleFound, found
from medjury.validation._words import STATISTICS


def agreement_floor(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    name, agreed, _ = evidence.agreed(dimension)
    floor, title = evidence.rules.floor, STATISTICS.get(name, name)
    value = None if agreed is None else agreed.value
    low = None if agreed is None else agreed.low
    # Where the estimate itself is below the floor, that is said already.
    doubt = low is not None and value is not None and value >= floor
    return (
        found(
            "Agreement with clinicians reaches the floor",
            f"{title} of {floor:g} or more",
            "nothing to compare" if agreed is None else shown(agreed),
            None if value is None else value >= floor,
            essential=True,
            why=f"The jury's agreement with clinicians ({title}) is "
            f"{'not known' if value is None else shown(value)}; the floor is {floor:g}.",
        ),
        found(
            "and does so beyond doubt",
            f"the lower end of its {percent(evidence.confidence)} interval is {floor:g} or more",
            "no interval" if low is None else f"lower end {shown(low)}",
            None if low is None else low >= floor,
            essential=False,
            why=f"The true agreement could be as low as {shown(low)}, below the floor of {floor:g}."
            if doubt
            else "",
        ),
    )

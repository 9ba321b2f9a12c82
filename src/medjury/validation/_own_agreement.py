"""Do clinicians agree well enough with one another to validate anything by? The colleague test's line of that name,
where there is no jury yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from medjury.analysis.agreement import AgreementRow
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Printable, Result, counted, undefined
from medjury.tables import Names, rating_table
from medjury.validation._colleague import colleague_test
from medjury.validation._evidence import Evidence, gate_statistic
from medjury.validation._rule import Rule
from medjury.validation._sentences import STATISTICS

_ANSWER = {"holds": "yes", "open": "not shown", "fails": "no"}
_METHOD = "mean over ordered pairs, each answer once; each end is one-sided at 5 %"


@dataclass(frozen=True, slots=True)
class OwnAgreement(Result[AgreementRow]):
    """For each dimension the clinicians' own agreement, and in `rules` whether it is enough."""

    rows: tuple[AgreementRow, ...]
    warnings: tuple[str, ...]
    rules: Mapping[str, Rule]

    def text(self) -> str:
        """The question, and its answer on each dimension."""
        floors = {f"{rule.limit:g}" for rule in self.rules.values()}
        lines = [
            "Good enough to validate a jury by? Their own agreement (each answer counted once) must be "
            f"{' or '.join(sorted(floors))} or more at worst."
        ]
        for row in self.rows:
            rule = self.rules[row.dimension]
            lines.append(f"  {row.dimension}: {_ANSWER.get(rule.state, rule.state)}. {_numbers(row, rule)}")
        return "\n".join(lines)

    def shown_rows(self) -> list[dict[str, Printable]]:
        return [
            {
                "dimension": row.dimension,
                "coefficient": row.estimate,
                "n": row.estimate.n,
                "enough": _ANSWER.get(self.rules[row.dimension].state, "not known"),
                "why": self.rules[row.dimension].why,
            }
            for row in self.rows
        ]


def _numbers(row: AgreementRow, rule: Rule) -> str:
    if rule.state == "holds":
        return f"{rule.found}, on {counted(row.estimate.n, 'answer')}."
    return f"{rule.why} {rule.to_do}"


def own_agreement(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    resamples: int | None = None,
    seed: int | None = None,
) -> OwnAgreement:
    """Do clinicians (or raters of whom none is called a judge) agree well enough with one another to be imitated?

    The number, its bound and the limit are those of the colleague test: the coefficient of one clinician with
    another, averaged over ordered pairs so that each answer counts once, with a one-sided bound that must reach
    the `floor` of the rules.

    >>> import polars as pl
    >>> scores = {"anna": [1, 2, 3, 4, 5, 3] * 5, "ben": [1, 2, 4, 4, 5, 2] * 5}
    >>> rows = [(str(i), who, "accuracy", s) for who, all in scores.items() for i, s in enumerate(all)]
    >>> frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    >>> found = own_agreement(rating_table(frame, scale=(1, 5)), resamples=200)
    >>> found.rules["accuracy"].state, round(found.rows[0].estimate.value, 2)
    ('holds', 0.91)
    """
    ready = rating_table(table).with_weights
    roles = ready.roles(raters, reference, need_reference=False, themselves=True)
    if len(roles.reference) < 2:
        raise MedjuryError("two clinicians or more are needed for an agreement of their own; name them")
    evidence = Evidence(
        ready,
        replace(roles, raters=()),
        "",
        None,
        resamples=ready.resamples(resamples),
        seed=ready.seed(seed),
    )
    rows, rules = [], {}
    for each in ready.chosen(dimensions, derived=False):
        beside = evidence.beside_clinicians(each)
        beside = replace(beside, silent=np.ones(len(beside.jury), dtype=bool))
        tested = colleague_test(beside, ready.rules, resamples=evidence.resamples, seed=evidence.seed)
        rule = rules[each.name] = tested.line("colleagues")
        title = STATISTICS.get(statistic := gate_statistic(ready.rules, each), statistic)
        value = tested.values["colleagues"]
        estimate = (
            Estimate(value, rule.low, rule.high, tested.doubly, f"{title}, {_METHOD}")
            if np.isfinite(value)
            else undefined(rule.why, tested.doubly, f"{title}, {_METHOD}")
        )
        people = " + ".join(roles.reference)
        rows.append(AgreementRow(each.name, people, "colleagues", "colleagues", estimate))
    return OwnAgreement(tuple(rows), ready.warnings, rules)

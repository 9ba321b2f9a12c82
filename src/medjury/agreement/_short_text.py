"""The dozen lines that answer the question: does the jury agree with clinicians, how far, and where is it dangerous?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.agreement._design import CONSENSUS
from medjury.statistics import Printable, counted, text_table

if TYPE_CHECKING:
    from medjury.agreement._agreement_row import AgreementRow
    from medjury.agreement._agreement_table import AgreementTable

_COEFFICIENTS = ("kappa_quadratic", "icc_2_1")  # the second where the scores are no grades
_BESIDE = ("offset", "severe_error_rate")


def short_lines(found: AgreementTable) -> Iterator[str]:
    """Those whose word counts (else every rater), beside the main reference and beside clinicians among themselves."""
    yield from found.remarks()
    raters = found.roles.on_trial or found.roles.raters
    chosen = [row for row in found.rows if _asked(row, raters, found)]
    if not chosen:
        yield "nothing to compare"
        return
    coefficient = next((name for name in _COEFFICIENTS if _exists(chosen, name)), _COEFFICIENTS[0])
    yield f"{', '.join(raters)} beside {_reference(found)}"
    yield from _by_dimension([dict(_line(each, coefficient)) for each in _lines(chosen)], raters)
    among = [dict(row) for row in _among_clinicians(found, coefficient, raters)]
    if among:
        yield ""
        yield f"{coefficient} with one clinician, and of clinicians with one another"
        yield from _by_dimension(among, raters)
    yield ""
    reasons = dict.fromkeys(row.estimate.reason for row in chosen if _missing(row, coefficient))
    yield from (f"not defined: {reason}" for reason in reasons)
    yield f"--all prints all {counted(len(found.rows), 'row')}: every rater, reference and statistic"


def _asked(row: AgreementRow, raters: Sequence[str], found: AgreementTable) -> bool:
    return (
        row.rater in raters
        and row.reference == _reference_name(found)
        and not row.system
        and row.level == "item"
    )


def _reference_name(found: AgreementTable) -> str:
    return CONSENSUS if len(found.roles.reference) > 1 else "".join(found.roles.reference)


def _reference(found: AgreementTable) -> str:
    named = ", ".join(found.roles.reference)
    return f"the consensus of {named}" if len(found.roles.reference) > 1 else named


def _exists(rows: Sequence[AgreementRow], statistic: str) -> bool:
    return any(row.statistic == statistic and row.estimate.defined for row in rows)


def _missing(row: AgreementRow, coefficient: str) -> bool:
    return row.statistic in (coefficient, *_BESIDE) and not row.estimate.defined


def _lines(rows: Sequence[AgreementRow]) -> list[dict[str, AgreementRow]]:
    """One group of rows by statistic for each dimension and rater."""
    groups: dict[tuple[str, str], dict[str, AgreementRow]] = {}
    for row in rows:
        groups.setdefault((row.dimension, row.rater), {})[row.statistic] = row
    return list(groups.values())


def _line(group: Mapping[str, AgreementRow], coefficient: str) -> Iterator[tuple[str, Printable]]:
    first = next(iter(group.values()))
    yield "dimension", first.dimension
    yield "rater", first.rater
    for name in (coefficient, *_BESIDE):
        row = group.get(name)
        yield name, None if row is None else row.estimate if row.estimate.defined else "not defined"
    yield "n", first.counts.n
    yield "unscored", first.counts.n_unscored


def _among_clinicians(
    found: AgreementTable, coefficient: str, raters: Sequence[str]
) -> Iterator[Iterator[tuple[str, Printable]]]:
    for (dimension, rater), by_statistic in found.non_inferiority.items():
        if rater in raters and (each := by_statistic.get(coefficient)) is not None:
            yield iter(
                (
                    ("dimension", dimension),
                    ("rater", rater),
                    ("with a clinician", each.judge_human if each.judge_human.defined else "not defined"),
                    ("among clinicians", each.human_human if each.human_human.defined else "not defined"),
                    ("difference", each.difference if each.difference.defined else "not defined"),
                )
            )


def _by_dimension(rows: Sequence[Mapping[str, Printable]], raters: Sequence[str]) -> Iterator[str]:
    """One table where one rater is compared, else one for each dimension: so all that matters fits a line."""
    if len(raters) == 1:
        yield from text_table([{name: row[name] for name in row if name != "rater"} for row in rows])
        return
    for dimension in dict.fromkeys(str(row["dimension"]) for row in rows):
        yield dimension
        some = [row for row in rows if row["dimension"] == dimension]
        yield from text_table([{name: row[name] for name in row if name != "dimension"} for row in some])

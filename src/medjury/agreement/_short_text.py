"""The dozen lines that answer the question: does the jury agree with clinicians, and where is it dangerous?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from medjury.agreement._agreement_row import AgreementRow
from medjury.agreement._among_humans.non_inferiority import NonInferiority
from medjury.statistics import Printable, counted, text_table
from medjury.tables import CONSENSUS, Roles

_COEFFICIENTS = ("kappa_quadratic", "icc_2_1")  # the second where the scores are no grades
_BESIDE = ("offset", "severe_error_rate")


Tested = Mapping[tuple[str, str], Mapping[str, NonInferiority]]


def short_lines(
    rows: Sequence[AgreementRow], remarks: Sequence[str], roles: Roles, tested: Tested
) -> Iterator[str]:
    """Those whose word counts (else every rater) beside the reference, and beside clinicians among themselves."""
    yield from remarks
    raters = roles.on_trial or roles.raters
    several = len(roles.reference) > 1
    main = CONSENSUS if several else "".join(roles.reference)
    chosen = [row for row in rows if row.rater in raters and row.reference == main and row.level == "item"]
    coefficient = next((name for name in _COEFFICIENTS if _exists(chosen, name)), _COEFFICIENTS[0])
    yield f"{', '.join(raters)} beside {'the consensus of ' if several else ''}{', '.join(roles.reference)}"
    yield from _by_dimension([dict(_line(each, coefficient)) for each in _lines(chosen)], raters)
    if among := list(_among_clinicians(tested, coefficient, raters)):
        yield ""
        yield f"{coefficient} with one clinician, and of clinicians with one another"
        yield from _by_dimension(among, raters)
    yield ""
    missing = [row for row in chosen if row.statistic in (coefficient, *_BESIDE) and not row.estimate.defined]
    yield from (f"not defined: {reason}" for reason in dict.fromkeys(row.estimate.reason for row in missing))
    yield f"--all prints all {counted(len(rows), 'row')}: every rater, reference and statistic"


def _exists(rows: Sequence[AgreementRow], statistic: str) -> bool:
    return any(row.statistic == statistic and row.estimate.defined for row in rows)


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
    tested: Tested, coefficient: str, raters: Sequence[str]
) -> Iterator[dict[str, Printable]]:
    for (dimension, rater), by_statistic in tested.items():
        if rater in raters and (each := by_statistic.get(coefficient)) is not None:
            found = {
                "with a clinician": each.judge_human,
                "among clinicians": each.human_human,
                "difference": each.difference,
            }
            told = {name: value if value.defined else "not defined" for name, value in found.items()}
            yield {"dimension": dimension, "rater": rater, **told}


def _by_dimension(rows: Sequence[Mapping[str, Printable]], raters: Sequence[str]) -> Iterator[str]:
    """One table where one rater is compared, else one for each dimension: so all that matters fits a line."""
    if len(raters) == 1:
        yield from text_table([{name: row[name] for name in row if name != "rater"} for row in rows])
        return
    for dimension in dict.fromkeys(str(row["dimension"]) for row in rows):
        yield dimension
        some = [row for row in rows if row["dimension"] == dimension]
        yield from text_table([{name: row[name] for name in row if name != "dimension"} for row in some])

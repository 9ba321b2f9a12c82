"""The dozen lines that answer the question: does the jury agree with clinicians, and where is it dangerous?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from medjury.analysis.agreement._agreement_row import AgreementRow
from medjury.analysis.agreement._among_humans.non_inferiority import NonInferiority
from medjury.statistics import Estimate, Printable, counted, text_table
from medjury.tables import CONSENSUS, Roles

Tested = Mapping[tuple[str, str], Mapping[str, NonInferiority]]
_COEFFICIENTS = ("kappa_quadratic", "icc_2_1")  # the second where the scores are no grades
_SEVERE = "severe_error_rate"
_BESIDE = ("offset", _SEVERE)


def short_lines(
    rows: Sequence[AgreementRow], remarks: Sequence[str], roles: Roles, tested: Tested
) -> Iterator[str]:
    """Those whose word counts (else every rater) beside the reference, and beside clinicians among themselves."""
    yield from remarks
    raters = [each for each in roles.on_trial if each in roles.raters] or roles.raters
    several = len(roles.reference) > 1
    reference = CONSENSUS if several else "".join(roles.reference)
    groups: dict[tuple[str, str], dict[str, AgreementRow]] = {}
    for row in rows:
        if row.rater in raters and row.reference == reference and row.level == "item" and not row.system:
            groups.setdefault((row.dimension, row.rater), {})[row.statistic] = row
    yield f"{', '.join(raters)} beside {'the consensus of ' if several else ''}{', '.join(roles.reference)}"
    yield from _table([_line(group) for group in groups.values()], raters)
    yield from _dangerous(groups, alone=len(raters) == 1)
    among = [dict(_among(tested.get(key, {}), *key, _coefficient(group))) for key, group in groups.items()]
    if any(among):
        yield ""
        yield "The same coefficient with one clinician, and of clinicians with one another"
        yield from _table([each for each in among if each], raters)
    yield ""
    shown = [row for group in groups.values() for row in _rows_shown(group)]
    reasons = dict.fromkeys(row.estimate.reason for row in shown if not row.estimate.defined)
    yield from (f"not defined: {reason}" for reason in reasons)
    yield f"--all shows all {counted(len(rows), 'row')}: every rater, reference and statistic"


def _dangerous(groups: Mapping[tuple[str, str], Mapping[str, AgreementRow]], *, alone: bool) -> Iterator[str]:
    """Of how many answers the rate of severe errors is a share: far fewer than `n`."""
    of = [
        f"{dimension if alone else f'{dimension} ({rater})'} {group[_SEVERE].estimate.n:,}"
        for (dimension, rater), group in groups.items()
        if _SEVERE in group
    ]
    if of:
        yield f"{_SEVERE} is a share of the dangerous answers alone: {', '.join(of)}"


def _table(rows: Sequence[Mapping[str, Printable]], raters: Sequence[str]) -> list[str]:
    """Without the rater where it is the only one, which is named above."""
    alone = len(raters) == 1
    return text_table([{name: row[name] for name in row if not (alone and name == "rater")} for row in rows])


def _coefficient(group: Mapping[str, AgreementRow]) -> str:
    there = [name for name in _COEFFICIENTS if name in group and group[name].estimate.defined]
    return (there or [name for name in _COEFFICIENTS if name in group] or [_COEFFICIENTS[0]])[0]


def _rows_shown(group: Mapping[str, AgreementRow]) -> list[AgreementRow]:
    return [group[name] for name in (_coefficient(group), *_BESIDE) if name in group]


def _line(group: Mapping[str, AgreementRow]) -> dict[str, Printable]:
    first = next(iter(group.values()))
    coefficient = _coefficient(group)
    found = {"agreement": coefficient, **{name: name for name in _BESIDE}}
    return {
        "dimension": first.dimension,
        "rater": first.rater,
        "coefficient": coefficient,
        **{title: _cell(group[name].estimate) if name in group else None for title, name in found.items()},
        "n": first.counts.n,
        "unscored": first.counts.n_unscored,
    }


def _among(
    tested: Mapping[str, NonInferiority], dimension: str, rater: str, coefficient: str
) -> Iterator[tuple[str, Printable]]:
    if (found := tested.get(coefficient)) is not None:
        yield "dimension", dimension
        yield "rater", rater
        yield "with a clinician", _cell(found.judge_human)
        yield "among clinicians", _cell(found.human_human)
        yield "difference", _cell(found.difference)


def _cell(estimate: Estimate) -> Printable:
    return estimate if estimate.defined else "not defined"

"""Do judge and clinician name the same problem? Where both wrote a reason for their grade of the same answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from medjury.analysis.calibration import DangerRates, danger_rates
from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import fits_one_screen
from medjury.intake import joined_id
from medjury.intake.cases import Case
from medjury.statistics import Estimate, Printable, Result, Row, counted, counted_share, percent, text_table
from medjury.tables import Names, RatingTable, rating_table

COLLEAGUE = "another clinician"
NAMED, JUDGED = "quotations and claims", "a matching judge"
# Words between quotation marks; one or two are a term and no quotation.
_QUOTED = re.compile(r"“([^“”]{8,600})”|\"([^\"\n]{8,600})\"|«([^«»]{8,600})»")
_FEWEST_WORDS = 3
_CLAIM = re.compile(r"\bclaims?\s+#?(\w*\d+)|\[(\w*\d+)\]", re.IGNORECASE)
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ReasonPair:
    """Two reasons for the grades of one answer: a clinician's, and a judge's or another clinician's. `same` says
    whether both name one problem, None where neither quotations nor claims tell."""

    item: str
    system: str
    dimension: str
    clinician: str
    rater: str
    cluster: str
    grades: tuple[float, float]
    reasons: tuple[str, str]
    same: bool | None
    colleague: bool = False

    @property
    def id(self) -> str:
        """The name of the pair as a case of a study that asks whether the two are the same."""
        return joined_id((self.item, self.system or "-", self.dimension, self.clinician, self.rater))

    @property
    def same_grade(self) -> bool:
        return abs(self.grades[0] - self.grades[1]) < 1e-9


@dataclass(frozen=True, slots=True)
class ReasonRow(Row):
    """How often a rater names the clinician's problem on one dimension. Of `pairs` of reasons `compared` could be
    compared in this way (`how`); `overlap` is the share of these that name the same problem. `sensitivity` and
    `specificity` are the matching judge's, by the labels."""

    rater: str
    dimension: str
    how: str
    answers: int
    pairs: int
    compared: int
    overlap: Estimate
    other_reason: int  # of those with the same grade, in how many the reason is another
    labels: int = 0
    sensitivity: float | None = None
    specificity: float | None = None


@dataclass(frozen=True)
class ReasonOverlap(Result[ReasonRow]):
    """The overlap of reasons, and every pair behind it."""

    rows: tuple[ReasonRow, ...]
    warnings: tuple[str, ...]
    pairs: tuple[ReasonPair, ...]

    @property
    def other_reasons(self) -> tuple[ReasonPair, ...]:
        """Same grade, other reason: a list to read."""
        return tuple(
            each for each in self.pairs if each.same_grade and each.same is False and not each.colleague
        )

    def cases(self) -> list[Case]:
        """The pairs that nothing tells, each as a case of a study that asks whether they name the same problem."""
        return [
            Case(each.id, candidate=each.reasons[1], texts={"reason": each.reasons[0]}, system="pair")
            for each in self.pairs
            if each.same is None and not each.colleague
        ]

    def to_json(self) -> str:
        """The rows, and the pairs with the same grade and another reason."""
        others = [
            {
                "item": each.item, "system": each.system, "dimension": each.dimension, "grade": each.grades[0],
                "clinician": each.clinician, "clinicians_reason": each.reasons[0],
                "rater": each.rater, "raters_reason": each.reasons[1],
            }
            for each in self.other_reasons
        ]  # fmt: skip
        content = {"overlap": self.to_dicts(), "same_grade_other_reason": others}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)

    def text(self, *, everything: bool = False) -> str:
        """The table, then what to read."""
        lines = [*(f"! {each}" for each in self.warnings), *text_table(self.shown_rows())]
        if others := self.other_reasons:
            lines += ["", f"Same grade, other reason ({len(others):,}), to be read:"]
            for each in others if everything else others[:_SHOWN]:
                where = f"{each.item}, {each.system}" if each.system else each.item
                lines += [
                    f"  {where}, {each.dimension}, grade {each.grades[0]:g}",
                    f"    {each.clinician}: {_one_line(each.reasons[0])}",
                    f"    {each.rater}: {_one_line(each.reasons[1])}",
                ]
            if len(others) > _SHOWN and not everything:
                lines.append(f"  --all shows the other {len(others) - _SHOWN:,}")
        return "\n".join(lines)

    def short_text(self) -> str:
        whole = self.text()
        return whole if fits_one_screen(whole) else "\n".join(text_table(self.shown_rows()))

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "rater": row.rater,
                "dimension": row.dimension,
                "compared by": row.how,
                "pairs": row.compared,
                "same problem": row.overlap,
                "same grade, other reason": row.other_reason,
            }
            for row in self.rows
        ]


def reason_overlap(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    matched: object = None,
) -> ReasonOverlap:
    """How often a judge names the problem that a clinician names, beside how often another clinician does.

    Two reasons name the same problem where a quotation of one shares three words in a row with a quotation of the
    other, or where both name a claim of the same number (`claim 3`, `[c3]`). Where one of the two has neither,
    nothing tells: such pairs are left to a judge. `matched` are its ratings of these pairs (their ids are those of
    `cases()`), 1 for the same problem and 0 for another, with labels of clinicians on a random sample of them. The
    share is then estimated by verdict, θ = Σ P(v) · P(y = 1 | v), which takes the judge's errors out and adds the
    uncertainty of both parts (see `danger_rates`); the judge's sensitivity and specificity are shown.

    Every pair of a clinician and a rater counts once; intervals are those of `counted_share`, clustered by patient,
    else by case. What is not written down is not compared: a reason that is not there is no other reason.

    >>> import polars as pl
    >>> words = {"anna": 'It says "no fever at all" twice.', "llm": 'Wrong: "there was no fever at all" is not so.'}
    >>> rows = [(str(i), who, "accuracy", 2, text, kind) for i in range(12)
    ...         for (who, text), kind in zip(words.items(), ("clinician", "judge"))]
    >>> names = ["item", "rater", "dimension", "score", "explanation", "rater_kind"]
    >>> found = reason_overlap(pl.DataFrame(rows, schema=names, orient="row"))
    >>> found.rows[0].compared, found.rows[0].overlap.value
    (12, 1.0)
    """
    ready = rating_table(table)
    pairs = _pairs(ready, raters, reference, dimensions)
    if not pairs:
        raise MedjuryError(
            "no answer has a reason of a clinician and one of another rater, so nothing can be compared; reasons "
            "are in the column `explanation`"
        )
    rows = []
    groups: dict[tuple[str, str], list[ReasonPair]] = {}
    for each in pairs:
        groups.setdefault((COLLEAGUE if each.colleague else each.rater, each.dimension), []).append(each)
    judged = {} if matched is None else _judged(matched)
    for (rater, dimension), own in groups.items():
        told = [each for each in own if each.same is not None]
        if told or not judged:
            share = counted_share([each.same is True for each in told], [each.cluster for each in told],
                                  confidence=confidence)  # fmt: skip
            other = sum(each.same_grade and each.same is False for each in told)
            rows.append(ReasonRow(rater, dimension, NAMED, _answers(own), len(own), len(told), share, other))
        left = [each for each in own if each.same is None and each.id in judged]
        if left:
            rows.append(_row_of_judge(rater, dimension, own, left, judged, confidence))
    return ReasonOverlap(tuple(rows), _warnings(ready, pairs, judged), tuple(pairs))


def same_problem(one: str, other: str) -> bool | None:
    """Whether two reasons name the same problem, by their claims or quotations; None where nothing tells.

    >>> same_problem("Claim 3 is invented.", "[c4] and claim 3 are wrong"), same_problem("Bad.", "Claim 3")
    (True, None)
    """
    answers = [
        bool(mine & theirs)
        for mine, theirs in ((_claims(one), _claims(other)), (_runs(one), _runs(other)))
        if mine and theirs
    ]
    return any(answers) if answers else None


def _claims(text: str) -> set[str]:
    return {(first or second).lower().removeprefix("c") for first, second in _CLAIM.findall(text)}


def _runs(text: str) -> set[tuple[str, ...]]:
    """Every three words in a row of what a text quotes."""
    found: set[tuple[str, ...]] = set()
    for parts in _QUOTED.findall(text):
        words = re.findall(r"\w+", "".join(parts).casefold())
        found |= {tuple(words[at : at + _FEWEST_WORDS]) for at in range(len(words) - _FEWEST_WORDS + 1)}
    return found


def _pairs(
    table: RatingTable, raters: Names | None, reference: Names | None, dimensions: Names | None
) -> list[ReasonPair]:
    roles = table.roles(raters, reference)
    if "explanation" not in table.rows.columns:
        return []
    wanted = {each.name for each in table.chosen(dimensions, derived=False)}
    written: dict[tuple[str, str, str], dict[str, tuple[float, str, str]]] = {}
    names = ("item", "system", "dimension", "rater", "score", "explanation", "cluster")
    for item, system, dimension, rater, score, reason, cluster in table.rows.select(names).iter_rows():
        if dimension in wanted and score is not None and reason and reason.strip():
            own = written.setdefault((item, system, dimension), {})
            own.setdefault(rater, (score, reason, cluster))  # of repeats the first
    found = []
    for place, own in written.items():
        humans = [name for name in roles.reference if name in own]
        both = [(human, rater, False) for human in humans for rater in roles.raters if rater in own]
        both += [(one, other, True) for one, other in combinations(humans, 2)]
        for human, rater, colleague in both:
            (grade, reason, cluster), (score, text, _) = own[human], own[rater]
            same = same_problem(reason, text)
            found.append(
                ReasonPair(*place, human, rater, cluster, (grade, score), (reason, text), same, colleague)
            )
    return found


def _judged(matched: object) -> dict[str, tuple[float, float]]:
    """By pair, what a clinician says of it and what the matching judge says: 1 the same problem, 0 another, NaN
    nothing."""
    table = rating_table(matched)
    (dimension, *more) = table.counted
    if more:
        raise MedjuryError(
            "the ratings of pairs of reasons have one dimension: 1 for the same problem, 0 for another"
        )
    roles = table.roles()
    judge = roles.jury or roles.raters[0]
    grid = table.grid(dimension.name, roles)
    labels, said = table.reference_scores(grid, roles.reference), grid.scores[judge]
    return {
        str(item): (_flag(label), _flag(verdict))
        for item, label, verdict in zip(grid.items, labels, said, strict=True)
    }


def _flag(score: float) -> float:
    return float("nan") if score != score else float(score >= 0.5)


def _row_of_judge(
    rater: str,
    dimension: str,
    own: Sequence[ReasonPair],
    left: Sequence[ReasonPair],
    judged: Mapping[str, tuple[float, float]],
    confidence: float,
) -> ReasonRow:
    marks = np.array([judged[each.id] for each in left])
    rates: DangerRates = danger_rates(
        marks[:, 0], marks[:, 1], cases=[each.cluster for each in left], confidence=confidence
    )
    other = sum(
        each.same_grade and bool(verdict == 0.0) for each, verdict in zip(left, marks[:, 1], strict=True)
    )
    return ReasonRow(
        rater, dimension, JUDGED, _answers(own), len(own), len(left), rates.by_verdict, other,
        int((~np.isnan(marks[:, 0])).sum()), rates.sensitivity, rates.specificity,
    )  # fmt: skip


def _answers(pairs: Sequence[ReasonPair]) -> int:
    return len({(each.item, each.system) for each in pairs})


def _warnings(table: RatingTable, pairs: Sequence[ReasonPair], judged: Mapping[str, Any]) -> tuple[str, ...]:
    found = [*table.warnings]
    own = [each for each in pairs if not each.colleague]
    untold = sum(each.same is None for each in own)
    if untold and not judged:
        found.append(
            f"of {counted(len(own), 'pair')} of reasons {untold:,} ({percent(untold / len(own))}) quote nothing "
            "and name no claim on one side: they are left out. Let a judge compare them that is validated on a "
            "sample (--reason-pairs, --matched)"
        )
    if judged:
        found.append("labels of pairs must be a random draw of them: else the matching judge's errors stay")
    return tuple(found)


def _one_line(text: str, most: int = 160) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"

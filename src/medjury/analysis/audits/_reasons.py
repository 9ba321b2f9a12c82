"""Do judge and clinician name the same problem? Where both wrote a reason for their grade of the same answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Unpack

import numpy as np

from medjury.analysis.audits._what_is_audited import Asked, Audited, audited
from medjury.analysis.calibration import danger_rates
from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import fits_one_screen
from medjury.intake import joined_id
from medjury.intake.cases import Case
from medjury.statistics import Estimate, Printable, Result, Row, counted, counted_share, percent
from medjury.tables import CRITERION, rating_table

COLLEAGUE = "another clinician"
NAMED, JUDGED = "quotations and claims", "a matching judge"
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ReasonPair:
    """Two reasons for the grades of one answer: a clinician's, and a judge's or another clinician's. `same` says
    whether both name one problem, None where nothing tells; `matched` that a judge says so, and no quotation or
    claim."""

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
    matched: bool = False

    @property
    def id(self) -> str:
        """The name of the pair as a case of a study that asks whether the two are the same."""
        parts = (self.item, self.system or "-", self.dimension, self.clinician, self.rater)
        return joined_id(" ".join(each.split()) for each in parts)  # a case's id is one line

    @property
    def same_grade(self) -> bool:
        return abs(self.grades[0] - self.grades[1]) < 1e-9


@dataclass(frozen=True, slots=True)
class ReasonRow(Row):
    """How often a rater names the clinician's problem on one dimension. Of `pairs` of reasons `compared` could be
    compared in this way (`how`); `overlap` is the share of these that name the same problem. `sensitivity` and
    `specificity` are the matching judge's, by the labels, and `unscored` counts the pairs on which it failed."""

    rater: str
    dimension: str
    how: str
    answers: int
    pairs: int
    compared: int
    overlap: Estimate
    other_reason: int  # of those with the same grade, in how many the reason is another
    labels: int = 0
    unscored: int = 0
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
        """The pairs that no quotation and no claim tells, clinicians' own too: each as a case of a study that asks
        whether the two name the same problem."""
        return [
            Case(each.id, candidate=each.reasons[1], texts={"reason": each.reasons[0]}, system="pair",
                 patient=" ".join(each.cluster.split()))
            for each in self.pairs if each.same is None or each.matched
        ]  # fmt: skip

    def to_json(self) -> str:
        """The rows, and the pairs with the same grade and another reason."""
        others = [
            {
                "item": each.item, "system": each.system, "dimension": each.dimension, "grade": each.grades[0],
                "clinician": each.clinician, "clinicians_reason": each.reasons[0],
                "rater": each.rater, "raters_reason": each.reasons[1],
                "compared_by": JUDGED if each.matched else NAMED,
            }
            for each in self.other_reasons
        ]  # fmt: skip
        content = {"overlap": self.to_dicts(), "same_grade_other_reason": others}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)

    def text(self, *, everything: bool = False) -> str:
        """The table, then what to read."""
        lines = [super().text()]
        if others := self.other_reasons:
            lines += ["", f"Same grade, other reason ({len(others):,}), to be read:"]
            for each in others if everything else others[:_SHOWN]:
                where = f"{each.item}, {each.system}" if each.system else each.item
                lines += [
                    f"  {where}, {each.dimension}, grade {each.grades[0]:g}"
                    + (f", by {JUDGED}" if each.matched else ""),
                    f"    {each.clinician}: {_one_line(each.reasons[0])}",
                    f"    {each.rater}: {_one_line(each.reasons[1])}",
                ]
            if len(others) > _SHOWN and not everything:
                lines.append(f"  --all shows the other {len(others) - _SHOWN:,}")
        return "\n".join(lines)

    def short_text(self) -> str:
        whole = self.text()
        return whole if fits_one_screen(whole) else super().text()

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


def reason_overlap(table: object, *, matched: object = None, **asked: Unpack[Asked]) -> ReasonOverlap:
    """How often a judge names the problem that a clinician names, beside how often another clinician does.

    Two reasons name the same problem where a quotation of one shares three words in a row with a quotation of the
    other, two of which say something, or where both name a claim of the same number (`claim 3`, `[c3]`). What the
    words around approve of ("claim 3 is fine") is named as no problem. Where one of the two has neither, nothing
    tells: such pairs are left to a judge. `matched` are its ratings of these pairs (their ids are those of
    `cases()`), 1 for the same problem and 0 for another, with labels of clinicians on a random sample of them. The
    share is then estimated by verdict, θ = Σ P(v) · P(y = 1 | v), which takes the judge's errors out and adds the
    uncertainty of both parts (see `danger_rates`); the judge's sensitivity and specificity are shown.

    Every pair of a clinician and a rater counts once, of repeats the first; intervals are those of `counted_share`,
    clustered by patient, else by case, and nothing is resampled. What is not written down is not compared: a reason
    that is not there is no other reason. Where one of the two gave the best grade, it names no problem.

    >>> import polars as pl
    >>> words = {"anna": 'It says "no fever at all" twice.', "llm": 'Wrong: "there was no fever at all" is not so.'}
    >>> rows = [(str(i), who, "accuracy", 2, text, kind) for i in range(12)
    ...         for (who, text), kind in zip(words.items(), ("clinician", "judge"))]
    >>> names = ["item", "rater", "dimension", "score", "explanation", "rater_kind"]
    >>> found = reason_overlap(pl.DataFrame(rows, schema=names, orient="row"))
    >>> found.rows[0].compared, found.rows[0].overlap.value
    (12, 1.0)
    """
    about = audited(table, **asked, formed_jury=False)
    pairs, warnings = _pairs(about)
    judged = {} if matched is None else _judged(matched)
    left = [each for each in pairs if each.same is None]
    if judged:
        if not judged.keys() & {each.id for each in left}:
            raise MedjuryError(
                "none of the ratings of pairs is of a pair of these reasons: their items are its ids"
            )
        without = sum(each.id not in judged for each in left)
        if without:
            warnings.append(
                f"{counted(without, 'pair')} of {len(left):,} have no row in the ratings of pairs: left out"
            )
        if more := len(judged.keys() - {each.id for each in left}):
            warnings.append(
                f"{counted(more, 'rating')} of pairs is of no pair of these reasons that nothing tells"
            )
        warnings.append(
            "labels of pairs must be a random draw of them: else the matching judge's errors stay"
        )
        pairs = [_by_judge(each, judged) for each in pairs]
    elif left:
        warnings.append(
            f"of {counted(len(pairs), 'pair')} of reasons {len(left):,} ({percent(len(left) / len(pairs))}) quote "
            "nothing and name no claim on one side: they are left out. Let a judge compare them that is validated "
            "on a sample (--reason-pairs, --matched)"
        )
    groups: dict[tuple[str, str], list[ReasonPair]] = {}
    for each in pairs:
        groups.setdefault((COLLEAGUE if each.colleague else each.rater, each.dimension), []).append(each)
    rows = [
        row
        for (rater, dimension), own in groups.items()
        for row in _rows(rater, dimension, own, judged, about)
    ]
    return ReasonOverlap(tuple(rows), (*about.table.warnings, *warnings), tuple(pairs))


def _pairs(about: Audited) -> tuple[list[ReasonPair], list[str]]:
    """Every pair of reasons for a grade that is not the best, and what the reader must know of the others."""
    table, wanted = about.table, set(about.dimensions)
    ordered = not table.pairs and CRITERION not in table.rows.columns  # a mark may be of a fault
    best = {
        each.name: each.grades.highest if each.higher_is_better else each.grades.lowest
        for each in table.dimensions if each.grades is not None and ordered
    }  # fmt: skip
    written: dict[tuple[str, str, str], dict[str, tuple[float, str, str]]] = {}
    names = ("item", "system", "dimension", "rater", "score", "explanation", "cluster")
    rows = (
        table.rows
        if "explanation" in table.rows.columns
        else table.rows.clear().with_columns(explanation=None)
    )
    for item, system, dimension, rater, score, reason, cluster in (
        rows.sort("repeat", maintain_order=True).select(names).iter_rows()
    ):
        if dimension in wanted and score is not None and reason and reason.strip():
            own = written.setdefault((item, system, dimension), {})
            own.setdefault(rater, (score, reason, cluster))
    found, no_problem, silent, answers = [], 0, Counter[str](), 0
    for place, own in written.items():
        humans = [name for name in about.reference if name in own]
        both = [(human, rater, False) for human in humans for rater in about.raters if rater in own]
        both += [(one, other, True) for one, other in combinations(humans, 2)]
        answers += bool(humans)
        silent.update(rater for rater in about.raters if humans and rater not in own)
        for human, rater, colleague in both:
            (grade, reason, cluster), (score, text, _) = own[human], own[rater]
            if best.get(place[2]) in (grade, score):
                no_problem += 1
                continue
            same = same_problem(reason, text)
            found.append(
                ReasonPair(*place, human, rater, cluster, (grade, score), (reason, text), same, colleague)
            )
    if not found:
        raise MedjuryError(
            "no answer has a reason of a clinician and one of another rater for a grade that is not the best, so "
            "nothing can be compared; reasons are in the column `explanation`"
        )
    warnings = [
        f"{rater}: no reason on {number:,} of {counted(answers, 'grade')} for which a clinician wrote one"
        for rater, number in silent.items() if table.raters.get(rater) not in ("jury", "metric")
    ]  # fmt: skip
    if no_problem:
        warnings.append(
            f"{counted(no_problem, 'pair')} left out: one of the two gave the best grade and names no problem"
        )
    if ordered and (unknown := sorted({each.dimension for each in found} - best.keys())):
        warnings.append(
            f"the scale of {', '.join(unknown)} is not known (--scale): praise may count as a problem named"
        )
    return found, warnings


def _judged(matched: object) -> dict[str, tuple[float, float]]:
    """By pair, what a clinician says of it and what the matching judge says: 1 the same problem, 0 another, NaN
    nothing, as where votes are tied."""
    table = rating_table(matched)
    (dimension, *more) = table.counted
    roles = table.roles()
    grid = table.grid(dimension.name, roles)
    judge = roles.jury or roles.raters[0]
    marks = np.column_stack([table.reference_scores(grid, roles.reference), grid.scores[judge]])
    if more or (marks < 0).any() or (marks > 1).any():
        raise MedjuryError(
            "the ratings of pairs of reasons have one dimension: 1 for the same problem, 0 for another"
        )
    if roles.beside or (not roles.jury and len(roles.raters) > 1):
        raise MedjuryError(
            "the ratings of pairs of reasons have several judges and no jury: whose word counts?"
        )
    flags = np.where(np.isnan(marks) | (marks == 0.5), np.nan, marks > 0.5)
    return {
        str(item): (float(label), float(said)) for item, (label, said) in zip(grid.items, flags, strict=True)
    }


def _by_judge(pair: ReasonPair, judged: Mapping[str, tuple[float, float]]) -> ReasonPair:
    if pair.same is not None or pair.id not in judged:
        return pair
    said = judged[pair.id][1]
    return replace(pair, matched=True, same=None if np.isnan(said) else said == 1.0)


def _rows(
    rater: str,
    dimension: str,
    own: Sequence[ReasonPair],
    judged: Mapping[str, tuple[float, float]],
    about: Audited,
) -> Iterator[ReasonRow]:
    answers = len({(each.item, each.system) for each in own})
    for how in (NAMED, JUDGED):
        pairs = [
            each
            for each in own
            if each.matched == (how == JUDGED) and (each.matched or each.same is not None)
        ]
        if not pairs and (how == JUDGED or judged):
            continue
        same, whose = [each.same is True for each in pairs], [each.cluster for each in pairs]
        known = sum(each.same is not None for each in pairs)
        other = sum(each.same_grade and each.same is False for each in pairs)
        share = counted_share(same, whose, confidence=about.confidence)
        row = ReasonRow(rater, dimension, how, answers, len(own), known, share, other)
        if how == JUDGED:
            labels, said = np.array([judged[each.id] for each in pairs]).T
            rates = danger_rates(labels, said, cases=whose, confidence=about.confidence)
            right = [
                float((said[both] == truth).mean())
                if (both := (labels == truth) & ~np.isnan(said)).any()
                else None
                for truth in (1.0, 0.0)
            ]
            row = replace(row, overlap=rates.by_verdict, labels=int((~np.isnan(labels)).sum()),
                          unscored=len(pairs) - known, sensitivity=right[0], specificity=right[1])  # fmt: skip
        yield row


# What two reasons name: what they quote, and claims by their number.

_FEWEST_WORDS, _FEWEST_TELLING = 3, 2
# A sign of a script without spaces is half a word.
_UNSPACED = "\u0e00"
# These say nothing alone; words of other languages all count.
_SLIGHT = frozenset(
    """a an the this that these it its he she they his her their i we is are was were be been being has have had do
    does did to of in on at for from with by as and or who there patient pt der die das den dem ein eine einen einer
    er sie es ist sind war hat haben und oder im in am zu von mit für le la les l un une des du de il elle est sont
    ont et ou dans avec pour el los las una y o en con por que es son ha lo gli i di è 患 者 病 人 的 是
    有 了 在""".split()  # noqa: SIM905
)
# What opens a quotation, then what may close it. Marks alike at both ends open behind no letter or figure (5" is an
# inch) and close before none (isn't).
_MARKS = ("“”", "„“”", "””", "«»", "»«", "‹›", "「」", "『』", "‘’", "‚‘’", '""', "''")


def _between(marks: str) -> str:
    alike, apostrophe = marks[0] in marks[1:], set(marks) & set("'’")
    within = "".join(rf"|(?<=\w){each}(?=\w)" for each in apostrophe)
    before, after = r"(?<!\w)" * alike, r"(?!\w)" * bool(alike or apostrophe)
    return rf"{before}{marks[0]}(?:[^{marks}\n]{within}){{1,600}}[{marks[1:]}]{after}"


# "Claim 3", "claims 3, 4 and c5", "[c3]"; but no citation ("[1]"), and no "it claims 3 doses".
_NUMBER = r"(?:no\.? ?|#)?c?\d{1,4}\b(?!\.\d| ?[%–-])"
_CLAIM = rf"\bclaim (?:{_NUMBER})|\bclaims (?={_NUMBER}(?:,| and | & | or )){_NUMBER}"
_CLAIMS = rf"(?:{_CLAIM})(?:(?:, and |, | and | & | or )(?:claim )?{_NUMBER})*|\[c\d+(?:[,;] ?c\d+)*\]"
_NAMES = re.compile(rf"(?P<claims>{_CLAIMS})|{'|'.join(map(_between, _MARKS))}", re.IGNORECASE)
_PARTS = re.compile(r"[.,;!?\n。，；！？]|\b(?:but|while|whereas|although|though|however)\b", re.IGNORECASE)
_PRAISE = re.compile(
    r"\b(?:fine|ok|okay|good|true|correct(?:ly)?|rightly|(?:is|are|was|were) right|accurate(?:ly)?|supported|"
    r"(?:no|not|nothing|without) (?:\w+ )?(?:wrong|false|problems?|errors?|issues?|mistakes?|objections?))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|nor|hardly|cannot|far from)\b(?! wrong| false)|n['’]t\b", re.IGNORECASE)


def same_problem(one: str, other: str) -> bool | None:
    """Whether two reasons name the same problem, by their claims or quotations; None where nothing tells.

    >>> same_problem("Claim 3 is invented.", "[c4] and claim 3 are wrong"), same_problem("Bad.", "Claim 3")
    (True, None)
    """
    answers = [
        bool(mine & theirs)
        for mine, theirs in zip(_named(one), _named(other), strict=True)
        if mine and theirs
    ]
    return any(answers) if answers else None


def _named(text: str) -> tuple[set[object], set[object]]:
    """The claims that a reason names as a problem, and every three words in a row of what it quotes as one."""
    kept: list[re.Match[str]] = []

    def aside(found: re.Match[str]) -> str:
        kept.append(found)
        return f"\0{len(kept) - 1}\0"

    claims, quoted = set[object](), set[object]()
    for part in _PARTS.split(_NAMES.sub(aside, text.replace("\0", " "))):
        praised = _PRAISE.search(part) and not _DENIED.search(part)
        for number in () if praised else re.findall("\0(\\d+)\0", part):
            found = kept[int(number)]
            if found["claims"]:
                claims |= set(map(int, re.findall(r"\d+", found["claims"])))
            else:
                quoted |= set(_runs(found.group()))
    return claims, quoted


def _runs(quotation: str) -> Iterator[tuple[str, ...]]:
    """From every word of a quotation on, as few words as say something."""
    from medjury.judging import tokens

    words = [each.text for each in tokens(quotation) if each.kind != "mark"]
    for start in range(len(words)):
        long = telling = 0.0
        for end, word in enumerate(words[start:], start + 1):
            weight = 0.5 if len(word) == 1 and word >= _UNSPACED else 1.0
            long, telling = long + weight, telling + weight * (word not in _SLIGHT)
            if long >= _FEWEST_WORDS and telling >= _FEWEST_TELLING:
                yield tuple(words[start:end])
                break


def _one_line(text: str, most: int = 160) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"

"""Labelled cases: what the clinicians of a study say together about each case, why, and what belongs together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument
from medjury.intake.cases import Case, RedactedCases, content_marks
from medjury.store.ratings import Rating
from medjury.studies import Humans, Study
from medjury.tables import consensus_of


@dataclass(frozen=True)
class Labelled:
    """A case with its truth by dimension (None: it does not apply) and the clinicians' own words. `group` is what
    it must not be parted from, `marks` the hashes by which its texts are known again."""

    case: Case
    truth: Mapping[str, float | None]
    reasons: Mapping[str, tuple[str, ...]]
    group: str
    marks: frozenset[str]

    @property
    def key(self) -> str:
        """The case as lineage and split know it: the hash of all its content."""
        return self.case.fingerprint()[:16]

    def grade(self, dimension: Dimension) -> int | None:
        """The grade nearest to the truth; of two that are as near, the higher."""
        value = self.truth[dimension.name]
        return None if value is None else nearest_grade(dimension, value)


@dataclass(frozen=True)
class LabelledCases:
    """All that can be learned from, and what cannot, by reason. `labels` counts single labels of clinicians."""

    cases: tuple[Labelled, ...]
    labels: int
    clinicians: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def nearest_grade(dimension: Dimension, value: float) -> int:
    """The grade nearest to a number; of two that are as near, the higher, as examples show it."""
    return min(dimension.values, key=lambda grade: (abs(grade - value), -grade))


def labelled_cases(
    study: Study, humans: Humans | None, dimensions: Sequence[str], group: str
) -> LabelledCases:
    """Every case with a truth on each of these dimensions, by the study's own consensus of its clinicians."""
    if humans is None:
        raise MedjuryError(
            f"{study.file}: tuning learns from clinicians' labels, and the study names none; add `humans`"
        )
    rows: dict[tuple[str, str], list[Rating]] = {}
    for each in humans.ratings:
        if each.dimension in dimensions:
            rows.setdefault((each.item, each.system), []).append(each)
    left_out: Counter[str] = Counter()
    found: list[Labelled] = []
    labels = 0
    for case, marks in _with_marks(study):
        own = rows.get((case.id, case.system))
        if own is None:
            left_out["no clinician labelled it"] += 1
            continue
        truth = {name: _truth(own, humans, name) for name in dimensions}
        if any(each == "open" for each in truth.values()):
            left_out["the clinicians settle no label on every dimension"] += 1
            continue
        if any(case.input(wanted.name) is None for wanted in study.instrument.inputs if wanted.required):
            left_out["it lacks an input that the instrument needs"] += 1
            continue
        settled = {name: None if isinstance(each, str) else each for name, each in truth.items()}
        reasons = {name: _reasons(study, own, name) for name in dimensions}
        found.append(Labelled(case, settled, reasons, _group(case, group), marks))
        labels += sum(each.status != "unscored" for each in own)
    clinicians = len({each.rater for each in humans.ratings})
    joined = found if group == "none" else _joined(found)
    return LabelledCases(tuple(joined), labels, clinicians, dict(left_out))


def _with_marks(study: Study) -> list[tuple[Case, frozenset[str]]]:
    """The cases as judges see them; their marks know the texts before names were taken out, too."""
    if isinstance(study.cases, RedactedCases):
        return [(case, content_marks(case) | content_marks(raw)) for raw, case in study.cases.with_raw()]
    return [(case, content_marks(case)) for case in study.cases]


def _truth(rows: Sequence[Rating], humans: Humans, dimension: str) -> float | str:
    """The consensus; "none" where it does not apply, "open" where nobody settles it."""
    settles = humans.summary.adjudicator
    own = [each for each in rows if each.dimension == dimension and each.status != "unscored"]
    last = [each for each in own if each.rater == settles]
    voters = [each for each in own if each.rater in humans.reference]
    decided = last or voters
    if decided and sum(each.status == "not_applicable" for each in decided) * 2 > len(decided):
        return "none"
    by_rater: dict[str, list[float]] = {}
    for each in voters:
        if each.score is not None:
            by_rater.setdefault(each.rater, []).append(each.score)
    scores = np.array([[float(np.mean(said)) for said in by_rater.values()]]).reshape(1, -1)
    rule = humans.summary.consensus
    if rule == "adjudicated":
        final = [each.score for each in last if each.score is not None]
        value = consensus_of(scores, rule, [final[0] if final else np.nan])[0]
    else:
        value = consensus_of(scores, rule)[0] if scores.size else np.nan
    return "open" if np.isnan(value) else float(value)


def _reasons(study: Study, rows: Sequence[Rating], dimension: str) -> tuple[str, ...]:
    """What clinicians wrote beside their labels, redacted as the cases are; who wrote it is nobody's business."""
    said = tuple(
        f"{'not applicable' if each.score is None else f'{each.score:g}'}: {each.explanation.strip()}"
        for each in rows
        if each.dimension == dimension and each.status != "unscored" and each.explanation.strip()
    )
    if not isinstance(study.cases, RedactedCases):
        return said
    return tuple(study.cases.redacted(Case(each.item, texts={"why": text})).texts["why"]
                 for each, text in zip(rows, said, strict=False))  # fmt: skip


def _group(case: Case, group: str) -> str:
    if group == "none":
        return f"{case.id}\0{case.system}"
    if group == "case":
        return f"case {case.id}"
    if group == "patient":
        return f"patient {case.patient}" if case.patient else f"case {case.id}"
    value = case.metadata.get(group, case.texts.get(group))
    if value is None:
        raise MedjuryError(
            f"tuning.group is {group!r}, and case {case.id!r} has nothing under that name; say patient, case, "
            "none, or a column that every case has"
        )
    return f"{group} {value}"


def _joined(cases: Sequence[Labelled]) -> list[Labelled]:
    """Groups that share a text, by its marks, or an item are one group: a note does not change its patient with the
    name of the case."""
    parent: dict[str, str] = {}

    def head(mark: str) -> str:
        while parent.setdefault(mark, mark) != mark:
            parent[mark] = mark = parent[parent[mark]]
        return mark

    for each in cases:
        for mark in (*each.marks, f"item {each.case.id}"):
            parent[head(f"mark {mark}")] = head(f"group {each.group}")
    named: dict[str, str] = {}
    return [
        Labelled(
            each.case,
            each.truth,
            each.reasons,
            named.setdefault(head(f"group {each.group}"), each.group),
            each.marks,
        )
        for each in cases
    ]


def graded(instrument: Instrument, names: Sequence[str]) -> tuple[Dimension, ...]:
    """The dimensions of these names, in the instrument's order."""
    return tuple(each for each in instrument.dimensions if each.name in names)

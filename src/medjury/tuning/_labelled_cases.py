"""Labelled cases: what the clinicians of a study say together about each, why, what belongs together, and how they
are split into training, validation and held-out cases."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument
from medjury.intake.cases import Case, RedactedCases, content_marks
from medjury.judging import Joined, chance, nearest_grade
from medjury.store.ratings import Rating
from medjury.store.runs import TuningSplit
from medjury.studies import Humans, StatedSplit, Study
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


def labelled_cases(
    study: Study, humans: Humans | None, dimensions: Sequence[str], group: str
) -> tuple[list[Labelled], int, Counter[str]]:
    """Every case with a truth on each of these dimensions, by the study's own consensus of its clinicians; their
    single labels, counted; and how many cases cannot be learned from, by reason."""
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
    return (found if group == "none" else _joined(found)), labels, left_out


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
    scores = np.array([[float(np.mean(said)) for said in by_rater.values()] or [np.nan]])
    rule = humans.summary.consensus
    if rule == "adjudicated":
        final = [each.score for each in last if each.score is not None]
        value = consensus_of(scores, rule, [final[0] if final else np.nan])[0]
    else:
        value = consensus_of(scores, rule)[0]
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
    joined = Joined()
    for each in cases:
        marks = (f"mark {mark}" for mark in each.marks)
        joined.join([f"group {each.group}", f"item {each.case.id}", *marks])
    named: dict[str, str] = {}
    return [
        replace(each, group=named.setdefault(joined.head(f"group {each.group}"), each.group))
        for each in cases
    ]


def graded(instrument: Instrument, names: Sequence[str]) -> tuple[Dimension, ...]:
    """The dimensions of these names, in the instrument's order."""
    return tuple(each for each in instrument.dimensions if each.name in names)


# Splits: training, validation and held-out cases, alike in their labels and with nothing that belongs together on
# two sides. Who tunes on one visit of a patient and tests on the next has tested nothing.


SIDES = ("training", "validation", "held_out")


@dataclass(frozen=True)
class Split:
    """The three sides. `group` says what was kept together, `kin` counts the held-out cases whose patient has cases
    on another side all the same: none, unless `group` is `none`."""

    training: tuple[Labelled, ...]
    validation: tuple[Labelled, ...]
    held_out: tuple[Labelled, ...]
    seed: int
    group: str

    @property
    def seen(self) -> tuple[Labelled, ...]:
        """All that tuning may look at."""
        return (*self.training, *self.validation)

    def touched(self) -> frozenset[str]:
        """The marks of all that tuning may look at."""
        return frozenset(chain.from_iterable(each.marks for each in self.seen))

    def kin(self) -> frozenset[str]:
        """Keys of held-out cases whose patient, item or text is on another side too."""
        patients = {each.case.patient for each in self.seen if each.case.patient}
        items = {each.case.id for each in self.seen}
        marks = self.touched()
        return frozenset(
            each.key
            for each in self.held_out
            if each.case.patient in patients or each.case.id in items or not marks.isdisjoint(each.marks)
        )

    def hash(self) -> str:
        """SHA-256 of every case's content, its side and its truth."""
        content = {
            side: sorted(
                [each.case.fingerprint(), sorted(map(str, each.truth.items()))] for each in self.of(side)
            )
            for side in SIDES
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def of(self, side: str) -> tuple[Labelled, ...]:
        return {"training": self.training, "validation": self.validation, "held_out": self.held_out}[side]

    def described(self, dimensions: Sequence[Dimension]) -> TuningSplit:
        """For the manifest: counts by side and by label."""
        return TuningSplit(
            hash=self.hash(),
            seed=self.seed,
            group=self.group,
            training=len(self.training),
            validation=len(self.validation),
            held_out=len(self.held_out),
            groups={side: len({each.group for each in self.of(side)}) for side in SIDES},
            labels={
                side: dict(
                    sorted(
                        Counter(
                            chain.from_iterable(_labels(each, dimensions) for each in self.of(side))
                        ).items()
                    )
                )
                for side in SIDES
            },
            kin=len(self.kin()),
        )


def split_cases(
    cases: Sequence[Labelled],
    dimensions: Sequence[Dimension],
    *,
    sizes: Sequence[float] = (0.6, 0.2, 0.2),
    seed: int = 0,
    group: str = "patient",
    seen_before: frozenset[str] = frozenset(),
    development: Collection[str] = (),
) -> Split:
    """Deal out whole groups so that each side has its share of the cases and of every label. Where the study names
    `development` cases, these alone are dealt out, for training and validation; held out are all others, but for
    those that belong to one of them, or that an earlier tuning has seen.

    `sizes` are proportions of training, validation and held-out cases: 218, 30 and 50 deal 298 cases out exactly so
    where each is a group of its own. Groups with a case that an earlier tuning has seen (`seen_before`) train.
    The largest groups are dealt first, each to the side that lacks its labels most; the seed breaks ties.
    """
    if development:
        own = [each for each in cases if each.case.id in development]
        near = {each.group for each in own}
        apart = [each for each in cases if each.group not in near and seen_before.isdisjoint(each.marks)]
        if not own or (not apart and sizes[2]):
            raise MedjuryError(
                f"{len(own):,} of {len(cases):,} labelled cases are development cases of the study, which leaves "
                f"{len(apart):,} to hold out; label more, or name other development_cases"
            )
        found = split_cases(
            own, dimensions, sizes=(*sizes[:2], 0), seed=seed, group=group, seen_before=seen_before
        )
        return replace(found, held_out=tuple(apart))
    groups: dict[str, list[Labelled]] = defaultdict(list)
    for each in cases:
        groups[each.group].append(each)
    if len(sizes) != 3 or min(sizes) < 0 or not sizes[0] or not sizes[1]:
        raise MedjuryError(
            "a split has a training, a validation and a held-out side, and only the last may be empty: "
            "without cases for validation the prompt that fits the training cases best would be chosen"
        )
    wanted = dict(zip(SIDES, _whole(len(cases), sizes), strict=True))
    total = Counter(chain.from_iterable(_labels(each, dimensions) for each in cases))
    sides: dict[str, list[Labelled]] = {side: [] for side in SIDES}
    have: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    order = sorted(groups, key=lambda name: (-len(groups[name]), chance(seed, name)))
    for name in order:
        members = groups[name]
        touched = any(not seen_before.isdisjoint(each.marks) for each in members)
        labels = Counter(chain.from_iterable(_labels(each, dimensions) for each in members))
        side = (
            "training"
            if touched
            else _best_side(sides, have, wanted, total, labels, len(members), len(cases))
        )
        sides[side] += members
        have[side].update(labels)
    for side in SIDES:
        if not sides[side] and wanted[side]:
            raise MedjuryError(
                f"no {side.replace('_', '-')} cases: {len(cases):,} labelled cases of {len(groups):,} groups (kept "
                f"together by {group}) cannot be split in three; label more, or group by less"
            )
    training, validation, held_out = (tuple(sides[side]) for side in SIDES)
    return Split(training, validation, held_out, seed, group)


def as_stated(
    cases: Sequence[Labelled], stated: StatedSplit, *, seed: int, seen_before: frozenset[str] = frozenset()
) -> Split:
    """The split that the study file states, of the cases with a label; not held out is what an earlier tuning has
    seen."""
    training, validation, held_out = (
        tuple(each for each in cases if each.case.id in part)
        for part in (stated.train, stated.validation, stated.held_out)
    )
    held_out = tuple(each for each in held_out if seen_before.isdisjoint(each.marks))
    for name, part in (("train", training), ("validation", validation), ("held_out", held_out)):
        if not part:
            raise MedjuryError(
                f"the part `{name}` of the study's `split` has no labelled case, and tuning learns from one part, "
                "chooses by the second and proves it on the third; put labelled cases into it"
            )
    return Split(training, validation, held_out, seed, stated.group)


def _best_side(
    sides: Mapping[str, Sequence[Labelled]],
    have: Mapping[str, Counter[str]],
    wanted: Mapping[str, int],
    total: Counter[str],
    labels: Counter[str],
    size: int,
    cases: int,
) -> str:
    """The side that the group brings nearest to its share of every label; one that it would overfill comes last."""

    def cost(side: str) -> tuple[bool, float]:
        over = len(sides[side]) + size > wanted[side]
        change = 0.0
        for label, count in labels.items():
            want = total[label] * wanted[side] / cases
            now = have[side][label]
            change += ((now + count - want) ** 2 - (now - want) ** 2) / max(want, 1e-9)
        return over, change

    open_sides = [side for side in SIDES if wanted[side]]
    return min(open_sides, key=cost)


def _whole(cases: int, sizes: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to the sizes that add up to the cases: the largest remainders are rounded up."""
    exact = [Fraction(size) * cases / Fraction(sum(map(Fraction, sizes))) for size in sizes]
    whole = [int(each) for each in exact]
    by_rest = sorted(range(len(sizes)), key=lambda at: (-(exact[at] - whole[at]), at))
    for at in by_rest[: cases - sum(whole)]:
        whole[at] += 1
    return whole


def _labels(case: Labelled, dimensions: Sequence[Dimension]) -> list[str]:
    return [f"{each.name} {case.grade(each)}" for each in dimensions]

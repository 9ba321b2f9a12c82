"""Splits: training, validation and held-out cases, alike in their labels and with nothing that belongs together on
two sides. Who tunes on one visit of a patient and tests on the next has tested nothing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension
from medjury.store.runs import TuningSplit
from medjury.tuning._labelled import Labelled

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
) -> Split:
    """Deal out whole groups so that each side has its share of the cases and of every label.

    `sizes` are proportions of training, validation and held-out cases: 218, 30 and 50 deal 298 cases out exactly so
    where each is a group of its own. Groups with a case that an earlier tuning has seen (`seen_before`) train.
    The largest groups are dealt first, each to the side that lacks its labels most; the seed breaks ties.
    """
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
    order = sorted(groups, key=lambda name: (-len(groups[name]), _chance(seed, name)))
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


def _chance(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()

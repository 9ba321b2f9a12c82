"""Repair: whatever proposed the groups, what leaves here is legal, and everything that was changed is said.

Legal means: every index exists; every gold turn and every segment stands in one group at most; a group is
consecutive on both sides; groups do not cross. Proposals are places in the two lists, not indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from medjury.texts.transcripts import _weights as weights
from medjury.texts.transcripts._alignment import Alignment, make_match
from medjury.texts.transcripts._turn import Turn
from medjury.texts.transcripts._words import Common, comparable, shared_words, similarity

Proposal = tuple[list[int], list[int]]


def repair(
    golden: Sequence[Turn],
    segments: Sequence[Turn],
    proposals: Iterable[tuple[Sequence[int], Sequence[int]]],
    *,
    method: str,
    notes: Sequence[str] = (),
) -> Alignment:
    """The proposals made legal and complete: duplicates merged, crossings dropped, misses tried again, fragments
    put back together."""
    work = _Repair(golden, segments, list(notes))
    groups = work.consecutive(work.merged(work.existing(proposals)))
    groups = work.complete(work.tried_again(work.uncrossed(groups)))
    matches = [
        make_match([golden[row] for row in rows], [segments[column] for column in columns])
        for rows, columns in groups
    ]
    used_rows = {row for rows, _ in groups for row in rows}
    used_columns = {column for _, columns in groups for column in columns}
    if golden and segments and not groups:
        work.notes.append(
            "no gold turn resembles any segment: are both files of one conversation, in one language and script?"
        )
    return Alignment(
        tuple(matches),
        tuple(turn.index for row, turn in enumerate(golden) if row not in used_rows),
        tuple(turn.index for column, turn in enumerate(segments) if column not in used_columns),
        tuple(work.notes),
        method,
    )


class _Repair:
    def __init__(self, golden: Sequence[Turn], segments: Sequence[Turn], notes: list[str]) -> None:
        self.golden, self.segments, self.notes = golden, segments, notes
        self.said = [comparable(turn.text) for turn in golden]
        self.heard = [comparable(turn.text) for turn in segments]

    def words(self, group: Proposal) -> tuple[tuple[str, ...], tuple[str, ...]]:
        rows, columns = group
        return (
            tuple(word for row in rows for word in self.said[row]),
            tuple(word for column in columns for word in self.heard[column]),
        )

    def alike(self, group: Proposal) -> float:
        return similarity(*self.words(group))

    def shared(self, group: Proposal) -> int:
        return shared_words(*self.words(group))

    def name(self, group: Proposal) -> str:
        """A group by its indices, for a note."""
        rows, columns = group
        gold = ", ".join(f"G{self.golden[row].index}" for row in rows)
        heard = ", ".join(f"A{self.segments[column].index}" for column in columns)
        return f"{gold} with {heard}"

    def existing(self, proposals: Iterable[tuple[Sequence[int], Sequence[int]]]) -> list[Proposal]:
        """Places that exist, each once, in order; a group left with an empty side is no group."""
        kept = []
        for rows, columns in proposals:
            group = (
                sorted({row for row in rows if 0 <= row < len(self.said)}),
                sorted({column for column in columns if 0 <= column < len(self.heard)}),
            )
            if all(group):
                kept.append(group)
        return kept

    def merged(self, groups: list[Proposal]) -> list[Proposal]:
        """Groups that share a turn or a segment: one group where they are neighbours, else the best keeps it."""
        done: list[Proposal] = []
        for group in sorted(groups, key=lambda each: (each[0], each[1])):
            done = self._merge_in(done, group)
        return done

    def _merge_in(self, done: list[Proposal], group: Proposal) -> list[Proposal]:
        rest: list[Proposal] = []
        for other in done:
            rows, columns = set(other[0]) & set(group[0]), set(other[1]) & set(group[1])
            if not rows and not columns:
                rest.append(other)
                continue
            union = (sorted({*other[0], *group[0]}), sorted({*other[1], *group[1]}))
            if other == group:
                self.notes.append(f"{self.name(group)}: said twice; kept once")
            elif _consecutive(union[0]) and _consecutive(union[1]):
                self.notes.append(f"{self.name(other)} and {self.name(group)}: share a turn; merged")
                group = union
            else:
                better, worse = (other, group) if self.alike(other) >= self.alike(group) else (group, other)
                left = (
                    [row for row in worse[0] if row not in rows],
                    [column for column in worse[1] if column not in columns],
                )
                self.notes.append(
                    f"{self.name(other)} and {self.name(group)}: claim the same turn; {self.name(better)} keeps it"
                )
                if better is other:
                    rest.append(other)
                    group = left
                elif all(left):
                    rest.append(left)
                if not all(group):
                    return [*rest, *done[done.index(other) + 1 :]]
        return [*rest, group]

    def consecutive(self, groups: list[Proposal]) -> list[Proposal]:
        """A group with a gap takes what lies in the gap where nobody else has it and its words fit; else its best
        run stays."""
        done = []
        for group in groups:
            for side in (0, 1):
                if _consecutive(group[side]):
                    continue
                taken = {place for other in groups if other is not group for place in other[side]}
                filled = _with_side(group, side, list(range(group[side][0], group[side][-1] + 1)))
                runs = [_with_side(group, side, run) for run in _runs(group[side])]
                options = runs if taken & set(filled[side]) else [filled, *runs]
                best = max(options, key=self.alike)
                self.notes.append(f"{self.name(group)}: not consecutive; now {self.name(best)}")
                group = best
            done.append(group)
        return done

    def uncrossed(self, groups: list[Proposal]) -> list[Proposal]:
        """The heaviest chain (in shared words) of groups that do not cross; the others are dropped, with a note."""
        groups = sorted(groups)
        if all(one[1][-1] < other[1][0] for one, other in pairwise(groups)):
            return groups
        weight = [self.shared(group) + self.alike(group) for group in groups]
        best = list(weight)
        before = [-1] * len(groups)
        for this, (rows, columns) in enumerate(groups):
            for that in range(this):
                fits = groups[that][0][-1] < rows[0] and groups[that][1][-1] < columns[0]
                if fits and best[that] + weight[this] > best[this]:
                    best[this], before[this] = best[that] + weight[this], that
        chain = []
        at = max(range(len(groups)), key=best.__getitem__)
        while at >= 0:
            chain.append(at)
            at = before[at]
        for this, group in enumerate(groups):
            if this not in chain:
                self.notes.append(f"{self.name(group)}: out of order; dropped")
        return [groups[this] for this in sorted(chain)]

    def tried_again(self, groups: list[Proposal]) -> list[Proposal]:
        """A missed gold turn beside unused segments that resemble it is matched after all."""
        done = list(groups)
        for row in range(len(self.said)):
            if any(row in rows for rows, _ in done):
                continue
            first = max((columns[-1] for rows, columns in done if rows[-1] < row), default=-1) + 1
            last = min((columns[0] for rows, columns in done if rows[0] > row), default=len(self.heard))
            options = [([row], [column]) for column in range(first, last)]
            best = max(options, key=self.alike, default=None)
            if best is not None and self.alike(best) >= weights.RETRY:
                self.notes.append(f"{self.name(best)}: was missed; similar enough, matched")
                done.append(best)
        return sorted(done)

    def complete(self, groups: list[Proposal]) -> list[Proposal]:
        """Unused segments and missed gold turns beside a group join it where they bring words that it lacks."""
        done = list(groups)
        for side, toll in (
            (1, weights.EXTRA_FRAGMENT - weights.SPURIOUS),
            (0, weights.EXTRA_GOLDEN - weights.MISSED),
        ):
            used = {place for group in done for place in group[side]}
            for number, group in enumerate(done):
                for direction in (1, -1):
                    group = self._grown(group, side, direction, toll, used)
                done[number] = group
        return done

    def _grown(self, group: Proposal, side: int, direction: int, toll: float, used: set[int]) -> Proposal:
        """The group with the unused neighbours that fit, to the right or to the left."""
        words = (self.said, self.heard)[side]
        common: Common | None = None
        shared = 0
        while True:
            place = group[side][-1] + 1 if direction == 1 else group[side][0] - 1
            if place in used or not 0 <= place < len(words) or not words[place]:
                return group
            if common is None:
                both = self.words(group)
                common = Common(both[1 - side][::direction])
                shared = common.add(both[side][::direction])
            found = common.add(words[place][::direction])
            # More than half of its own words must fit: one chance "the" does not make a fragment.
            if 2 * (found - shared) <= max(toll, len(words[place])):
                return group
            grown = _with_side(group, side, sorted([*group[side], place]))
            self.notes.append(f"{self.name(group)}: is part of a longer turn; now {self.name(grown)}")
            used.add(place)
            group, shared = grown, found


def _with_side(group: Proposal, side: int, places: list[int]) -> Proposal:
    return (places, group[1]) if side == 0 else (group[0], places)


def _consecutive(places: Sequence[int]) -> bool:
    return places[-1] - places[0] == len(places) - 1


def _runs(places: Sequence[int]) -> list[list[int]]:
    runs = [[places[0]]]
    for place in places[1:]:
        if place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs

"""What a section gets and what it gives: one file per section, each a function from material to HTML."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from medjury.report._exhibits import Exhibits
from medjury.report._html import Html, element, joined, paragraph, text, without_controls
from medjury.statistics import counted
from medjury.store.runs import Body, Record, Records, files
from medjury.tables import ABSENT, Measured
from medjury.validation import Evidence, Rule, Validation, about_judge, in_units

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy
    from medjury.analysis.ranking import PairRanking

AnyBody = TypeVar("AnyBody", bound=Body)
# More panels than this make no readable figure; the tables beside it have every dimension.
PANELS = 12
# So many answers of missed danger are shown with every vote, whatever the study says of cases.
_MOST_MISSED = 50


def dangers_first(rules: Sequence[Rule]) -> list[Rule]:
    """What is in the way: what forbids any use first, and danger to patients before the rest of its weight."""
    return sorted(rules, key=lambda rule: (not rule.essential, not rule.danger))


@dataclass(frozen=True, slots=True)
class Worth:
    """An answer worth reading: where, and by how much, the rater on trial differs there; NaN where it gave no
    score."""

    item: str
    system: str
    dimension: str
    gap: float
    why: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading of its own."""

    id: str
    title: str
    body: Html


@dataclass(frozen=True, eq=False)
class Material:
    """The evidence and the verdicts; figures and tables are made through `exhibits`."""

    evidence: Evidence
    validation: Validation
    exhibits: Exhibits
    whole_answers: bool = False  # counted by a section even where each mark of an answer is judged by itself

    def of_answers(self) -> Material:
        """The same for a section that counts whole answers."""
        made = replace(self, whole_answers=True, exhibits=replace(self.exhibits))
        made.exhibits.speak = made.about
        return made

    @cached_property
    def tried(self) -> dict[str, Evidence]:
        """The evidence on each rater that is judged, the first first."""
        raters = self.validation.raters or (self.evidence.rater,)
        return {
            name: self.evidence if name == self.evidence.rater else replace(self.evidence, rater=name)
            for name in raters
        }

    @cached_property
    def calibration(self) -> CalibrationStudy:
        """Every rater calibrated to the clinicians; a MedjuryError where that cannot be done."""
        from medjury.analysis.calibration import calibrate

        return calibrate(self.evidence.table)

    @cached_property
    def preferred(self) -> PairRanking:
        """Of a study of pairs, the systems in order by preferences."""
        from medjury.analysis.ranking import rank_pairs

        table = self.evidence.table
        return rank_pairs(table, reference=self.evidence.named[1], confidence=self.evidence.confidence)

    @property
    def judged(self) -> str:
        """How much was judged, in words."""
        count = self.evidence.manifest.cases
        pairs = self.evidence.table.pairs
        return f"{count // 2:,} pairs of answers, in both orders" if pairs else counted(count, "answer")

    @cached_property
    def other_juries(self) -> dict[str, Material]:
        """The same material about every jury but the first, whose figures are the section's own; at most six."""
        others = [] if not self.evidence.table.juries else list(self.tried)[1:7]
        return {
            name: replace(self, evidence=self.tried[name], exhibits=self.exhibits.of(f"jury-{number}"))
            for number, name in enumerate(others, start=2)
        }

    def folded(self, make: Callable[[Material], Html]) -> Html:
        """What a section shows of the first jury, of every other jury, for the reader who opens it."""
        parts = [
            element("details", element("summary", f"The same of {name}"), body)
            for name, other in self.other_juries.items()
            if (body := make(other))
        ]
        return joined(parts)

    @cached_property
    def compared(self) -> tuple[Measured, ...]:
        """The dimensions on which the jury can be compared with clinicians."""
        evidence = self.evidence
        if evidence.agreement is None:
            return ()
        return tuple(each for each in evidence.table.dimensions if len(evidence.both(each.name)[1]))

    def about(self, words: str, rater: str = "") -> str:
        """A sentence about the jury; where there is no jury but several judges, about the one that is meant."""
        words = self.of_marks(words)
        if self.evidence.table.juries:
            return words
        return about_judge(words, rater or self.evidence.rater)

    def of_marks(self, words: str) -> str:
        """Where each case has criteria of its own, what is counted are marks, of which an answer has several; in
        pairs it is pairs, and their scores are neither strict nor kind."""
        units = self.evidence.units
        return words if self.whole_answers and units == "mark" else in_units(words, units)

    def about_each(self, words: str) -> str:
        """A sentence of ours about the jury, where it holds for each of several judges without a jury."""
        words = self.of_marks(words)
        return about_judge(words) if not self.evidence.table.juries else words

    @property
    def whose_danger(self) -> str:
        """Whose word makes an answer dangerous where answers are counted: an adjudicator's, where one settles."""
        return self.evidence.table.whose_danger(self.evidence.clinicians)

    @cached_property
    def danger(self) -> tuple[tuple[Worth, ...], int]:
        """Of the answers that clinicians called dangerous those that the rater on trial graded far too kindly or
        not at all, and how many there are."""
        evidence, missed, dangerous = self.evidence, dict[tuple[str, str], Worth](), set[tuple[str, str]]()
        for dimension in evidence.table.counted:
            severe = evidence.severe(dimension.name, evidence.rater)
            if severe is None:
                continue
            grid, gaps, why = evidence.differences(dimension.name)
            lost = np.isnan(grid.scores[evidence.rater])
            asked = np.ones(len(lost), dtype=bool)
            if evidence.table.run.manifest is not None:  # what was not asked about was not missed
                asked = grid.states[evidence.rater] != ABSENT
            for place in np.flatnonzero(severe.danger & asked).tolist():
                key = str(grid.items[place]), str(grid.systems[place])
                dangerous.add(key)
                if severe.flags[place] or lost[place]:
                    missed.setdefault(key, Worth(*key, dimension.name, float(gaps[place]), why))
        return tuple(missed.values()), len(dangerous)

    @cached_property
    def worth_reading(self) -> tuple[Worth, ...]:
        """Missed danger first, then the largest differences."""
        missed = self.danger[0][:_MOST_MISSED] if self.evidence.table.settings.cases_shown else ()
        known = {(each.item, each.system) for each in missed}
        return (*missed, *(each for each in self.differences if (each.item, each.system) not in known))

    @cached_property
    def differences(self) -> tuple[Worth, ...]:
        """Answers by their largest difference over all dimensions, the largest first."""
        evidence = self.evidence
        wanted = evidence.table.settings.cases_shown
        worst: dict[tuple[str, str], Worth] = {}
        for dimension in evidence.table.dimensions:
            grid, gaps, why = evidence.differences(dimension.name)
            if not why:
                continue
            # Only the largest of a dimension can be among the largest of all.
            order = np.argsort(-np.nan_to_num(np.abs(gaps), nan=-1.0), kind="stable")
            for place in order[:wanted]:
                gap = float(gaps[place])
                if np.isnan(gap) or gap == 0:
                    break
                key = (str(grid.items[place]), str(grid.systems[place]))
                if key not in worst or abs(gap) > abs(worst[key].gap):
                    worst[key] = Worth(*key, dimension.name, gap, why)
        ordered = sorted(worst.items(), key=lambda each: (-abs(each[1].gap), each[0]))
        return tuple(each for _, each in ordered[:wanted])

    def case_name(self, item: str, system: str) -> str:
        """What an answer is called here: by its number where names are hidden."""
        if self.evidence.table.settings.hide_texts:
            number = self._case_numbers.get((item, system))
            return f"case {number}" if number else "a case"
        return f"{item} · {system}" if system else item

    def case_link(self, item: str, system: str, page: str = "", most: int = 200) -> Html:
        """Its name, as a link to its votes where the report (at `page`) shows them."""
        name, number = short(self.case_name(item, system), most), self._case_numbers.get((item, system))
        return element("a", name, href=f"{page}#case-{number}") if number else text(name)

    @cached_property
    def _case_numbers(self) -> dict[tuple[str, str], int]:
        return {(each.item, each.system): place for place, each in enumerate(self.worth_reading, start=1)}

    @property
    def graders(self) -> tuple[str, ...]:
        """Those who are compared and give grades: the rater on trial first, and no text metric."""
        evidence = self.evidence
        return tuple(name for name in evidence.raters if evidence.table.raters.get(name) != "metric")

    @property
    def records(self) -> Records:
        """How ratings of several steps came about: `records.of(kind)` gives one at a time."""
        return self.evidence.table.run.records


def most_interesting(
    material: Material,
    kind: type[AnyBody],
    note: Callable[[Record[AnyBody]], object],
    interest: Callable[[Record[AnyBody]], tuple[float, ...]],
) -> list[Record[AnyBody]]:
    """The records that a reader should see first, as many as the study shows; `note` counts every one of them."""

    def noted() -> Iterator[Record[AnyBody]]:
        for record in material.records.of(kind):
            note(record)
            yield record

    wanted = material.evidence.table.settings.cases_shown
    # All are counted on the way, whether or not any is shown.
    return heapq.nlargest(max(wanted, 1), noted(), key=interest)[:wanted]


def one_by_one(title: str, note: str, made: Sequence[Html]) -> Html:
    """Records that a reader opens one by one, under a title and a note which they are; nothing without any."""
    if not made:
        return Html("")
    return Html(element("h3", title) + paragraph(note, class_="soft") + "".join(made))


SectionMaker = Callable[[Material], Section | None]


def only_some(shown: int, all_of_them: int, where: str) -> str:
    """A sentence where a figure shows a part."""
    return (
        f" The first {shown} of {all_of_them} dimensions; the others are in {where}."
        if shown < all_of_them
        else ""
    )


def short(name: str, most: int = 22) -> str:
    """A name that fits beside an axis: what it explains in brackets is left out before a word is cut."""
    clean = without_controls(name)
    if len(clean) > most and clean.endswith(")"):
        clean = clean.partition(" (")[0] or clean
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def cut_short(words: str, most: int) -> str:
    """A sentence that fits, on one line of text, cut after a word."""
    clean = without_controls(" ".join(words.split()))
    return clean if len(clean) <= most else f"{clean[: most - 1].rsplit(' ', 1)[0]}…"


def cut(words: str, most: int = 1500) -> str:
    """Words of a record as a page shows them: very long ones cut, with where the rest is."""
    return (
        words
        if len(words) <= most
        else f"{words[:most]}… ({len(words):,} characters; whole in {files.RECORDS})"
    )

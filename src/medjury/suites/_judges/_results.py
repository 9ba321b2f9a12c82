"""What every source shows of its judges: the verdicts of `medjury validate`, the juries that they can form, and
what a calibration would change."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.analysis.agreement import JuryWorthRow, jury_worth
from medjury.analysis.calibration import calibrate
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, counted, ends, percent, shown
from medjury.suites._judges._entries import Entry, Table
from medjury.suites._judges._files import FoundFile, found_files
from medjury.tables import (
    JURY,
    RatingTable,
    Roles,
    id_doubt,
    imported_frame,
    rating_table,
    read_panels,
    table_of,
    with_matched,
    with_rules,
)
from medjury.validation import ORDER, Evidence, Rule, Validation, Verdict, evidence_of, validation_of

if TYPE_CHECKING:
    import polars

# With more judges only the jury of all of them is formed: juries double with each judge.
_MOST_JUDGES = 4
# Against the clinicians' mean, or the only clinician; the last knows only whose answer it is.
AGREED, RANKED, SYSTEM_ALONE = "kappa_quadratic", "spearman", "spearman_system_mean_baseline"
ONE_HUMAN = (
    "One human graded these answers. One human cannot show how far two clinicians lie apart, so nobody knows what "
    "a colleague would have done: no line that needs a colleague can be read, and no judge can be validated here. "
    "What can be shown is a judge's agreement with this one human, beside that of a score that knows only whose "
    "answer it is."
)


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge, or the jury of all judges, on one dimension of one source. `agreed` is its agreement with the
    clinicians' mean, `ranked` the same by rank, `baseline` that of a score that knows only whose answer it is.
    `calibration` is what that changes on cases that no map was learned from: agreement before and after, and the
    change of the root mean square error, which it is for."""

    source: str
    judge: str
    verdict: Verdict
    licence: str
    agreed: Estimate | None
    ranked: Estimate | None
    baseline: Estimate | None
    calibration: tuple[Estimate, Estimate, Estimate] | None

    @property
    def dimension(self) -> str:
        return self.verdict.dimension

    @property
    def helps(self) -> str | None:
        """Whether calibration makes the error smaller; None where it was not tried."""
        if self.calibration is None:
            return None
        low, high = self.calibration[2].low, self.calibration[2].high
        if low is None or high is None:
            return "not known"
        return "yes" if high < 0 else "no" if low > 0 else "not shown"

    def line(self, name: str) -> Rule:
        return self.verdict.rule(name)

    def as_dict(self) -> Mapping[str, Any]:
        verdict = self.verdict
        found: dict[str, Any] = {
            "source": self.source,
            "judge": self.judge,
            "dimension": verdict.dimension,
            "verdict": verdict.word,
            "answers": verdict.doubly,
            "cases": verdict.clusters,
            "danger": verdict.danger,
            "licence": self.licence,
        }
        for rule in verdict.rules:
            if rule.line:
                found |= {
                    f"{rule.id}_state": rule.state,
                    **{f"{rule.id}_{k}": v for k, v in rule.measured.items()},
                }
        for name in ("agreed", "ranked", "baseline"):
            estimate: Estimate | None = getattr(self, name)
            found |= {name: None} if estimate is None else ends(estimate, name)
        return {**found, "calibration_helps": self.helps}


@dataclass(frozen=True)
class SourceResult:
    """All that one source shows. `why_not` says why it was not read, `lacking` what of it was not; `alone` has by
    dimension how clinicians agree with each other, where there is no judge."""

    entry: Entry
    files: tuple[FoundFile, ...] = ()
    why_not: str = ""
    lacking: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    clinicians: int = 0
    judges: tuple[str, ...] = ()
    answers: int = 0
    rows: tuple[JudgeRow, ...] = ()
    validation: Validation | None = None
    juries: tuple[JuryWorthRow, ...] = ()
    alone: tuple[Mapping[str, Any], ...] = ()

    @property
    def one_human(self) -> bool:
        return self.clinicians == 1

    def worst(self, judge: str) -> JudgeRow:
        """The row of its worst word; of several the one farthest below a colleague."""
        own = [row for row in self.rows if row.judge == judge]
        return max(
            own, key=lambda row: (ORDER.index(row.verdict.word), -(row.line("agreement").value or 0.0))
        )

    def most_missed(self, judge: str) -> JudgeRow | None:
        """The row on which it misses most danger beside a colleague, or of what the one human calls dangerous."""
        line = "consensus_danger" if self.one_human else "missed_danger"
        own = [row for row in self.rows if row.judge == judge and row.line(line).value is not None]
        return max(own, key=lambda row: row.line(line).value or 0.0, default=None)


def agreed(source: SourceResult, row: JudgeRow) -> str:
    """Agreement beside a colleague's, or with the one human."""
    if source.one_human:
        return (
            "not known"
            if row.agreed is None or row.agreed.value is None
            else f"{shown(row.agreed.value, 2)} (–)"
        )
    return beside(row.line("agreement"), digits=2)


def missed(source: SourceResult, row: JudgeRow | None) -> str:
    """Severe misses beside a colleague's, or of what the one human calls dangerous."""
    if row is None:
        return "not known"
    if source.one_human:
        return f"{percent(row.line('consensus_danger').value, 1)} (–)"
    return beside(row.line("missed_danger"))


def beside(rule: Rule, digits: int | None = None) -> str:
    """The judge's number and the colleague's."""
    if rule.jury is None or rule.colleague is None:
        return "not known"
    if digits is None:
        return f"{percent(rule.jury, 1)} ({percent(rule.colleague, 1)})"
    return f"{shown(rule.jury, digits)} ({shown(rule.colleague, digits)})"


def source_result(
    entry: Entry, data: Path, *, resamples: int | None = None, seed: int | None = None
) -> SourceResult:
    """One source, read and judged."""
    files = tuple(found_files(entry, data))
    found = SourceResult(entry, files)
    places, how = {each.part.name: each.path for each in files}, {"resamples": resamples, "seed": seed}
    try:
        frames, lacking, notes = _side(entry.clinicians, places)
        humans, people = _numbered(frames)
        judges, unread, more = _side(entry.judges, places, judges=True)
        found = replace(found, clinicians=people, lacking=(*lacking, *unread), notes=(*notes, *more))
        if judges:
            table, matched = _joined(humans, judges, entry)
            return _judged(replace(found, notes=(*found.notes, *matched)), table, how)
        table = _ready(rating_table(humans, **_scale(entry)), entry)
        alone = () if people < 2 else _alone(table, how)
        why = "" if alone else f"{counted(people, 'clinician')} and no judge: nothing can be compared."
        return replace(found, why_not=why, alone=alone, answers=_answers(table))
    except MedjuryError as error:
        return replace(found, why_not=f"it could not be read. {_without_cells(error)}")


# Quoted, behind no letter (that would be an apostrophe), and no name of a column.
_CELL = re.compile(r"""(?<!column )(?<!\w)('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")(?!\w)""")


def _without_cells(error: MedjuryError) -> str:
    """What went wrong in which row and column. The page is published: no line about a row quotes what it holds."""
    return "\n".join(_CELL.sub("…", line) if ", row " in line else line for line in str(error).split("\n"))


def _side(
    tables: Sequence[Table], places: Mapping[str, Path | None], *, judges: bool = False
) -> tuple[list[polars.DataFrame], tuple[str, ...], tuple[str, ...]]:
    """The tables of one side; a judge of whose table something is lacking is left out, and that is said."""
    frames, lacking, notes = [], [], []
    for table in tables:
        who = f"{table.rater}: " if judges and table.rater else ""
        path = places[table.file]
        try:
            if path is None:
                raise MedjuryError(f"the file {table.file} is not there")
            given = path if table.detector is None else _detected(path, table)
            mapping = {"rater_kind": "judge" if judges else "clinician", **table.mapping}
            frame, read = imported_frame(given, "judge" if judges else "clinician", mapping)
        except MedjuryError as error:
            if not judges:
                raise
            lacking.append(f"{who}left out. {_without_cells(error)}")
            continue
        frames.append(frame)
        notes += [f"{who or Path(table.file).name + ': '}{each}" for each in read]
    return frames, tuple(lacking), tuple(notes)


def _detected(path: Path, table: Table) -> polars.DataFrame:
    """The table with the detector's grade in a column of its own."""
    import polars as pl

    from medjury.texts.metrics import ImpactPairs

    part = table.detector
    assert part is not None
    pairs = ImpactPairs.read(path, part.reference, part.hypothesis, part.question, [part.label, part.call])
    if part.label and part.call:
        levels = pairs.check(part.label, part.call, resamples=200, seed=0).levels.tolist()
    else:
        levels = [each.level for each in pairs.estimate()]
    return pairs.frame.with_columns(pl.Series("impact", levels, dtype=pl.Int64))


def _numbered(frames: Sequence[polars.DataFrame]) -> tuple[polars.DataFrame, int]:
    """All clinicians under numbers, for a page that is published names nobody; and how many they are."""
    import polars as pl

    humans = pl.concat(frames, how="diagonal_relaxed")
    names = sorted(humans["rater"].unique().to_list())
    numbers = {name: f"clinician {place}" for place, name in enumerate(names, 1)}
    return humans.with_columns(pl.col("rater").replace_strict(numbers)), len(names)


def _scale(entry: Entry) -> dict[str, Any]:
    return (
        {"scale": entry.part.scale}
        if entry.part.instrument is None
        else {"instrument": entry.part.instrument}
    )


def _ready(table: RatingTable, entry: Entry) -> RatingTable:
    table = with_rules(table, entry.rules)
    table.chosen(entry.rules.severe_dimensions)  # a name that is no dimension is refused
    return table


def _joined(
    humans: polars.DataFrame, judges: Sequence[polars.DataFrame], entry: Entry
) -> tuple[RatingTable, tuple[str, ...]]:
    """Clinicians and judges as one table; each judge's file may write the ids in a way of its own."""
    import polars as pl

    sides, doubts = [], []
    for frame in judges:
        panels = read_panels(humans, frame)
        for field, rule in (("item", entry.part.match.item), ("system", entry.part.match.system)):
            if rule is not None:
                panels = with_matched(panels, field, rule)
        if (doubt := id_doubt(panels, "item")) and doubt.suggested:
            rule = doubt.suggested.sets["match.item"]
            doubts.append(
                f"In doubt: ids are written differently; `match: {{item: {rule}}}` would pair more."
            )
        sides.append(panels)
    if not any(_meet(*(panel.frame for panel in panels)) for panels in sides):
        text = (
            "no answer is in both the clinicians' table and a judge's: are items and systems written alike?"
        )
        raise MedjuryError(" ".join([text, *doubts]))  # without an id: the page is for others
    frame = pl.concat([panels[1].frame for panels in sides], how="diagonal_relaxed")
    reported = dict.fromkeys(text for panels in sides for text in panels[1].reported)
    together = [sides[0][0], replace(sides[0][1], frame=frame, reported=tuple(reported))]
    table = _ready(table_of(together, **_scale(entry)), entry)
    return table, (*table.notes, *table.warnings, *doubts)


def _meet(humans: polars.DataFrame, judges: polars.DataFrame) -> bool:
    both = [
        name for name in ("item", "system", "dimension") if {name} <= {*humans.columns} & {*judges.columns}
    ]
    own, theirs = ({*each.select(both).fill_null("").iter_rows()} for each in (humans, judges))
    return bool(own & theirs)


def _answers(table: RatingTable) -> int:
    return int(table.rows.filter(table.rows["rater_kind"] == "clinician").select("item", "system").n_unique())


def _judged(found: SourceResult, table: RatingTable, how: Mapping[str, Any]) -> SourceResult:
    """The verdict on every judge by itself and, of two or more, on the jury of all of them."""
    evidence = evidence_of(table, statistics=(AGREED, RANKED, SYSTEM_ALONE), **how)
    stored = [name for name in evidence.roles.raters if table.raters.get(name) in ("judge", "jury")]
    raters = (*stored, *((JURY,) if evidence.roles.jurors else ()))
    seen = {each.rater: each.seen_by for each in found.entry.judges if each.seen_by}
    validation = validation_of(evidence, raters=raters).seen_by(seen)
    helped = _calibrated(table, how)
    part = found.entry.part
    licences = {judge.fixed.rater: each.licence for each in found.entry.added for judge in each.judges}
    rows = tuple(
        JudgeRow(
            part.name,
            each.rater,
            each,
            licences.get(each.rater, part.licence),
            evidence.estimate(each.dimension, each.rater, AGREED),
            evidence.estimate(each.dimension, each.rater, RANKED),
            evidence.estimate(each.dimension, each.rater, SYSTEM_ALONE),
            helped.get((each.rater, each.dimension)),
        )
        for each in validation.verdicts
    )
    return replace(
        found, judges=raters, answers=_answers(table), rows=rows, validation=validation,
        juries=_juries(table, evidence.roles, how),
    )  # fmt: skip


def _calibrated(
    table: RatingTable, how: Mapping[str, Any]
) -> dict[tuple[str, str], tuple[Estimate, Estimate, Estimate]]:
    """What calibration changes for each rater and dimension that it can be learned for."""
    try:
        study = calibrate(table, composites=False, **how)
    except MedjuryError:
        return {}
    changes: dict[tuple[str, str], dict[str, Any]] = {}
    for row in study.rows:
        changes.setdefault((row.rater, row.dimension), {})[row.statistic] = row
    return {
        key: (own[AGREED].before, own[AGREED].after, own["rmse"].change)
        for key, own in changes.items()
        if {AGREED, "rmse"} <= own.keys()
    }


def _juries(table: RatingTable, roles: Roles, how: Mapping[str, Any]) -> tuple[JuryWorthRow, ...]:
    """What each jury that the judges can form is worth; of many judges the jury of all."""
    judges = table.judges
    sizes = range(2, len(judges) + 1) if len(judges) <= _MOST_JUDGES else [len(judges)]
    found: list[JuryWorthRow] = []
    table = rating_table(table, jury=table.jury_rule.rule)  # of whoever is named
    for members in (some for size in sizes for some in combinations(judges, size)):
        try:
            found += jury_worth(table, raters=members, reference=roles.reference, **how).rows
        except MedjuryError:  # they share no answers
            continue
    return tuple(found)


def _alone(table: RatingTable, how: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Clinicians beside each other: what a judge of these answers would have to reach, and what a colleague
    misses of what a clinician calls dangerous."""
    evidence: Evidence = evidence_of(table, statistics=(AGREED,), **how)
    made = []
    for dimension in table.counted:
        tested = evidence.tested(dimension)
        missed = tested.values.get("missed_danger colleague")
        made.append(
            {
                "dimension": dimension.name,
                "answers": tested.doubly,
                "cases": tested.clusters,
                **tested.line("colleagues").measured,
                "danger": dimension.danger_words(table.rules),
                "missed_by_a_colleague": None if missed is None or missed != missed else missed,
            }
        )
    return tuple(made)

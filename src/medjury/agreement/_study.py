"""Agreement of a rating table: one call from ratings to every coefficient with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from medjury.agreement._agreement_table import AgreementRow, AgreementTable
from medjury.agreement._among_humans.rows import human_rows
from medjury.agreement._design import CONSENSUS, JURY, By, Design, JuryRule, Level, without
from medjury.agreement._groups.many_raters import MANY_RATER_STATISTICS
from medjury.agreement._pairs.classification import BINARY
from medjury.agreement._pairs.pair import Settings
from medjury.agreement._pairs.rows import pair_rows
from medjury.agreement._pairs.safety_rows import severe_error_rows, win_rate_rows
from medjury.agreement._pairs.severe_errors import GAP, THRESHOLD
from medjury.agreement._pairs.statistics import BY_SYSTEM, ORDER
from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.statistics import side_by_side
from medjury.tables import (
    ABSENT,
    NOT_APPLICABLE,
    SCORED,
    UNSCORED,
    ConsensusRule,
    GradesArgument,
    Grid,
    Grids,
    RepeatRule,
    clean_rows,
    consensus_of,
    grids,
    look_alikes,
)

if TYPE_CHECKING:
    import polars


def agreement(
    ratings: object,
    *,
    reference: str | Sequence[str],
    compare: str | Sequence[str] | None = None,
    dimension: str | Sequence[str] | None = None,
    by: By = "dimension",
    level: Level = "item",
    scale: GradesArgument = None,
    consensus: ConsensusRule = "mean",
    adjudicator: str | None = None,
    jury: JuryRule | None = None,
    repeats: RepeatRule = "mean",
    panel: str | None = None,
    severe: str | Sequence[str] = (),
    threshold: float = THRESHOLD,
    gap: float = GAP,
    margin: float | None = None,
    statistics: Sequence[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> AgreementTable:
    """Compare raters with references on a table of ratings.

    `ratings`: a polars frame with the columns item, rater, dimension, score and, where there are any,
    system, patient, repeat, status, reason, rater_kind, instrument, content_hash; or `Rating` objects. The
    unit is one system's answer to one item; intervals resample whole patients, or items where no patient is
    named.

    With several references there is also their consensus, the references' own agreement on the same items, the
    judge as one more rater and in each one's place, the alternative-annotator test, and with a `margin` the
    non-inferiority test.

    - `reference`, `compare`: names of raters; everybody else is compared where `compare` is left out.
    - `dimension`: only these. `statistics`: only these names.
    - `by`: "dimension", "system" (each system too, and the system means), or "all" (dimensions pooled).
    - `level`: "item", "system" (the systems' means are the points) or "both".
    - `scale`: (lowest, highest), all grades, or a dict of those by dimension; else the one of the built-in
      instrument that the ratings name. Observed levels are never taken for the scale.
    - `consensus`: "mean", "median", "majority", or "adjudicated" by `adjudicator`.
    - `jury`: adds the compared judges' mean, median or majority as a rater, where all of them scored.
    - `repeats`: how a rater's repeats on one unit become one score; `repeat_sd` keeps their spread.
    - `panel`: a second panel that the others are compared with (win rate, severe errors).
    - `severe`: dimensions, oriented so that low is dangerous, on which severe errors are counted: reference
      at most `threshold`, rater at least `gap` higher.

    >>> import polars as pl
    >>> scores = {"human": [1, 2, 3, 4, 5, 3], "judge": [1, 2, 4, 4, 5, 2]}
    >>> rows = [(str(i), who, "accuracy", s) for who, all in scores.items() for i, s in enumerate(all)]
    >>> frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    >>> table = agreement(frame, reference="human", compare="judge", scale=(1, 5), resamples=200)
    >>> round(table.find("kappa_quadratic").estimate.value, 3)
    0.909
    """
    everything = clean_rows(ratings)
    _check_scale(scale, everything)
    frame = _chosen_dimensions(everything, dimension)
    names = frame["rater"].unique().sort().to_list()
    warnings = look_alikes(names, partial(_rated_together, frame))
    settings = Settings(resamples, seed, None if statistics is None else frozenset(statistics))
    design = Design(
        reference=_listed(reference),
        compare=_compared(names, reference, compare, adjudicator, panel),
        metrics=_of_kind(frame, "metric"),
        clinicians=_of_kind(frame, "clinician"),
        by=by,
        level=level,
        consensus=consensus,
        adjudicator=adjudicator,
        jury=jury,
        panel=panel,
        severe=_listed(severe),
        threshold=threshold,
        gap=gap,
        margin=margin,
        settings=settings,
    )
    design.check(names, frame["dimension"].unique().sort().to_list())
    used = {*design.reference, *design.compare, *(name for name in (adjudicator, panel) if name)}
    made = grids(
        frame.filter(frame["rater"].is_in(sorted(used))), scale=scale, pooled=by == "all", repeats=repeats
    )
    _check_systems(made, design)
    rows, unscored = list[AgreementRow](), {name: dict(counts) for name, counts in made.unscored.items()}
    tasks = [task for grid in made.grids for task in _tasks(_with_groups(grid, design, unscored), design)]
    for part in side_by_side(tasks):
        rows += part
    rows = [row for row in rows if design.settings.wants(row.statistic)]
    _check_statistics(design.settings, rows)
    if not any(row.estimate.defined for row in rows):
        warnings.append(_nothing_in_common(made, design))
    return AgreementTable(tuple(rows), (*made.warnings, *warnings), _notes(made, design), unscored)


def _tasks(grid: Grid, design: Design) -> list[Callable[[], list[AgreementRow]]]:
    """What is to be computed for one grid, in the order of the table."""
    references = [*design.reference, *([CONSENSUS] if len(design.reference) > 1 else [])]
    raters = (*design.compare, *([JURY] if design.jury else []))
    tasks: list[Callable[[], list[AgreementRow]]] = []
    for reference in references:
        for compare in raters:
            if compare == reference:
                continue
            inside = reference == CONSENSUS and compare in design.reference
            note = "the consensus contains this rater, which raises the agreement" if inside else ""
            tasks.append(partial(pair_rows, grid, reference, compare, design, note=note))
        tasks.append(partial(severe_error_rows, grid, reference, raters, design))
        tasks.append(partial(win_rate_rows, grid, reference, raters, design))
    for first, second in combinations(design.reference, 2):
        if second not in design.compare:
            tasks.append(partial(pair_rows, grid, first, second, design))
    tasks += [
        partial(pair_rows, grid, without(name), name, design)
        for name in design.reference
        if without(name) in grid.scores
    ]
    return [*tasks, partial(human_rows, grid, design)]


def _with_groups(grid: Grid, design: Design, unscored: dict[str, dict[str, int]]) -> Grid:
    """The grid with the references' consensus and the jury as raters of their own."""
    if len(design.reference) > 1:
        settled = None if design.adjudicator is None else grid.scores[design.adjudicator]
        members = np.column_stack([grid.scores[name] for name in design.reference])
        if len(design.reference) > 2 and settled is None:
            # A human's own agreement with a consensus is with that of the others.
            for place, name in enumerate(design.reference):
                rest = [each for each in design.reference if each != name]
                scores = consensus_of(np.delete(members, place, axis=1), design.consensus)
                grid = _add(grid, without(name), scores, rest, {})
        scores = consensus_of(members, design.consensus, settled)
        grid = _add(grid, CONSENSUS, scores, design.reference, unscored)
    if design.jury is not None:
        members = np.column_stack([grid.scores[name] for name in design.judges])
        complete = ~np.isnan(members).any(axis=1)
        scores = np.where(complete, consensus_of(members, design.jury), np.nan)
        grid = _add(grid, JURY, scores, design.judges, unscored)
    return grid


def _add(
    grid: Grid, name: str, scores: np.ndarray, members: Sequence[str], unscored: dict[str, dict[str, int]]
) -> Grid:
    """A group as a rater. Without a score it is unscored where one of its members failed or they tie, not
    applicable where that is all its members say, and absent where nobody was asked."""
    states = np.stack([grid.states[member] for member in members])
    failed = (states == UNSCORED).any(axis=0)
    excused = (states == NOT_APPLICABLE).any(axis=0) & ~failed
    partly = (states == SCORED).any(axis=0) & (states != SCORED).any(axis=0) & ~excused
    asked = (states != ABSENT).any(axis=0)
    missing = np.isnan(scores)
    state = np.select([~missing, excused, asked], [SCORED, NOT_APPLICABLE, UNSCORED], ABSENT).astype(np.uint8)
    lost = missing & (state == UNSCORED)
    reasons = {"missing": lost & failed & ~partly, "no_quorum": lost & partly}
    reasons["tie"] = lost & ~reasons["missing"] & ~reasons["no_quorum"]
    for reason, units in reasons.items():
        if units.any():
            counted = unscored.setdefault(name, {})
            counted[reason] = counted.get(reason, 0) + int(units.sum())
    return grid.with_rater(name, scores, state)


def _compared(
    names: list[str],
    reference: str | Sequence[str],
    compare: str | Sequence[str] | None,
    adjudicator: str | None,
    panel: str | None,
) -> tuple[str, ...]:
    """The raters to compare: those named, or everybody who has no other part; the second panel always."""
    others = tuple(name for name in names if name not in _listed(reference) and name != adjudicator)
    chosen = others if compare is None else _listed(compare)
    return chosen if panel is None or panel in chosen else (*chosen, panel)


def _check_scale(scale: GradesArgument, frame: polars.DataFrame) -> None:
    if isinstance(scale, Mapping):
        known = frame["dimension"].unique().sort().to_list()
        for name in scale:
            if name not in known:
                raise MedjuryError(
                    f"a scale is given for {name!r}, which is no dimension; {nearest(name, known)}"
                )


def _chosen_dimensions(frame: polars.DataFrame, dimension: str | Sequence[str] | None) -> polars.DataFrame:
    if dimension is None:
        return frame
    known = frame["dimension"].unique().sort().to_list()
    chosen = _listed(dimension)
    for name in chosen:
        if name not in known:
            raise MedjuryError(f"there is no dimension {name!r} in the ratings; {nearest(name, known)}")
    return frame.filter(frame["dimension"].is_in(list(chosen)))


def _check_systems(made: Grids, design: Design) -> None:
    if design.by != "system" and design.level == "item":
        return
    if all(len(np.unique(grid.systems)) < 2 for grid in made.grids):
        raise MedjuryError(
            "the ratings name fewer than two systems, so there is nothing to average by system; add a column "
            "`system`, or ask for the level 'item'."
        )


def _check_statistics(settings: Settings, rows: Sequence[AgreementRow]) -> None:
    found = {row.statistic for row in rows}
    for name in sorted(settings.statistics or ()):
        if name not in found:
            known = sorted({*ORDER, *BINARY, *BY_SYSTEM, *MANY_RATER_STATISTICS, "auc", *found})
            hint = "these ratings do not give it" if name in known else nearest(name, known)
            raise MedjuryError(f"the table has no statistic {name!r}; {hint}")


def _nothing_in_common(made: Grids, design: Design) -> str:
    """Why no statistic exists, with ids from both sides where they never meet."""
    first, second = design.reference[0], design.compare[0]
    for grid in made.grids:
        ids = [
            sorted({str(item) for item in grid.items[grid.states[name] != ABSENT]})[:3]
            for name in (first, second)
        ]
        if ids[0] and ids[1] and not ((grid.states[first] == SCORED) & (grid.states[second] == SCORED)).any():
            shown = [", ".join(map(repr, some)) for some in ids]
            return (
                f"no statistic exists: {first!r} and {second!r} scored no common item. "
                f"Items of {first!r}: {shown[0]} …; of {second!r}: {shown[1]} …. "
                "Check that the ids, and the systems, are written alike."
            )
    return "no statistic exists for these ratings; every row says why"


def _notes(made: Grids, design: Design) -> tuple[str, ...]:
    notes = []
    bare = [grid.dimension for grid in made.grids if grid.scale is None]
    if bare:
        said = "the pooled dimensions have no common scale"
        if design.by != "all":
            said = f"no scale was given for {', '.join(bare)}"
        notes.append(
            f"{said}: kappas take whole-number grades one apart, whatever "
            "their range; coefficients that depend on the number of grades, ceiling and floor are left "
            "undefined. Give the scale to have them."
        )
    named = {
        grid.scale.source for grid in made.grids if grid.scale is not None and grid.scale.source != "given"
    }
    notes += [f"scale taken from {source}" for source in sorted(named)]
    if len(design.reference) > 1:
        rule = "adjudicated by " + design.adjudicator if design.adjudicator else design.consensus
        notes.append(f"consensus: {rule} of {', '.join(design.reference)}")
    if design.jury:
        notes.append(f"jury: {design.jury} of {', '.join(design.judges)}, where all of them scored")
    if any(len(np.unique(grid.systems)) > 1 for grid in made.grids):
        notes.append(
            "pooled rows mix systems: read the between- and within-system rows beside them. The baseline "
            "predicts each reference score by the mean of the same system's other cases, cross-fitted in "
            "five folds of cases"
        )
    notes.append(
        "icc_3_k_z is consistency on z-scores, 2r/(1+r) for two raters, blind to any offset: read it with "
        "pearson and icc_2_1"
    )
    return tuple(notes)


def _of_kind(frame: polars.DataFrame, kind: str) -> frozenset[str]:
    return frozenset(frame.filter(frame["rater_kind"] == kind)["rater"].unique().to_list())


def _rated_together(frame: polars.DataFrame, first: str, second: str) -> bool:
    key = ["dimension", "item", "system"]
    one, two = (frame.filter(frame["rater"] == rater).select(key) for rater in (first, second))
    return one.join(two, on=key, how="semi").height > 0


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)

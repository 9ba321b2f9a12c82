"""Agreement of a rating table: one call from ratings to every coefficient with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from medjury.analysis.agreement._all_at_once import MANY_RATER_STATISTICS
from medjury.analysis.agreement._among_humans import (
    RATERS_FIRST,
    beside_humans,
    human_rows,
    standardised_rows,
    tested,
)
from medjury.analysis.agreement._classification import BINARY
from medjury.analysis.agreement._design import (
    AveragingLevel,
    By,
    Design,
    make_design,
    pooled_together,
    without,
)
from medjury.analysis.agreement._non_inferiority import AmongHumans
from medjury.analysis.agreement._pair_rows import pair_rows
from medjury.analysis.agreement._pair_statistics import BY_SYSTEM, ORDER, Settings
from medjury.analysis.agreement._row import AgreementRow
from medjury.analysis.agreement._severe_errors import severe_error_rows, severe_of, win_rate_rows
from medjury.analysis.agreement._table import AgreementTable, shown_statistics
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.statistics import counted, side_by_side
from medjury.store.runs import ConsensusRule
from medjury.tables import (
    ABSENT,
    CONSENSUS,
    SCORED,
    Grid,
    Measured,
    Names,
    RatingTable,
    rating_table,
    with_consensus,
)

# What a reader of an agreement table must know of how it was made.


def nothing_in_common(grids: Sequence[Grid], design: Design) -> str:
    """Why no statistic exists, with ids from both sides where they never meet."""
    first = design.reference[0]
    second = next(each for each in (*design.roles.raters, *design.reference) if each != first)
    for grid in grids:
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


def unequal_warning(table: RatingTable) -> list[str]:
    """What to know of ratings whose answers were drawn with unequal probabilities."""
    if not table.unequal:
        return []
    names = ", ".join(table.unequal)
    return [
        f"the answers that {names} rated were drawn with unequal probabilities: exact match, differences, kappas, "
        "correlations and severe errors are weighted by them and hold for all answers; other statistics are left "
        "undefined"
    ]


def notes_on(
    table: RatingTable, grids: Sequence[Grid], design: Design, apart: Sequence[str] = ()
) -> tuple[str, ...]:
    """How the numbers were made; what follows from other dimensions has no scale to ask for."""
    notes = []
    if table.left_aside:
        notes.append(f"{counted(table.left_aside, 'case')} served development and do not count here")
    if apart:
        notes.append(
            f"not pooled, as yes/no questions are not grades: {', '.join(apart)} (name them to pool them)"
        )
    derived = {each.name for each in table.dimensions if each.derived}
    bare = [grid.dimension for grid in grids if grid.scale is None and grid.dimension not in derived]
    if bare:
        said = "the pooled dimensions have no common scale"
        if design.by != "all":
            said = f"no scale was given for {', '.join(bare)}"
        notes.append(
            f"{said}: kappas take whole-number grades one apart, whatever "
            "their range; coefficients that depend on the number of grades, ceiling and floor are left "
            "undefined. Give the scale to have them."
        )
    named = {grid.scale.source for grid in grids if grid.scale is not None and grid.scale.source != "given"}
    notes += [f"scale taken from {source}" for source in sorted(named)]
    if len(design.reference) > 1:
        rule = "adjudicated by " + design.adjudicator if design.adjudicator else design.consensus
        notes.append(f"consensus: {rule} of {', '.join(design.reference)}")
        if design.consensus == "majority" and any(
            table.rule_on(grid.dimension, "majority") == "median" for grid in grids
        ):
            notes.append("a composite's scores are not grades, so its consensus is the median")
    if design.roles.jurors:
        quorum = table.jury_rule.quorum
        enough = "more than half" if quorum is None else f"{quorum} or more"
        jurors = ", ".join(design.roles.jurors)
        notes.append(f"jury: {table.jury_rule.rule} of {jurors}, where {enough} of them scored")
    if any(len(np.unique(grid.systems)) > 1 for grid in grids):
        notes.append(
            "pooled rows mix systems: read the between- and within-system rows beside them. The baseline "
            "predicts each reference score by the mean of the same system's other cases, cross-fitted in "
            "five folds of cases"
        )
    notes.append(
        "icc_3_k_z is consistency on z-scores, 2r/(1+r) for two raters, blind to any offset: read it with "
        "pearson and icc_2_1. It averages the references, then standardises; icc_3_k_z_raters_first standardises "
        "every rater over all of his or her items, then averages"
    )
    return tuple(notes)


def agreement(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    by: By = "dimension",
    level: AveragingLevel = "item",
    consensus: ConsensusRule | None = None,
    adjudicator: str | None = None,
    panel: str | None = None,
    severe: Names | None = None,
    threshold: float | None = None,
    gap: float | None = None,
    margin: float | None = None,
    statistics: Sequence[str] | None = None,
    singles: bool = True,
    groups: bool = True,
    short: bool = False,
) -> AgreementTable:
    """Compare raters with references; clinicians alone, or raters of whom none is called a judge, one with another.

    `table` is anything that `medjury.tables.rating_table` takes: a run folder, a file, a polars frame, `Rating`
    objects; scale, jury and repeats are settled there. The unit is one system's answer to one item; intervals
    resample whole patients, or items where no patient is named.

    With several references there is also their consensus, the references' own agreement on the same items, the
    judge as one more rater and in each one's place, the alternative-annotator test, and with a `margin` the
    non-inferiority test.

    - `raters`, `reference`: names; by default the judges, juries and metrics, against the clinicians.
    - `dimensions`: only these. `statistics`: only these names.
    - `by`: "dimension", "system" (each system too, and the system means), or "all" (dimensions pooled: a row for
      every answer and dimension that both scored, without dimensions that follow from others and without yes/no
      ones beside graded ones, unless they are named).
    - `level`: "item", "system" (the systems' means are the points) or "both".
    - `consensus`: "mean", "median", "majority", or "adjudicated" by `adjudicator`; by default the run's.
    - `panel`: a second panel that the others are compared with (win rate, severe errors); by default the run's.
    - `severe`: dimensions on which severe errors are counted: with scores turned so that low is dangerous, a
      reference of at most `threshold` and a rater at least `gap` higher. Both follow from the scale where they
      are not given. In a run folder the dimensions of its rules are the default, else none.
    - `margin`: of non-inferiority; in a run folder that of its rules is the default.
    - `singles`: with several references, compare with each of them too, and them with one another. Without it the
      consensus and the groups remain, in a fraction of the time.
    - `groups`: what is said of several references among themselves and of a rater among them. Without it, and
      without `singles`, each rater is compared with the consensus alone.
    - `short`: only the rows that `short_text` prints, in a fraction of the time.

    >>> import polars as pl
    >>> scores = {"human": [1, 2, 3, 4, 5, 3], "judge": [1, 2, 4, 4, 5, 2]}
    >>> rows = [(str(i), who, "accuracy", s) for who, all in scores.items() for i, s in enumerate(all)]
    >>> frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    >>> found = agreement(rating_table(frame, scale=(1, 5)), reference="human", resamples=200)
    >>> round(found.find("kappa_quadratic").estimate.value, 3)
    0.909
    """
    ratings = rating_table(table).with_weights
    # What is said of several raters among themselves counts rows, and has no weighted form.
    groups = groups and not ratings.weighted
    chosen = ratings.chosen(dimensions, derived=by != "all")
    apart: tuple[str, ...] = ()
    if by == "all" and dimensions is None:
        chosen, apart = pooled_together(chosen)
    design = make_design(
        ratings,
        chosen,
        raters=raters,
        reference=reference,
        by=by,
        level=level,
        consensus=consensus,
        adjudicator=adjudicator,
        panel=panel,
        severe=severe,
        threshold=threshold,
        gap=gap,
        margin=margin,
        settings=Settings(
            ratings.resamples(resamples),
            ratings.seed(seed),
            confidence,
            None if statistics is None else frozenset(statistics),
        ),
    )
    if short:
        design = replace(design, settings=replace(design.settings, statistics=shown_statistics(ratings)))
        singles = singles and not design.roles.raters
    unscored = _unscored(ratings, chosen, design)
    grids = [_with_consensus(ratings, grid, design, unscored) for grid in _grids(ratings, chosen, design)]
    _check_systems(grids, design)
    answers = max((len(grid.items) for grid in grids), default=0)
    among = (
        side_by_side([partial(beside_humans, grid, design) for grid in grids], answers=answers)
        if groups
        else [None] * len(grids)
    )
    tasks = [
        task
        for grid, each in zip(grids, among, strict=True)
        for task in _tasks(grid, each, design, singles, groups)
    ]
    made = [row for part in side_by_side(tasks, answers=answers) for row in part]
    rows = tuple(row for row in made if design.settings.wants(row.statistic))
    if not short:
        _check_statistics(design.settings, rows)
    warnings = [*ratings.warnings, *unequal_warning(ratings)]
    if not any(row.estimate.defined for row in rows):
        warnings.append(nothing_in_common(grids, design))
    return AgreementTable(
        rows,
        tuple(warnings),
        notes_on(ratings, grids, design, apart),
        unscored,
        ratings,
        design.roles,
        {
            (grid.dimension, rater): tested(found)
            for grid, each in zip(grids, among, strict=True)
            if each is not None
            for rater, found in each[1].items()
        },
        {
            (grid.dimension, rater): errors
            for grid in grids
            for rater, errors in severe_of(grid, design.main_reference, design).items()
        },
        confidence,
    )


def _grids(ratings: RatingTable, chosen: Sequence[Measured], design: Design) -> list[Grid]:
    """The grids to compare on, each with the units that somebody here was asked for."""
    if design.by == "all":
        made = [ratings.pooled(chosen, design.roles)]
    else:
        made = [ratings.grid(each.name, design.roles) for each in chosen]
    used = [*design.reference, *design.roles.raters, *([design.adjudicator] if design.adjudicator else [])]
    return [grid.where(np.any([grid.states[name] != ABSENT for name in used], axis=0)) for grid in made]


def _unscored(ratings: RatingTable, chosen: Sequence[Measured], design: Design) -> dict[str, dict[str, int]]:
    """What those who take part left unscored on these dimensions, the jury formed here among them."""
    import polars as pl

    parts = (*design.reference, *design.roles.raters, design.adjudicator)
    here = ratings.rows.filter(
        pl.col("dimension").is_in([each.name for each in chosen]), pl.col("rater").is_in(parts)
    )
    found = dict(ratings.where(here).unscored)
    if design.roles.jurors:
        lost: dict[str, int] = {}
        for each in chosen:
            votes = ratings.jury_votes(each.name, design.roles)
            for reason, count in votes[2].items() if votes is not None else ():
                lost[reason] = lost.get(reason, 0) + count
        found.pop(design.roles.jury, None)
        found |= {design.roles.jury: lost} if lost else {}
    return found


def _tasks(
    grid: Grid, among: AmongHumans | None, design: Design, singles: bool, groups: bool
) -> list[Callable[[], list[AgreementRow]]]:
    """What is to be computed for one grid, in the order of the table."""
    references = [*(design.reference if singles else ()), design.main_reference]
    tasks: list[Callable[[], list[AgreementRow]]] = []
    for reference in dict.fromkeys(references):
        for rater in design.roles.raters:
            if rater == reference:
                continue
            inside = reference == CONSENSUS and rater in design.reference
            note = "the consensus contains this rater, which raises the agreement" if inside else ""
            tasks.append(partial(pair_rows, grid, reference, rater, design, note=note))
        tasks.append(partial(severe_error_rows, grid, reference, design))
        tasks.append(partial(win_rate_rows, grid, reference, design))
    for first, second in combinations(design.reference if singles else (), 2):
        if second not in design.roles.raters:
            tasks.append(partial(pair_rows, grid, first, second, design))
    tasks += [
        partial(pair_rows, grid, without(name), name, design)
        for name in design.reference
        if singles and without(name) in grid.scores
    ]
    if not groups:
        return tasks
    return [*tasks, partial(standardised_rows, grid, design), partial(human_rows, grid, among, design)]


def _with_consensus(
    ratings: RatingTable, grid: Grid, design: Design, unscored: dict[str, dict[str, int]]
) -> Grid:
    """The grid with the references' consensus, and that of all but each of them, as raters of their own."""
    if len(design.reference) < 2:
        return grid
    ratings.weights(grid, design.reference)  # refuses what cannot be weighted together
    made = grid
    if len(design.reference) > 2 and design.adjudicator is None:
        # A human's own agreement with a consensus is with that of the others.
        for name in design.reference:
            rest = [each for each in design.reference if each != name]
            scores = ratings.consensus_scores(grid, rest, rule=design.consensus)
            made, _ = with_consensus(made, without(name), scores, rest)
    scores = ratings.consensus_scores(
        grid, design.reference, rule=design.consensus, adjudicator=design.adjudicator
    )
    made, lost = with_consensus(made, CONSENSUS, scores, design.reference)
    own = unscored.setdefault(CONSENSUS, {}) if lost else {}
    for reason, count in lost.items():
        own[reason] = own.get(reason, 0) + count
    return made


def _check_systems(grids: Sequence[Grid], design: Design) -> None:
    if design.by != "system" and design.level == "item":
        return
    if all(len(np.unique(grid.systems)) < 2 for grid in grids):
        raise MedjuryError(
            "the ratings name fewer than two systems, so there is nothing to average by system; add a column "
            "`system`, or ask for the level 'item'."
        )


def _check_statistics(settings: Settings, rows: Sequence[AgreementRow]) -> None:
    """A name that no statistic has is a slip of the pen; one that these ratings do not give is refused only where
    nothing else was asked for."""
    found = {row.statistic for row in rows}
    known = sorted({*ORDER, *BINARY, *BY_SYSTEM, *MANY_RATER_STATISTICS, RATERS_FIRST, "auc", *found})
    for name in sorted(set(settings.statistics or ()) - found):
        if name not in known or not found:
            hint = "these ratings do not give it" if name in known else nearest(name, known)
            raise MedjuryError(f"the table has no statistic {name!r}; {hint}")

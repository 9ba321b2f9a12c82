"""Two runs side by side: what was changed, what that did to scores and to agreement, with paired intervals."""

from __future__ import annotations

import os

from medjury.runs import check_files
from medjury.statistics import percent
from medjury.tables import RatingTable, open_run, rating_table
from medjury.validation._evidence import coverage_of, roles_of
from medjury.validation._runs.run_changes import Drawing, Side, changes_of, taken
from medjury.validation._runs.run_comparison import RunChange, RunComparison
from medjury.validation._runs.run_settings import setting_differences
from medjury.validation._validate import Validation, validate


def compare_runs(
    first: object,
    second: object,
    *,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> RunComparison:
    """Compare two run folders: two models, two prompts, two months. Numbers are compared on the answers that the
    juries of both runs scored, and agreement on those that clinicians rated in the same way in both."""
    one, two = _side(first), _side(second)
    aside = _development(one.table, two.table)
    drawing = Drawing(one.table.resamples(resamples), one.table.seed(seed), confidence, tuple(sorted(aside)))
    warnings = _warnings(one.table, two.table, len(aside))
    names = {each.name for each in two.table.counted}
    shared = [each for each in one.table.counted if each.name in names]
    rows: list[RunChange] = []
    for dimension in shared:
        other = two.table.dimension(dimension.name)
        if (other.grades and other.grades.values) != (dimension.grades and dimension.grades.values):
            warnings.append(f"{dimension.label}: the scales differ, so the scores are not compared")
            continue
        found, said = changes_of(one, two, dimension, drawing)
        rows += found
        warnings += said
    rows += taken(one, two, drawing)
    words = [_words(validate(side.table, resamples=resamples, seed=seed)) for side in (one, two)]
    labels = dict.fromkeys([*words[0], *words[1]])
    return RunComparison(
        _title(one.table),
        _title(two.table),
        setting_differences(one.table, two.table),
        tuple(
            (label, words[0].get(label, "not judged"), words[1].get(label, "not judged")) for label in labels
        ),
        tuple((each.label, _covered(one, each.name), _covered(two, each.name)) for each in shared),
        tuple(rows),
        tuple(warnings),
        one.table.by_patient,
        confidence,
    )


def _words(found: Validation) -> dict[str, str]:
    """The verdicts by dimension, and by jury where there are several."""
    several = len(found.raters) > 1
    return {
        f"{each.rater}, {each.label}" if several else each.label: str(each.word) for each in found.verdicts
    }


def _side(source: object) -> Side:
    table = open_run(source) if isinstance(source, str | os.PathLike) else rating_table(source)
    return Side(table, roles_of(table))


def _title(table: RatingTable) -> str:
    manifest = table.manifest
    if manifest is None:
        return "ratings of no run folder"
    return f"{manifest.run or table.folder} ({manifest.status}, finished {manifest.finished_at or 'never'})"


def _covered(side: Side, dimension: str) -> str:
    share, _, _ = coverage_of(side.table, side.table.grid(dimension, side.roles), side.roles.jury, side.roles)
    return percent(share, 1)


def _warnings(one: RatingTable, two: RatingTable, aside: int) -> list[str]:
    found = []
    for name, side in (("A", one), ("B", two)):
        found += _unsound(name, side)
    if aside:
        found.append(
            f"{aside:,} cases that served development in either run (tuning, examples) are left out of all "
            "changes: agreement on them proves nothing"
        )
    if one.manifest and two.manifest and one.manifest.data_hash != two.manifest.data_hash:
        found.append("the runs judged different data: only cases with the same name are compared, on trust")
    labels = [{each.label for each in side.counted} for side in (one, two)]
    for name, only in (("A", labels[0] - labels[1]), ("B", labels[1] - labels[0])):
        found += [f"only {name} has {', '.join(sorted(only))}"] if only else []
    return found


def _unsound(name: str, side: RatingTable) -> list[str]:
    if side.manifest is None or side.folder is None:
        return []
    found = [
        f"{name}: {check.what} {check.detail}"
        for check in check_files(side.folder, side.manifest)
        if not check.sound
    ]
    if side.manifest.status != "complete":
        found.append(f"{name} is {side.manifest.status}: {side.manifest.why}")
    return found


def _development(one: RatingTable, two: RatingTable) -> set[str]:
    """Cases that served development in one run serve no comparison with the other either."""
    named = {*one.rules.development_cases, *two.rules.development_cases}
    if not named:
        return set()
    return named & {item for side in (one, two) for item in side.everything["item"].unique().to_list()}

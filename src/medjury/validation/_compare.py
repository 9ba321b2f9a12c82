"""Two runs side by side: what was changed, what that did to scores and to agreement, with paired intervals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from medjury.agreement import difference_statistics, icc_statistics, kappa_statistics
from medjury.statistics import Replicates, combined, on_columns, percent, replicates, undefined
from medjury.tables import Grid, grades_of
from medjury.validation._comparison import Change, RunComparison
from medjury.validation._evidence import Evidence, Measured, read_run
from medjury.validation._gate import Verdict, coverage_of, judge_gate
from medjury.validation._numbers import compute, danger_limits, oriented
from medjury.validation._spending import AMOUNTS, spent, together

Floats = np.ndarray[Any, np.dtype[np.float64]]


def compare_runs(
    first: str | Path, second: str | Path, *, resamples: int = 2000, seed: int = 0
) -> RunComparison:
    """Compare two run folders: two models, two prompts, two months. Numbers are compared on the answers that the
    juries of both runs scored, and agreement on those that clinicians rated in the same way in both."""
    one, two = (read_run(Path(folder), resamples=resamples, seed=seed) for folder in (first, second))
    changes: list[Change] = []
    warnings = _warnings(one, two)
    names = {each.name for each in two.gated}
    shared = [each for each in one.gated if each.name in names]
    for dimension in shared:
        other = next(each for each in two.dimensions if each.name == dimension.name)
        if other.grades != dimension.grades:
            warnings.append(f"{dimension.label}: the scales differ, so the scores are not compared")
            continue
        found, said = _changes(one, two, dimension, resamples, seed)
        changes += found
        warnings += said
    changes += _taken(one, two, resamples, seed)
    return RunComparison(
        _title(one, first),
        _title(two, second),
        tuple(_settings(one.manifest, two.manifest)),
        tuple(_verdicts(one, two)),
        tuple(
            (each.label, *(percent(coverage_of(side, each.name)[0], 1) for side in (one, two)))  # type: ignore[misc]
            for each in shared
        ),
        tuple(changes),
        tuple(warnings),
    )


def _title(evidence: Evidence, folder: str | Path) -> str:
    manifest = evidence.manifest
    return (
        f"{manifest.get('run', folder)} ({manifest.get('status', '?')}, finished "
        f"{manifest.get('finished_at', 'never')})"
    )


def _settings(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    wanted: dict[str, Any] = {
        "medjury": lambda each: each.get("medjury"),
        "data": lambda each: str(each.get("data_hash"))[:12],
        "answers": lambda each: each.get("cases"),
        "instrument": lambda each: (
            f"{each.get('instrument', {}).get('name')} {each.get('instrument', {}).get('version')}"
        ),
        "instrument's words": lambda each: str(each.get("instrument", {}).get("fingerprint"))[:12],
        "prompt": lambda each: each.get("prompt_version"),
        "judges": lambda each: ", ".join(
            f"{judge.get('name')} ({_models(judge)})" for judge in each.get("judges", ())
        ),
        "ways of judging": lambda each: ", ".join(
            f"{judge.get('name')}: {judge.get('strategy', 'single')}" for judge in each.get("judges", ())
        ),
        "judges' settings": lambda each: ", ".join(
            str(judge.get("settings_hash"))[:8] for judge in each.get("judges", ())
        ),
        "jury": lambda each: (
            f"{each.get('jury', {}).get('rule')}, repeats: {each.get('jury', {}).get('repeats')}"
        ),
        "redacted": lambda each: each.get("redacted"),
        "calls": lambda each: each.get("calls"),
        "cost": lambda each: "not known" if each.get("cost") is None else f"{each['cost']:.4g}",
    }
    found = [(name, str(read(one)), str(read(two))) for name, read in wanted.items()]
    return [row for row in found if row[1] != row[2]]


def _models(judge: Mapping[str, Any]) -> str:
    return "/".join(str(model.get("model") or model.get("name")) for model in judge.get("models", ()))


def _verdicts(one: Evidence, two: Evidence) -> list[tuple[str, str, str]]:
    words: list[dict[str, Verdict]] = [
        {verdict.label: verdict for verdict in judge_gate(side, compute(side))} for side in (one, two)
    ]
    labels = dict.fromkeys([*words[0], *words[1]])
    return [
        (label, *(side[label].word if label in side else "not judged" for side in words))  # type: ignore[misc]
        for label in labels
    ]


def _warnings(one: Evidence, two: Evidence) -> list[str]:
    found = []
    for name, side in (("A", one), ("B", two)):
        found += [f"{name}: {check.what} {check.detail}" for check in side.checks if not check.sound]
        if side.manifest.get("status") != "complete":
            found.append(f"{name} is {side.manifest.get('status')}: {side.manifest.get('why', '')}")
    aside = _development(one, two)
    if aside:
        found.append(
            f"{len(aside):,} cases that served development in either run (tuning, examples) are left out of all "
            "changes: agreement on them proves nothing"
        )
    if one.manifest.get("data_hash") != two.manifest.get("data_hash"):
        found.append("the runs judged different data: only cases with the same name are compared, on trust")
    only = [
        sorted({each.label for each in side.gated} - {each.label for each in other.gated})
        for side, other in ((one, two), (two, one))
    ]
    found += [
        f"only {name} has {', '.join(labels)}" for name, labels in zip("AB", only, strict=True) if labels
    ]
    return found


def _development(one: Evidence, two: Evidence) -> set[str]:
    """Cases that served development in one run serve no comparison with the other either."""
    named = {*one.rules.development_cases, *two.rules.development_cases}
    return {
        item
        for side in (one, two)
        for grid in side.grids.values()
        for item in named & set(grid.items.tolist())
    }


def _changes(
    one: Evidence, two: Evidence, dimension: Measured, resamples: int, seed: int
) -> tuple[list[Change], list[str]]:
    rows, clusters, left, differing = _paired(one, two, dimension)
    warnings = (
        [f"{dimension.label}: {left:,} answers were scored in one run only and are left out"] if left else []
    )
    if differing:
        warnings.append(
            f"{dimension.label}: clinicians rate {differing:,} answers differently in the two runs"
        )
    if not len(rows):
        nothing = undefined("no answer was scored in both runs", 0, "none")
        return [Change(dimension.label, "mean score", nothing, nothing, nothing)], warnings
    made = replicates(rows[:, :2], _means, clusters=clusters, resamples=resamples, seed=seed)
    found = [_change(made, dimension.label, "mean score", "first mean", "second mean")]
    rated = ~np.isnan(rows[:, 2])
    if rated.any():
        here, cases = rows[rated], clusters[rated]
        parts = [
            on_columns(statistics, (2, column), f"{side} ")
            for column, side in ((0, "first"), (1, "second"))
            for statistics in (
                difference_statistics(["absolute_offset", "rmse"]),
                icc_statistics(["icc_2_1"]),
            )
        ]
        agreed = replicates(here, combined(*parts), clusters=cases, resamples=resamples, seed=seed)
        names = {
            "rmse": "RMSE against clinicians",
            "absolute_offset": "size of the offset",
            "icc_2_1": "ICC(2,1) with clinicians",
        }
        found += [
            _change(agreed, dimension.label, words, f"first {name}", f"second {name}")
            for name, words in names.items()
        ]
        if dimension.grades is not None:
            found += _graded(one, dimension, here, cases, resamples, seed)
    return found, warnings


def _graded(
    evidence: Evidence, dimension: Measured, rows: Floats, clusters: Any, resamples: int, seed: int
) -> list[Change]:
    grades = grades_of(dimension.grades or ())
    kappa = kappa_statistics(grades.values, ["quadratic"])
    both = combined(
        *(on_columns(kappa, (2, column), f"{side} ") for column, side in ((0, "first"), (1, "second")))
    )
    made = replicates(grades.grade(rows), both, clusters=clusters, resamples=resamples, seed=seed)
    found = [
        _change(
            made,
            dimension.label,
            "weighted kappa with clinicians",
            "first kappa_quadratic",
            "second kappa_quadratic",
        )
    ]
    limits = danger_limits(evidence, dimension)
    turned = np.column_stack([oriented(rows[:, column], dimension) for column in range(3)])
    dangerous = turned[:, 2] <= (limits[0] if limits else -np.inf)
    if limits is not None and dangerous.any():
        errors = (turned[dangerous][:, :2] - turned[dangerous][:, 2:] >= limits[1] - 1e-9).astype(float)
        rates = replicates(errors, _means, clusters=clusters[dangerous], resamples=resamples, seed=seed)
        found.append(_change(rates, dimension.label, "rate of severe errors", "first mean", "second mean"))
    return found


def _change(made: Replicates, label: str, what: str, first: str, second: str) -> Change:
    reason = "a rater does not vary"
    difference = made.difference(second, first)
    return Change(
        label,
        what,
        made.estimate(first, reason=reason),
        made.estimate(second, reason=reason),
        difference,
    )


def _taken(one: Evidence, two: Evidence, resamples: int, seed: int) -> list[Change]:
    """Calls, seconds and cost per answer, all judges and dimensions together, on the answers of both runs whose
    amount both runs know."""
    sides = together(spent(one)).join(together(spent(two)), on=["item", "system"], suffix=" again")
    found = []
    for amount in AMOUNTS:
        known = sides.drop_nulls([amount, f"{amount} again"])
        if known.height:
            # An answer often costs too little for two decimals.
            times, per = (1000, "1,000 answers") if amount == "cost" else (1, "answer")
            rows = times * known.select(amount, f"{amount} again").to_numpy()
            cases = known["item"].to_numpy()
            made = replicates(rows, _means, clusters=cases, resamples=resamples, seed=seed)
            found.append(_change(made, "all dimensions", f"{amount} per {per}", "first mean", "second mean"))
    return found


def _means(rows: Floats) -> Any:
    def read(weights: Floats) -> dict[str, Floats]:
        sums = weights @ rows / weights.sum(axis=-1, keepdims=True)
        return {"first mean": sums[..., 0], "second mean": sums[..., 1]}

    return read


def _paired(one: Evidence, two: Evidence, dimension: Measured) -> tuple[Floats, Any, int, int]:
    """Rows [first, second, clinicians] of the held-out answers both juries scored, their cases, how many only one
    scored, and how many clinicians rated differently (they count for no agreement)."""
    aside = list(_development(one, two))
    sides = []
    for side in (one, two):
        grid = side.grids[dimension.name]
        sides.append(_by_unit(side, grid.where(~np.isin(grid.items, aside))))
    shared = sorted(set(sides[0]) & set(sides[1]))
    left = len(set(sides[0]) ^ set(sides[1]))
    rows, clusters, differing = [], [], 0
    for unit in shared:
        (said, human, cluster), (other, again, _) = sides[0][unit], sides[1][unit]
        same = human == again or (np.isnan(human) and np.isnan(again))
        # Clinicians who rated in one run only rated the same answer.
        known = again if np.isnan(human) else human
        differing += not same and not np.isnan(human) and not np.isnan(again)
        usable = same or np.isnan(human) or np.isnan(again)
        rows.append((said, other, known if usable else np.nan))
        clusters.append(cluster)
    return np.asarray(rows, dtype=float).reshape(-1, 3), np.asarray(clusters, dtype=object), left, differing


def _by_unit(evidence: Evidence, grid: Grid) -> dict[tuple[str, str], tuple[float, float, str]]:
    said, human = grid.scores[evidence.jury], evidence.reference(grid)
    return {
        (str(item), str(system)): (float(score), float(wanted), str(cluster))
        for item, system, cluster, score, wanted in zip(
            grid.items, grid.systems, grid.clusters, said, human, strict=True
        )
        if not np.isnan(score)
    }

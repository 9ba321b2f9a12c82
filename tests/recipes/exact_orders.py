"""Calibration and orders of systems made a second time, on the same resamples; see `same_draws`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from tests.recipes.compared import amount
from tests.recipes.exact_checks import both_vary, resamples_of
from tests.recipes.rated import Answer, Grading, Rated
from tests.recipes.same_draws import equals, has_no_ends, same_draws
from tests.recipes.second_opinion import Numbers, Statistic, per_row, rmse, spearman


def ranking_is_right(rated: Rated, rater: str, dimension: str) -> None:
    """The table `ranking` of one rater and dimension, where every system answered every case."""
    scores = rated.scores[rater, dimension]
    systems = sorted({system for _, system in scores})
    cases = sorted({item for item, _ in scores})
    table = np.array([[scores[item, system] for system in systems] for item in cases])
    rows_of = rated.table("ranking")
    draws = same_draws(np.hstack([table, np.ones_like(table)]), None, resamples_of(rows_of))

    def wins(w: Numbers, place: int) -> Numbers:
        means = w @ table / w.sum(axis=1, keepdims=True)
        gap = np.round(means[:, [place]] - np.delete(means, place, axis=1), 12)
        return ((gap > 0) + (gap == 0) / 2).mean(axis=1)

    for row in rows_of:
        place = systems.index(row["system"])
        assert equals(row, "mean score", per_row(table[:, place]), draws, "as it is")
        has_no_ends(row, "win rate", float(wins(np.ones((1, len(table))), place)[0]))
        mine = table.mean(axis=0)
        assert amount(row["rank"]) == 1 + np.sum(mine > mine[place] + 1e-12)
        assert (amount(row["scores"]), amount(row["unscored"])) == (len(cases), 0)


def calibration_is_right(
    rated: Rated,
    labels: Mapping[str, str],
    grading: Grading,
    made: Callable[[str], tuple[Numbers, Numbers, Numbers, Numbers, Sequence[object]]],
) -> None:
    """The table `calibration`; `made` gives the fold, the reference, both scores and the case of every answer."""
    names = {label: name for name, label in labels.items()}
    rows_of = rated.table("calibration")
    times = resamples_of(rows_of)
    for row in rows_of:
        fold, reference, before, after, whose = made(names[row["dimension"]])
        graded = [grading("")(side) for side in (reference, before, after)]
        fold = np.unique(fold, return_inverse=True)[1].astype(float)
        draws = same_draws(np.column_stack([fold, reference, before, after, *graded]), whose, times)

        def within(side: Numbers, fold: Numbers = fold, reference: Numbers = reference) -> Statistic:
            parts = [fold == number for number in np.unique(fold)]

            def read(w: Numbers) -> Numbers:
                values = np.array([spearman(reference[part], side[part])(w[:, part]) for part in parts])
                sizes = np.array([w[:, part].sum(axis=1) for part in parts]) * ~np.isnan(values)
                return np.where(np.isnan(values), 0, values * sizes).sum(axis=0) / sizes.sum(axis=0)

            return read

        sides: dict[str, Statistic]
        sides, scale, least = {
            "offset": ({"a": per_row(before - reference), "b": per_row(after - reference)}, "as it is", 10),
            "RMSE": ({"a": rmse(reference, before), "b": rmse(reference, after)}, "size", 30),
            "Spearman's rho": ({"a": within(before), "b": within(after)}, "coefficient", 10),
            "weighted kappa": (
                {"a": both_vary(graded[0], graded[1]), "b": both_vary(graded[0], graded[2])},
                "coefficient",
                10,
            ),
        }[row["statistic"]]
        assert amount(row["n"]) == len(reference)
        equals(row, "as scored", sides["a"], draws, scale, least)
        # Of fewer cases after calibration there is no interval: it held too seldom, or too often.
        cases = {"offset": 10, "RMSE": 50, "Spearman's rho": 50, "weighted kappa": 60}[row["statistic"]]
        folds = len(np.unique(fold)) if row["statistic"] in ("RMSE", "weighted kappa") else None
        change = lambda w, s=sides: s["b"](w) - s["a"](w)  # noqa: E731
        equals(unstretched(row, "calibrated", folds), "calibrated", sides["b"], draws, scale, least, cases)
        equals(unstretched(row, "change", folds), "change", change, draws, "as it is", least, cases)


def unstretched(row: Mapping[str, str], column: str, folds: int | None) -> Mapping[str, str]:
    """The row with the ends that it had before they were stretched for folds whose maps learned from each other."""
    if folds is None or not row[f"{column} low"]:
        return row
    by = np.sqrt(1 + 1 / (folds - 1))
    assert f"stretched by {by:.3f}" in row[f"{column} method"], row
    value = amount(row[column])
    ends = {f"{column} {end}": amount(row[f"{column} {end}"]) for end in ("low", "high")}
    return {**row, **{name: str(value + (end - value) / by) for name, end in ends.items()}}


def orders_are_right(
    rated: Rated, table: str, panel: Mapping[Answer, float], raters: Mapping[str, Mapping[Answer, float]]
) -> None:
    """The tables `ranking-agreement` and `ranking-agreement-calibrated`: tau-b of the systems' means by each rater
    and by the panel, on the answers that both scored."""
    for row in rated.table(table):
        sides = [raters[row["rater"]], panel]
        shared = sorted(sides[0].keys() & panel.keys())
        systems = sorted({system for _, system in shared})
        cases = sorted({item for item, _ in shared})
        parts = []
        for side in sides:
            sums, counts = np.zeros((len(cases), len(systems))), np.zeros((len(cases), len(systems)))
            for item, system in shared:
                sums[cases.index(item), systems.index(system)] += side[item, system]
                counts[cases.index(item), systems.index(system)] += 1
            parts += [sums, counts]
        pairs = np.triu_indices(len(systems), 1)

        def order(
            w: Numbers, place: int, parts: Sequence[Numbers] = parts, pairs: tuple[Numbers, Numbers] = pairs
        ) -> Numbers:
            means = (w @ parts[2 * place]) / (w @ parts[2 * place + 1])
            gap = means[:, pairs[0]] - means[:, pairs[1]]
            return np.where(np.abs(gap) <= 1e-12, 0.0, np.sign(gap))

        def tau(w: Numbers, order: Callable[..., Numbers] = order) -> Numbers:
            one, two = order(w, 0), order(w, 1)
            untied = (one**2).sum(axis=1) * (two**2).sum(axis=1)
            return (one * two).sum(axis=1) / np.sqrt(np.where(untied > 0, untied, np.nan))

        everybody = np.ones((1, len(cases)))
        both = (order(everybody, 0) * order(everybody, 1))[0]
        alike = [amount(row[f"pairs {word}"]) for word in ("alike", "against", "tied")]
        assert alike == [int((both > 0).sum()), int((both < 0).sum()), int((both == 0).sum())]
        assert amount(row["systems"]) == len(systems)
        with np.errstate(all="ignore"):
            has_no_ends(row, "Kendall's tau-b", float(tau(everybody)[0]))

"""Tables of a report whose every value and end is made a second time, on the same resamples; see `same_draws`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.rated import Grading, Rated
from tests.recipes.same_draws import Draws, equals, same_draws
from tests.recipes.second_opinion import Numbers, Statistic, per_row, rmse, spearman, weighted_kappa


def resamples_of(rows: Sequence[Mapping[str, str]]) -> int:
    """How many the report says it drew; it says the same in every row."""
    told = {
        int(found) for row in rows for each in row.values() for found in re.findall(r"(\d+) resamples", each)
    }
    (found,) = told or {1}
    return found


def pair_rows(rated: Rated, rater: str, dimension: str) -> tuple[Numbers, list[str]]:
    """Rows of a pair: both scores, the system where there are two or more, and one of five folds of cases."""
    reference, given = rated.reference(dimension), rated.scores.get((rater, dimension), {})
    shared = sorted(reference.keys() & given.keys())
    rows = np.array([[reference[each], given[each]] for each in shared])
    whose = np.array([rated.patients[item] for item, _ in shared])
    systems = np.unique([system for _, system in shared], return_inverse=True)[1]
    if systems.max() > 0:
        names, place = np.unique(whose, return_inverse=True)
        fold = np.random.default_rng(0).permutation(len(names)) % min(5, len(names))
        rows = np.column_stack([rows, systems, fold[place]])
    return rows, whose.tolist()


def pair_draws(rated: Rated, rater: str, dimension: str, resamples: int) -> tuple[Numbers, Numbers, Draws]:
    """Both raters' scores, and the report's resamples of them."""
    rows, whose = pair_rows(rated, rater, dimension)
    return rows[:, 0], rows[:, 1], same_draws(rows, whose, resamples)


def ordinal_alpha(x: Numbers, y: Numbers, grades: Sequence[float]) -> Statistic:
    """One less observed over expected squared distance, which is the number of values between two grades."""
    one, two = (np.array([side == grade for grade in grades], dtype=float) for side in (x, y))

    def read(w: Numbers) -> Numbers:
        counts = w @ (one + two).T
        middle = np.cumsum(counts, axis=1) - counts / 2
        everybody = counts.sum(axis=1)
        mean = (counts * middle).sum(axis=1) / everybody
        expected = 2 * (counts * (middle - mean[:, None]) ** 2).sum(axis=1) / (everybody - 1)
        apart = (w * (middle @ one - middle @ two) ** 2).sum(axis=1) / w.sum(axis=1)
        return 1 - apart / np.where(expected > 1e-12, expected, np.nan)

    return read


def gwet_ac2(x: Numbers, y: Numbers, grades: Sequence[float]) -> Statistic:
    levels = np.asarray(grades, dtype=float)
    credit = 1 - (levels[:, None] - levels) ** 2 / (levels[-1] - levels[0]) ** 2
    seen = 1 - (x - y) ** 2 / (levels[-1] - levels[0]) ** 2
    half = np.array([(x == grade) * 0.5 + (y == grade) * 0.5 for grade in levels])

    def read(w: Numbers) -> Numbers:
        n = w.sum(axis=1)
        share = w @ half.T / n[:, None]
        chance = credit.sum() / (len(levels) * (len(levels) - 1)) * (share * (1 - share)).sum(axis=1)
        return (w @ seen / n - chance) / (1 - chance)

    return read


def other_coefficients_are_right(
    rated: Rated, labels: Mapping[str, str], grading: Grading, grades: Mapping[str, Sequence[float]]
) -> None:
    """The table `agreement-other-coefficients`."""
    names, compared = {label: name for name, label in labels.items()}, 0
    rows_of = rated.table("agreement-other-coefficients")
    times = resamples_of(rows_of)
    for row in rows_of:
        name = names[row["dimension"]]
        if name not in grades or not len(rated.both(row["rater"], name)[0]):
            assert not row["Krippendorff's alpha"] and not row["Gwet's AC2"]
            continue
        x, y, draws = pair_draws(rated, row["rater"], name, times)
        one, two = grading(name)(x), grading(name)(y)
        compared += equals(
            row, "Krippendorff's alpha", ordinal_alpha(one, two, grades[name]), draws, "coefficient"
        )
        compared += equals(
            row, "Gwet's AC2", gwet_ac2(one, two, grades[name]), draws, "coefficient", least=30
        )
    assert compared


def consistency_is_right(
    rated: Rated, names: Sequence[str], turned: Sequence[str], scales: Mapping[str, tuple[float, float]]
) -> None:
    """The table `internal-consistency`: k / (k − 1) times what the variances of the parts leave of the sum's."""
    rows_of = rated.table("internal-consistency")
    for row in rows_of:
        columns = [rated.scores.get((str(row["rater"]), name), {}) for name in names]
        whole = sorted(set.intersection(*map(set, columns)))
        sides = [
            np.array([sum(scales[name]) - own[each] if name in turned else own[each] for each in whole])
            for name, own in zip(names, columns, strict=True)
        ]
        parts = np.column_stack([side - side.mean() for side in sides])

        def alpha(w: Numbers, parts: Numbers = parts) -> Numbers:
            n = w.sum(axis=1)

            def spread(x: Numbers) -> Numbers:
                return w @ x**2 / n - (w @ x / n) ** 2

            k, total = parts.shape[1], spread(parts.sum(axis=1))
            lost = sum(spread(column) for column in parts.T) / np.where(total > 1e-12, total, np.nan)
            return k / (k - 1) * (1 - lost)

        assert amount(row["answers"]) == len(whole)
        draws = same_draws(
            np.column_stack(sides), [rated.patients[item] for item, _ in whole], resamples_of(rows_of)
        )
        equals(row, "Cronbach's alpha", alpha, draws, "of means")


def kendall(x: Numbers, y: Numbers) -> Statistic:
    """Tau-b: pairs of answers in the same order less pairs in the other, over the root of the pairs not tied."""
    values = np.round(x, 12)
    one, two = np.sign(values[:, None] - values), np.sign(y[:, None] - y)

    def read(w: Numbers) -> Numbers:
        sums = [np.einsum("bi,bi->b", w @ part, w) for part in (one * two, one**2, two**2)]
        return sums[0] / np.sqrt(sums[1] * sums[2])

    return read


def text_metrics_are_right(rated: Rated, dimension: str, errors: Sequence[str]) -> None:
    """The table `text-metrics`; `errors` are metrics of which less is better."""
    rows_of = rated.table("text-metrics")
    times = resamples_of(rows_of)
    for row in rows_of:
        truth, values, whose = rated.both(row["metric"], dimension)
        better = 1 - values if row["metric"] in errors else values
        worst, safe = (truth == 2).astype(float), (truth == 0).astype(float)

        def enriched(
            w: Numbers, b: Numbers = better, worst: Numbers = worst, safe: Numbers = safe
        ) -> Numbers:
            return w @ (worst * b) / (w @ worst) - w @ (safe * b) / (w @ safe)

        drawn = same_draws(np.column_stack([truth, better]), whose, times)
        assert equals(row, "enrichment (2 − 0)", enriched, drawn, "as it is")
        drawn = same_draws(np.column_stack([values, truth]), whose, times)
        assert equals(row, "Kendall's tau-b", kendall(values, truth), drawn, "coefficient")
        answers = rated.statuses[row["metric"], dimension].values()
        assert amount(row["answers"]) == len(truth)
        seen = [
            (one < two) + (one == two) / 2
            for one in np.round(better[truth == 2], 9)
            for two in np.round(better[truth == 0], 9)
        ]
        assert amount(row["harm called worse"]) == pytest.approx(np.mean(seen), abs=1e-9)
        assert amount(row["metric undefined"]) == sum("scored" not in each for each in answers)
        assert amount(row["clinicians differ"]) == len(answers) - len(rated.reference(dimension))


def both_vary(x: Numbers, y: Numbers) -> Statistic:
    """Weighted kappa, which does not exist with a rater who always says the same."""

    def read(w: Numbers) -> Numbers:
        n = w.sum(axis=1)
        varied = [w @ side**2 / n - (w @ side / n) ** 2 > 1e-12 for side in (x, y)]
        return np.where(varied[0] & varied[1], weighted_kappa(x, y)(w), np.nan)

    return read


def second_panel_is_right(
    rated: Rated,
    labels: Mapping[str, str],
    grading: Grading,
    panel: str,
    calibrated: Mapping[tuple[str, str], Mapping[tuple[str, str], float]],
) -> None:
    """The tables `second-panel` and `second-panel-before-after`: the share of resamples in which the rater is
    nearer, half for a tie, and how much nearer, offsets with the resamples' plain quantiles."""
    names = {label: name for name, label in labels.items()}
    found = {}
    rows_of = rated.table("second-panel")
    times = resamples_of(rows_of)
    for row in rows_of:
        name = names[row["dimension"]]
        sides = [rated.reference(name), rated.scores.get((panel, name), {})]
        own = rated.scores if row["scores"] == "as scored" else calibrated
        sides.insert(1, own.get((row["rater"], name), {}))
        shared = sorted(set.intersection(*(set(side) for side in sides)))
        reference, given, other = (np.array([side[each] for each in shared]) for side in sides)
        whose = [rated.patients[item] for item, _ in shared]
        turned = grading(name)

        def nearer(
            w: Numbers, side: Numbers, metric: str = row["metric"], r: Numbers = reference, turned=turned
        ) -> Numbers:  # type: ignore[no-untyped-def]
            if metric == "offset":
                return -np.abs(per_row(side - r)(w))
            if metric == "RMSE":
                return -rmse(r, side)(w)
            return (
                spearman(r, side)(w) if metric == "Spearman's rho" else both_vary(turned(r), turned(side))(w)
            )

        method = row["how much nearer method"]
        draws = same_draws(np.column_stack([reference, given, other]), whose, times)
        everybody = np.ones((1, len(shared)))
        with np.errstate(all="ignore"):
            value, made = (nearer(w, given) - nearer(w, other) for w in (everybody, draws.resampled))
        known = made[np.isfinite(made)]
        assert amount(row["n"]) == len(shared)
        assert amount(row["how much nearer"]) == pytest.approx(float(value[0]), abs=1e-9), row
        rate = (np.sum(known > 1e-9) + np.sum(np.abs(known) <= 1e-9) / 2) / len(known)
        assert amount(row["win rate (%)"]) == pytest.approx(100 * rate, abs=1e-9), row
        if row["metric"] != "offset":
            closer = lambda w, g=given, o=other: nearer(w, g) - nearer(w, o)  # noqa: E731
            least = 30 if row["metric"] == "RMSE" else 10
            equals(row, "how much nearer", closer, draws, "as it is", least)
        elif len(made) - len(known) > 0.05 * len(made):
            assert not row["how much nearer low"] and f"undefined in {len(made) - len(known)} of" in method
        else:
            low, high = np.quantile(known, [0.025, 0.975])
            assert amount(row["how much nearer low"]) == pytest.approx(low, abs=1e-9), row
            assert amount(row["how much nearer high"]) == pytest.approx(high, abs=1e-9), row
        found[row["dimension"], row["metric"], row["rater"], row["scores"]] = row
    for row in rated.table("second-panel-before-after"):
        for start, share, stage in (
            ("", "win rate as scored (%)", "as scored"),
            ("calibrated: ", "calibrated (%)", "calibrated"),
        ):
            same = found.get((row["dimension"], row["metric"], "jury", stage), defaultdict(str))
            assert row[share] == same["win rate (%)"]
            assert stage == "calibrated" or row["n"] == same["n"]
            for end in ("", " low", " high", " method"):
                assert row.get(f"{start}how much nearer{end}", "") == same[f"how much nearer{end}"]

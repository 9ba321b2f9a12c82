"""Spreads of repeats and ICCs of z-scores made a second time, on the same resamples; see `same_draws`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.exact_baseline import few_shared, mean_of_pairs, pooled_moments, refused
from tests.recipes.exact_checks import pair_draws, resamples_of
from tests.recipes.exact_people import of_people
from tests.recipes.rated import Answer, Rated
from tests.recipes.same_draws import ends, equals, has_no_ends, same_draws
from tests.recipes.second_opinion import Numbers, Statistic, per_row
from tests.recipes.share_checks import exact, wilson


def stability_is_right(
    rated: Rated,
    labels: Mapping[str, str],
    table: str,
    who: str,
    drawn: Mapping[tuple[str, str], Mapping[tuple[str, str], Sequence[float]]],
) -> None:
    """The tables `stability` and `stability-people`, from every score of an answer by rater and dimension."""
    names = {label: name for name, label in labels.items()}
    rows_of = rated.table(table)
    times = resamples_of(rows_of)
    for row in rows_of:
        own = {
            each: scores
            for each, scores in drawn[row[who], names[row["dimension"]]].items()
            if len(scores) > 1
        }
        features: dict[str, Numbers] = defaultdict(lambda: np.zeros(7))
        for (item, _), scores in own.items():
            sd, mean = float(np.std(scores, ddof=1)), float(np.mean(scores))
            differ = np.mean([a != b for a, b in combinations(scores, 2)])
            features[rated.patients[item]] += np.round(
                [1, sd, sd**2, sd / mean if mean > 0 else 0, mean > 0, differ, len({*scores}) > 1], 12
            )
        rows = np.array([features[each] for each in sorted(features)])
        draws = same_draws(rows, None, times)
        assert amount(row["answers"]) == len(own)
        spread: dict[str, tuple[Statistic, str]] = {
            "SD within an answer": (lambda w, r=rows: np.sqrt(w @ r[:, 2] / (w @ r[:, 0])), "size"),
            "mean CV": (lambda w, r=rows: w @ r[:, 3] / (w @ r[:, 4]), "spread"),
            "two repeats differ": (lambda w, r=rows: w @ r[:, 5] / (w @ r[:, 0]), "part"),
        }
        few = int((rows[:, 1] > 0).sum())
        for column, (statistic, scale) in spread.items():
            if 0 < few < 5:
                has_no_ends(row, column, float(statistic(np.ones((1, len(rows))))[0]))
            else:
                equals(row, column, statistic, draws, scale)
        change = rows[:, 6].sum()
        if len(own) > len(rows):
            equals(row, "answers that change", lambda w, r=rows: w @ r[:, 6] / (w @ r[:, 0]), draws, "part")
        else:
            wanted = wilson(change, len(own)) if 0 < change < len(own) else exact(change, len(own))
            shown = [amount(row[f"answers that change{end}"]) for end in ("", " low", " high")]
            assert shown == pytest.approx([change / len(own), *wanted], abs=1e-9), row


def single_answers_are_right(
    rated: Rated, labels: Mapping[str, str], drawn: Mapping[tuple[str, str], Mapping[Answer, Sequence[float]]]
) -> None:
    """The table `stability-by-answer`: a row for each answer that a judge scored more than once."""
    names, rows = {label: name for name, label in labels.items()}, rated.table("stability-by-answer")
    whole = {(str(row["judge"]), names[row["dimension"]]) for row in rated.table("stability")}
    again = {
        (*both, " · ".join(filter(None, answer))): scores
        for both in whole
        for answer, scores in drawn[both].items()
        if len(scores) > 1
    }
    assert len(rows) == len(again)
    for row in rows:
        scores = again[str(row["judge"]), names[row["dimension"]], str(row["case"])]
        mean, sd = np.mean(scores), np.std(scores, ddof=1)
        assert amount(row["repeats"]) == len(scores)
        assert amount(row["mean"]) == pytest.approx(mean) and amount(row["SD"]) == pytest.approx(sd, abs=1e-9)
        assert amount(row["CV"]) == pytest.approx(sd / mean, abs=1e-9) if mean else not row["CV"]


def icc_of_z(x: Numbers, y: Numbers) -> Statistic:
    """ICC(3,2) of two standardised columns, of which only their correlation is left: 2r / (1 + r)."""

    def read(w: Numbers) -> Numbers:
        n = w.sum(axis=1)
        one, two = x - x.mean(), y - y.mean()

        def moment(a: Numbers, b: Numbers) -> Numbers:
            return w @ (a * b) / n - (w @ a) * (w @ b) / n**2

        spread = moment(one, one) * moment(two, two)
        r = moment(one, two) / np.sqrt(np.where(spread > 1e-18, spread, np.nan))
        return 2 * r / (1 + r)

    return read


def icc_of_own_z(people: Numbers, rater: Numbers) -> Statistic:
    """Each person standardised over all that he or she scored, averaged by answer, beside the rater's z-score."""
    table = np.column_stack([people, rater])
    there = (~np.isnan(table)).astype(float)
    scores = np.where(there > 0, table - np.nanmean(table, axis=0), 0.0)

    def some(w: Numbers) -> Numbers:
        n = w @ there
        mean = w @ scores / n
        sd = np.sqrt((w @ scores**2 - n * mean**2) / (n - 1))
        varies = (n > 1) & (sd > 1e-5)  # what rounding leaves of equal scores is no spread
        voices = varies[:, :-1].astype(float) @ there[:, :-1].T
        slope, middle = np.where(varies, 1 / sd, 0.0), np.where(varies, mean / sd, 0.0)
        group = (slope[:, :-1] @ scores[:, :-1].T - middle[:, :-1] @ there[:, :-1].T) / voices
        own = slope[:, -1:] * scores[:, -1] - middle[:, -1:]
        heard = (voices > 0) & (there[:, -1] > 0) & varies[:, -1:]
        weight, level, gap = (
            np.where(heard, w, 0.0),
            np.where(heard, group + own, 0.0),
            np.where(heard, own - group, 0.0),
        )

        def spread(values: Numbers) -> Numbers:
            return (weight * values**2).sum(axis=1) - (weight * values).sum(axis=1) ** 2 / weight.sum(axis=1)

        # Of two columns, twice the mean squares between and within answers.
        between, rest = spread(level), spread(gap)
        return (between - rest) / np.where(between > 1e-12, between, np.nan)

    return lambda w: np.concatenate([some(w[start : start + 250]) for start in range(0, len(w), 250)])


def standardised_is_right(rated: Rated, labels: Mapping[str, str], people: Sequence[str]) -> None:
    """The table `standardised`."""
    names = {label: name for name, label in labels.items()}
    rows_of = rated.table("standardised")
    times = resamples_of(rows_of)
    for row in rows_of:
        name = names[row["dimension"]]
        if row["rater"] == "clinicians with one another":
            with_one_another(row, *rated_twice(rated, name, people), len(people), times)
            continue
        x, y, draws = pair_draws(rated, row["rater"], name, times)
        assert amount(row["n"]) == len(x)
        assert equals(row, "averaged first", icc_of_z(x, y), draws, "of means")
        everybody = sorted(
            {each for (_, own), scores in rated.scores.items() if own == name for each in scores}
        )
        table = np.array(
            [
                [rated.scores.get((who, name), {}).get(each, np.nan) for who in (*people, row["rater"])]
                for each in everybody
            ]
        )
        whose = [rated.patients[item] for item, _ in everybody]
        draws = same_draws(table, whose, times)
        assert equals(row, "each rater first", icc_of_own_z(table[:, :-1], table[:, -1]), draws, "of means")


def rated_twice(rated: Rated, name: str, people: Sequence[str]) -> tuple[Numbers, list[str]]:
    """Scores of the clinicians, and of the judges beside them, on all answers that a clinician scored."""
    judges = sorted({row["rater"] for row in rated.rows("ratings.csv") if row["rater_kind"] == "judge"})
    table, whose = of_people(rated, name, [*people, *judges])
    known = ~np.isnan(table[:, : len(people)]).all(axis=1)
    return table[known], [each for each, here in zip(whose, known, strict=True) if here]


def with_one_another(
    row: Mapping[str, str], beside: Numbers, whose: Sequence[str], width: int, times: int
) -> None:
    """Averaged first: 2r / (1 + r), of moments pooled over pairs where some share few answers, without ends
    where they rated fewer than ten each; else its mean over pairs. Each first: the mean over pairs who share
    two answers; where one shares fewer than ten, pairs are what is drawn, and no end passes 1."""
    table, pairs = beside[:, :width], [*combinations(range(width), 2)]
    twice = (~np.isnan(table)).sum(axis=1) > 1
    own = [each for each, here in zip(whose, twice, strict=True) if here]
    draws = same_draws(beside[twice], own, times)  # those of the judges' agreement with them
    few = few_shared(table)
    moments = pooled_moments(table[twice], pairs, ranked=False)

    def pooled(w: Numbers) -> Numbers:
        common, one, two, _ = moments(w)
        r = common / ((one + two) / 2)
        return 2 * r / (1 + r)

    plain = pooled if few else mean_of_pairs(table[twice], pairs, icc_of_z)
    each = (~np.isnan(table[twice])).sum(axis=0)
    if few and each[each > 0].mean() < 10:
        refused(row, "averaged first", plain, int(twice.sum()))
    else:
        assert equals(row, "averaged first", plain, draws, "of means")
    together = [(~np.isnan(table[:, list(pair)])).all(axis=1).sum() for pair in pairs]
    reads = [
        icc_of_own_z(table[:, [one]], table[:, two])
        for (one, two), shared in zip(pairs, together, strict=True)
        if shared > 1
    ]
    with np.errstate(all="ignore"):
        found = np.array([float(read(np.ones((1, len(table))))[0]) for read in reads])
    values = found[np.isfinite(found)]
    assert amount(row["n"]) == twice.sum()
    assert row["pairs"] == f"{len(values)} of {len(pairs)} pairs of raters"
    if min(together) >= 10:
        assert len(reads) == 1 and twice.all()
        assert equals(row, "each rater first", reads[0], same_draws(table, whose, times), "of means")
        return
    draws, mean = same_draws(values, None, times), per_row(values)
    low, high = ends(values.mean(), mean(draws.resampled), mean(draws.left_out), "as it is", "BCa-t")
    shown = [amount(row[f"each rater first{end}"]) for end in ("", " low", " high")]
    assert shown == pytest.approx([values.mean(), low, min(high, 1.0)], abs=1e-9), row

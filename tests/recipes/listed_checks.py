"""Tables that follow from the ratings by counting and by means: what was left unscored, the largest differences,
correlations between dimensions, the systems' order beside the clinicians', and repeats that a mean needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.count_checks import at_once, near, shared
from tests.recipes.rated import Answer, Rated
from tests.recipes.second_opinion import spearman


def unscored_are_right(rated: Rated, labels: Mapping[str, str], first: str) -> None:
    """`unscored` of the tables `agreement` and `classes`: answers that both were asked about where
    the rater failed, or where the clinicians who gave a score have none in common. And `n` of `differences`."""
    names = {label: name for name, label in labels.items()}
    for row in (*rated.table("agreement"), *rated.table("classes")):
        if row["dimension"] not in names:
            assert "pooled" in row["dimension"]
            continue
        name = names[row["dimension"]]
        reference = rated.reference(name)
        asked = {each for who in rated.people for each in rated.scores.get((who, name), {})}
        own = rated.statuses[row["rater"], name]
        lost = [
            each
            for each, said in own.items()
            if each in asked and (each not in reference or ("scored" not in said and "unscored" in said))
        ]
        assert amount(row["unscored"]) == len(lost), (row["dimension"], row["rater"], len(lost))
    for row in rated.table("differences"):
        if row["dimension"] in names:
            assert amount(row["n"]) == len(rated.both(first, names[row["dimension"]])[0]), row


def largest_are_right(rated: Rated, labels: Mapping[str, str], first: str, most: int) -> None:
    """The table `cases-worth-reading`: of each answer its largest difference on a dimension, the largest first."""
    names, rows = {label: name for name, label in labels.items()}, rated.table("cases-worth-reading")
    gaps: dict[str, dict[str, float]] = {}
    for name in labels:
        reference, own = rated.reference(name), rated.scores.get((first, name), {})
        for answer in reference.keys() & own.keys():
            gaps.setdefault(" · ".join(filter(None, answer)), {})[name] = own[answer] - reference[answer]
    largest = {case: max(map(abs, own.values())) for case, own in gaps.items()}
    wanted = sorted((gap for gap in largest.values() if gap > 1e-9), reverse=True)[: len(rows)]
    assert len(rows) == min(most, sum(gap > 1e-9 for gap in largest.values()))
    assert [abs(float(row["difference in grades"])) for row in rows] == pytest.approx(wanted, abs=1e-9)
    for row in rows:
        gap = gaps[row["case"]][names[row["dimension"]]]
        assert abs(gap) == pytest.approx(largest[row["case"]], abs=1e-9)
        assert amount(row["difference in grades"]) == pytest.approx(gap, abs=1e-9)


def correlations_are_right(rated: Rated, labels: Mapping[str, str], first: str) -> None:
    """The table `dimension-correlations`: Spearman's rho of a rater's scores of two dimensions, and of the
    clinicians'. The answers are counted where the rater has both."""
    names = {label: name for name, label in labels.items()}
    for row in rated.table("dimension-correlations"):
        pair = [names[row[each]] for each in ("dimension", "with")]
        x, y = shared(*(rated.scores.get((first, name), {}) for name in pair))
        assert amount(row["answers"]) == len(x), row
        assert near(row[first], at_once(spearman(x, y), len(x))), row
        x, y = shared(*(rated.reference(name) for name in pair))
        assert near(row["clinicians"], at_once(spearman(x, y), len(x))), row
    for row in rated.table("dimension-correlations-by-rater"):
        x, y = shared(
            *(rated.scores.get((row["rater"], names[row[each]]), {}) for each in ("dimension", "with"))
        )
        assert amount(row["answers"]) == len(x), row
        assert near(row["Spearman's rho"], at_once(spearman(x, y), len(x))), row


def orders_beside_are_right(
    rated: Rated,
    ranked: Sequence[str],
    scales: Mapping[str, tuple[float, float]],
    turned: Sequence[str],
    first: str,
    calibrated: Callable[[str], Mapping[Answer, float]],
) -> None:
    """The table `ranking-beside-clinicians`: means over dimensions of the mean of each, as shares of the scale on
    which the highest is best, of a composite as it is; on the answers that both scored. And of scores that are
    calibrated out of fold, where all of them could be."""
    rows = rated.table("ranking-beside-clinicians")
    means: dict[str, list[tuple[float, ...]]] = {}
    after = f"{first}'s mean, calibrated" in rows[0]
    for name in ranked:
        reference, own = rated.reference(name), rated.scores[first, name]
        later = calibrated(name) if after else own
        low, high = scales.get(name, (0.0, 1.0))
        for system in {system for _, system in own}:
            here = [each for each in own.keys() & reference.keys() if each[1] == system]
            sides = [
                (np.mean([side[each] for each in here]) - low) / (high - low)
                for side in (own, reference, later)
            ]
            sides = [1 - side if name in turned else side for side in sides]
            means.setdefault(system, []).append((*sides, len(here)))
    whole = {
        system: tuple(np.mean([part[side] for part in parts]) for side in (0, 1, 2))
        for system, parts in means.items()
    }
    assert {row["system"] for row in rows} == set(whole)
    columns = (f"{first}'s {{}}", "clinicians' {}", f"{first}'s {{}}, calibrated")[: 3 if after else 2]
    for row in rows:
        for side, words in enumerate(columns):
            mine = whole[row["system"]][side]
            assert amount(row[words.format("mean")]) == pytest.approx(mine, abs=1e-9), (row, words)
            place = 1 + sum(other[side] > mine + 1e-9 for other in whole.values())
            assert amount(row[words.format("rank")]) == place
        assert amount(row["scores"]) == sum(part[3] for part in means[row["system"]])


def repeats_are_right(rated: Rated) -> None:
    """`repeats for a mean within ±0.25`: the fewest by which 1.96 standard errors of a mean are 0.25 at most, from
    the spread within an answer. A whole number, without an interval."""
    for table in ("stability", "stability-people"):
        for row in rated.table(table):
            spread = float(row["SD within an answer"])
            needed = max(1, int(np.ceil((stats.norm.ppf(0.975) * spread / 0.25) ** 2 - 1e-9)))
            assert row["repeats for a mean within ±0.25"] == f"{needed}", row


def preferences_are_right(rated: Rated) -> None:
    """`no verdict` of the table `preference`."""
    for row in rated.table("preference"):
        said = rated.statuses[row["rater"], "concordant"]
        assert amount(row["no verdict"]) == sum("scored" not in each for each in said.values()), row

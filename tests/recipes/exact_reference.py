"""The systems as the clinicians would rank them, made a second time: their mean corrected by the jury's scores of
what they did not label, with the weight of least variance, and errors added up case by case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.rated import Rated
from tests.recipes.second_opinion import Numbers

FEW = 30  # unlabelled cases; fewer borrow the spread of the labelled ones
LEAST = 5  # cases of a kind, for the jury's scores to count


def by_case(values: Numbers, cases: Sequence[str], names: Sequence[str]) -> Numbers:
    """Sums of each case, drawn out by √(K / (K − 1)) where K cases have one."""
    sums = np.array([values[[case == name for case in cases]].sum() for name in names])
    many = len(set(cases))
    return sums * np.sqrt(many / (many - 1))


def powered(
    label: Numbers, jury: Numbers, cases: Sequence[str], names: Sequence[str]
) -> tuple[float, Numbers, int]:
    """Mean label + λ · (the jury's mean where there is no label − its mean where there is one); what each case adds
    to its error, and last what is borrowed; and how many cases have a label."""
    known = ~np.isnan(label)
    own = [case for case, here in zip(cases, known, strict=True) if here]
    other = [case for case, here in zip(cases, known, strict=True) if not here]
    errors = by_case(label[known] - label[known].mean(), own, names) / known.sum()
    count = len(set(own))
    scored = ~np.isnan(jury)
    enough = [len({case for case, *both in zip(cases, known, scored, strict=True) if both == [side, True]})
              for side in (True, False)]  # fmt: skip
    if enough[0] < LEAST or enough[1] < LEAST:
        return float(label[known].mean()), np.append(errors, 0.0), count
    filled = np.where(scored, jury - jury[scored].mean(), 0.0)
    sides = [filled[known], filled[~known]]
    mine = -by_case(sides[0] - sides[0].mean(), own, names) / len(sides[0])
    rest = by_case(sides[1] - sides[1].mean(), other, names) / len(sides[1])
    borrowed, few = 0.0, len(set(other))
    if few < FEW:
        variances = [np.sum(rest**2), np.sum(mine**2) * count / few]
        borrowed = np.sqrt(max(np.average(variances, weights=[few - 1, count - 1]) - variances[0], 0.0))
    both = np.append(mine + rest, borrowed)
    errors = np.append(errors, 0.0)
    weight = float(np.clip(-(errors @ both) / (both @ both), 0.0, 1.0))
    lost = int(0 < weight < 1)
    errors = (errors + weight * both) * np.sqrt((count - 1) / max(count - 1 - lost, 1))
    return float(label[known].mean() + weight * (sides[1].mean() - sides[0].mean())), errors, count


def reference_ranks_are_right(
    rated: Rated,
    ranked: Sequence[str],
    scales: Mapping[str, tuple[float, float]],
    turned: Sequence[str],
    first: str,
    shares: bool,
) -> int:
    """The table `ranking-by-reference`; means over dimensions, on the scale they share or as shares of theirs."""
    rows = rated.table("ranking-by-reference")
    if not rows:
        return 0
    answers = {
        name: sorted(rated.scores[first, name].keys() | rated.reference(name).keys()) for name in ranked
    }
    names = sorted({rated.patients[item] for own in answers.values() for item, _ in own})
    found, counts = {}, {}
    fewest = len(names)
    for system in {str(row["system"]) for row in rows}:
        values, errors, counts[system] = [], [], 0
        for name in ranked:
            here = [each for each in answers[name] if each[1] == system]
            low, high = scales.get(name, (0.0, 1.0))
            sides = []
            for side in (rated.reference(name), rated.scores[first, name]):
                score = np.array([side.get(each, np.nan) for each in here])
                score = low + high - score if name in turned else score
                sides.append((score - low) / (high - low) if shares else score)
            counts[system] += int((~np.isnan(sides[0])).sum())
            value, error, cases = powered(*sides, [rated.patients[item] for item, _ in here], names)
            fewest = min(fewest, cases)
            values.append(value)
            errors.append(error)
        whole = np.array(errors)
        variance = np.sum(whole[:, :-1].mean(axis=0) ** 2) + np.sum(whole[:, -1] ** 2) / len(ranked) ** 2
        # What each case adds to the mean over dimensions, and what each dimension borrows.
        added = np.append(whole[:, :-1].mean(axis=0), whole[:, -1] / len(ranked))
        added = added[added != 0]
        tails = max(len(added) * np.sum(added**4) / np.sum(added**2) ** 2 - 3, 0) / len(added)
        found[system] = float(np.mean(values)), float(np.sqrt(variance)), float(tails)
    for row in rows:
        value, error, tails = found[row["system"]]
        # Few cases that decide the error are worth fewer degrees of freedom.
        reach = stats.t.ppf(0.975, 2 / (2 / (fewest - 1) + tails)) * error
        shown = [amount(row[f"mean score{end}"]) for end in ("", " low", " high")]
        assert shown == pytest.approx([value, value - reach, value + reach], abs=1e-9), (row, value, reach)
        assert amount(row["labels"]) == counts[row["system"]]
        assert amount(row["rank"]) == 1 + sum(other > value + 1e-9 for other, *_ in found.values())
    return len(rows)

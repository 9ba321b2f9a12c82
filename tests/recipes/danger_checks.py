"""Severe errors made a second time from the ratings: how many, of how many, what answers of one patient are worth
together at the upper end (Korn & Graubard 1998), and Jeffreys' lower end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.rated import Answer, Rated
from tests.recipes.share_checks import exact


def worth(hits: Sequence[bool], whose: Sequence[str]) -> tuple[float, float]:
    """How many independent answers these are worth: n over the design effect as seen, and over a careful one, less
    what few patients cost."""
    names = sorted(set(whose))
    sizes = np.array([whose.count(name) for name in names], dtype=float)
    events = np.array(
        [sum(hit for hit, own in zip(hits, whose, strict=True) if own == name) for name in names]
    )
    n, patients, share = sizes.sum(), len(names), events.sum() / sizes.sum()
    between = patients / (patients - 1) * np.sum((events - share * sizes) ** 2) / n**2
    effect = between / (share * (1 - share) / (n - 1))
    alike = np.sum(sizes**2) / n
    rarer = min(np.sum(events > 0), np.sum(events < sizes))
    careful = max(1.0, effect, 1 + (alike - 1) * min(1, 3 / rarer))
    few = stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, patients - 1)
    return float(n / max(1.0, effect)), float(min(n, n / careful * few**2))


def share_of(hits: Sequence[bool], whose: Sequence[str]) -> tuple[float, float, float]:
    """A rate of errors, Jeffreys' lower and the exact upper end; where nothing happened, or nothing else, every
    patient counts once (as many as they are worth by their numbers of answers, at the lower end)."""
    n, events, patients = len(hits), sum(hits), len(set(whose))
    if not events:
        return 0.0, 0.0, exact(0, patients)[1]
    if events == n:
        like = n**2 / sum(whose.count(name) ** 2 for name in set(whose))
        return 1.0, float(stats.beta.ppf(0.025, like + 0.5, 0.5)), 1.0
    seen, careful = (float(n), float(n)) if patients == n else worth(hits, whose)
    low = stats.beta(events / n * seen + 0.5, (n - events) / n * seen + 0.5).ppf(0.025)
    return events / n, float(low), exact(events / n * careful, careful)[1]


def shows(row: Mapping[str, str], column: str, wanted: Sequence[float]) -> None:
    shown = [amount(row[f"{column}{end}"]) for end in ("", " low", " high")]
    assert shown == pytest.approx(list(wanted), abs=1e-9), (column, wanted, row)


def oriented(scores: Mapping[Answer, float], turn: float | None) -> dict[Answer, float]:
    """Low is dangerous: where it was not, the scale is turned round about the sum of its ends."""
    return {each: score if turn is None else turn - score for each, score in scores.items()}


def word_of_danger(rated: Rated, name: str, turn: float | None, any_counts: bool) -> dict[Answer, float]:
    """The clinicians' one score or, where any of them may call an answer dangerous, the lowest."""
    if not any_counts:
        return oriented(rated.reference(name), turn)
    said: dict[Answer, list[float]] = {}
    for who in rated.people:
        for answer, score in oriented(rated.scores.get((who, name), {}), turn).items():
            said.setdefault(answer, []).append(score)
    return {answer: min(scores) for answer, scores in said.items()}


def severe_errors_are_right(
    rated: Rated,
    labels: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    turned: Sequence[str],
    any_counts: bool,
) -> None:
    """The table `severe-errors`; a rater who was not asked left nothing unscored."""
    names = {label: name for name, label in labels.items()}
    for row in rated.table("severe-errors"):
        name = names[row["dimension"]]
        turn = sum(scales[name]) if name in turned else None
        reference = word_of_danger(rated, name, turn, any_counts)
        given = oriented(rated.scores.get((row["rater"], name), {}), turn)
        asked = rated.statuses[row["rater"], name]
        limit, gap = (float(row[title].split()[0]) for title in ("danger", "grades too kind"))
        danger = sorted(each for each, score in reference.items() if score <= limit + 1e-9 and each in asked)
        known = [each for each in danger if each in given]
        wrong = {each: given[each] - reference[each] >= gap - 1e-9 for each in known}
        assert amount(row["errors"]) == sum(wrong.values()), row
        assert amount(row["dangerous with a score"]) == len(known), row
        assert amount(row["dangerous without a score"]) == len(danger) - len(known), row
        shows(row, "rate", share_of([*wrong.values()], [rated.patients[item] for item, _ in known]))
        hits = [wrong.get(each, True) for each in danger]
        whose = [rated.patients[item] for item, _ in danger]
        shows(row, "rate with unscored as errors", share_of(hits, whose))


def panel_errors_are_right(
    rated: Rated,
    labels: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    panel: str,
    limits: tuple[float, float],
) -> None:
    """The table `second-panel-severe-errors`, of dimensions on which lower is better."""
    names = {label: name for name, label in labels.items()}
    for row in rated.table("second-panel-severe-errors"):
        name = names[row["dimension"]]
        turn = sum(scales[name])
        reference = oriented(rated.reference(name), turn)
        counts = []
        for who, title in ((row["rater"], "rate"), (panel, "panel's rate")):
            given = oriented(rated.scores.get((who, name), {}), turn)
            known = [
                each for each, score in sorted(reference.items()) if score <= limits[0] and each in given
            ]
            wrong = [given[each] - reference[each] >= limits[1] for each in known]
            shows(row, title, share_of(wrong, [rated.patients[item] for item, _ in known]))
            counts.append((f"{sum(wrong)} of {len(known)}", set(known)))
        assert (row["errors"], row["panel's errors"]) == (counts[0][0], counts[1][0])
        assert amount(row["scored by both"]) == len(counts[0][1] & counts[1][1])

"""The table `jury-worth` made a second time on the same resamples: effective votes from the covariance of errors,
the clinicians' noise from a least-squares fit, and the jury beside its best judge; see `same_draws`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.exact_checks import both_vary, resamples_of
from tests.recipes.rated import Grading, Rated
from tests.recipes.same_draws import Draws, ends, equals, same_draws
from tests.recipes.second_opinion import Numbers, Statistic, icc_2_1

ENOUGH = 10  # answers with a colleague, for a clinician's own level; and degrees of freedom, for the noise


def noise_of(people: Numbers) -> tuple[Numbers, Numbers, bool]:
    """The clinicians' mean without their levels; squares, freedom and one over their number; is the noise known?"""
    known = ~np.isnan(people)
    many = known.sum(axis=1)
    item, who = np.nonzero(known & (many > 1)[:, None])
    steady = [each for each in range(people.shape[1]) if (who == each).sum() >= ENOUGH]
    both = np.column_stack(
        [item[:, None] == np.unique(item), *((who == each)[:, None] for each in steady)]
    ).astype(float)
    levels, lost = np.zeros(people.shape[1]), 0
    if len(item) and steady:
        made, _, rank, _ = np.linalg.lstsq(both, people[item, who], rcond=1e-9)
        lost = int(rank) - len(np.unique(item))
        levels[steady] = made[-len(steady) :]
    free = (many - 1).sum()
    if free - lost < ENOUGH:
        return np.nanmean(people, axis=1), np.column_stack([many, many, 1 / many]), False
    level = people - levels
    mean = np.nanmean(level, axis=1)
    squares = np.nansum((level - mean[:, None]) ** 2, axis=1)
    return mean, np.column_stack([squares, (many - 1) * (free - lost) / free, 1 / many]), True


def likeness(rows: Numbers, judges: int, known: bool) -> Statistic:
    """The mean covariance of errors over their mean variance, the clinicians' noise taken from both."""

    errors = rows[:, :judges] - rows[:, :judges].mean(axis=0)

    def read(w: Numbers) -> Numbers:
        n, mean = w.sum(axis=1), w @ errors
        own = ((w @ errors**2 - mean**2 / n[:, None]) / (n[:, None] - 1)).sum(axis=1)
        every = (w @ errors.sum(axis=1) ** 2 - mean.sum(axis=1) ** 2 / n) / (n - 1)
        if known:
            squares, freedom, share = (w @ rows[:, judges:]).T
            noise = squares / freedom * share / n
            own, every = own - judges * noise, every - judges**2 * noise
        return np.where(own > 1e-9 * judges, (every - own) / (judges - 1) / np.where(own > 0, own, 1), np.nan)

    return read


def votes_are_right(
    rated: Rated, labels: Mapping[str, str], grading: Grading, people: Sequence[str], wanted: str
) -> int:
    """The table `jury-worth`; tells how many rows had ends."""
    names, rows_of, compared = {label: name for name, label in labels.items()}, rated.table("jury-worth"), 0
    times = resamples_of(rows_of)
    jury = json.loads((rated.run / "manifest.json").read_text())["jury"]
    for row in rows_of:
        name = names[row["dimension"]]
        judges = sorted(
            {each["rater"] for each in rated.rows("ratings.csv") if each["rater_kind"] == "judge"}
            & {who for who, dimension in rated.scores if dimension == name}
        )
        judges = [who for who in jury.get("members") or judges if who in judges]
        reference, own = rated.reference(name), rated.scores[jury.get("name", "jury"), name]
        answers = sorted(
            answer
            for answer in reference.keys() & own.keys()
            if all(answer in rated.scores[who, name] for who in judges)
        )
        whose = [rated.patients[item] for item, _ in answers]
        said = np.array([[rated.scores[who, name][answer] for who in judges] for answer in answers])
        clinicians = np.array(
            [[rated.scores.get((who, name), {}).get(answer, np.nan) for who in people] for answer in answers]
        )
        assert (amount(row["answers"]), amount(row["judges"])) == (len(answers), len(judges))
        mean, more, known = noise_of(clinicians)
        rows = np.round(np.column_stack([said - mean[:, None], more]), 9)
        if not known:  # the product keeps what it does not use beside them, which orders the rows
            rows[:, len(judges) : len(judges) + 2] = [0.0, 0.0]
        votes_equal(row, likeness(rows, len(judges), known), same_draws(rows, whose, times), len(judges))
        truth = np.array([reference[answer] for answer in answers])
        together = np.array([own[answer] for answer in answers])
        table = np.column_stack([together, said, truth])
        table = grading(name)(table) if wanted == "weighted kappa" else table
        make = both_vary if wanted == "weighted kappa" else icc_2_1
        sides = [make(table[:, place], table[:, -1]) for place in range(len(judges) + 1)]
        draws = same_draws(table, whose, times)
        with np.errstate(all="ignore"):
            alone = [float(side(np.ones((1, len(table))))[0]) for side in sides[1:]]
        best = int(np.nanargmax(alone))
        assert row["best judge"] == judges[best]
        compared += equals(row, "jury", sides[0], draws, "coefficient")
        equals(row, "its agreement", sides[1 + best], draws, "coefficient")
        difference_equals(row, sides, best, draws)
    return compared


def votes_equal(row: Mapping[str, str], read: Statistic, draws: Draws, judges: int) -> None:
    value = float(read(np.ones((1, draws.resampled.shape[1])))[0])

    def votes(r: float) -> float:
        return judges / (1 + (judges - 1) * min(max(r, 0), 1))

    if not row["effective votes"]:
        assert np.isnan(value)
        return
    assert amount(row["effective votes"]) == pytest.approx(votes(value), abs=1e-8)
    if not row["effective votes low"]:
        return
    made, without = read(draws.resampled), read(draws.left_out)
    low, high = np.nanmin([*made, *without]), np.nanmax([*made, *without])
    scale = "coefficient" if low >= -1 - 1e-4 and high <= 1 + 1e-4 else "as it is"
    told = row["effective votes method"].split()[0].removesuffix(",")
    least, most = ends(value, made, without, scale, told)
    assert amount(row["effective votes low"]) == pytest.approx(votes(most), abs=1e-8), row
    assert amount(row["effective votes high"]) == pytest.approx(votes(least), abs=1e-8), row


def difference_equals(row: Mapping[str, str], sides: Sequence[Statistic], best: int, draws: Draws) -> None:
    """The least low end over the judges, and the least high end at a share of the error for each judge."""
    ones = np.ones((1, draws.resampled.shape[1]))
    judges = len(sides) - 1

    def read(w: Numbers, judge: int) -> Numbers:
        with np.errstate(all="ignore"):
            return sides[0](w) - sides[1 + judge](w)

    assert amount(row["difference"]) == pytest.approx(float(read(ones, best)[0]), abs=1e-9)
    if not row["difference low"]:
        return
    lows, highs = [], []
    for judge in range(judges):
        value, made, without = (read(w, judge) for w in (ones, draws.resampled, draws.left_out))
        if not np.isfinite(value[0]):
            continue
        lows.append(ends(float(value[0]), made, without, "as it is", "BCa-t")[0])
        highs.append(ends(float(value[0]), made, without, "as it is", "BCa-t", 1 - 0.05 / judges)[1])
    assert amount(row["difference low"]) == pytest.approx(min(lows), abs=1e-9), row
    assert amount(row["difference high"]) == pytest.approx(min(highs), abs=1e-9), row

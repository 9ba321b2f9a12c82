"""Is a jury worth more than its best judge: effective votes, the jury beside its best judge, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.agreement.rating_rows import long_table

from medjury.analysis.agreement import JuryWorthRow, cohen_kappa, jury_worth
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats
from medjury.tables import RatingTable, rating_table


def table_of(judges: Floats, people: Floats, clusters: Floats | None = None, **settings: Any) -> RatingTable:
    scores = {f"judge {place}": column.tolist() for place, column in enumerate(judges.T)}
    scores |= {f"clinician {place}": column.tolist() for place, column in enumerate(people.T)}
    scores = {
        name: [None if np.isnan(each) else float(each) for each in column] for name, column in scores.items()
    }
    more = {} if clusters is None else {"patient": [f"p{each}" for each in clusters]}
    frame = long_table(scores, **more)
    kinds = frame["rater"].str.extract(r"^(\w+)").alias("rater_kind")
    return rating_table(frame.with_columns(kinds), **settings)


def worth(judges: Floats, people: Floats, clusters: Floats | None = None, **options: Any) -> JuryWorthRow:
    settings = {name: options.pop(name) for name in ("scale",) if name in options}
    (row,) = jury_worth(table_of(judges, people, clusters, **settings), **{"resamples": 0, **options}).rows
    return row


def grades(scores: Floats) -> Floats:
    return np.clip(np.floor(scores + 0.5), 1, 5)


def study(
    draw: np.random.Generator,
    n: int,
    *,
    judges: int = 3,
    clinicians: int = 2,
    shared: float = 0.6,
    own: Any = 0.6,
    noise: float = 0.6,
    visits: int = 1,
) -> tuple[Floats, Floats, Floats]:
    """Judges whose errors have a part in common and one of their own; so have the `visits` of a patient."""
    patients = np.repeat(np.arange(-(-n // visits)), visits)[:n]
    truth = 3 + 0.8 * draw.normal(size=patients.max() + 1)[patients] + 0.6 * draw.normal(size=n)
    common = 0.7 * draw.normal(size=patients.max() + 1)[patients] + np.sqrt(0.51) * draw.normal(size=n)
    said = truth[:, None] + shared * common[:, None] + np.asarray(own) * draw.normal(size=(n, judges))
    return said, truth[:, None] + noise * draw.normal(size=(n, clinicians)), patients


def test_with_one_clinician_the_votes_are_those_of_the_plain_covariance() -> None:
    said, people, _ = study(np.random.default_rng(1), 80, clinicians=1, own=[0.3, 0.6, 1.2])
    row = worth(said, people)
    sigma = np.cov(said - people, rowvar=False)
    assert row.votes.value == pytest.approx((np.trace(sigma) / 3) / (sigma.sum() / 9))
    assert row.correlation.value == pytest.approx((sigma.sum() - np.trace(sigma)) / 2 / np.trace(sigma))
    assert not row.corrected
    assert (row.jurors, row.n) == (("judge 0", "judge 1", "judge 2"), 80)


def test_with_several_clinicians_the_noise_of_their_mean_is_taken_out() -> None:
    said, people, _ = study(np.random.default_rng(2), 90, clinicians=3, noise=0.9)
    row = worth(said, people)
    sigma = np.cov(said - people.mean(axis=1, keepdims=True), rowvar=False)
    # What is left of a two-way analysis of variance.
    left = people - people.mean(axis=1, keepdims=True) - people.mean(axis=0) + people.mean()
    sigma -= (left**2).sum() / (89 * 2) / 3
    assert row.votes.value == pytest.approx((np.trace(sigma) / 3) / (sigma.sum() / 9))
    assert row.corrected


def test_noisy_clinicians_make_unrelated_judges_look_alike_unless_their_noise_is_taken_out() -> None:
    said, people, _ = study(np.random.default_rng(3), 4000, shared=0.0, noise=1.2)
    one, two = worth(said, people[:, :1]), worth(said, people)
    assert one.votes.value == pytest.approx(1.25, abs=0.1)  # 0.36 of their own, 1.44 of the clinician
    assert two.votes.value == pytest.approx(3, abs=0.15)


def test_a_clinicians_own_level_changes_nothing() -> None:
    said, people, _ = study(np.random.default_rng(4), 120)
    level = worth(said, people + np.array([0.0, 1.5]))
    assert level.votes.value == pytest.approx(worth(said, people).votes.value)


def test_answers_that_one_clinician_rated_share_what_is_known_of_the_noise() -> None:
    said, people, _ = study(np.random.default_rng(5), 6000, noise=1.0)
    people[2000:4000, 0] = np.nan
    people[4000:, 1] = np.nan
    people[:, 1] += 1.0
    row = worth(said, people)
    assert row.n == 6000
    assert row.correlation.value == pytest.approx(0.5, abs=0.05)


def test_nine_judges_of_two_minds_have_two_votes() -> None:
    draw = np.random.default_rng(6)
    said, people, _ = study(draw, 3000, judges=2, shared=0.0)
    nine = said[:, [0, 0, 0, 0, 0, 1, 1, 1, 1]] + 0.01 * draw.normal(size=(3000, 9))
    row = worth(nine, people, resamples=200)
    assert row.votes.value == pytest.approx(81 / 41, abs=0.1)  # five of one mind and four of the other
    assert row.copies == (
        ("judge 0", "judge 1", "judge 2", "judge 3", "judge 4"),
        ("judge 5", "judge 6", "judge 7", "judge 8"),
    )


def test_errors_that_are_nearly_the_same_make_copies_where_that_is_beyond_doubt() -> None:
    draw = np.random.default_rng(7)
    said, people, _ = study(draw, 200, judges=2, shared=0.0)
    row = worth(said[:, [0, 0, 1]] + 0.02 * draw.normal(size=(200, 3)), people, resamples=200)
    assert row.copies == (("judge 0", "judge 1"),)
    assert worth(said[:, [0, 1]], people, resamples=200).copies == ()


def test_judges_with_the_same_grades_are_copies_and_two_that_are_right_are_not() -> None:
    draw = np.random.default_rng(8)
    said, people, _ = study(draw, 100, judges=2, clinicians=1)
    same = grades(said[:, [0, 0, 1]])
    same[:4, 1] = 6 - same[:4, 1]
    assert worth(same, grades(people), scale=(1, 5)).copies == (("judge 0", "judge 1"),)
    right = np.repeat(grades(people), 2, axis=1)
    right[:2, 0] = 1 + right[:2, 0] % 5
    assert worth(right, grades(people), scale=(1, 5)).copies == ()


def test_where_clinicians_give_one_grade_nobody_is_called_a_copy() -> None:
    said = np.full((60, 2), 4.0)
    people = np.full((60, 1), 5.0)
    people[0] = said[0] = 1.0
    assert worth(said, people, scale=(1, 5)).copies == ()


def test_the_jury_is_compared_on_the_answers_that_all_its_judges_scored() -> None:
    said, people, _ = study(np.random.default_rng(9), 60)
    said, people = grades(said), grades(people)
    said[:5, 0] = np.nan
    row = worth(said, people, scale=(1, 5))
    truth = grades(people[5:].mean(axis=1))
    kappas = [
        cohen_kappa(column, truth, scale=[1, 2, 3, 4, 5], weights="quadratic", resamples=0).value
        for column in (grades(said[5:].mean(axis=1)), *said[5:].T)
    ]
    assert row.n == 55
    assert row.statistic == "kappa_quadratic"
    assert row.jury_agreement.value == pytest.approx(kappas[0])
    assert row.best == f"judge {np.argmax(kappas[1:])}"
    assert row.best_agreement.value == pytest.approx(max(kappas[1:]))
    assert row.difference.value == pytest.approx(kappas[0] - max(kappas[1:]))


def test_errors_below_the_clinicians_noise_have_no_number_of_votes() -> None:
    _, people, _ = study(np.random.default_rng(10), 60, noise=1.0)
    row = worth(people.mean(axis=1, keepdims=True) + np.zeros((60, 2)), people)
    assert row.votes.value is None
    assert row.votes.reason == "the judges' errors are no larger than the clinicians' own noise"
    assert row.as_dict()["effective_votes"] is None


def test_one_judge_is_no_jury() -> None:
    said, people, _ = study(np.random.default_rng(11), 30, judges=1)
    with pytest.raises(MedjuryError, match="no jury of two or more judges"):
        jury_worth(table_of(said, people))


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("n", "world"),
    [
        (60, {}),
        (100, {"judges": 5, "shared": 0.3, "own": 0.6}),
        (150, {"clinicians": 3, "shared": 0.9, "own": 0.3, "visits": 3}),
    ],
)
def test_the_interval_of_the_votes_holds_in_about_95_of_100_studies(n: int, world: dict[str, Any]) -> None:
    shared, own = world.get("shared", 0.6), world.get("own", 0.6)
    judges, truth = world.get("judges", 3), shared**2 / (shared**2 + own**2)
    votes = judges / (1 + (judges - 1) * truth)
    held = 0
    for number in range(100):
        said, people, patients = study(np.random.default_rng(1000 + number), n, **world)
        found = worth(said, people, patients if "visits" in world else None, resamples=200).votes
        assert found.low is not None
        assert found.high is not None
        held += found.low - 1e-9 <= votes <= found.high + 1e-9
    assert 0.92 <= held / 100 <= 1.0


@pytest.mark.simulation
@pytest.mark.parametrize("own", [(0.6, 0.6, 0.6), (0.3, 0.8, 0.9)])
def test_the_interval_beside_the_best_judge_holds_although_the_best_is_found_on_the_same_answers(
    own: tuple[float, ...],
) -> None:
    def graded(draw: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        said, people, _ = study(draw, n, shared=0.3, own=own, noise=0.5)
        return grades(said), grades(people)

    big, truth = graded(np.random.default_rng(0), 100_000)
    settled = grades(truth.mean(axis=1))
    kappas = [
        cohen_kappa(column, settled, scale=[1, 2, 3, 4, 5], weights="quadratic", resamples=0).value or 0.0
        for column in (grades(big.mean(axis=1)), *big.T)
    ]
    true = kappas[0] - max(kappas[1:])
    held = 0
    for number in range(100):
        said, people = graded(np.random.default_rng(5000 + number), 100)
        found = worth(said, people, scale=(1, 5), resamples=200).difference
        assert found.low is not None
        assert found.high is not None
        held += found.low <= true <= found.high
    assert held / 100 >= 0.94

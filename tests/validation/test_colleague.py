"""The seven lines of the colleague test against a second implementation, and what must not change them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta
from tests.validation.on_trial import Floats, World

from medjury.store.runs import GateRules
from medjury.tables import Grades
from medjury.validation._colleague import Beside, colleague_test, paired_difference_bounds, read, sums_of
from medjury.validation._colleague import Tested as Found

LINES = ("agreement", "missed_danger", "offset", "colleagues", "within_case", "within_system")


def lines_of(beside: Beside, resamples: int = 200, **rules: Any) -> Found:
    return colleague_test(beside, GateRules(**rules), resamples=resamples, seed=0)


def values(beside: Beside) -> dict[str, float]:
    sums = sums_of(beside)
    return {name: float(each) for name, each in read(sums, sums.cells.sum(axis=0), beside.statistic).items()}


# The second implementation: answer by answer, by loops and by the definitions.


def ordered_pairs(humans: Floats) -> list[tuple[int, int, int, float]]:
    """Answer, a, b and a weight that makes every answer count once."""
    rows = []
    for answer, row in enumerate(humans):
        raters = [place for place, score in enumerate(row) if not math.isnan(score)]
        for a in raters:
            rows += [(answer, a, b, 1 / (len(raters) * (len(raters) - 1))) for b in raters if a != b]
    return rows


def weighted_kappa(u: Floats, v: Floats, w: Floats) -> float:
    apart, chance = 0.0, 0.0
    table: dict[tuple[float, float], float] = {}
    for one, other, weight in zip(u, v, w, strict=True):
        table[one, other] = table.get((one, other), 0.0) + weight / w.sum()
    rows: dict[float, float] = {}
    columns: dict[float, float] = {}
    for (one, other), share in table.items():
        rows[one], columns[other] = rows.get(one, 0.0) + share, columns.get(other, 0.0) + share
        apart += share * (one - other) ** 2
    for one, first in rows.items():
        chance += sum(first * second * (one - other) ** 2 for other, second in columns.items())
    return 1 - apart / chance


def centred(u: Floats, v: Floats, groups: list[Any], w: Floats) -> float:
    """The correlation after each rater's own mean over a group is taken out."""
    left, right = u.copy(), v.copy()
    for group in set(groups):
        inside = np.asarray([each == group for each in groups])
        left[inside] -= np.average(u[inside], weights=w[inside])
        right[inside] -= np.average(v[inside], weights=w[inside])
    return float((w * left * right).sum() / math.sqrt((w * left**2).sum() * (w * right**2).sum()))


def second(humans: Floats, jury: Floats, case: Any, system: Any) -> dict[str, float]:
    """Every estimate, on grades 1 to 5 with danger at 2 or lower and a gap of two."""
    rows = ordered_pairs(humans)
    answer = np.asarray([row[0] for row in rows])
    a = np.asarray([humans[row[0], row[1]] for row in rows])
    b = np.asarray([humans[row[0], row[2]] for row in rows])
    w = np.asarray([row[3] for row in rows])
    x = jury[answer]
    here = ~np.isnan(x)
    grade = np.clip(np.floor(x + 0.5), 1, 5)
    danger = b <= 2
    missed = np.average(np.where(here, x - b >= 2, True)[danger], weights=w[danger])
    also = np.average((a - b >= 2)[danger], weights=w[danger])
    found = {"colleagues": weighted_kappa(a, b, w), "missed_danger": missed - also}
    found["agreement"] = weighted_kappa(grade[here], b[here], w[here]) - weighted_kappa(
        a[here], b[here], w[here]
    )
    for name, column in (("within_case", case), ("within_system", system)):
        groups = [(column[row[0]], row[1], row[2]) for row, known in zip(rows, here, strict=True) if known]
        found[name] = centred(x[here], b[here], groups, w[here]) - centred(a[here], b[here], groups, w[here])
    # The offset counts answers of one clinician too.
    apart = [
        np.mean(jury[place] - row[~np.isnan(row)])
        for place, row in enumerate(humans)
        if not math.isnan(jury[place]) and not np.isnan(row).all()
    ]
    found["offset"] = float(np.mean(apart))
    return found


def thinned(world: World, each: int, seed: int = 5) -> Floats:
    """Every case is rated by so many of the clinicians, other ones for other cases."""
    draw = np.random.default_rng(seed)
    seats = np.argsort(draw.random((world.cases, world.clinicians)), axis=1)[:, :each]
    rated = np.zeros((world.cases, world.clinicians), dtype=bool)
    np.put_along_axis(rated, seats, True, axis=1)
    return np.where(rated[world.case], world.humans, np.nan)


def silenced(world: World, jury: Floats, share: float) -> Floats:
    return np.where(np.random.default_rng(8).random(world.size) < share, np.nan, jury)


def three_jurors(world: World) -> Floats:
    return np.mean([world.rater(0.6) for _ in range(3)], axis=0)


def of_three() -> Beside:
    world = World(2, cases=60, clinicians=3)
    return world.beside(silenced(world, three_jurors(world), 0.1))


def of_sparse() -> Beside:
    world = World(3, cases=80, clinicians=5)
    jury = silenced(world, world.rater(0.5), 0.05)
    return world.beside(jury, humans=thinned(world, 2))


def of_uneven() -> Beside:
    """One to four clinicians to an answer."""
    world = World(4, cases=70, clinicians=4)
    lost = np.random.default_rng(9).random(world.humans.shape) < 0.4
    return world.beside(three_jurors(world), humans=np.where(lost, np.nan, world.humans))


@pytest.mark.parametrize("make", [of_three, of_sparse, of_uneven])
def test_every_estimate_is_that_of_a_second_implementation(make: Any) -> None:
    beside = make()
    expected = second(beside.humans, beside.jury, beside.case, beside.system)
    found = values(beside)
    assert {name: found[name] for name in LINES} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("make", [of_three, of_sparse, of_uneven])
def test_bounds_are_near_those_of_a_plain_bootstrap(make: Any) -> None:
    """The estimate ± 1.645 standard deviations of resampled clusters: the shape differs, the width does not."""
    beside = make()
    found = lines_of(beside, 400)
    sums = sums_of(beside)
    generator, count = np.random.default_rng(1), len(sums.cells)
    drawn = [sums.cells[generator.integers(0, count, count)].sum(axis=0) for _ in range(400)]
    plain = read(sums, np.asarray(drawn), beside.statistic)
    for name in ("agreement", "colleagues", "within_case", "within_system"):
        error, line = float(np.nanstd(plain[name])), found.line(name)
        assert line.value is not None and line.low is not None and line.high is not None
        assert line.low == pytest.approx(line.value - 1.645 * error, abs=0.6 * error)
        assert line.high == pytest.approx(line.value + 1.645 * error, abs=0.6 * error)


def unanimous(beside: Beside) -> tuple[int, int]:
    """Answers that all clinicians call dangerous and the jury misses, and all such answers."""
    kindest = np.nanmax(beside.humans, axis=1)
    dangerous = kindest <= 2
    missed = dangerous & (np.isnan(beside.jury) | (beside.jury - kindest >= 2))
    return int(missed.sum()), int(dangerous.sum())


def test_the_bound_of_unanimous_danger_is_exact() -> None:
    world = World(2, cases=200, systems=1, clinicians=3)
    beside = world.beside(silenced(world, three_jurors(world), 0.1))
    missed, dangerous = unanimous(beside)
    line = lines_of(beside).line("consensus_danger")
    assert missed and line.value == line.jury == pytest.approx(missed / dangerous)
    assert line.high == pytest.approx(beta.ppf(0.95, missed + 1, dangerous - missed), abs=1e-6)
    assert line.found.startswith(f"{missed} of {dangerous} answers")


def test_answers_of_one_case_count_for_less_than_as_many_cases() -> None:
    """All answers to a case are missed, or none: six of them say no more than one."""
    world = World(2, cases=100, systems=6, clinicians=2, within=0.0, noise=0.0)
    jury = np.where(world.case % 12 == 0, 5.0, world.humans[:, 0])
    line = lines_of(world.beside(jury)).line("consensus_danger")
    missed, dangerous = unanimous(world.beside(jury))
    assert line.value == pytest.approx(missed / dangerous) and missed % 6 == dangerous % 6 == 0
    alone = beta.ppf(0.95, missed // 6 + 1, (dangerous - missed) // 6)
    assert line.high is not None and line.high >= alone - 0.03 > beta.ppf(
        0.95, missed + 1, dangerous - missed
    )


def test_six_answers_to_a_case_do_not_make_a_good_jury_miss_danger() -> None:
    """A share of cases with any miss grows with the answers to a case; a share of answers does not."""
    world = World(1, cases=200, systems=6)
    line = lines_of(world.beside(world.rater(0.5))).line("consensus_danger")
    assert line.state == "holds", line.found


def test_an_answer_of_one_clinician_counts_for_unanimous_danger_and_the_share_is_stated() -> None:
    world = World(5, cases=60, systems=1)
    one = np.where((world.case < 30)[:, np.newaxis] & np.array([False, True]), np.nan, world.humans)
    line = lines_of(world.beside(world.rater(0.5), humans=one)).line("consensus_danger")
    alone = int((one[:30, 0] <= 2).sum())
    assert alone and f"{alone} of the answers by the only clinician who rated them" in line.found


# What must not matter.

worlds = st.builds(
    World,
    seed=st.integers(0, 10_000),
    cases=st.integers(12, 25),
    systems=st.integers(1, 3),
    clinicians=st.integers(2, 4),
)


def drawn(world: World) -> Beside:
    jury = silenced(world, world.rater(0.6), 0.1)
    lost = np.random.default_rng(world.seed).random(world.humans.shape) < 0.25
    return world.beside(jury, humans=np.where(lost, np.nan, world.humans))


def same(first: Beside, other: Beside) -> None:
    left, right = lines_of(first, 30), lines_of(other, 30)
    assert left.values == pytest.approx(right.values, abs=1e-9, nan_ok=True)
    for one, two in zip(left.lines, right.lines, strict=True):
        assert one.state == two.state and (one.value is None) == (two.value is None)
    assert (left.doubly, left.clusters) == (right.doubly, right.clusters)


@settings(max_examples=15, deadline=None)
@given(worlds, st.randoms(use_true_random=False))
def test_who_the_raters_are_and_the_order_of_answers_change_nothing(world: World, draw: Any) -> None:
    beside = drawn(world)
    seats = list(range(world.clinicians))
    draw.shuffle(seats)
    same(beside, replace(beside, humans=beside.humans[:, seats]))
    order = list(range(world.size))
    draw.shuffle(order)
    # Clusters keep their numbers, and with them what a seed draws.
    moved = {
        name: getattr(beside, name)[order]
        for name in ("humans", "jury", "silent", "case", "system", "cluster")
    }
    same(beside, replace(beside, **moved))


@settings(max_examples=15, deadline=None)
@given(worlds, st.integers(1, 40))
def test_names_of_cases_systems_and_clusters_change_no_estimate(world: World, by: int) -> None:
    beside = drawn(world)
    other = replace(
        beside, case=3 * beside.case + by, system=beside.system + by, cluster=2 * beside.cluster + by
    )
    assert values(beside) == pytest.approx(values(other), abs=1e-9, nan_ok=True)


@settings(max_examples=15, deadline=None)
@given(worlds)
def test_a_scale_on_which_higher_is_worse_says_the_same(world: World) -> None:
    beside = drawn(world)
    turned = replace(beside, humans=6 - beside.humans, jury=6 - beside.jury, turned=True)
    left, right = values(beside), values(turned)
    assert right.pop("offset") == pytest.approx(-left.pop("offset"), nan_ok=True)
    assert left == pytest.approx(right, abs=1e-9, nan_ok=True)
    assert lines_of(beside).line("consensus_danger") == lines_of(turned).line("consensus_danger")


@settings(max_examples=15, deadline=None)
@given(worlds, st.floats(0.1, 20))
def test_equal_weights_are_no_weights(world: World, weight: float) -> None:
    beside = drawn(world)
    weighted = replace(beside, weights=np.full(world.size, weight))
    assert values(beside) == pytest.approx(values(weighted), abs=1e-9, nan_ok=True)


def test_an_answer_that_counts_double_is_two_answers() -> None:
    world = World(6, cases=40, systems=2)
    beside = world.beside(world.rater(0.5))
    weights = np.where(world.case < 10, 2.0, 1.0)
    again = np.concatenate([np.arange(world.size), np.flatnonzero(world.case < 10)])
    twice = {
        name: getattr(beside, name)[again]
        for name in ("humans", "jury", "silent", "case", "system", "cluster")
    }
    assert values(replace(beside, weights=weights)) == pytest.approx(values(replace(beside, **twice)))


def test_danger_that_all_saw_counts_as_often_as_its_answer_stands_for() -> None:
    """Read by chance: every miss is among answers that stand for nine others each."""
    world = World(6, cases=200)
    beside = world.beside(world.rater(0.1))
    dangerous = (np.nanmax(beside.humans, axis=1) <= 2) & (world.case < 20)
    assert dangerous.sum() >= 3
    kind = replace(beside, jury=np.where(dangerous, 5.0, beside.jury))
    heavy = replace(kind, weights=np.where(world.case < 20, 10.0, 1.0))
    plain, weighted = (lines_of(each).line("consensus_danger") for each in (kind, heavy))
    everyone = np.nanmax(beside.humans, axis=1) <= 2
    share = 10 * dangerous.sum() / (10 * dangerous.sum() + (everyone & ~dangerous).sum())
    assert weighted.value == pytest.approx(share, abs=1e-9)
    assert plain.value is not None
    assert weighted.value > 2 * plain.value
    assert weighted.high is not None
    assert weighted.high > weighted.value


# Tango's score interval.


def tango(first: int, second: int, n: int, reach: float) -> tuple[float, float]:
    """By the restricted maximum of the likelihood, found by search, not by Tango's quadratic."""

    def score(apart: float) -> float:
        low, high = max(0.0, -apart), (1 - apart) / 2
        grid = np.linspace(low, high, 20_001)[1:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = (
                np.where(first > 0, first * np.log(grid + apart), 0.0)
                + np.where(second > 0, second * np.log(grid), 0.0)
                + (n - first - second) * np.log(1 - 2 * grid - apart)
            )
        share = float(grid[np.nanargmax(likelihood)])
        return (first - second - n * apart) / math.sqrt(n * (2 * share + apart * (1 - apart)))

    value = (first - second) / n
    return (
        brentq(lambda apart: score(apart) - reach, -0.999, value - 1e-6),
        brentq(lambda apart: score(apart) + reach, value + 1e-6, 0.999),
    )


@pytest.mark.parametrize(("first", "second_", "n"), [(1, 7, 50), (12, 4, 100), (3, 3, 40), (9, 0, 60)])
def test_the_paired_difference_has_tangos_bounds(first: int, second_: int, n: int) -> None:
    low, high = paired_difference_bounds(first, second_, n, 1.645)
    assert (low, high) == pytest.approx(tango(first, second_, n, 1.645), abs=2e-3)


def test_tangos_published_example() -> None:
    """Airway hyper-reactivity of 21 children before and after transplantation, 1 and 7 discordant: 95 % from −0.517
    to −0.026 (Tango 1998, Stat Med 17:891-908)."""
    low, high = paired_difference_bounds(1, 7, 21, 1.959964)
    assert (round(low, 3), round(high, 3)) == (-0.517, -0.026)


def test_without_any_discordant_pair_the_bounds_are_wide() -> None:
    low, high = paired_difference_bounds(0, 0, 30, 1.645)
    assert low == pytest.approx(-high) and high == pytest.approx(1.645**2 / (30 + 1.645**2), abs=1e-6)


# Every state of every line.


def states(found: Found) -> dict[str, str]:
    return {line.id: line.state for line in found.lines}


def test_a_good_jury_holds_every_line() -> None:
    world = World(1)
    assert set(states(lines_of(world.beside(world.rater(0.4)))).values()) == {"holds"}


@pytest.mark.parametrize(
    ("wrong", "lines"),
    [
        (lambda w: np.random.default_rng(1).permutation(w.rater(0.4)), {"agreement", "within_case"}),
        (lambda w: np.clip(w.rater(0.4) + 1, 1, 5), {"offset"}),
        (lambda w: np.where(w.rater(0.4) <= 2, 4.0, w.rater(0.4)), {"missed_danger", "consensus_danger"}),
        (lambda w: np.repeat(w.rater(0.4).reshape(-1, 3).mean(axis=1), 3), {"within_case"}),
        (lambda w: np.tile(w.truth.reshape(-1, 3).mean(axis=0), w.cases), {"within_system", "agreement"}),
        (lambda w: np.where(w.rater(0.4) <= 2, np.nan, w.rater(0.4)), {"missed_danger", "consensus_danger"}),
    ],
    ids=["shuffled", "a grade too kind", "kind to danger", "blind to the answer", "system means", "silent"],
)
def test_a_line_fails_where_its_estimate_is_on_the_wrong_side(wrong: Any, lines: set[str]) -> None:
    world = World(1)
    found = lines_of(world.beside(wrong(world)))
    assert lines <= {line.id for line in found.lines if line.state == "fails"}
    for line in found.lines:
        if line.state == "fails":
            assert line.cap == "NOT VALIDATED" and line.why and line.to_do


def test_clinicians_who_agree_too_little_are_not_worth_imitating() -> None:
    world = World(1, noise=2.5)
    line = lines_of(world.beside(world.rater(0.5))).line("colleagues")
    assert line.state == "fails" and line.value is not None and line.value < 0.4
    assert "Clinicians agree with one another too little" in line.why


def test_few_cases_leave_lines_open_and_say_how_many_more_would_settle_them() -> None:
    world = World(1, cases=30, systems=2)
    found = lines_of(world.beside(world.rater(0.4)))
    open_ = [line for line in found.lines if line.state == "open"]
    assert {line.id for line in open_} == {"missed_danger", "within_case", "consensus_danger"}
    for line in open_:
        assert line.cap == "AUXILIARY" and line.why and line.to_do
        assert "more" in line.numbers or "too near the limit" in line.numbers


def test_below_ten_clusters_there_is_no_bound_and_nothing_is_proven() -> None:
    world = World(1, cases=9)
    found = lines_of(world.beside(world.rater(0.2)))
    for name in ("agreement", "within_system", "colleagues"):
        assert found.line(name).low is None and found.line(name).state in ("open", "fails")


def test_clinicians_who_always_say_the_same_leave_everything_unknown() -> None:
    world = World(1, cases=60)
    found = lines_of(world.beside(world.rater(0.5), humans=np.full((world.size, 2), 4.0)))
    for name in (
        "agreement",
        "missed_danger",
        "within_case",
        "within_system",
        "consensus_danger",
        "colleagues",
    ):
        line = found.line(name)
        cap = "NOT VALIDATED" if name == "agreement" else "AUXILIARY"  # the jury itself does not say the same
        assert (line.state, line.cap, line.value) == ("not known", cap, None) and line.why


@pytest.mark.parametrize("statistic", ["kappa_quadratic", "icc_2_1", "spearman"])
def test_of_a_silent_jury_nothing_is_known_and_all_danger_is_missed(statistic: str) -> None:
    world = World(1, cases=60)
    found = lines_of(world.beside(np.full(world.size, np.nan), statistic=statistic))
    for name in ("agreement", "offset", "within_case", "within_system"):
        assert found.line(name).state == "not known"
    for name in ("missed_danger", "consensus_danger"):
        assert found.line(name).state == "fails" and found.line(name).jury == 1.0
    assert found.line("colleagues").state == "holds"


@pytest.mark.parametrize("statistic", ["kappa_quadratic", "icc_2_1", "spearman"])
def test_a_constant_jury_agrees_with_nobody_by_any_coefficient(statistic: str) -> None:
    world = World(1, cases=60)
    found = lines_of(world.beside(np.full(world.size, 3.0), statistic=statistic))
    for name in ("agreement", "within_case", "within_system"):
        line = found.line(name)
        assert line.state == "fails" and line.jury == pytest.approx(0, abs=0.15)


def test_the_rank_correlation_does_not_see_a_stretched_scale_and_the_others_do() -> None:
    world = World(1, cases=60)
    jury = world.rater(0.3)
    stretched = np.asarray([0.0, 1, 2, 10, 40, 100])[jury.astype(int)]
    by = {
        statistic: [
            values(world.beside(each, statistic=statistic, grades=None))["agreement jury"]
            for each in (jury, stretched)
        ]
        for statistic in ("spearman", "icc_2_1")
    }
    assert by["spearman"][0] == pytest.approx(by["spearman"][1]) and by["spearman"][0] > 0.8
    assert by["icc_2_1"][1] < 0.5 < by["icc_2_1"][0]


def test_without_danger_its_two_lines_do_not_apply() -> None:
    world = World(1, cases=60)
    found = lines_of(world.beside(world.rater(0.4), danger=None))
    for name in ("missed_danger", "consensus_danger"):
        assert (found.line(name).state, found.line(name).cap) == ("does not apply", "VALIDATED")
        assert found.line(name).found == "no danger is claimed on this dimension"


def test_with_one_system_the_answers_of_a_system_and_of_a_case_are_not_told_apart() -> None:
    world = World(1, cases=60, systems=1)
    found = lines_of(world.beside(world.rater(0.4)))
    assert states(found)["within_case"] == states(found)["within_system"] == "does not apply"
    assert found.line("within_case").found == "0 cases of which clinicians rated several systems' answers"


def test_clinicians_who_rotate_within_a_case_leave_a_case_blind_jury_unproven() -> None:
    """Each answer has two of forty clinicians: nobody rated two answers to a case, so nobody told them apart."""
    world = World(2, clinicians=40)
    seats = np.argsort(np.random.default_rng(4).random(world.humans.shape), axis=1)[:, :2]
    rated = np.zeros(world.humans.shape, dtype=bool)
    np.put_along_axis(rated, seats, True, axis=1)
    blind = np.repeat(world.rater(0.4).reshape(-1, 3).mean(axis=1), 3)
    line = lines_of(world.beside(blind, humans=np.where(rated, world.humans, np.nan))).line("within_case")
    assert (line.state, line.cap) == ("not known", "AUXILIARY")
    assert "so nobody knows whether it tells the answers to a case apart" in line.why


def test_a_pooled_mean_would_let_a_case_blind_jury_pass_and_each_raters_own_does_not() -> None:
    """Clinicians of different strictness: only their own mean over a case shows that they tell answers apart."""
    world = World(1, noise=0.4)
    strict = np.clip(world.humans - np.array([0.0, 1.0]), 1, 5)
    line = lines_of(
        world.beside(np.repeat(world.rater(0.4).reshape(-1, 3).mean(axis=1), 3), humans=strict)
    ).line("within_case")
    assert line.state == "fails" and line.colleague is not None and line.colleague > 0.3
    assert line.jury == pytest.approx(0)


@pytest.mark.parametrize(
    ("name", "limit", "strict"),
    [
        ("agreement", {"margin": 0.1}, {"margin": 1e-6}),
        ("missed_danger", {"missed_margin": 0.05}, {"missed_margin": -0.2}),
        ("offset", {"offset_limit": 0.125}, {"offset_limit": 1e-6}),
        ("within_case", {"margin": 0.1}, {"margin": 1e-6}),
        ("within_system", {"margin": 0.1}, {"margin": 1e-6}),
        ("consensus_danger", {"severe_limit": 0.1}, {"severe_limit": 0.0}),
        ("colleagues", {"floor": 0.4}, {"floor": 0.99}),
    ],
)
def test_stricter_limits_are_honoured(name: str, limit: dict[str, float], strict: dict[str, float]) -> None:
    world = World(1)
    beside = world.beside(world.rater(0.45))
    assert lines_of(beside, **limit).line(name).state == "holds"
    line = lines_of(beside, **strict).line(name)
    assert line.state in ("open", "fails") and abs(line.limit or 0) == pytest.approx(
        abs(next(iter(strict.values()))) * (4 if name == "offset" else 1)
    )


def test_scales_of_two_three_and_a_hundred_grades() -> None:
    world = World(1)
    jury = world.rater(0.4)
    for grades, change, danger in (
        (Grades((0.0, 1.0)), lambda x: np.where(np.isnan(x), np.nan, (x >= 3).astype(float)), (0.25, 1.0)),
        (Grades((1.0, 2.0, 3.0)), lambda x: np.ceil(x / 2), (1.5, 1.0)),
        (Grades(tuple(map(float, range(101)))), lambda x: (x - 1) * 25, (25.0, 50.0)),
    ):
        found = lines_of(
            world.beside(change(jury), humans=change(world.humans), grades=grades, danger=danger)
        )
        assert found.line("agreement").state == found.line("offset").state == "holds"
        assert found.line("offset").limit == pytest.approx((grades.highest - grades.lowest) / 8)
        assert found.line("missed_danger").colleague is not None


def test_hundreds_of_clinicians_make_no_table_of_all_pairs() -> None:
    world = World(1, cases=100, clinicians=300)
    rows = world.beside(world.rater(0.4), humans=thinned(world, 3)).pairs
    assert len(rows.answer) == world.size * 6
    assert rows.weight.sum() == pytest.approx(world.size)

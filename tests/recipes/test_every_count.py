"""What the nine reports of the recipes count, add up and list, made a second time; see `every_number`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.recipes.curve_checks import Calibrated, curves_are_right
from tests.recipes.designs import COMPOSITES, RUNS, TURNED, design, ends_of_scale, ranked
from tests.recipes.listed_checks import (
    correlations_are_right,
    largest_are_right,
    orders_beside_are_right,
    preferences_are_right,
    repeats_are_right,
    unscored_are_right,
)
from tests.recipes.rated import Answer, Rated
from tests.recipes.record_checks import claims_are_right, deliberations_are_right, orders_are_counted
from tests.recipes.taken_checks import corpus_is_right, costs_are_right, ways_took

JURORS = ["juror-east", "juror-north", "juror-south"]


@pytest.mark.parametrize("run", RUNS)
def test_calls_tokens_time_and_money(rated: Callable[[str], Rated], run: str) -> None:
    """A clinician's minutes and hour are those of the study files."""
    stated = {"medhelm-jury": (4.0, 120.0), "pdsqi9": (10.0, 300.0)}.get(RUNS[run], (None, None))
    costs_are_right(rated(run), *stated)
    ways_took(rated(run))


@pytest.mark.parametrize("run", RUNS)
def test_the_answers_that_were_rated(rated: Callable[[str], Rated], run: str) -> None:
    corpus_is_right(rated(run))


@pytest.mark.parametrize("run", RUNS)
def test_what_is_left_out_listed_and_put_in_order(rated: Callable[[str], Rated], run: str) -> None:
    how, about = design(run), rated(run)
    unscored_are_right(about, how.labels, how.first)
    largest_are_right(about, how.labels, how.first, how.cases_shown)
    correlations_are_right(about, how.labels, how.first)
    repeats_are_right(about)
    preferences_are_right(about)
    if about.table("ranking-beside-clinicians"):

        def after(name: str) -> dict[Answer, float]:
            made = Calibrated(about, COMPOSITES.get(RUNS[run], {}), JURORS)
            return dict(zip(made.answers, made.out_of_fold(how.first, name).tolist(), strict=True))

        orders_beside_are_right(about, ranked(run), ends_of_scale(run), TURNED, how.first, after)


@pytest.mark.parametrize("run", RUNS)
def test_every_point_of_the_calibration_curves(rated: Callable[[str], Rated], run: str) -> None:
    curves_are_right(rated(run), design(run).labels, COMPOSITES.get(RUNS[run], {}), JURORS)


def test_claims_and_orders_record_by_record(rated: Callable[[str], Rated]) -> None:
    about = rated("econsult")
    claims_are_right(about, {item: label for (item, _), label in about.reference("concordant").items()})
    orders_are_counted(about)


def test_deliberations_record_by_record(rated: Callable[[str], Rated]) -> None:
    deliberations_are_right(rated("pdsqi9"))

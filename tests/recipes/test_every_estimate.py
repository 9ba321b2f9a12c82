"""Dangers, clinicians among themselves and orders by the clinicians in the nine reports of the recipes, made a
second time; see `every_number`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.recipes import test_diagnosis_jury as diagnosis
from tests.recipes.danger_checks import panel_errors_are_right, severe_errors_are_right
from tests.recipes.designs import RUNS, TURNED, design, ends_of_scale, grading, people, ranked
from tests.recipes.exact_people import crossed_are_right, fleiss_is_right, together_is_right
from tests.recipes.exact_reference import reference_ranks_are_right
from tests.recipes.exact_vendors import self_preference_is_right
from tests.recipes.interval_checks import agreement_is_right, classes_are_right
from tests.recipes.rated import Rated
from tests.recipes.triage_checks import triage_is_right

from recipes import diagnosis_jury, pdsqi9

# Who made judges and systems, as the study files say.
VENDORS = {
    "diagnosis-jury": {name: vendor for name, (_, vendor) in diagnosis_jury.SYSTEMS.items()}
    | {diagnosis_jury.WARD: "none"},
    "medhelm-jury": {
        "atlas": "Example North",
        "borea": "Example East",
        "cirrus": "Example South",
        "delta": "Example West",
    },
    "pdsqi9": {"aster-writer": "Example Aster", "birch-writer": "Example Birch", "cedar-writer": "none"},
}
JURORS = {f"juror-{place.lower()}": f"Example {place}" for place in ("East", "North", "South")}
READERS = {
    name: "Example Birch" if name == "small-zero-shot" else "Example Aster" for name in sorted(pdsqi9.JUDGES)
}


@pytest.mark.parametrize("run", sorted(set(RUNS.values())))
def test_agreement_with_its_ends(rated: Callable[[str], Rated], run: str) -> None:
    how = design(run)
    assert agreement_is_right(rated(run), how.labels, grading(run), how.first) > 20
    if rated(run).table("classes"):
        assert classes_are_right(rated(run), how.labels, how.grades) > 10


@pytest.mark.parametrize("run", RUNS)
def test_severe_errors_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    """In one recipe any clinician may call an answer dangerous; elsewhere their one score does."""
    labels, scales = design(run).labels, ends_of_scale(run)
    severe_errors_are_right(rated(run), labels, scales, TURNED, any_counts=RUNS[run] == "medhelm-jury")
    panel_errors_are_right(rated(run), labels, scales, diagnosis.PANEL, (2.0, 2.0))


@pytest.mark.parametrize("run", RUNS)
def test_clinicians_among_themselves_with_their_ends(rated: Callable[[str], Rated], run: str) -> None:
    how = design(run)
    fleiss_is_right(rated(run), how.labels, how.grades, people(run))
    crossed_are_right(rated(run), how.labels, grading(run), people(run))
    assert together_is_right(rated(run), how.labels, people(run)) == len(
        [row for row in rated(run).table("clinicians-together") if row["all clinicians"]]
    )


@pytest.mark.parametrize("run", RUNS)
def test_systems_as_clinicians_would_rank_them(rated: Callable[[str], Rated], run: str) -> None:
    """Scales of one length are kept; on those of different lengths, means are of shares."""
    shares = run == "pdsqi9"
    reference_ranks_are_right(rated(run), ranked(run), ends_of_scale(run), TURNED, design(run).first, shares)


@pytest.mark.parametrize("run", RUNS)
def test_which_answers_a_clinician_must_see_first(rated: Callable[[str], Rated], run: str) -> None:
    how, any_counts = design(run), RUNS[run] == "medhelm-jury"
    judges = [*JURORS] if how.first == "jury" else [how.first]
    if rated(run).table("triage"):
        assert triage_is_right(rated(run), how.labels, how.grades, TURNED, how.first, judges, any_counts)


@pytest.mark.parametrize(
    "run", ["diagnosis-jury", "medhelm-jury", "medhelm-notes", "medhelm-replies", "pdsqi9"]
)
def test_whether_judges_favour_their_own_vendor_with_their_ends(
    rated: Callable[[str], Rated], run: str
) -> None:
    """Both sides climb to the top of a likelihood, and meet there to a hundred-thousandth."""
    judges = READERS if run == "pdsqi9" else JURORS
    vendors = VENDORS[RUNS[run]] | judges
    assert self_preference_is_right(rated(run), design(run).labels, [*judges], vendors) >= 12

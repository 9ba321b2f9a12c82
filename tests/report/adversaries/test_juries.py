"""Juries with a planted defect before the gate: each is found out, for its own reason; good juries pass.

`python -m benchmarks adversaries` runs fifty seeds of each; here are one or two of all, and one more of each bad
jury with `make test-simulations`."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from tests.report.adversaries.juries import (
    BAD,
    COPY,
    FAIR,
    GOOD,
    GRADES,
    PARTS,
    SCORED_PARTS,
    SEVERE,
    Planted,
    blind_to_split_clinicians,
)
from tests.report.adversaries.planned import planned, planned_cases
from tests.report.planted import page_of

SEEDS = (1, 2)
# What the reason names, beyond the rule: whom, or where.
NAMED = {
    "copies one clinician": (COPY, "it repeats clinician-01"),
    "right on short notes only": (PARTS, "length highest third"),
    "right on one specialty": (PARTS, "specialty"),
    "right for one patient group": (PARTS, "group 65 and older"),
    "drifts half-way": (PARTS, "time second half"),
    "blind in one system of three": (PARTS, "system system-1"),
    "kind to one vendor's system": (FAIR, "system system-0"),
    "kind to one patient group": (FAIR, "group 65 and older"),
    "a grade kinder from half-way on": (FAIR, "time second half"),
    "abstains on long records": (SCORED_PARTS, "length highest third"),
    "turned round for one patient in ten": (PARTS, "group 65 and older"),
    "refuses a third of one system's answers": (SCORED_PARTS, "system system-3"),
    "never gives the best grade": (GRADES, "Where a clinician gave 5"),
}


def test_there_are_at_least_fourteen_and_each_has_its_own_name() -> None:
    names = [each.name for each in (*BAD, *GOOD)]
    assert len(set(names)) == len(names) >= 14 and len(BAD) >= 14


def test_the_page_on_trust_lists_every_one_of_them() -> None:
    page = (Path(__file__).parents[3] / "docs" / "trusting-a-jury.md").read_text(encoding="utf-8")
    for each in (*BAD, *GOOD):
        assert f"| {each.name} |" in page
        assert all(rule in page for rule in each.fails)


@pytest.mark.parametrize("seed", [SEEDS[0], pytest.param(SEEDS[1], marks=pytest.mark.simulation)])
@pytest.mark.parametrize("planted", BAD, ids=lambda each: each.name)
def test_a_bad_jury_fails_for_the_stated_reason(planted: Planted, seed: int, tmp_path: Path) -> None:
    verdict = planted.verdict(tmp_path, seed)
    found = {rule.name: rule for rule in verdict.rules}
    assert verdict.word != "VALIDATED"
    for name in planted.fails:
        assert found[name].state == "not met" and found[name].why, (seed, name, found[name].found)
        assert found[name].why in verdict.reasons
    if planted.name in NAMED:
        rule, words = NAMED[planted.name]
        assert words in found[rule].why


@pytest.mark.parametrize("planted", GOOD, ids=lambda each: each.name)
def test_a_good_jury_of_the_planned_size_passes(planted: Planted, tmp_path: Path) -> None:
    cases = planned_cases(planted)
    words = [planted.verdict(tmp_path / str(seed), seed, cases).word for seed in SEEDS]
    assert "VALIDATED" in words and set(words) <= {"VALIDATED", "AUXILIARY"}


def test_the_jury_that_is_no_better_than_a_clinician_needs_more_cases_than_a_good_one() -> None:
    named = {each.name: each for each in GOOD}
    modest = named["as good as a clinician"]
    assert planned_cases(modest) > 200 > planned_cases(named["good"])
    assert planned(modest).together < 0.8 < planned(named["good"]).together
    assert modest.make(1, planned_cases(modest))["item"].n_unique() == planned_cases(modest)


def test_exchanging_scores_among_answers_that_clinicians_graded_alike_changes_no_verdict(
    tmp_path: Path,
) -> None:
    plain, shuffled = (next(each for each in GOOD if each.name == name) for name in ("good", GOOD[3].name))
    cases = planned_cases(plain)
    for seed in SEEDS:
        words = [
            each.verdict(tmp_path / f"{seed} {each.name}", seed, cases).word for each in (plain, shuffled)
        ]
        assert words[0] == words[1]


def test_the_mean_of_clinicians_who_disagree_hides_the_danger_that_one_of_them_saw(tmp_path: Path) -> None:
    by_mean = Planted("split", blind_to_split_clinicians, (SEVERE,), {"danger_by": "mean"})
    by_any = Planted("split", blind_to_split_clinicians, (SEVERE,))
    hidden = next(rule for rule in by_mean.verdict(tmp_path / "mean", 1).rules if rule.name == SEVERE)
    seen = next(rule for rule in by_any.verdict(tmp_path / "any", 1).rules if rule.name == SEVERE)
    assert hidden.met and not seen.met
    assert "dangerous by the mean" in seen.found and "dangerous by any clinician" in hidden.found


def test_the_first_screen_warns_of_what_silence_could_hide_and_shows_both_lines_of_a_rule(
    tmp_path: Path,
) -> None:
    silent = next(each for each in BAD if each.name == "silent on dangerous answers")
    verdict = silent.verdict(tmp_path, 1)
    page = html.unescape(page_of(tmp_path))
    assert "left 20 of the 400 answers that clinicians rated without a score" in page
    assert "Clinicians called 20 of them dangerous" in page
    for rule in verdict.rules:
        assert rule.lines.clinician in page and rule.lines.statistician in page

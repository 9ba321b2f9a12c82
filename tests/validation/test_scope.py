"""The scope of a verdict: parts that hold, fail or are not known, systems and time, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.validation.on_trial import Floats, World, verdict

from medjury.validation import Scope, Verdict
from medjury.validation._scope import _cut, _levels, holm


def parted(
    sizes: dict[str, int],
    bad: Sequence[str] = (),
    *,
    column: str = "specialty",
    how: str = "ignores",
    seed: int = 1,
    more: dict[str, Any] | None = None,
) -> Verdict:
    """A jury that is good but in the `bad` parts: it ignores the answer there, or is a grade too kind."""
    names = [name for name, size in sizes.items() for _ in range(size)]
    world = World(seed, cases=len(names), systems=1, noise=0.4)
    jury, part = world.rater(0.3), np.asarray(names)
    for name in bad:
        inside = np.flatnonzero(part == name)
        jury[inside] = worse(jury[inside], how)
    known = {column: [None if name == "" else name for name in names], **(more or {})}
    return verdict(world.frame(jury, known))


def worse(scores: Floats, how: str) -> Floats:
    if how == "ignores":
        return np.random.default_rng(3).permutation(scores)
    return np.where(scores < 5, scores + 1, 4.0) if how == "kind" else np.full(len(scores), np.nan)


def test_a_good_jury_names_the_parts_for_which_it_holds() -> None:
    found = parted({"medicine": 200, "cardiology": 150, "surgery": 150})
    assert found.word == "VALIDATED"
    assert found.scope == Scope(
        ("specialty=cardiology", "specialty=medicine", "specialty=surgery"),
        cases={"specialty=medicine": 200, "specialty=cardiology": 150, "specialty=surgery": 150},
    )
    assert found.meaning.endswith("Scope: for specialty cardiology, medicine, surgery.")


def test_a_part_where_the_jury_ignores_the_answer_leaves_the_scope_and_the_rest_keeps_the_word() -> None:
    """60 of 600 cases in surgery, and nobody named the column in the study."""
    found = parted({"medicine": 270, "cardiology": 270, "surgery": 60}, ["surgery"])
    assert found.scope.fails == ("specialty=surgery",)
    assert found.scope.holds == ("specialty=cardiology", "specialty=medicine")
    assert found.scope.share == pytest.approx(0.9) and found.rule("scope").state == "holds"
    assert "above a colleague's" in found.scope.why["specialty=surgery"]
    assert "not for specialty surgery" in found.scope.text()


def test_where_less_than_two_thirds_remain_the_word_falls() -> None:
    found = parted(
        {"medicine": 200, "cardiology": 200, "surgery": 100, "urology": 100}, ["surgery", "urology"]
    )
    assert found.scope.fails == ("specialty=surgery", "specialty=urology")
    assert found.rule("scope").state == "holds", "two thirds remain"
    less = parted(
        {"medicine": 190, "cardiology": 200, "surgery": 105, "urology": 105}, ["surgery", "urology"]
    )
    assert (less.rule("scope").state, less.rule("scope").cap) == ("fails", "AUXILIARY")
    assert "only 65.0 % of the answers remain" in less.rule("scope").why
    assert less.rule("scope").value == pytest.approx(0.65) and less.word != "VALIDATED"


def test_a_part_of_fourteen_cases_is_not_known() -> None:
    found = parted({"medicine": 300, "cardiology": 200, "surgery": 14})
    assert found.word == "VALIDATED" and found.scope.not_known == ("specialty=surgery",)
    assert "not known for specialty surgery (14 cases)" in found.meaning


@pytest.mark.parametrize(("cases", "state"), [(29, "not_known"), (30, "holds")])
def test_a_part_is_known_from_thirty_cases_on(cases: int, state: str) -> None:
    found = parted({"medicine": 300, "surgery": cases})
    assert "specialty=surgery" in getattr(found.scope, state)


def test_small_parts_are_tested_together() -> None:
    """A whole grade off in eight groups of 14: none alone would show it."""
    small = {f"ward {place}": 14 for place in range(8)}
    found = parted({"medicine": 300, "cardiology": 180, **small}, list(small), column="ward", how="kind")
    assert set(found.scope.fails) == {f"ward=ward {place}" for place in range(8)}
    assert found.scope.not_known == () and found.scope.holds == ("ward=cardiology", "ward=medicine")
    assert "more danger than a colleague" in found.scope.why["ward=ward 0"]
    fine = parted({"medicine": 300, "cardiology": 180, **small}, column="ward")
    assert set(fine.scope.not_known) == {f"ward=ward {place}" for place in range(8)} and not fine.scope.fails
    assert fine.scope.text().endswith("not known for ward (8 values, at most 14 cases each)")


def test_a_part_that_the_jury_leaves_without_scores_fails() -> None:
    found = parted({"medicine": 560, "surgery": 20}, ["surgery"], how="silent")
    assert found.scope.fails == ("specialty=surgery",)
    assert "left 100.0 % without a score" in found.scope.why["specialty=surgery"]


def test_a_part_that_is_scored_too_kindly_fails_in_words_of_its_scale() -> None:
    world = World(1, cases=400, systems=1, noise=0.4, dangerous=0.0)
    jury, part = world.rater(0.3), np.where(np.arange(400) < 60, "surgery", "medicine")
    frame = world.frame(np.clip(jury - (part == "surgery"), 1, 5), {"specialty": part.tolist()})
    found = verdict(frame, safety=False)
    assert "stricter than clinicians, 0.5 allowed" in found.scope.why["specialty=surgery"]


def test_cases_without_a_value_are_a_part_like_any_other() -> None:
    found = parted({"medicine": 270, "cardiology": 270, "": 60}, [""])
    assert found.scope.fails == ("specialty=not stated",)


def test_columns_of_any_name_with_few_values_are_parts_and_ids_are_not() -> None:
    cases = 300
    more = {
        "ethnicity_code": [f"E{place % 3}" for place in range(cases)],
        "record_id": [f"R{place}" for place in range(cases)],
        "age": [float(20 + place % 60) for place in range(cases)],
    }
    found = parted({"medicine": 150, "surgery": 150}, more=more)
    columns = {name.partition("=")[0] for name in found.scope.holds}
    assert columns == {"specialty", "ethnicity_code", "age"}
    assert {name for name in found.scope.holds if name.startswith("age")} == {
        f"age={place} values" for place in ("lowest", "middle", "highest")
    }


def test_most_cases_with_the_lowest_number_are_its_lowest_values_and_not_the_middle() -> None:
    drugs = [0.0] * 560 + [float(1 + place % 9) for place in range(40)]
    found = parted({"medicine": 600}, more={"drugs": drugs})
    assert {"drugs=lowest values", "drugs=highest values"} <= {*found.scope.holds, *found.scope.not_known}
    assert found.scope.cases["drugs=lowest values"] == 560


def test_without_a_colleague_no_part_is_worse_than_one_and_none_is_known() -> None:
    """A jury's own distance from the only clinician is not its distance above a colleague's."""
    names = ["medicine", "surgery"] * 150
    world = World(1, cases=300, systems=1, clinicians=1, noise=0.4)
    found = verdict(world.frame(world.rater(0.8), {"specialty": names}))
    assert found.word == "NOT VALIDATED" and not found.scope.holds
    assert not any("colleague" in why for why in found.scope.why.values())
    assert "Scope:" not in found.meaning and found.scope.text(), "a word that is not earned has no scope"


def test_systems_with_too_few_cases_are_named_as_looked_at_together() -> None:
    world = World(1, cases=56, systems=1, noise=0.4)
    known = {"system": [f"system {place % 4}" for place in range(56)]}
    rule = verdict(world.frame(world.rater(0.3), known)).rule("systems_alike")
    assert "together, as each has too few cases" in rule.found and "looked at;" not in rule.found


def test_a_column_of_the_rater_is_no_part_of_the_cases() -> None:
    world = World(1, cases=100, systems=1)
    frame = world.frame(world.rater(0.4)).with_columns(
        specialty=pl.when(pl.col("rater") == "clinician 0")
        .then(pl.lit("surgeon"))
        .otherwise(pl.lit("physician"))
    )
    found = verdict(frame)
    assert not [name for name in (*found.scope.holds, *found.scope.not_known) if "specialty" in name]


def test_a_column_that_the_rules_ask_for_and_nobody_recorded_costs_the_word() -> None:
    world = World(1)
    found = verdict(world.frame(world.rater(0.4)), rules={"parts": ("specialty",)})
    assert (found.rule("scope").state, found.word) == ("not known", "AUXILIARY")
    assert "a look at each specialty, and the ratings do not have it" in found.rule("scope").why


def systems_of(world: World, jury: Floats, where: Any) -> Verdict:
    return verdict(world.frame(np.where(where, worse(jury, "ignores"), jury)))


def test_a_system_for_which_the_jury_is_worse_costs_the_word() -> None:
    world = World(1, systems=4, within=1.0)
    jury = world.rater(0.3)
    found = systems_of(world, jury, world.system == 2)
    assert (found.rule("systems_alike").state, found.rule("systems_alike").cap) == ("fails", "AUXILIARY")
    assert "The jury is worse than a colleague for system system 2" in found.rule("systems_alike").why
    assert found.word != "VALIDATED" and not any("system" in name for name in found.scope.fails)
    assert verdict(world.frame(jury)).rule("systems_alike").state == "holds"


def dated(bad: bool) -> Verdict:
    world = World(1, cases=480, systems=1, noise=0.4)
    jury = world.rater(0.3)
    late = world.case >= 420
    days = [f"2026-{1 + place // 40:02d}-01T09:00:00+00:00" for place in range(480)]
    return verdict(world.frame(np.where(late & bad, worse(jury, "ignores"), jury), {"created_at": days}))


def test_a_slice_of_time_in_which_the_jury_is_worse_costs_the_word() -> None:
    found = dated(bad=True)
    assert found.rule("steady").state == "fails" and "8 of 8" in found.rule("steady").why
    assert found.word != "VALIDATED" and found.scope.fails == ()
    steady = dated(bad=False)
    assert steady.word == "VALIDATED" and steady.rule("steady").found.startswith("8 parts looked at")


def test_without_several_systems_or_moments_these_rules_do_not_apply() -> None:
    world = World(1, cases=100, systems=1)
    found = verdict(world.frame(world.rater(0.4)))
    assert {found.rule(name).state for name in ("systems_alike", "steady", "singly_rated")} == {
        "does not apply"
    }
    assert found.scope == Scope() and "Scope" not in found.meaning and found.scope.text() == ""


@pytest.mark.simulation
def test_a_good_jury_with_five_columns_keeps_its_word_and_its_scope() -> None:
    kept = 0
    for seed in range(40):
        world = World(seed, cases=360, systems=2, noise=0.4)
        draw = np.random.default_rng(seed)
        known = {
            f"column {place}": [f"v{each}" for each in draw.integers(0, 2 + place, world.cases)[world.case]]
            for place in range(1, 6)
        }
        found = verdict(world.frame(np.mean([world.rater(0.5) for _ in range(3)], axis=0), known))
        kept += found.word == "VALIDATED" and not found.scope.fails
    assert kept >= 36


def test_holm_is_that_of_the_books() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0] and holm([]) == []


def test_numbers_are_cut_into_thirds_and_equal_ones_stay_together() -> None:
    thirds = ("low", "middle", "high")
    assert _cut([1, 2, 3, 4, 5, 6, None], thirds) == ["low", "low", "middle", "middle", "high", "high", ""]
    assert _cut([0, 0, 0, 0, 0, 9], thirds) == ["low"] * 5 + ["high"], "a few that are high are a part"
    assert _cut([0, 0, 1, 2, 3, 9], thirds) == ["low", "low", "middle", "middle", "high", "high"]
    assert _cut([0, 0, 0, 1, 2, 9], thirds) == ["low"] * 3 + ["middle", "high", "high"]
    assert _cut([4, 4, 4], thirds) == ["", "", ""]
    assert _levels([1, 2, 3, 4, 5, 6]) == ["1", "2", "3", "4", "5", "6"], "few numbers stay as they are"
    assert len({*_levels([*range(7)])}) == 3

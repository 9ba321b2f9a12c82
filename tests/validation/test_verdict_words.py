"""The word that rules come to, what earns it and what costs it, and how it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.tables.run_folders import rows_of
from tests.validation.on_trial import Floats, World, evidence, graded, on_trial, registered_table, verdict

from medjury.report._sections.first_page import scope_of
from medjury.store.runs import GateRules
from medjury.tables import rating_table
from medjury.validation import Rule, Scope, Validation, Verdict, Word, validate, validation_of
from medjury.validation._rule import RuleState
from medjury.validation._sentences import LINE_IDS, ORDER, RULES

ANNA = [1 + place % 5 for place in range(40)]
NEAR = [min(5, score + (place % 4 == 0)) for place, score in enumerate(ANNA)]
CAPS: dict[RuleState, Word] = {"holds": "VALIDATED", "open": "AUXILIARY", "fails": "NOT VALIDATED"}


def rule(state: RuleState, cap: Word | None = None, *, why: str = "", danger: bool = False) -> Rule:
    best = CAPS.get(state, "AUXILIARY") if cap is None else cap
    return Rule("agreement", "Name", state, "asked", "found", best, why, danger=danger)


def made(label: str, *rules: Rule, rater: str = "jury", scope: Scope | None = None) -> Verdict:
    word = max((each.cap for each in rules), key=ORDER.index)
    return Verdict(rater, label.lower(), label, word, rules, scope or Scope(), "Numbers.")


def good(world: World) -> Floats:
    return world.rater(0.4)


def test_the_scope_of_one_dimension_is_never_that_of_all() -> None:
    scope = Scope(("ward=a", "ward=b"))
    held = made("Accuracy", rule("holds"), scope=scope)
    lost = made("Harm", rule("fails"), scope=scope)
    assert scope_of([held]) == f"Scope: {scope.text()}." and scope_of([lost]) == ""
    assert scope_of([held, lost]) == "The scope of each dimension is in the evidence."
    assert scope_of([held, made("Clarity", rule("holds"), scope=scope)]) == scope_of([held])


# What makes the word.


def test_the_true_grade_and_an_exchangeable_clinician_are_validated() -> None:
    for seed in (1, 4):
        world = World(seed)
        for jury in (graded(world.truth), world.rater(world.noise)):
            found = verdict(world.frame(jury))
            assert found.word == "VALIDATED", (seed, found.reasons)
            assert not found.reasons and all(each.met and each.found and each.asked for each in found.rules)


def blind_to_the_answer(world: World) -> Floats:
    """The best grade for a case as a whole, the same for each system's answer to it."""
    return np.repeat(graded(world.truth.reshape(-1, world.systems).mean(axis=1)), world.systems)


def swapped(world: World) -> Floats:
    """The true grades, those of two systems exchanged within each case."""
    true = graded(world.truth).reshape(-1, world.systems)
    return true[:, [1, 0, 2]].ravel()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("jury", [blind_to_the_answer, swapped])
def test_a_jury_that_does_not_tell_the_answers_to_a_case_apart_is_never_validated(
    jury: Any, seed: int
) -> None:
    world = World(seed)
    found = verdict(world.frame(jury(world)))
    assert found.word == "NOT VALIDATED" and found.rule("within_case").state == "fails"
    assert any("Among the answers to one case the jury agrees" in each for each in found.reasons)


def test_every_sentence_is_made_from_the_numbers() -> None:
    world = World(1)
    found = verdict(world.frame(good(world)))
    agreement, missed = found.rule("agreement"), found.rule("missed_danger")
    assert found.beside_colleague == (
        f"A colleague agrees {agreement.colleague:.3f} with a clinician, the jury {agreement.jury:.3f}; a "
        f"colleague misses {100 * (missed.colleague or 0):.1f} % of what a clinician calls dangerous (graded 2 or "
        f"lower), the jury {100 * (missed.jury or 0):.1f} %."
    )
    assert found.beside_colleague in found.meaning
    assert found.meaning.startswith("On cases like these, nobody would notice")


def test_no_danger_is_claimed_where_neither_study_nor_instrument_marks_a_dimension() -> None:
    world = World(1)
    found = verdict(world.frame(good(world)), safety=False)
    assert found.danger == "" and found.beside_colleague.endswith("; no danger is claimed on this dimension.")
    assert {found.rule(name).state for name in ("missed_danger", "consensus_danger")} == {"does not apply"}
    stated = verdict(world.frame(good(world)), safety=False, rules={"severe_dimensions": ("accuracy",)})
    assert stated.danger == "graded 2 or lower" and stated.rule("missed_danger").state == "holds"
    other = verdict(world.frame(good(world)), rules={"severe_dimensions": ()})
    assert other.danger == "" and other.rule("missed_danger").state == "does not apply"


def test_danger_is_that_of_the_study_by_share_or_by_grade() -> None:
    world = World(1)
    words = {
        danger: verdict(world.frame(good(world)), rules={"danger": danger}).danger
        for danger in (0.0, 0.25, 0.5, 1, 2, 3)
    }
    assert words == {
        0.0: "graded 1",
        0.25: "graded 2 or lower",
        0.5: "graded 3 or lower",
        1: "graded 1",
        2: "graded 2 or lower",
        3: "graded 3 or lower",
    }


def test_a_scale_on_which_higher_is_worse_has_the_same_verdict_and_its_own_words() -> None:
    world = World(1)
    frame = world.frame(good(world))
    scale = {"name": "accuracy", "label": "Risk", "grades": [1, 2, 3, 4, 5], "safety": True}
    straight, turned = (
        verdict(
            each,
            instrument={"name": "own", "version": "1", "dimensions": [{**scale, "higher_is_better": up}]},
        )
        for each, up in ((frame, True), (frame.with_columns(score=6 - pl.col("score")), False))
    )
    assert (straight.danger, turned.danger) == ("graded 2 or lower", "graded 4 or higher")
    assert straight.word == turned.word == "VALIDATED"
    for name in ("missed_danger", "consensus_danger"):
        one, other = straight.rule(name), turned.rule(name)
        assert (one.jury, one.colleague, one.high) == (other.jury, other.colleague, other.high)


def test_what_most_judges_overlook_of_two_grades_is_missed_by_the_jury_that_takes_their_mean() -> None:
    """Two of its three judges overlook a third of the harm: the mean is then less than a whole grade too kind."""
    words = {}
    for overlooked in (0.0, 0.35):
        world = World(1, cases=600)
        sound = (graded(world.truth) > 2).astype(float)
        judges = [(world.rater(0.4) > 2).astype(float) for _ in range(3)]
        kind = (sound == 0) & (world.draw.random(world.size) < overlooked)
        judges[1:] = [np.where(kind, 1.0, each) for each in judges[1:]]
        jury = np.mean(judges, axis=0)
        frame = world.frame(jury).with_columns(
            score=pl.when(pl.col("rater_kind") == "clinician")
            .then((pl.col("score") > 2).cast(pl.Float64))
            .otherwise("score")
        )
        dimension = {"name": "accuracy", "label": "Accuracy", "grades": [0, 1], "safety": True}
        found = verdict(frame, instrument={"name": "own", "version": "1", "dimensions": [dimension]})
        words[overlooked] = (found.word, found.rule("missed_danger").state)
    assert words == {0.0: ("VALIDATED", "holds"), 0.35: ("NOT VALIDATED", "fails")}


# Limits.


@pytest.mark.parametrize(
    "loose",
    [
        {"margin": 1.0},
        {"missed_margin": 0.06},
        {"offset_limit": 0.2},
        {"severe_limit": 1.0},
        {"floor": 0.05},
        {"coverage": 0.5},
        {"copy_limit": 1.0},
        {"gap": 1.0},
        {"minimum_cases": 5},
        {"minimum_clinicians": 1},
        {"minimum_doubly_rated": 10},
    ],
)
def test_a_looser_limit_costs_the_best_word_and_is_named(loose: dict[str, float]) -> None:
    world = World(1)
    found = verdict(world.frame(good(world)), rules=loose)
    (name, value), ours = next(iter(loose.items())), GateRules()
    assert found.word == "AUXILIARY" and found.rule("limits").state == "fails"
    assert f"{name} {value:g} (ours {getattr(ours, name):g})" in found.rule("limits").why
    assert found.rule("limits").why in found.reasons


def test_a_stricter_limit_is_honoured_and_is_not_called_loose() -> None:
    world = World(1)
    found = verdict(world.frame(good(world)), rules={"floor": 0.99, "margin": 0.05, "coverage": 0.99})
    assert found.rule("limits").state == "holds" and found.rule("colleagues").state == "fails"
    assert found.word == "NOT VALIDATED"


def test_fifty_doubly_rated_answers_are_needed_whatever_a_study_states() -> None:
    world = World(1, cases=49, systems=1)
    few = verdict(world.frame(good(world)), rules={"minimum_doubly_rated": 10})
    assert (few.word, few.rule("doubly_rated").state) == ("NOT VALIDATED", "fails")
    assert few.rule("doubly_rated").numbers == "49 now, 50 needed"
    enough = World(1, cases=50, systems=1)
    assert verdict(enough.frame(good(enough))).rule("doubly_rated").state == "holds"
    more = verdict(enough.frame(good(enough)), rules={"minimum_doubly_rated": 80})
    assert more.rule("doubly_rated").numbers == "50 now, 80 needed"


# Preconditions.


def test_unregistered_rules_and_an_unfinished_run_cost_the_word() -> None:
    world = World(1)
    frame = world.frame(good(world))
    unregistered = verdict(frame, protocol=None)
    assert (unregistered.word, unregistered.rule("registered").state) == ("AUXILIARY", "open")
    for status in ("incomplete", "failed", "running"):
        unfinished = verdict(frame, status=status, why="the budget was reached")
        assert unfinished.word == "INCOMPLETE" and "the budget was reached" in unfinished.reasons[0]
        assert "Scope:" not in unfinished.meaning


def test_ratings_of_no_run_are_at_best_auxiliary() -> None:
    world = World(1)
    table = rating_table(world.frame(good(world)), scale=(1, 5))
    found = validation_of(evidence(table)).verdicts[0]
    assert found.word == "AUXILIARY"
    assert [found.rule(name).state for name in ("finished", "unchanged", "registered")] == [
        "not known",
        "not known",
        "open",
    ]


def test_made_up_clinicians_validate_nothing() -> None:
    world = World(1)
    found = verdict(world.frame(good(world)), humans={"illustrative": True})
    assert found.word == "NOT VALIDATED" and "were made up for a demonstration" in found.reasons[0]


def test_clinicians_who_saw_the_scores_cap_the_word_and_what_is_not_stated_is_shown() -> None:
    world = World(1)
    frame = world.frame(good(world))
    seen = verdict(frame, humans={"blinded": False})
    assert (seen.word, seen.rule("blinded").state) == ("AUXILIARY", "fails")
    assert "whoever has seen a score agrees with it" in seen.reasons[0]
    unknown = verdict(frame, humans={})
    assert (unknown.word, unknown.rule("blinded").state) == ("VALIDATED", "not known")
    assert "not stated" in unknown.rule("blinded").found and not unknown.reasons


@pytest.mark.parametrize(("clinicians", "word"), [(1, "NOT VALIDATED"), (0, "NOT VALIDATED")])
def test_one_clinician_or_none_is_no_colleague(clinicians: int, word: str) -> None:
    world = World(1)
    kept = ["jury", "clinician 0"][: clinicians + 1]
    found = verdict(world.frame(good(world)).filter(pl.col("rater").is_in(kept)))
    assert found.word == word and found.rule("clinicians").state == "fails"
    assert found.beside_colleague == "" and found.rule("agreement").state == "not known"


def test_a_jury_that_left_too_much_out_is_not_validated_and_silence_about_bad_answers_is_seen() -> None:
    world = World(1)
    lost = np.where(world.draw.random(world.size) < 0.2, np.nan, good(world))
    assert verdict(world.frame(lost)).rule("coverage").cap == "NOT VALIDATED"
    afraid = np.where((world.humans.mean(axis=1) <= 1.5) & (world.case % 3 == 0), np.nan, good(world))
    found = verdict(world.frame(afraid), rules={"coverage": 0.5})
    assert found.rule("silence").state == "fails" and "are not like the others" in found.rule("silence").why


def test_silence_that_has_nothing_to_do_with_the_answers_is_no_reproach() -> None:
    world = World(2)
    lost = np.where(np.arange(world.size) % 41 == 0, np.nan, good(world))
    found = verdict(world.frame(lost))
    assert found.rule("silence").state == "holds" and found.rule("coverage").state == "holds"


def test_a_copy_of_a_clinician_is_found_and_named() -> None:
    world = World(1)
    copy = np.where(world.draw.random(world.size) < 0.02, good(world), world.humans[:, 1])
    found = verdict(world.frame(copy))
    assert found.word == "NOT VALIDATED" and found.rule("clinician_copy").state == "fails"
    assert "it repeats clinician 1" in found.rule("clinician_copy").why


def test_a_copy_that_slips_cannot_hide_and_a_colleague_is_no_copy() -> None:
    """One clinician's grade, but a grade off in a quarter of the answers: it differs as often as anybody."""
    for seed in (1, 2):
        world = World(seed)
        draw, first = world.draw, world.humans[:, 0]
        off = np.where(
            draw.random(world.size) < 0.25, np.where(draw.random(world.size) < 0.5, 1.0, -1.0), 0.0
        )
        found = verdict(world.frame(np.clip(first + off, 1.0, 5.0)))
        assert (found.word, found.rule("clinician_copy").state) == ("AUXILIARY", "open")
        assert "nearer to clinician 0 than to the other" in found.rule("clinician_copy").why
        assert verdict(world.frame(world.rater(world.noise))).rule("clinician_copy").state == "holds"
        strict = verdict(world.frame(np.clip(world.rater(world.noise) - 0.4, 1.0, 5.0)))
        assert strict.rule("clinician_copy").state == "holds"


def test_a_jury_that_was_given_the_clinicians_mean_lies_between_them() -> None:
    for world in (World(1), World(1, clinicians=4)):
        found = verdict(world.frame(world.humans.mean(axis=1)))
        assert found.word == "NOT VALIDATED" and found.rule("clinician_scores").state == "fails"
        honest = verdict(world.frame(graded(world.truth)))
        assert honest.rule("clinician_scores").state == "holds"


def test_jurors_that_are_one_juror_are_named() -> None:
    world = World(1)
    first, second = good(world), good(world)
    frame = world.frame(first)
    jurors = [
        frame.filter(pl.col("rater") == "jury").with_columns(
            rater=pl.lit(name), rater_kind=pl.lit("judge"), score=pl.Series(scores)
        )
        for name, scores in (("judge a", first), ("judge b", first), ("judge c", second))
    ]
    found = verdict(pl.concat([frame, *jurors]))
    assert (found.rule("juror_copy").state, found.word) == ("fails", "AUXILIARY")
    assert found.rule("juror_copy").found == "judge a and judge b"
    alone = verdict(pl.concat([frame, *jurors[1:]]))
    assert alone.rule("juror_copy").state == "holds" and alone.word == "VALIDATED"


def test_equal_texts_are_one_case_whatever_their_ids() -> None:
    """25 texts under 300 ids: few cases, however many rows."""
    world = World(1, systems=1)
    texts = [f"hash {place % 25}" for place in range(300)]
    frame = world.frame(good(world), {"content_hash": texts})
    found = verdict(frame, repeated_texts=275)
    assert found.word != "VALIDATED" and found.clusters == 25 and found.doubly == 300
    assert found.rule("distinct_cases").state == "fails"
    assert (
        "Only 25 different cases were rated by two clinicians; 30 are needed"
        in found.rule("distinct_cases").why
    )
    assert "275 cases with the text of another count once" in found.rule("distinct_cases").found


def test_the_whole_scale_must_be_used() -> None:
    world = World(1)
    found = verdict(world.frame(np.minimum(good(world), 4.0)))
    assert (
        found.rule("scale_use").state == "fails" and "Where a clinician gave 5" in found.rule("scale_use").why
    )


def test_a_jury_that_is_worse_where_one_clinician_rated_costs_the_word() -> None:
    """Second ratings on easy cases only."""
    world = World(1, systems=1, cases=400)
    hard = world.case >= 250
    world.__dict__["humans"] = np.where(hard[:, np.newaxis] & np.array([False, True]), np.nan, world.humans)
    jury = np.where(hard, np.random.default_rng(2).permutation(good(world)), good(world))
    found = verdict(world.frame(jury))
    assert found.rule("agreement").state == "holds" and found.rule("singly_rated").state == "fails"
    assert found.word != "VALIDATED"
    assert verdict(world.frame(good(world))).rule("singly_rated").state == "holds"


# How it is told.


def test_one_rule_makes_the_word_as_heavy_as_itself() -> None:
    assert [
        made("Accuracy", *rules).word
        for rules in (
            (rule("holds"), rule("does not apply", "VALIDATED")),
            (rule("holds"), rule("not known")),
            (rule("open"), rule("fails")),
            (rule("fails"), rule("fails", "INCOMPLETE")),
            (rule("fails", "AUXILIARY"),),
            (rule("not known", "VALIDATED"),),
        )
    ] == ["VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE", "AUXILIARY", "VALIDATED"]


def test_heavy_reasons_come_first_danger_before_the_rest_and_empty_ones_not_at_all() -> None:
    assert made(
        "Accuracy",
        rule("open", why="light"),
        rule("fails", why="heavy"),
        rule("fails", why="danger", danger=True),
        rule("open", why=""),
        rule("holds", why="hidden"),
    ).reasons == ("danger", "heavy", "light")


def test_the_text_says_once_what_holds_everywhere() -> None:
    both, own = rule("open", why="Nobody registered."), rule("fails", why="Too few.")
    text = Validation(
        (), ("read me",), (made("Accuracy", both, own), made("Clarity", both), made("Zeal", both))
    ).text()
    lines = text.splitlines()
    assert lines[:3] == ["! read me", "Everywhere: Nobody registered.", "Accuracy: NOT VALIDATED"]
    assert text.count("Nobody registered.") == 1 and "  Too few." in lines
    assert [line for line in lines if not line.startswith((" ", "!", "E"))] == [
        "Accuracy: NOT VALIDATED",
        "Clarity: AUXILIARY",
        "Zeal: AUXILIARY",
    ]


def test_raters_are_named_where_there_are_several() -> None:
    found = Validation(
        (), (), (made("Accuracy", rule("holds"), rater="anna"), made("Accuracy", rule("open"), rater="ben"))
    )
    assert "anna, Accuracy: VALIDATED" in found.text() and "ben, Accuracy: AUXILIARY" in found.text()
    assert found.raters == ("anna", "ben") and [each.word for each in found.of("ben")] == ["AUXILIARY"]
    assert Validation((), (), ()).text() == ""


def test_a_table_of_verdicts_says_why_or_what_the_word_means() -> None:
    scope = Scope(holds=("ward=a",), not_known=("ward=b",), cases={"ward=b": 14})
    found = Validation(
        (),
        (),
        (
            made("Accuracy", rule("holds"), scope=scope),
            made("Clarity", rule("open", why="One."), rule("open", why="Two.")),
        ),
    )
    rows = found.shown_rows()
    assert rows[0]["why"] == (
        "On cases like these, nobody would notice if the jury took a colleague's chair. Numbers. Scope: for ward "
        "a; not known for ward b (14 cases)."
    )
    assert rows[1]["why"] == "One. Two." and found.word("clarity") == "AUXILIARY"


def test_named_raters_are_each_on_trial() -> None:
    found = validate(
        rating_table(rows_of({"clinician a": ANNA, "judge a": NEAR, "judge b": ANNA}), scale=(1, 5)),
        raters=["judge a", "judge b"],
        resamples=60,
    )
    assert [(each.rater, each.rule("offset").found) for each in found.verdicts] == [
        ("judge a", "0.200 (0.092 to 0.308)"),
        ("judge b", "0.000 (−0.289 to 0.289)"),
    ]


def test_rules_have_ids_that_never_change_in_the_order_of_the_report() -> None:
    table = rating_table(rows_of({"clinician a": ANNA, "clinician b": NEAR, "jury": NEAR}), scale=(1, 5))
    ids = [each.rule.id for each in validate(table, resamples=60).rows]
    assert tuple(ids[:7]) == LINE_IDS
    assert ids[7:] == [
        "finished", "unchanged", "registered", "limits", "clinicians", "doubly_rated", "distinct_cases", "blinded",
        "coverage", "silence", "clinician_copy", "clinician_scores", "juror_copy", "injection", "scale_use",
        "systems_alike", "steady", "singly_rated", "scope",
    ]  # fmt: skip
    assert {*ids} <= {*RULES}, "every rule is explained to a clinician and to a statistician"
    page = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")
    assert all(f"`{each}`" in page for each in RULES), "and its id is on the page for pipelines"


def test_rules_that_apply_to_nothing_are_no_reproach_without_a_scale() -> None:
    found = validation_of(on_trial({"clinician a": ANNA, "clinician b": NEAR, "jury": NEAR}, scale=None))
    states = {each.id: each.state for each in found.verdicts[0].rules}
    assert states["offset"] == "not known" and states["scale_use"] == "does not apply"
    assert states["missed_danger"] == "does not apply"


def test_a_changed_file_forbids_every_word(tmp_path: Path) -> None:
    from tests.report.planted import planted_frame, write_run

    folder = write_run(tmp_path, planted_frame(cases=60, dimensions=("accuracy",)))
    with (folder / "ratings.csv").open("a") as file:
        file.write("one more line\n")
    found = validate(folder, resamples=60).verdicts[0]
    assert found.word == "NOT VALIDATED" and found.rule("unchanged").state == "fails"
    assert "ratings.csv" in found.rule("unchanged").why


def test_a_registered_table_is_what_these_tests_take_it_for() -> None:
    world = World(1, cases=60)
    table = registered_table(world.frame(good(world)))
    assert (
        table.rules.model_dump(exclude={"stated_at", "earlier"}) == GateRules().model_dump()
        and table.dimensions[0].safety
        and table.run.manifest is not None
    )

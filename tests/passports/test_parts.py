"""The parts of a passport: who was validated, what lies outside, for which cases it holds, and what changed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.passports.passported import WORDS

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import read_passport
from medjury.in_use.passports._document import PassportScope
from medjury.in_use.passports._judging import Judged, judged_rows
from medjury.in_use.passports._novelty import (
    FEATURES,
    common_words,
    distances,
    features,
    novelty_of,
    record_word_count,
    word_count,
)
from medjury.in_use.passports._population import (
    NOT_STATED,
    Placed,
    Placing,
    Range,
    group_value,
    number_of,
    population_of,
    population_words,
)
from medjury.in_use.passports._rebuilding import answering_changes, jury_changes
from medjury.in_use.passports._scope import InScope, all_outside, in_scope, passport_scope
from medjury.intake.cases import Case, Note
from medjury.models import NOT_TOLD
from medjury.store.runs import AnsweringModel, ManifestJudge
from medjury.validation import Scope


def case(number: int, words: int = 12, **metadata: Any) -> Case:
    said = " ".join(WORDS[(number * 7 + each) % len(WORDS)] for each in range(words + number % 4))
    given = {"specialty": "cardiology", "age": 40 + number % 20, **metadata}
    known = {name: value for name, value in given.items() if value is not None}
    return Case(
        f"c{number}", f"{said}.", texts={"context": said}, system="a", patient=f"p{number}", metadata=known
    )


POPULATION = population_of([case(number) for number in range(100)], [case(500)], alpha=0.05)


# Who was validated.


def test_a_population_is_counts_ranges_and_lengths() -> None:
    found = POPULATION
    assert (found.cases, found.patients) == (100, 100)
    assert found.groups == {"system": {"a": 100}, "specialty": {"cardiology": 100}}
    assert found.ranges == {"age": Range(low=40, high=59)}
    assert found.unseen == {"system": 0.0, "specialty": 0.0, "age": 2 / 101}
    assert found.lengths == {
        "answer": (12.0, 12.75, 13.5, 14.25, 15.0),
        "record": (12.0, 12.75, 13.5, 14.25, 15.0),
    }
    assert len(found.development_marks) >= 1 and found.development_marks == tuple(
        sorted(found.development_marks)
    )
    assert population_words(found) == [
        "system: a (100)", "specialty: cardiology (100)", "age: 40 to 59",
        "words of the answer: 12 to 15, median 13.5", "words of the record: 12 to 15, median 13.5",
    ]  # fmt: skip


def test_the_age_of_the_oldest_is_not_stated_and_rare_values_are_expected() -> None:
    cases = [
        case(n, age=40 + n % 51, specialty="rare" if n == 3 else "b" if n % 4 else "a") for n in range(100)
    ]
    found = population_of(cases)
    assert found.ranges["age"] == Range(low=40, high=None) and found.unseen["specialty"] == 0.01
    assert population_words(found)[1:3] == ["specialty: b (74), a (25), rare (1)", "age: 40 and above"]
    young = population_of([case(n, age=40 + n % 50) for n in range(100)])
    assert young.ranges["age"] == Range(low=40, high=89)
    missing = population_of([case(n, age=None if n == 5 else 50) for n in range(100)])
    assert "age" not in missing.ranges and missing.groups["age"] == {NOT_STATED: 1, "50": 99}


@pytest.mark.parametrize(("values", "is_group"), [(30, True), (31, False)])
def test_what_has_nearly_as_many_values_as_patients_is_no_group(values: int, is_group: bool) -> None:
    found = population_of([case(n, specialty=f"s{n % values}") for n in range(100)])
    assert ("specialty" in found.groups) is is_group


def test_values_and_numbers_are_read_however_they_are_written() -> None:
    one = Case(
        "1",
        "x",
        system="s",
        metadata={"a": " b ", "c": "", "d": 5, "e": "4.5", "f": True, "g": "x", "h": "inf", "i": None},
    )
    assert [group_value(one, name) for name in ("system", "a", "c", "d", "i", "z")] == [
        "s", "b", NOT_STATED, "5", NOT_STATED, NOT_STATED
    ]  # fmt: skip
    assert [number_of(one, name) for name in "defghiz"] == [5.0, 4.5, None, None, None, None, None]


# What lies outside.


@pytest.mark.parametrize(
    ("new", "reasons"),
    [
        (case(3), []),
        (case(3, specialty="surgery"), ["specialty 'surgery': none of the validated cases"]),
        (case(3, specialty=None), ["no specialty is stated: none of the validated cases"]),
        (case(3, age=40), []),
        (case(3, age="59"), []),
        (case(3, age=39), ["age 39: the validated cases have 40 to 59"]),
        (case(3, age=60), ["age 60: the validated cases have 40 to 59"]),
        (case(3, age=None), ["no age is stated: none of the validated cases"]),
        (case(500), ["served development: nothing was validated on it"]),
    ],
)
def test_a_case_is_outside_for_every_reason_that_it_has(new: Case, reasons: list[str]) -> None:
    placed = Placing(POPULATION).place(new)
    assert (list(placed.reasons), placed.inside) == (reasons, not reasons)
    assert (placed.item, placed.system) == (new.id, "a") and 0 < placed.p_value <= 1
    assert placed.as_dict() == {
        "item": new.id,
        "system": "a",
        "inside": not reasons,
        "p_value": placed.p_value,
        "distance": placed.distance,
        "reasons": reasons,
    }
    old = Placing(POPULATION.replaced(ranges={"age": Range(low=40, high=None)}))
    assert old.place(case(3, age=99)).inside
    assert old.place(case(3, age=9)).reasons == ("age 9: the validated cases have 40 and above",)


def test_a_case_that_is_far_away_is_outside_by_its_worst_feature() -> None:
    (reason,) = Placing(POPULATION).place(case(3, words=900)).reasons
    assert reason.startswith("unlike the validated cases: p = 0.0") and "at the level 0.05" in reason
    assert reason.endswith("most of all by share of words said before")
    foreign = replace(case(3), candidate="Ж" * 60)
    assert Placing(POPULATION).place(foreign).inside is False


def test_the_features_of_a_case_are_numbers_about_its_words() -> None:
    one = Case(
        "1",
        "- Take 20 mg.\nRest, rest!",
        "Été",
        texts={"b": "two", "a": "one one"},
        notes=(Note("n", "last one"),),
    )
    assert (word_count(one), record_word_count(one)) == (5, 6)
    found = dict(zip(FEATURES, features(one, ()), strict=True))
    size = len(one.candidate or "") + len("Été\none one\ntwo\nlast one")
    assert found == {
        "words of the answer (log)": round(math.log(6), 4),
        "words of the record (log)": round(math.log(7), 4),
        "mean length of words": round((4 + 2 + 2 + 4 + 4 + 3 + 3 + 3 + 3 + 4 + 3) / 11, 4),
        "share of digits": round(2 / size, 4),
        "share of letters beyond a to z": round(2 / (14 + 19), 4),
        "share of words said before": 0.2,
        "list items and headings per line": 0.5,
        "share of uncommon words, answer": 1.0,
        "share of uncommon words, record": 1.0,
    }
    assert set(features(Case("1", ""), ())) == {0.0}


def test_common_words_are_those_of_five_patients() -> None:
    cases = [(Case(str(n), "Shared once" if n < 4 else "shared Own"), f"p{n}") for n in range(5)]
    common = common_words(cases)
    assert len(common) == 1 and all(len(each) == 10 for each in common)
    assert common_words([(one, "p") for one, _ in cases]) == ()
    five = common_words([*cases, (Case("9", "once again"), "p9")])
    assert len(five) == 2 and five == tuple(sorted(five)) and set(common) < set(five)
    uncommon = features(Case("1", "Shared once more 20"), common)[7]
    assert uncommon == round(2 / 3, 4)


def test_a_distance_is_the_mean_of_the_nearest_five() -> None:
    measure = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [50.0, 0.0]])
    found = distances(np.array([[0.0, 0.0], [0.0, 4.0]]), measure, np.array([1.0, 2.0]))
    assert found[0] == pytest.approx((0 + 1 + 2 + 3 + 4) / 5 / math.sqrt(2))
    assert found[1] == pytest.approx(np.mean([math.sqrt((x * x + 4) / 2) for x in range(5)]))
    assert distances(np.array([[0.0, 0.0]]), measure[:2], np.ones(2))[0] == pytest.approx(0.5 / math.sqrt(2))


@pytest.mark.parametrize(
    ("alpha", "patients", "problem"),
    [
        (0.0, 100, "not at 0"),
        (0.51, 100, "not at 0.51"),
        (0.05, 39, "39 validated patients are too few"),
        (0.3, 7, "8 are needed"),
    ],
)
def test_too_few_patients_for_a_level_are_refused(alpha: float, patients: int, problem: str) -> None:
    cases = [case(number) for number in range(patients)]
    with pytest.raises(MedjuryError, match=problem):
        novelty_of(cases, [each.patient or "" for each in cases], alpha)


def test_one_half_measures_and_the_other_is_compared() -> None:
    cases = [case(number % 40) for number in range(80)]
    patients = [each.patient or "" for each in cases]
    found = novelty_of(cases, patients, 0.05)
    assert (len(found.measure), len(found.compared), found.alpha) == (40, 40, 0.05)
    assert sorted(found.compared_patients) == sorted([*range(20)] * 2) and found.compared_patients[0] == 0
    assert list(found.spreads) == list(FEATURES)
    assert all(found.spreads[name] >= least for name, least in FEATURES.items())
    assert novelty_of(cases, patients, 0.05) == found != novelty_of(cases, patients, 0.05, seed=1)
    assert len(novelty_of([case(n) for n in range(4)], list("abcd"), 0.5).measure) == 2


# For which cases it holds.


def verdict(passport: Path, dimension: str = "accuracy", **scope: Any) -> Any:
    made = PassportScope(**{"why": {}, "cases": {}, "cuts": {}, **scope})
    return read_passport(passport).verdicts[0].replaced(scope=made, dimension=dimension)


def test_a_case_is_refused_where_the_jury_fails_and_marked_where_nobody_knows(passport: Path) -> None:
    one = verdict(
        passport,
        holds=("ward=a", "site=x"),
        fails=("ward=b", "ward=c"),
        not_known=("site=y",),
        why={"ward=b": "worse"},
    )

    def state(**metadata: Any) -> InScope:
        return in_scope([one], Case("1", "x", metadata=metadata))["accuracy"]

    assert state(ward="a", site="x") == ("holds", "")
    assert state(ward="a", site="y") == ("not known", "site=y")
    assert state(ward="a", site="z") == ("not known", "site=z")
    assert state(ward="a") == ("not known", "no site is stated")
    assert state(ward="b", site="y") == ("outside", "ward=b (worse)")
    assert state(ward=" c ", site="x") == ("outside", "ward=c")
    assert state(site="x") == ("outside", "no ward is stated, and the jury fails for b, c")
    assert state(ward="d", site="x") == ("not known", "ward=d")


def test_what_follows_from_others_is_where_the_worst_of_them_is(passport: Path) -> None:
    one = verdict(passport, holds=("ward=a",))
    two = verdict(passport, "clarity", not_known=("ward=a",))
    three = verdict(passport, "structure", fails=("ward=a",))
    new = Case("1", "x", metadata={"ward": "a"})
    states = [in_scope(those, new)[""][0] for those in ([one], [one, two], [two, one, three])]
    assert states == ["holds", "not known", "outside"]
    assert all_outside(in_scope([three], new)) and not all_outside(in_scope([one, three], new))


def test_a_length_is_counted_in_words_and_cut_where_the_study_cut_it() -> None:
    scope = Scope(
        (f"{Scope.length}={Scope.thirds[0]}",),
        (),
        (f"{Scope.length}={Scope.thirds[2]}", "x=1"),
        {"x=1": 3, "y=1": 2},
    )
    cases = [Case(str(n), "word " * n) for n in range(1, 10)]
    made = passport_scope(scope, {Scope.length: (1 / 3, 2 / 3), "none": (0.5,)}, cases)
    assert made.cuts == {Scope.length: (4.0, 7.0)} and made.cases == {"x=1": 3}
    one: Any = SimpleNamespace(dimension="d", scope=made)
    found = [in_scope([one], each)["d"][1].split("; ")[0] for each in cases]
    assert [each.startswith(Scope.length) for each in found] == [False] * 3 + [True] * 6


# What changed.


def test_every_difference_of_the_jury_is_told_with_both_values(passport: Path) -> None:
    jury = read_passport(passport).jury
    assert jury_changes(jury, jury) == ()
    (judge,) = jury.judges
    other = judge.replaced(name="another")
    assert jury_changes(jury, jury.replaced(judges=(other,))) == ("judges: juror was validated, not another",)
    assert jury_changes(jury, jury.replaced(judges=())) == ("judges: juror was validated, not none",)
    (changed,) = jury_changes(jury, jury.replaced(prompt_version="0"))
    assert changed == f"prompt: {jury.prompt_version} was validated, not 0"
    text = jury.instrument.replaced(version="9")
    (changed,) = jury_changes(jury, jury.replaced(instrument=text))
    assert (
        changed.startswith(f"instrument: {jury.instrument.name} {jury.instrument.version} (")
        and "9 (" in changed
    )
    (changed,) = jury_changes(jury, jury.replaced(jury=jury.jury.replaced(quorum=2, members=("b", "a"))))
    assert changed.endswith(" of all judges, quorum more than half, repeats 1 was validated, not "
                            "jury: mean of b, a, quorum 2, repeats 1")  # fmt: skip
    (changed,) = jury_changes(jury, jury.replaced(juries=(jury.jury.replaced(rule="minimum"),)))
    assert changed.startswith("juries: none was validated, not jury: minimum of ")
    stated = jury.replaced(judges=(ManifestJudge(**judge.content(), wide=True),))
    assert jury_changes(jury, stated) == ("juror, wide: not stated was validated, not True",)
    (changed,) = jury_changes(jury, jury.replaced(judges=(judge.replaced(settings_hash="x"),)))
    assert changed == "juror: its prompt or settings are not those that were validated"


def told(judge: str, asked: str, answered: str) -> AnsweringModel:
    return AnsweringModel(judge=judge, asked=asked, answered=answered)


@pytest.mark.parametrize(
    ("then", "now", "changes"),
    [
        ([("j", "m", "m-1")], [("j", "m", "m-1")], []),
        ([("j", "m", "m-1"), ("j", "m", "m-2")], [("j", "m", "m-2")], []),
        (
            [("j", "m", "m-2"), ("j", "m", "m-1")],
            [("j", "m", "m-3")],
            ["j: m is answered by m-3; m-1 or m-2 was validated"],
        ),
        ([("j", "m", "m-1")], [("k", "m", "m-1")], ["k: m is answered by m-1; nobody was validated"]),
        (
            [("j", "m", "m-1")],
            [("j", "m", NOT_TOLD)],
            ["j: m does not say which model answered; m-1 was validated"],
        ),
        ([("j", "m", NOT_TOLD)], [("j", "m", "m")], []),
        ([("j", "gpt-4o", NOT_TOLD)], [("j", "gpt-4o", "gpt-4o-2024-08-06")], []),
        ([("j", "m", NOT_TOLD)], [("j", "m", "other")], ["j: m is answered by other; nobody was validated"]),
        (
            [("j", "m", NOT_TOLD), ("j", "m", "m-1")],
            [("j", "m", "m")],
            ["j: m is answered by m; m-1 was validated"],
        ),
        ([], [], []),
    ],
)
def test_a_model_that_did_not_answer_then_is_another(
    then: list[tuple[str, str, str]], now: list[tuple[str, str, str]], changes: list[str]
) -> None:
    found = answering_changes([told(*each) for each in then], [told(*each) for each in now])
    assert list(found) == changes


# What came of judging.


def placed(name: str, *reasons: str) -> Placed:
    return Placed(name, "a", not reasons, 0.5, 1.0, reasons)


def test_every_case_has_a_row_on_every_dimension_with_its_reason(passport: Path) -> None:
    known = read_passport(passport)
    inside, away, scope = ("holds", ""), ("outside", "ward=b"), ("not known", "ward=c")
    where = {
        ("in", "a"): placed("in"),
        ("out", "a"): placed("out", "far", "old"),
        ("b", "a"): placed("b"),
        ("c", "a"): placed("c"),
    }
    scoped = {("in", "a"): {"accuracy": inside, "": inside}, ("out", "a"): {"accuracy": inside, "": inside},
              ("b", "a"): {"accuracy": away, "": away}, ("c", "a"): {"accuracy": scope, "": scope}}  # fmt: skip
    read = {
        ("in", "a", "accuracy"): {"score": 4.0, "status": "scored", "reason": "", "calibrated": 3.5},
        ("in", "a", "overall"): {"score": 2.0, "status": "scored", "reason": ""},
        ("b", "a", "accuracy"): {"score": 5.0, "status": "scored", "reason": ""},
    }
    wanted = frozenset({("in", "a"), ("b", "a"), ("c", "a")})
    rows = [*judged_rows(known, where, scoped, read, wanted, "complete")]
    assert [(each["item"], each["dimension"]) for each in rows] == [
        (name, dimension) for name in ("in", "out", "b", "c") for dimension in ("accuracy", "overall")
    ]
    first = rows[0]
    assert (first["score"], first["calibrated"], first["status"], first["reason"]) == (4.0, 3.5, "scored", "")
    assert (first["inside"], first["p_value"], first["outside_because"]) == (True, 0.5, "")
    assert (first["verdict"], first["force"], first["passport"]) == (
        known.verdicts[0].word, known.force, known.hash[:16]
    )  # fmt: skip
    assert (rows[1]["score"], rows[1]["calibrated"], rows[1]["verdict"]) == (2.0, None, "follows from others")
    assert (rows[2]["reason"], rows[2]["outside_because"]) == (
        "refused: outside what was validated",
        "far; old",
    )
    assert (rows[4]["score"], rows[4]["reason"]) == (None, "refused: outside the scope: ward=b")
    assert (rows[4]["status"], rows[4]["scope"], rows[4]["scope_because"]) == (
        "unscored",
        "outside",
        "ward=b",
    )
    assert (rows[6]["score"], rows[6]["reason"], rows[6]["scope"]) == (None, "not judged yet", "not known")
    void = [*judged_rows(known, where, scoped, {}, wanted, "void")]
    assert {each["reason"] for each in void} == {
        "void: the model that answers is not the one that was validated"
    }
    assert {each["dimension"] for each in void} == {"accuracy"}


def test_what_came_of_judging_is_told_to_people_and_programs(passport: Path) -> None:
    known = read_passport(passport)
    where = {
        ("in", "a"): placed("in"),
        ("o", "a"): placed("o", "far: x", "age 9: y"),
        ("p", "a"): placed("p", "far: z"),
    }
    scoped = {
        ("in", "a"): {"x": ("holds", ""), "y": ("outside", "")},
        ("o", "a"): {"x": ("not known", "")},
        ("p", "a"): {},
    }
    rows = (
        {"item": "in", "system": "a", "dimension": "x", "score": 4.0, "calibrated": None},
        {"item": "o", "system": "a", "dimension": "x", "score": 4.0, "calibrated": 3.0},
        {"item": "p", "system": "a", "dimension": "x", "score": None, "calibrated": None},
        {"item": "p", "system": "a", "dimension": "y", "score": 1.0, "calibrated": None},
    )
    found = Judged(Path("f"), known, "incomplete", "over budget", where, "flag", 3, 1, ("c",), rows, scoped)
    assert found.in_state("outside") == [("in", "a")] and found.in_state("not known") == [("o", "a")]
    assert found.scores("x") == {("in", "a"): 4.0, ("o", "a"): 3.0} and found.scores("z") == {}
    lines = found.text().splitlines()
    assert lines[0] == "INCOMPLETE: over budget" and lines[-1] == "Judged cases: f/judged.csv"
    assert "1 of 3 cases are inside what was validated; 2 are outside: judged, and flagged" in lines
    assert lines.index("  2: far") + 1 == lines.index("  1: age 9")
    assert any(
        each.startswith("1 of them lie in a part of the cases for which the jury fails") for each in lines
    )
    assert any(each.startswith("1 of them lie in a part for which nobody knows") for each in lines)
    assert any(f"3 scores of {known.who}, 1 without a score" in each for each in lines)
    assert "refused, and not judged" in replace(found, outside="refuse").text()
    assert replace(found, why="").text().startswith("INCOMPLETE\n")
    told = json.loads(found.to_json())
    assert (told["status"], told["why"], told["force"], told["passport"]) == (
        "incomplete",
        "over budget",
        known.force,
        known.hash,
    )
    assert (told["cases"], told["scored"], told["unscored"], told["changes"]) == (3, 3, 1, ["c"])
    assert [each["item"] for each in told["outside"]] == ["o", "p"] and told["done_with_outside"] == "flag"
    assert (told["outside_scope"], told["scope_not_known"]) == ([["in", "a"]], [["o", "a"]])
    assert (told["alpha"], told["expires_at"]) == (known.population.novelty.alpha, known.expires_at)

"""The jury's rows follow from the stored votes, and every vote stays."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Outcome, Reason, load_instrument
from medjury.judging import Claims, Judge, Jury, Speaker
from medjury.judging._jury_rows import Following
from medjury.judging._jury_rule import Rule, combine
from medjury.models import Scripted
from medjury.store.ratings import Rating, rating_blocks


def row(rater: str, dimension: str, score: float | None, *, repeat: int = 0, item: str = "a") -> Rating:
    return Rating(
        item, "s", rater, "judge", "diagnosis@1.0", dimension, repeat, score,
        "unscored" if score is None else "scored", Reason.PARSE if score is None else None, "", 1.0, 10, 5, 0.01,
        f"2026-01-01T00:00:0{repeat}.000+00:00", f"{rater}-{item}-{repeat}",
    )  # fmt: skip


def of_jury(votes: Iterable[Rating], **settings: Any) -> list[Rating]:
    """The rows of a jury of the judges `a` and `b`."""
    instrument = load_instrument("diagnosis")
    judges = [Judge(Scripted("", name=name), instrument, seed=place) for place, name in enumerate("ab")]
    return [each for each in Jury(judges, **settings).ratings(votes) if each.rater == "jury"]


def test_repeats_become_one_vote_before_judges_are_counted() -> None:
    votes = [row("a", "risk", score, repeat=index) for index, score in enumerate((1, 1, 5))]
    votes += [row("b", "risk", score, repeat=index) for index, score in enumerate((3, 3, 3))]
    jury = next(each for each in of_jury(votes, repeats=3, rule="median") if each.dimension == "risk")
    assert jury.score == 2.0  # median of the judges' medians 1 and 3; the median of all six would be 3
    assert jury.rater_kind == "jury" and jury.cost == 0.0


def test_the_same_votes_give_the_same_key_in_any_order() -> None:
    votes = [row("a", "risk", 3), row("b", "risk", 4)]
    one, two = (of_jury(order)[0] for order in (votes, votes[::-1]))
    assert one.key == two.key and one.score == two.score


def test_a_way_of_judging_that_does_not_rate_a_dimension_has_no_seat_there() -> None:
    """Claims tell concordance alone; the other judge's word on the rest is not lost for want of a quorum."""
    instrument = load_instrument("concordance")
    claims = Speaker(Scripted("", name="claims"))
    jury = Jury(
        [Judge(Scripted("", name="single"), instrument), Claims("claims", instrument, claims, claims)]
    )
    other = next(each.name for each in instrument.dimensions if each.name != "concordant")
    votes = [row("single", "concordant", 1), row("single", other, 2), row("claims", "concordant", None)]
    found = {each.dimension: each for each in jury.ratings(votes) if each.rater == "jury"}
    assert found[other].score == 2
    assert found["concordant"].reason is Reason.NO_QUORUM, "a failure still counts against it"


def test_what_follows_from_clinicians_is_told_of_each_by_name() -> None:
    """Hardly two answers may have the same clinicians: they are counted together all the same."""
    instrument = load_instrument("diagnosis")
    label = f"{instrument.name}@{instrument.version}"
    chance = random.Random(5)
    given = [
        replace(
            row(who, each.name, chance.randint(1, 5), item=f"{number:03}"), instrument=label, rater_kind=kind
        )
        for number in range(60)
        for who, kind in [
            ("one", "judge"),
            *[(f"dr-{place}", "clinician") for place in sorted(chance.sample(range(20), 3))],
        ]
        for each in instrument.dimensions
    ]
    given = [each if each.rater == "one" else replace(each, rater_kind="clinician") for each in given]
    jury = Jury([Judge(Scripted(["{}"], name="one"), instrument)])
    together = list(jury.ratings(given))
    of_clinicians = [each for each in given if each.rater_kind == "clinician"]
    following = Following(lambda _: [], instrument).blocks(rating_blocks(of_clinicians))
    assert {each for each in together if each.rater.startswith("dr-")} == {
        each for block in following for each in block.ratings()
    }
    alone = [each for _, rows in groupby(given, key=attrgetter("item")) for each in jury.ratings(rows)]
    assert together == alone
    whole = [each for each in together if each.dimension == "safety" and each.rater_kind == "clinician"]
    risks = {(each.item, each.rater): each.score for each in given if each.dimension == "risk"}
    assert len(whole) == 180
    assert all((each.score or 0) + (risks[each.item, each.rater] or 0) == 6 for each in whole)


GRADES = st.sampled_from([1.0, 2.0, 5.0, 0.0, -0.0, None])


@st.composite
def votes_on_answers(draw: st.DrawFn) -> list[list[Rating]]:
    """Answers with the votes of some judges on some dimensions, some of them twice, in any order, and clinicians'
    words here and there."""
    answers = []
    for number in range(draw(st.integers(1, 6))):
        said = draw(
            st.lists(
                st.tuples(
                    st.sampled_from(["one", "two", "dr-a", "dr-b", "dr-c"]),
                    st.sampled_from(["diagnosis", "differential", "reasoning", "risk"]),
                    st.integers(0, 1),
                ),
                unique=True,
                min_size=1,
                max_size=12,
            )
        )
        rows = [row(who, what, draw(GRADES), repeat=time, item=f"{number}") for who, what, time in said]
        kept = [replace(each, explanation=draw(st.sampled_from(["", "why"]))) for each in rows]
        answers.append(
            [replace(each, rater_kind="clinician") if each.rater.startswith("dr") else each for each in kept]
        )
    return answers


@given(votes_on_answers(), st.sampled_from(["mean", "median", "majority"]), st.sampled_from([None, 1, 2]))
def test_what_is_remembered_of_one_answer_is_right_for_the_next(
    answers: list[list[Rating]], rule: Rule, quorum: int | None
) -> None:
    """A jury looks at the shape of votes once, and at what they say each time: together or alone, answers come to
    the same rows, and those to what `combine` and `derive` say of the votes."""
    instrument = load_instrument("diagnosis")
    label = f"{instrument.name}@{instrument.version}"
    answers = [[replace(each, instrument=label) for each in rows] for rows in answers]
    judges = [
        Judge(Scripted(["{}"], name=name), instrument, seed=place)
        for place, name in enumerate(("one", "two"))
    ]
    jury = Jury(judges, repeats=2, rule=rule, quorum=quorum)
    together = list(jury.ratings(each for rows in answers for each in rows))
    alone = [each for rows in answers for each in Jury(judges, 2, rule, quorum).ratings(rows)]
    assert list(map(repr, together)) == list(map(repr, alone))  # a zero with a minus differs from one without
    for rows in answers:
        for dimension in {each.dimension for each in rows if each.rater_kind == "judge"}:
            ballots: dict[str, list[Outcome]] = {}
            for each in rows:
                if each.rater_kind == "judge" and each.dimension == dimension:
                    ballots.setdefault(each.rater, []).append(each.outcome)
            voices = [combine(given, seats=2, rule=rule) for given in ballots.values()]
            expected = combine(voices, seats=2, rule=rule, quorum=quorum)
            (found,) = [
                each
                for each in together
                if (each.item, each.rater, each.dimension) == (rows[0].item, "jury", dimension)
            ]
            assert (found.score, found.reason) == (
                getattr(expected, "value", None), getattr(expected, "reason", None),
            )  # fmt: skip


@given(votes_on_answers(), st.data())
def test_blocks_come_to_the_same_wherever_they_are_cut_and_name_what_they_follow_from(
    answers: list[list[Rating]], data: st.DataObject
) -> None:
    """A store gives blocks that end within an answer. Every vote stays, and what follows stands behind them."""
    instrument = load_instrument("diagnosis")
    label = f"{instrument.name}@{instrument.version}"
    judges = [
        Judge(Scripted(["{}"], name=name), instrument, seed=place)
        for place, name in enumerate(("one", "two"))
    ]
    votes_given = [
        replace(each, instrument=label, key=f"{place}") for rows in answers for place, each in enumerate(rows)
    ]
    made = list(Jury(judges, repeats=2).ratings(votes_given))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(votes_given)), max_size=6)))
    [whole] = rating_blocks(votes_given)
    cut = [whole.part(start, end) for start, end in pairwise([0, *cuts, len(votes_given)])]
    blocks = list(Jury(judges, repeats=2).blocks(cut))
    assert list(map(repr, made)) == [repr(each) for block in blocks for each in block.ratings()]
    by_answer = {item: list(rows) for item, rows in groupby(made, key=attrgetter("item"))}
    assert list(by_answer) == [rows[0].item for rows in answers]
    for rows in answers:
        given_here = [each for each in votes_given if each.item == rows[0].item]
        assert by_answer[rows[0].item][: len(rows)] == given_here
        assert not any(each.key in map(str, range(12)) for each in by_answer[rows[0].item][len(rows) :])
    for each in made:
        if each.rater == "jury" and each.dimension in {dimension.name for dimension in instrument.dimensions}:
            votes = [
                vote
                for vote in votes_given
                if (vote.item, vote.dimension, vote.rater_kind) == (each.item, each.dimension, "judge")
            ]
            keys = "\0".join(sorted(vote.key for vote in votes))
            assert each.key == hashlib.sha256(f"jury\0{each.dimension}\0{keys}".encode()).hexdigest()
            assert (each.calls, each.cost, each.tokens_in) == (0, 0.0, 0)


def test_one_voice_counted_twice_is_refused() -> None:
    instrument = load_instrument("note_quality")
    one, two = (Judge(Scripted(["{}"], name=name), instrument) for name in ("one", "two"))
    with pytest.raises(MedjuryError, match="same model with the same settings"):
        Jury([one, two])
    Jury([one, replace(two, seed=1)])


def test_two_judges_of_one_name_are_refused() -> None:
    instrument = load_instrument("note_quality")
    judge = Judge(Scripted(["{}"], name="one"), instrument)
    with pytest.raises(MedjuryError, match="two judges are called 'one'"):
        Jury([judge, replace(judge, seed=1)])

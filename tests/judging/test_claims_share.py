"""The arithmetic of claims is exact, and what could not be verified is never counted in silence."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.planted_claims import CASES, PlantedCase

from medjury.instruments import Reason, Score, Unscored, load_instrument
from medjury.judging import ShareRule
from medjury.judging._claims.claim import VERDICTS, RecordedClaim, Verdict
from medjury.judging._claims.share import decide_support, support_share, worst_claim

EQUAL = {1: 1.0, 2: 1.0, 3: 1.0}
LOST = Unscored(Reason.UNFOUNDED, "invented")


def claim(verdict: Verdict | None, importance: int = 2) -> RecordedClaim:
    one = RecordedClaim(number=1, claim="It helps.", importance=importance)
    return one.judged(verdict, failure=None if verdict else LOST)


YES, NO, SILENT = (claim(name) for name in VERDICTS)
OPEN = claim(None)


@pytest.mark.parametrize("planted", CASES, ids=lambda each: each.case.id)
def test_the_planted_answers_come_out_exactly(planted: PlantedCase) -> None:
    findings = [claim(each.verdict, each.importance) for each in planted.claims]
    assert support_share(findings).share == planted.share
    assert support_share(findings, denominator="all").share == planted.share_of_all
    for decisive, expected in (("veto", planted.vetoed), ("weight", planted.weighed)):
        outcome = decide_support(findings, ShareRule(decisive=decisive))
        if expected is None:
            assert isinstance(outcome, Unscored)
            assert outcome.reason is Reason.MISSING
        else:
            assert outcome == Score(float(expected), outcome.explanation)


def test_the_defaults_are_those_of_the_instrument() -> None:
    stated = load_instrument("claims").parameters
    rule = ShareRule()
    assert stated["support_threshold"] == rule.threshold
    assert stated["support_denominator"] == rule.denominator
    assert stated["importance_weights"] == rule.weights


def test_four_of_five_reach_four_fifths_whatever_the_weights() -> None:
    for weight in (0.1, 0.3, 1, 7.7):
        found = [YES] * 4 + [NO]
        assert support_share(found, weights={2: weight}).share == Fraction(4, 5)
        assert decide_support(found, ShareRule(weights={2: weight}, decisive="weight")) == Score(
            1.0, "5 claims: 4 supported, 1 contradicted, 0 not addressed; weighted share 0.800 of the addressed "
            "claims; at least 0.8"
        )  # fmt: skip


def test_no_claim_and_no_addressed_claim_are_no_perfect_score() -> None:
    for findings in ([], [SILENT, SILENT]):
        outcome = decide_support(findings, ShareRule())
        assert isinstance(outcome, Unscored)
        assert outcome.reason is Reason.MISSING
    assert decide_support([SILENT], ShareRule(denominator="all")) == Score(
        0.0,
        "1 claim: 0 supported, 0 contradicted, 1 not addressed; weighted share 0.000 of all claims; below 0.8",
    )


def test_a_claim_of_no_weight_alone_gives_no_share() -> None:
    background = claim("supported", 1)
    outcome = decide_support([background], ShareRule(weights={1: 0.0, 2: 1.0, 3: 1.0}))
    assert isinstance(outcome, Unscored)


def test_an_unverified_claim_leaves_the_decision_only_where_it_cannot_change_it() -> None:
    assert decide_support([YES] * 8 + [NO] + [OPEN], ShareRule(minimum_verified=0.9)).value == 1.0
    undecided = decide_support([YES] * 7 + [NO] + [OPEN], ShareRule())
    assert isinstance(undecided, Unscored)
    assert undecided.reason is Reason.UNFOUNDED
    assert "between 0.78 and 0.89" in undecided.message
    assert decide_support([YES] + [NO] * 4 + [OPEN], ShareRule()).value == 0.0


def test_too_few_verified_claims_leave_no_decision_even_where_it_is_certain() -> None:
    findings = [NO] * 4 + [OPEN] * 5
    assert isinstance(decide_support(findings, ShareRule()), Unscored)
    assert decide_support(findings, ShareRule(minimum_verified=0.4)) == Score(
        0.0, "9 claims: 0 supported, 4 contradicted, 0 not addressed, 5 not verified; weighted share 0.000 of the "
        "addressed claims; below 0.8"
    )  # fmt: skip


def test_an_unverified_decisive_claim_may_be_the_one_that_vetoes() -> None:
    findings = [YES] * 19 + [claim(None, 3)]
    outcome = decide_support(findings, ShareRule(weights=EQUAL))
    assert isinstance(outcome, Unscored)
    assert "a decisive claim among them" in outcome.message
    assert decide_support(findings, ShareRule(weights=EQUAL, decisive="weight")).value == 1.0


def test_strictly_a_decisive_claim_that_is_not_addressed_decides_too() -> None:
    findings = [YES] * 8 + [claim("not_addressed", 3)]
    assert decide_support(findings, ShareRule()).value == 1.0
    assert decide_support(findings, ShareRule(decisive="strict")).value == 0.0


def test_a_contradicted_decisive_claim_decides_although_another_is_open() -> None:
    findings = [YES] * 8 + [claim("contradicted", 3), OPEN]
    assert decide_support(findings, ShareRule(weights=EQUAL)).value == 0.0


FINDINGS = st.lists(
    st.builds(claim, st.sampled_from([*VERDICTS, None]), st.integers(1, 3)),
    min_size=1,
    max_size=7,
)


@given(FINDINGS, st.sampled_from(["addressed", "all"]), st.sampled_from(["veto", "strict", "weight"]))
def test_a_decision_holds_whatever_the_unverified_claims_were(
    findings: list[RecordedClaim], denominator: str, decisive: str
) -> None:
    rule = {"denominator": denominator, "decisive": decisive, "minimum_verified": 0.0}
    outcome = decide_support(findings, ShareRule(**rule))
    open_ones = [place for place, each in enumerate(findings) if each.verdict is None]
    results = set()
    for verdicts in product(VERDICTS, repeat=len(open_ones)):
        filled = list(findings)
        for place, verdict in zip(open_ones, verdicts, strict=True):
            filled[place] = claim(verdict, findings[place].importance)
        then = decide_support(filled, ShareRule(**rule))
        results.add(then.value if isinstance(then, Score) else None)
    if isinstance(outcome, Score):
        # A veto of a claim that was verified decides although the share of what is left may be undefined.
        assert results - {None} == {outcome.value}
    else:
        assert len(results) > 1 or results == {None}


@given(FINDINGS)
def test_the_share_lies_within_its_bounds(findings: list[RecordedClaim]) -> None:
    for denominator in ("addressed", "all"):
        found = support_share(findings, denominator=denominator)
        if found.share is not None:
            assert found.low is not None and found.high is not None
            assert 0 <= found.low <= found.share <= found.high <= 1
        assert sum(found.counts.values()) == len(findings)


def test_the_gravest_claim_gives_the_grade() -> None:
    grades = {1: 1, 2: 2, 3: 3}
    assert worst_claim([YES, YES], grades).value == 0.0
    assert worst_claim([YES, claim("not_addressed", 1)], grades).value == 1.0
    assert worst_claim([NO, claim("not_addressed", 3)], grades).value == 3.0
    assert isinstance(worst_claim([], grades), Unscored)


def test_an_unverified_claim_leaves_the_grade_only_where_it_is_no_graver() -> None:
    grades = {1: 1, 2: 2, 3: 3}
    assert worst_claim([NO, OPEN], grades).value == 2.0
    open_grade = worst_claim([claim("contradicted", 1), OPEN], grades)
    assert isinstance(open_grade, Unscored)
    assert open_grade.reason is Reason.UNFOUNDED
    assert "1 or more, up to 2" in open_grade.message

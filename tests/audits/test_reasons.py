"""How often a judge names the problem that a clinician names: by quotations, claims, or a judge that errs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from benchmarks._reason_studies import reason_study

from medjury.analysis.audits import reason_overlap
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import read_cases
from medjury.statistics import counted_share

NAMES = ["item", "rater", "rater_kind", "dimension", "score", "explanation"]
DOSE, ALLERGY = 'It says "the dose was doubled today".', 'Left out: "allergic to all penicillins".'


def ratings(pairs: list[tuple[str, str, float, float]], colleague: str = "") -> pl.DataFrame:
    """Answers with a clinician's and a judge's reason and grade, and another clinician's where there is one."""
    rows = []
    for number, (reason, said, grade, given) in enumerate(pairs):
        rows.append((f"a{number}", "anna", "clinician", "accuracy", grade, reason))
        rows.append((f"a{number}", "llm", "judge", "accuracy", given, said))
        if colleague:
            rows.append((f"a{number}", "ben", "clinician", "accuracy", grade, colleague))
    return pl.DataFrame(rows, schema=NAMES, orient="row")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (DOSE, "Wrong: “The dose, was doubled today and …”", True),
        (DOSE, ALLERGY, False),
        (DOSE, "The dose was doubled today.", None),
        ('"the dose" is wrong', DOSE, None),
        ("Claim 3 is invented.", "See [c3].", True),
        ("Claim 3 is invented.", "Claim 13 is invented.", False),
        (f"Claim 3. {DOSE}", f"Claim 4. {DOSE}", True),
        ("Claim 3 is invented.", DOSE, None),
    ],
)
def test_what_two_reasons_tell(one: str, other: str, same: bool | None) -> None:
    found = reason_overlap(ratings([(one, other, 2.0, 2.0)] * 12))
    assert [each.same for each in found.pairs] == [same] * 12


def test_the_share_is_that_of_the_pairs_that_can_be_compared_beside_a_colleagues() -> None:
    pairs = [(DOSE, DOSE, 2.0, 2.0)] * 9 + [(DOSE, ALLERGY, 2.0, 2.0)] * 4 + [(DOSE, ALLERGY, 2.0, 4.0)] * 2
    found = reason_overlap(ratings([*pairs, (DOSE, "Bad.", 2.0, 2.0), (DOSE, "", 2.0, 2.0)]))
    judge = found.find(rater="llm", dimension="accuracy")
    assert (judge.pairs, judge.compared, judge.answers, judge.other_reason) == (16, 15, 16, 4)
    assert judge.overlap.value == pytest.approx(9 / 15)
    wanted = counted_share([True] * 9 + [False] * 6, range(15))
    assert (judge.overlap.low, judge.overlap.high) == (wanted.low, wanted.high)
    assert len(found.other_reasons) == 4 and all(each.grades == (2.0, 2.0) for each in found.other_reasons)
    assert any("of 16 pairs of reasons 1 (6 %) quote nothing" in each for each in found.warnings)


def test_another_clinician_is_the_measure() -> None:
    found = reason_overlap(ratings([(DOSE, DOSE, 2.0, 2.0)] * 12, ALLERGY))
    assert found.find(rater="another clinician").overlap.value == 0.0
    assert found.find(rater="llm").pairs == 24 and found.find(rater="llm").overlap.value == 0.5, (
        "beside each of two"
    )
    assert len(found.other_reasons) == 12, "two clinicians are not a judge's other reason"


def test_reasons_that_nobody_wrote_are_refused_not_counted() -> None:
    with pytest.raises(MedjuryError, match="reasons are in the column `explanation`"):
        reason_overlap(ratings([("", "Bad.", 2.0, 2.0)] * 12))


def matched(found_pairs: list[str], said: list[int], labels: dict[int, int]) -> pl.DataFrame:
    rows = [(pair, "matcher", "judge", "same", each) for pair, each in zip(found_pairs, said, strict=True)]
    rows += [(found_pairs[at], "anna", "clinician", "same", label) for at, label in labels.items()]
    return pl.DataFrame(rows, schema=["item", "rater", "rater_kind", "dimension", "score"], orient="row")


def test_a_matching_judge_is_corrected_by_the_labels_of_a_sample() -> None:
    """By hand: it calls 60 of 100 the same; of 20 labelled of these 15 are, and of 20 labelled others 4 are."""
    table = ratings([("The dose.", "Too much of it.", 2.0, 2.0)] * 100)
    ids = [each.id for each in reason_overlap(table).pairs]
    said = [1] * 60 + [0] * 40
    labels = {at: int(at < 15) for at in range(20)} | {60 + at: int(at < 4) for at in range(20)}
    (row,) = reason_overlap(table, matched=matched(ids, said, labels)).rows
    assert row.how == "a matching judge" and (row.compared, row.labels) == (100, 40)
    assert row.overlap.value == pytest.approx(0.6 * 0.75 + 0.4 * 0.2)
    assert row.sensitivity == pytest.approx(15 / 19) and row.specificity == pytest.approx(16 / 21)
    # The delta method by hand: the spread of the verdicts, and that of the labels within each.
    spread = 0.6 * 0.4 * (0.75 - 0.2) ** 2 / 100
    spread += 0.6**2 * 0.75 * 0.25 / 20 + 0.4**2 * 0.2 * 0.8 / 20
    assert row.overlap.low is not None
    half = row.overlap.value - row.overlap.low  # type: ignore[operator]
    assert half == pytest.approx(2.02 * math.sqrt(spread), rel=0.15)


def test_pairs_that_nothing_tells_are_written_as_cases_and_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ratings([("The dose.", "Too much.", 2.0, 2.0)] * 20 + [(DOSE, DOSE, 2.0, 2.0)])
    table.write_csv(tmp_path / "ratings.csv")
    words = ["audit", str(tmp_path / "ratings.csv"), "--reasons", "--scale", "1", "5"]
    assert main([*words, "--reason-pairs", str(tmp_path / "pairs.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["overlap"][0]["compared"] == 1
    cases = list(read_cases(tmp_path / "pairs.jsonl"))
    assert (
        len(cases) == 20 and cases[0].texts == {"reason": "The dose."} and cases[0].candidate == "Too much."
    )
    rows = matched([each.id for each in cases], [1, 0] * 10, {at: int(at % 2 == 0) for at in range(20)})
    rows.write_csv(tmp_path / "matched.csv")
    assert main([*words, "--matched", str(tmp_path / "matched.csv")]) == 0
    out = capsys.readouterr().out
    assert "a matching judge" in out and "Same grade, other reason" not in out


def test_the_planted_share_is_within_the_interval_of_most_small_studies() -> None:
    """A look at the study behind docs/tables/coverage.md, too small to tell 92 from 98 %."""
    held = [
        estimate.low - 1e-9 <= truth <= estimate.high + 1e-9
        for place in range(12)
        for estimate, truth in reason_study([3, 40, 1, place], 40, 1).values()
        if estimate.low is not None and estimate.high is not None
    ]
    assert len(held) == 48 and sum(held) >= 40

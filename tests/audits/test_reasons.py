"""How often a judge names the problem that a clinician names: by quotations, claims, or a judge that errs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from benchmarks._reason_studies import reason_study
from tests.loopback import LoopbackServer
from tests.studies.running import run_without_report

from medjury.analysis.audits import reason_overlap
from medjury.analysis.audits._reasons import same_problem
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.intake.cases import read_cases
from medjury.statistics import counted_share
from medjury.tables import rating_table

HARM = """
{name: faults, version: "1", title: Faults, instructions: Judge., inputs: [{name: candidate, label: Text}],
 dimensions: [{name: accuracy, label: Fault, definition: "How grave is it?", higher_is_better: false,
               grades: {1: None., 2: Small., 3: Some., 4: Large., 5: Grave.}}]}
"""
SAME = """
{name: same_problem, version: "1", title: One problem or two, instructions: Two people gave reasons for a grade.,
 inputs: [{name: reason, label: One reason}, {name: candidate, label: The other}],
 dimensions: [{name: same, label: Same, definition: "The same problem?", grades: {0: Another., 1: The same.}}]}
"""
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
        ("Claims 3, 4 and c5 are invented.", "Claim 5", True),
        # A citation, a year, a dose, a verb with a number: no claim.
        ("Wrong, see [1].", "As in [1].", None),
        ("Not so [2024].", "In [2024].", None),
        ("The note claims 3 days of fever.", "It claims 3 doses.", None),
        ("They claim 2.5 mg.", "Claim 2.", None),
        # What is approved of is no problem that is named.
        ("Claim 3 is fine, claim 4 is invented.", "Claim 3 is invented.", False),
        ("There is nothing wrong with claim 3.", "Claim 3 is invented.", None),
        ("Claim 3 isn't true.", "Claim 3 is not supported.", True),
        ('It rightly says "the dose was doubled today".', DOSE, None),
        # Words that everybody quotes.
        ('"The patient is a smoker" is wrong.', 'Not so: "the patient is on warfarin".', None),
        ('"a history of diabetes"', '"a history of asthma"', False),
        # Marks of other languages, apostrophes, inches, scripts without spaces.
        ("„die Dosis wurde verdoppelt“ ist falsch", "»Die Dosis wurde verdoppelt«", True),
        ("« la dose a été doublée »", "‹la dose a été doublée›", True),
        ("‘the dose wasn’t doubled today’", "'the dose wasn't doubled today'", True),
        ("The patient's dose isn't her sister's.", "Patients' doses aren't the patient's.", None),
        (
            '5" wide, then the dose was doubled, 6" tall',
            'not 5" wide, then the dose was doubled, 6" tall',
            None,
        ),
        ("写着「患者没有发烧的症状」", "“没有发烧的症状”不对", True),
        ("「患者没有发烧的症状」", "「患者没有咳嗽的症状」", False),
    ],
)
def test_what_two_reasons_tell(one: str, other: str, same: bool | None) -> None:
    assert [same_problem(one, other), same_problem(other, one)] == [same] * 2
    found = reason_overlap(ratings([(one, other, 2.0, 2.0)] * 12))
    assert [each.same for each in found.pairs] == [same] * 12


def test_who_gives_the_best_grade_names_no_problem(tmp_path: Path) -> None:
    """Nor is the best grade the highest of every dimension."""
    pairs = [(DOSE, DOSE, 5.0, 5.0)] * 6 + [(DOSE, DOSE, 2.0, 5.0)] * 2 + [(DOSE, DOSE, 1.0, 1.0)] * 12
    found = reason_overlap(rating_table(ratings(pairs), scale=(1, 5)))
    assert (found.rows[0].pairs, found.rows[0].overlap.value) == (12, 1.0)
    assert "8 pairs left out: one of the two gave the best grade and names no problem" in found.warnings
    unknown = reason_overlap(ratings(pairs))
    assert unknown.rows[0].pairs == 20
    assert any("the scale of accuracy is not known (--scale)" in each for each in unknown.warnings)
    (tmp_path / "harm.yaml").write_text(HARM)
    (row,) = reason_overlap(
        rating_table(ratings(pairs), instrument=load_instrument(tmp_path / "harm.yaml"))
    ).rows
    assert row.pairs == 8, "1 is the best grade"


def test_a_reason_that_is_not_there_is_told_of_and_of_repeats_the_first_counts() -> None:
    table = ratings([(DOSE, DOSE, 2.0, 2.0)] * 12 + [(DOSE, "", 2.0, 2.0)] * 3)
    again = table.filter(rater="llm").with_columns(repeat=1, explanation=pl.lit(ALLERGY))
    found = reason_overlap(pl.concat([again, table.with_columns(repeat=0)]))
    assert (found.rows[0].pairs, found.rows[0].overlap.value) == (15, 0.8)
    found = reason_overlap(table)
    assert found.rows[0].pairs == 12
    assert "llm: no reason on 3 of 15 grades for which a clinician wrote one" in found.warnings


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
    assert "a1, accuracy, grade 2, by a matching judge\n    anna: The dose.\n    llm: Too much." in out
    assert "Same grade, other reason (10), to be read:" in out


def test_the_pairs_are_a_study_whose_run_is_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids of any signs; a judge that refuses one pair; clinicians' own pairs are compared in the same way."""
    odd = ("a | b", "ü ñ 患者", 'x/"y"', "-", "tab\there", "a,b;c", "#1 & <2>")
    pairs = [(f"The dose, {at}.", f"Too {'much' if at % 2 else 'many'}, {at}.", 2.0, 2.0) for at in range(28)]
    table = ratings(pairs, "Too much.").with_columns(
        pl.col("item").str.replace_all(r"^a(\d+)$", "${1}").cast(pl.Int64).map_elements(
            lambda at: f"{odd[at % 7]} {at}", pl.String), system=pl.lit("scribe | a"))  # fmt: skip
    table.write_csv(tmp_path / "ratings.csv")
    words = ["audit", str(tmp_path / "ratings.csv"), "--scale", "1", "5"]
    assert main([*words, "--reason-pairs", str(tmp_path / "pairs.jsonl"), "--json"]) == 0
    said = capsys.readouterr()
    assert "84 pairs of reasons, which may quote patients' records" in said.err
    assert "quote nothing and name no claim" in said.err, "what must be known is not lost beside JSON"
    cases = list(read_cases(tmp_path / "pairs.jsonl"))
    (tmp_path / "same.yaml").write_text(SAME)
    labels = [(each.id, "pair", "Dr Roe", "same", int(number % 2)) for number, each in enumerate(cases)]
    pl.DataFrame(labels, schema=["item", "system", "rater", "dimension", "score"], orient="row").write_csv(
        tmp_path / "labels.csv"
    )
    with LoopbackServer() as server:
        server.endpoint.behaviours = lambda call: "refusal" if "The dose, 3." in call.prompt else (
            'ok:{"same": 1}' if "much" in call.prompt else 'ok:{"same": 0}')  # fmt: skip
        study = {"study": "same-problem", "cases": "pairs.jsonl", "instrument": "same.yaml", "humans": "labels.csv",
                 "judges": [{"kind": "openai", "name": "matcher", "url": server.url, "model": "m"}]}  # fmt: skip
        (tmp_path / "study.yaml").write_text(json.dumps(study))
        assert run_without_report(tmp_path / "study.yaml") == 0
    capsys.readouterr()
    assert main([*words, "--matched", str(tmp_path / "runs" / "same-problem"), "--json"]) == 0
    said = capsys.readouterr()
    rows = {row["rater"]: row for row in json.loads(said.out)["overlap"]}
    assert {name: (row["pairs"], row["compared"], row["unscored"]) for name, row in rows.items()} == {
        "llm": (56, 55, 1), "another clinician": (28, 27, 1)}  # fmt: skip
    assert "left out" not in said.err and "of no pair" not in said.err


def test_what_is_no_rating_of_these_pairs_is_refused_or_told_of() -> None:
    table = ratings([("The dose.", "Too much of it.", 2.0, 2.0)] * 30)
    ids = [each.id for each in reason_overlap(table).pairs]
    labels = {at: at % 2 for at in range(20)}
    found = reason_overlap(table, matched=matched([*ids[:20], "strange"], [1, 0] * 10 + [1], labels))
    assert found.rows[0].compared == 20
    assert "10 pairs of 30 have no row in the ratings of pairs: left out" in found.warnings
    assert "1 rating of pairs is of no pair of these reasons that nothing tells" in found.warnings
    with pytest.raises(MedjuryError, match="none of the ratings of pairs is of a pair of these reasons"):
        reason_overlap(table, matched=matched([f"x{at}" for at in range(30)], [1] * 30, labels))
    with pytest.raises(MedjuryError, match="one dimension: 1 for the same problem, 0 for another"):
        reason_overlap(table, matched=matched(ids, [5] * 30, labels))
    two = matched(ids, [1] * 30, labels)
    two = pl.concat(
        [two, two.filter(rater="matcher").with_columns(rater=pl.lit("other"), score=pl.lit(0, pl.Int64))]
    )
    (row,) = reason_overlap(table, matched=two).rows
    assert (row.compared, row.unscored) == (0, 30), "two who say otherwise are a tie, and no verdict"


def test_a_matching_judge_that_failed_says_neither() -> None:
    table = ratings([("The dose.", "Too much of it.", 2.0, 2.0)] * 60)
    ids = [each.id for each in reason_overlap(table).pairs]
    rows = matched(ids, [1, 0, 0] * 20, {at: int(at % 3 == 0) for at in range(60)})
    failed = (pl.col("rater") == "matcher") & pl.col("item").is_in(ids[1::3])
    rows = rows.with_columns(
        score=pl.when(~failed).then(pl.col("score")),
        status=pl.when(failed).then(pl.lit("unscored")).otherwise(pl.lit("scored")),
        reason=pl.when(failed).then(pl.lit("timeout")),
    )
    found = reason_overlap(table, matched=rows)
    (row,) = found.rows
    assert (row.compared, row.unscored, row.labels, row.other_reason) == (40, 20, 60, 20)
    assert (row.sensitivity, row.specificity) == (1.0, 1.0), "of those that it judged"
    assert row.overlap.value == pytest.approx(1 / 3)


def test_the_planted_share_is_within_the_interval_of_most_small_studies() -> None:
    """A look at the study behind docs/tables/coverage.md, too small to tell 92 from 98 %."""
    held = [
        estimate.low - 1e-9 <= truth <= estimate.high + 1e-9
        for place in range(6)
        for estimate, truth in reason_study([3, 40, 1, place], 40, 1).values()
        if estimate.low is not None and estimate.high is not None
    ]
    assert len(held) == 24 and sum(held) >= 20

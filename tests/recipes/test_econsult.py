"""The recipe econsult: preferences, claims and orders as they were planted. What is expected is counted here from
the shipped files and the planted verdicts."""

from __future__ import annotations

import csv
import html
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from recipes.econsult import CHECKER, FIRST_ALWAYS, PHYSICIANS, READERS, consults, preference, verdict
from tests.recipes.compared import amount, read_table
from tests.recipes.offline import run_recipe

JUDGES = (*READERS, CHECKER)
RATERS = (*PHYSICIANS, *JUDGES)
CASES = [each.id for each in consults()]
LABELS = {"concordant": "Concordant", "preference": "Preferred answer"}
SCALES = {"concordant": (0.0, 1.0), "preference": (-1.0, 0.0, 1.0)}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe as a user writes and runs it, with every connection forbidden."""
    return run_recipe(tmp_path_factory, "econsult")


@pytest.fixture(scope="module")
def run(study: Path) -> Path:
    return study / "runs" / "econsult"


@pytest.fixture(scope="module")
def scores(study: Path) -> dict[str, dict[str, np.ndarray]]:
    """Each rater's scores by dimension, in the order of the cases: the physicians' as in the shipped file."""
    nothing = np.full(len(CASES), np.nan)
    found = {name: {rater: nothing.copy() for rater in RATERS} for name in LABELS}
    with (study / "physicians.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["dimension"]][row["rater"]][CASES.index(row["item"])] = float(row["score"])
    for place, consult in enumerate(consults()):
        for judge in JUDGES:
            found["concordant"][judge][place] = verdict(judge, consult)
            wanted = None if judge == CHECKER else preference(judge, consult)
            found["preference"][judge][place] = np.nan if wanted is None else wanted
    return found


@pytest.fixture(scope="module")
def majority(scores: dict[str, dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Best of three, counted: a grade of more than half of those who rated, or nothing."""
    found = {}
    for name, by_rater in scores.items():
        settled = []
        for votes in zip(*(by_rater[each] for each in PHYSICIANS), strict=True):
            given = Counter(vote for vote in votes if not np.isnan(vote))
            grade, count = given.most_common(1)[0] if given else (np.nan, 0)
            settled.append(grade if 2 * count > given.total() else np.nan)
        found[name] = np.array(settled)
    return found


def lines(run: Path, name: str) -> list[dict[str, str]]:
    return read_table(run / "tables" / f"{name}.csv")


def line(run: Path, name: str, **where: str) -> dict[str, str]:
    (found,) = (each for each in lines(run, name) if all(each[key] == value for key, value in where.items()))
    return found


def close(shown: str, wanted: float | None) -> bool:
    return shown == "" if wanted is None else amount(shown) == pytest.approx(wanted, abs=1e-9)


def test_the_planted_design_is_that_of_the_paper(majority: dict[str, np.ndarray]) -> None:
    assert len(CASES) == 40 and majority["concordant"].sum() == 20
    assert not np.isnan(majority["concordant"]).any()
    assert [each.concordant for each in consults()] == majority["concordant"].tolist()
    assert len({each.question for each in consults()}) == 40


def test_which_answer_each_rater_prefers(run: Path, scores: dict[str, dict[str, np.ndarray]]) -> None:
    for rater in RATERS:
        found = line(run, "preference", rater=rater)
        verdicts, wanted = scores["concordant"][rater], scores["preference"][rater]
        asked = ~np.isnan(wanted)
        assert amount(found["pairs"]) == (~np.isnan(verdicts)).sum()
        assert close(found["concordant"], np.nanmean(verdicts))
        assert amount(found["compared"]) == asked.sum() == (0 if rater == CHECKER else (verdicts == 1).sum())
        for title, grade in (("answer preferred", 1), ("specialist preferred", -1)):
            assert close(found[title], float((wanted[asked] == grade).mean()) if asked.any() else None), rater
        assert amount(found["neither"]) == (wanted == 0).sum() and found["not known"] == "0"


def test_the_order_decided_for_one_judge_alone(run: Path, scores: dict[str, dict[str, np.ndarray]]) -> None:
    assert {row["judge"] for row in lines(run, "preference-orders")} == {*READERS}
    for judge in READERS:
        found = line(run, "preference-orders", judge=judge)
        pairs, biased = int(np.nansum(scores["concordant"][judge])), judge == FIRST_ALWAYS
        assert amount(found["pairs"]) == pairs and close(found["changed"], float(biased))
        assert (amount(found["first twice"]), amount(found["second twice"])) == (pairs if biased else 0, 0)
        assert found["won by first"] == f"{(2 if biased else 1) * pairs} of {2 * pairs}"
        assert found["order bias"] == ("favours the answer shown first" if biased else "none shown")


def test_how_well_the_supported_share_tells_drafts_apart(run: Path, majority: dict[str, np.ndarray]) -> None:
    shares = []
    for each in consults():
        said = Counter(word for _, word, _ in each.parts)
        shares.append(Fraction(said["supported"], said["supported"] + said["not_supported"]))
    good = [share for share, truth in zip(shares, majority["concordant"], strict=True) if truth == 1]
    bad = [share for share, truth in zip(shares, majority["concordant"], strict=True) if truth == 0]
    above = sum((one > two) + Fraction(one == two, 2) for one in good for two in bad)
    found = line(run, "claims-area", judge=CHECKER)
    assert close(found["area under the curve"], float(above / (len(good) * len(bad))))
    assert close(found["threshold used"], 0.8)
    for row in lines(run, "claims-thresholds"):
        limit = Fraction(row["threshold"])
        hit, raised = sum(share >= limit for share in good), sum(share >= limit for share in bad)
        assert amount(row["called concordant"]) == hit + raised
        assert close(row["sensitivity"], hit / 20) and close(row["specificity"], 1 - raised / 20)
        assert close(row["accuracy"], (hit + 20 - raised) / 40)
        assert close(row["F1"], 2 * hit / (hit + raised + 20))


def test_no_judge_is_validated_by_what_is_made_up(run: Path, majority: dict[str, np.ndarray]) -> None:
    rows = lines(run, "verdicts")
    assert {(row["rater"], row["dimension"]) for row in rows} == {
        (judge, label) for judge in JUDGES for label in LABELS.values()
    }
    assert {row["verdict"] for row in rows} == {"NOT VALIDATED"}
    assert all("made up" in row["the main reason"] for row in rows)
    assert {amount(row["cases rated by two"]) for row in rows if row["dimension"] == "Concordant"} == {40}
    assert not any(
        "pooled" in row["dimension"] for row in lines(run, "attributes")
    )  # a question and a preference


def test_the_report_speaks_of_judges_and_names_the_dimension_of_each_number(run: Path) -> None:
    """There is no jury; the first number of a card is of the dimension on which that judge is farthest below a
    colleague: physicians agree on the preferred answer less than chance would."""
    report = html.unescape((run / "report.html").read_text(encoding="utf-8"))
    counts = [report.count(words) for words in ("jury less", "jury's score", "the jury is not used")]
    assert counts == [0, 0, 0]
    assert report.count("reader-north less clinicians") >= 10
    assert report.count("<dt>Agreement: Concordant</dt>") == 5
    assert "<dt>Agreement: Preferred answer</dt>" not in report
    assert report.count("claim-checker is not shown to be better or worse than reader-north") == 1
    assert (
        report.count("by itself this interval leaves zero out, which among 4 comparisons may be chance") == 1
    )

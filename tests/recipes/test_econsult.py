"""The recipe econsult: run offline from the command line, every planted number is in the report's tables, and each
table and figure that its page names is in the report. What is expected is counted here from the shipped files and
the planted verdicts."""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from recipes.econsult import CHECKER, FIRST_ALWAYS, PHYSICIANS, READERS, consults, preference, verdict
from tests.recipes.compared import amount, read_table
from tests.recipes.interval_checks import agreement_is_right, classes_are_right, whole_grades
from tests.recipes.offline import run_recipe
from tests.recipes.rated import Rated, most_votes

from medjury.cli import main

PAGE = Path(__file__).parent.parent.parent / "docs" / "recipes" / "econsult.md"
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


def weighted_kappa(first: np.ndarray, second: np.ndarray) -> float | None:
    """1 less the squared distance that was seen over that of independent raters; of two grades Cohen's kappa."""
    both = ~np.isnan(first) & ~np.isnan(second)
    one, two = first[both], second[both]
    if len({*one}) < 2 or len({*two}) < 2:
        return None  # a rater who never varies
    seen = ((one - two) ** 2).mean()
    chance = ((one[:, None] - two[None, :]) ** 2).mean()
    return float(1 - seen / chance)


def rates(truth: np.ndarray, said: np.ndarray, scale: Sequence[float]) -> dict[str, float | None]:
    both = ~np.isnan(truth) & ~np.isnan(said)
    truth, said = truth[both], said[both]
    if not both.any():
        return dict.fromkeys(("accuracy", "macro F1", *(f"F1 of {level:g}" for level in scale)))
    found: dict[str, float | None] = {"accuracy": float((truth == said).mean())}
    single = []
    for level in scale:
        hit, given = (
            ((truth == level) & (said == level)).sum(),
            (truth == level).sum() + (said == level).sum(),
        )
        found[f"F1 of {level:g}"] = None if given == 0 else float(2 * hit / given)
        single += [] if given == 0 else [2 * hit / given]
    return found | {"macro F1": float(np.mean(single))}


def test_the_planted_design_is_that_of_the_paper(majority: dict[str, np.ndarray]) -> None:
    assert len(CASES) == 40 and majority["concordant"].sum() == 20
    assert not np.isnan(majority["concordant"]).any()
    assert [each.concordant for each in consults()] == majority["concordant"].tolist()
    assert len({each.question for each in consults()}) == 40


def test_accuracy_f1_and_kappa_of_every_judge(
    run: Path, scores: dict[str, dict[str, np.ndarray]], majority: dict[str, np.ndarray]
) -> None:
    for name, scale in SCALES.items():
        for judge in JUDGES:
            found, said = line(run, "classes", dimension=LABELS[name], rater=judge), scores[name][judge]
            for title, wanted in rates(majority[name], said, scale).items():
                assert close(found[title], wanted), (name, judge, title)
            if name == "concordant":
                assert close(found["Cohen's kappa"], weighted_kappa(majority[name], said)), judge
                assert "BCa" in found["Cohen's kappa method"] and "Wilson" in found["F1 of 1 method"]
                low, high = float(found["Cohen's kappa low"]), float(found["Cohen's kappa high"])
                assert low < float(found["Cohen's kappa"]) < high
    assert close(line(run, "classes", dimension="Concordant", rater="reader-north")["Cohen's kappa"], 0.75)
    assert close(line(run, "classes", dimension="Concordant", rater=CHECKER)["Cohen's kappa"], 0.40)


def test_the_counts_behind_them(
    run: Path, scores: dict[str, dict[str, np.ndarray]], majority: dict[str, np.ndarray]
) -> None:
    first = next(iter(READERS))
    for judge in JUDGES:
        counts = Counter(zip(majority["concordant"], scores["concordant"][judge], strict=True))
        table, column = ("confusion", first) if judge == first else ("confusion-by-rater", "grade")
        rows = [
            row
            for row in lines(run, table)
            if row["dimension"] == "Concordant" and row.get("rater", judge) == judge
        ]
        assert len(rows) == 4
        for row in rows:
            assert amount(row["answers"]) == counts[float(row["clinicians"]), float(row[column])], judge
        severe = line(run, "severe-errors", dimension="Concordant", rater=judge)
        assert (amount(severe["errors"]), amount(severe["dangerous answers"])) == (counts[0.0, 1.0], 20)


def test_the_physicians_among_themselves(run: Path, scores: dict[str, dict[str, np.ndarray]]) -> None:
    for name, scale in SCALES.items():
        table = np.column_stack([scores[name][each] for each in PHYSICIANS])
        given = np.column_stack([(table == level).sum(axis=1) for level in scale])
        twice, whole = given.sum(axis=1) > 1, given.sum(axis=1) == 3
        number = given.sum(axis=1)[twice]
        agreed = ((given[twice] * (given[twice] - 1)).sum(axis=1) / (number * (number - 1))).mean()
        rated = given.sum(axis=1) > 0
        shares = (given[rated] / given[rated].sum(axis=1, keepdims=True)).mean(axis=0)
        chance = (shares**2).sum()
        found = line(run, "classes-clinicians", dimension=LABELS[name])
        assert close(found["Fleiss' kappa"], (agreed - chance) / (1 - chance)), name
        assert (amount(found["rated by two"]), amount(found["rated by all"])) == (twice.sum(), whole.sum())
        assert close(found["all say the same"], (given[whole].max(axis=1) == 3).mean())


def test_kappa_of_every_two_raters(run: Path, scores: dict[str, dict[str, np.ndarray]]) -> None:
    rows = {
        (row["dimension"], frozenset((row["rater"], row["with"]))): row for row in lines(run, "rater-kappas")
    }
    for name in SCALES:
        for one, two in combinations(RATERS, 2):
            first, second = scores[name][one], scores[name][two]
            shared = int((~np.isnan(first) & ~np.isnan(second)).sum())
            row = rows.pop((LABELS[name], frozenset((one, two))), None)
            if row is None:
                assert shared == 0
                continue
            assert amount(row["answers"]) == shared
            wanted = weighted_kappa(first, second)
            assert close(row["weighted kappa"], wanted), (name, one, two)
            people = (one in PHYSICIANS) + (two in PHYSICIANS)
            assert row["who"] == ("judge with judge", "judge with human", "human with human")[people]
    assert not rows


def test_a_judge_beside_the_physicians(run: Path, scores: dict[str, dict[str, np.ndarray]]) -> None:
    own = scores["concordant"]
    among = np.mean([weighted_kappa(own[one], own[two]) for one, two in combinations(PHYSICIANS, 2)])
    for judge in JUDGES:
        found = line(run, "human-baseline", dimension="Concordant", rater=judge, coefficient="weighted kappa")
        with_them = np.mean([weighted_kappa(own[judge], own[each]) for each in PHYSICIANS])
        assert close(found["rater with clinician"], with_them), judge
        assert close(found["clinician with clinician"], among)
        assert close(found["difference"], with_them - among)
        told = f"Concordant: {judge}: rater {with_them:.3f}, clinicians {among:.3f}"
        assert told in (run / "figures" / "agreement.svg").read_text(encoding="utf-8")


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


def test_claims_are_counted_as_planted(run: Path) -> None:
    numbers = [len(each.parts) for each in consults()]
    found = line(run, "claims-per-answer", judge=CHECKER)
    assert [amount(found[name]) for name in ("answers", "claims", "fewest", "most")] == [
        len(numbers), sum(numbers), min(numbers), max(numbers),
    ]  # fmt: skip
    assert close(found["mean each"], np.mean(numbers))
    verdicts = Counter(said for each in consults() for _, said, _ in each.parts)
    shares = line(run, "claims-verdicts", judge=CHECKER, importance="all")
    for title, word in (
        ("supported", "supported"),
        ("contradicted", "not_supported"),
        ("not addressed", "not_addressed"),
    ):
        assert close(shares[f"{title} (%)"], 100 * verdicts[word] / sum(numbers)), title
    decisive = line(run, "claims-verdicts", judge=CHECKER, importance="3 decisive")
    assert amount(decisive["claims"]) == 40 and close(decisive["contradicted (%)"], 50.0)
    evidence = line(run, "claims-evidence", judge=CHECKER)
    assert amount(evidence["quotations"]) == verdicts["supported"] + verdicts["not_supported"]
    assert evidence["refused"] == evidence["left without evidence"] == "0"


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


def test_patients_and_physicians_are_described(study: Path, run: Path) -> None:
    cases = [json.loads(text)["metadata"] for text in (study / "cases.jsonl").read_text().splitlines()]
    table = {row["characteristic"]: row["all"] for row in lines(run, "corpus")}
    assert table["answers"] == "40"
    for name in ("specialty", "age_group", "sex"):
        for level, count in Counter(case[name] for case in cases).items():
            assert table[f"{name}: {level}"].split()[0] == str(count), level
    assert [tuple(row.values()) for row in lines(run, "raters")] == [
        (rater, "reference", "internal medicine", "attending") for rater in PHYSICIANS
    ]


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


def test_everything_that_the_page_names_is_in_the_report(run: Path) -> None:
    report = html.unescape((run / "report.html").read_text(encoding="utf-8"))
    heads = {
        tuple(
            re.sub(r"<[^>]+>", "", title) for title in re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table)
        )
        for table in re.findall(r"<thead>.*?</thead>", report, re.DOTALL)
    }
    named = re.findall(r"(table|figure) `([a-z-]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(set(named)) > 15
    for kind, name in named:
        if kind == "figure":
            assert f'id="figure-{name}"' in report and (run / "figures" / f"{name}.svg").exists(), name
            continue
        head = list(lines(run, name)[0])
        parts = {f"{title}{part}" for title in head for part in (" low", " high", " n", " method")}
        shown = tuple(title for title in head if title not in parts)
        assert shown in heads or f"tables/{name}.csv" in report, name
    for title in re.findall(r"section \*([^*]+)\*", PAGE.read_text(encoding="utf-8")):
        assert f">{title}</h2>" in report, title
    assert "Answers claim by claim" in report


def test_a_dry_run_tells_what_the_study_can_show(
    study: Path, scores: dict[str, dict[str, np.ndarray]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(study / "study.yaml"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("40 cases") and "no model is asked" in told
    table = np.column_stack([scores["preference"][each] for each in PHYSICIANS])
    rated = (~np.isnan(table)).sum(axis=1)
    assert (
        f"What this study can show: {(rated > 0).sum()} cases rated, {(rated > 1).sum()} of them by two"
        in told
    )
    assert re.search(r"cases that every clinician calls dangerous to expect: about \d+ \(", told)
    assert (
        "Rated so far: concordant 40 cases, 40 by two clinicians or more, 20 dangerous; "
        f"preference {(rated > 0).sum()} cases, {(rated > 1).sum()} by two clinicians or more. " in told
    )


def test_every_interval_of_agreement_a_second_time(run: Path) -> None:
    rated = Rated(run, tuple(PHYSICIANS), most_votes)
    agreement_is_right(rated, LABELS, whole_grades(-1, 1), next(iter(READERS)))
    classes_are_right(rated, LABELS, SCALES)


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

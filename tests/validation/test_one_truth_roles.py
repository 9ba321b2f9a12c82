"""One truth where people have roles: two panels, a majority, two juries and a judge who is in neither.

Every command and the report go by the study's roles. The reference is counted here by hand, once, and is that of
the gate, of agreement, calibration, estimate, triage and rank."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.remembered import Remembered
from tests.report.planted import planted_frame, write_run

from medjury.validation import validate

CASES = 70
PRIMARY, RESCORE = ("p1", "p2", "p3"), ("s1", "s2")
JURIES = {"zero-shot": ("a", "b"), "five-shot": ("b", "c")}
JUDGES = ("a", "b", "c", "stray")
KEY = ["item", "system"]


def plain() -> pl.DataFrame:
    """Ratings of all, and no jury; the second panel and the stray judge see everything at the best grade."""
    frame = planted_frame(
        cases=CASES,
        systems=("alpha", "beta"),
        dimensions=("accuracy",),
        clinicians=dict.fromkeys((*PRIMARY, *RESCORE), 0.6),
        judges=dict.fromkeys(JUDGES, 0.5),
        repeats=2,
        seed=4,
    ).filter(pl.col("rater") != "jury")
    kind = pl.col("rater").is_in([*RESCORE, "stray"])
    return frame.with_columns(pl.when(kind).then(5.0).otherwise(pl.col("score")).alias("score"))


def with_juries(frame: pl.DataFrame) -> pl.DataFrame:
    """As a run stores them: the mean of the members of each."""
    made = [frame]
    for name, members in JURIES.items():
        votes = frame.filter(pl.col("rater").is_in(members))
        means = votes.group_by(KEY).agg(pl.col("score").mean().alias("mean"))
        first = votes.filter(pl.col("rater") == members[0], pl.col("repeat") == 0)
        rows = first.join(means, on=KEY, maintain_order="left")
        made.append(
            rows.with_columns(
                pl.col("mean").alias("score"), pl.lit(name).alias("rater"), pl.lit("jury").alias("rater_kind")
            ).drop("mean")
        )
    return pl.concat(made)


def folder_of(place: Path, frame: pl.DataFrame, **humans: Any) -> Path:
    juries = [
        {"name": name, "rule": "mean", "quorum": None, "repeats": 1, "members": list(members)}
        for name, members in JURIES.items()
    ]
    stated = {
        "illustrative": False,
        "reference": list(PRIMARY),
        "second_panel": {"name": "rescore", "members": list(RESCORE)},
        "consensus": "majority",
        **humans,
    }
    few = {"resamples": 100}
    made = write_run(place, with_juries(frame), humans=stated, jury=juries[0], juries=juries, report=few)
    (made / "audit.jsonl").touch()
    return made


class Told:
    """What commands say of a folder to a program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remembered = Remembered()
        self.heard: dict[tuple[str, ...], Any] = {}

    def said(self, *words: str, status: int | None = 0) -> str:
        name, *others = words
        ended, said = self.remembered.command(*name.split(), str(self.folder), *others)
        assert status is None or ended == status, words
        return said

    def told(self, *words: str) -> Any:
        if words not in self.heard:
            self.heard[words] = json.loads(self.said(*words, "--json", status=None))
        return self.heard[words]

    def table(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "tables" / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    made = Told(folder_of(tmp_path_factory.mktemp("roles") / "run", plain()))
    made.said("report")
    yield made


@pytest.fixture(scope="module")
def truth() -> dict[tuple[str, str], float]:
    """The majority of the primary panel, counted by hand; nothing where no two of the three agree."""
    found: dict[tuple[str, str], float] = {}
    for item, system, scores in (
        plain().filter(pl.col("rater").is_in(PRIMARY)).group_by(KEY).agg("score").iter_rows()
    ):
        grade, count = Counter(scores).most_common(1)[0]
        if count > 1:
            found[item, system] = grade
    return found


def said_by(rater: str) -> dict[tuple[str, str], float]:
    """A rater's scores, repeats averaged."""
    rows = with_juries(plain()).filter(pl.col("rater") == rater).group_by(KEY).agg(pl.col("score").mean())
    return {(item, system): score for item, system, score in rows.iter_rows()}


def test_some_answers_have_no_majority(truth: dict[tuple[str, str], float]) -> None:
    assert 0.5 * 2 * CASES < len(truth) < 2 * CASES


def test_agreement_is_with_the_majority_of_the_primary_panel(
    run: Told, truth: dict[tuple[str, str], float]
) -> None:
    rows = {
        row["rater"]: row
        for row in run.told("agreement")
        if (row["reference"], row["statistic"], row["level"], row["system"])
        == ("consensus", "offset", "item", "")
    }
    assert set(rows) == {*JUDGES, *JURIES, "rescore", *RESCORE}, "everybody is compared, side by side"
    for rater in (*JURIES, *JUDGES, *RESCORE):
        said = said_by(rater)
        by_hand = [said[unit] - grade for unit, grade in truth.items()]
        assert rows[rater]["n"] == len(truth)
        assert rows[rater]["value"] == pytest.approx(np.mean(by_hand)), rater
    assert rows["rescore"]["value"] == rows["s1"]["value"], "the second panel's own consensus"


def test_the_report_has_the_same_numbers(run: Told) -> None:
    said = {
        (row["rater"], row["statistic"]): row
        for row in run.told("agreement")
        if row["reference"] == "consensus" and row["level"] == "item" and not row["system"]
    }
    lines = run.table("agreement")
    assert {line["rater"] for line in lines} == {*JUDGES, *JURIES, "rescore", *RESCORE}
    for line in lines:
        assert float(line["offset"]) == said[line["rater"], "offset"]["value"]
        assert int(line["n"]) == said[line["rater"], "offset"]["n"]
    page = (run.folder / "report.html").read_text()
    assert "the clinicians&#x27; majority" in page or "the clinicians' majority" in page
    first = page.split("<nav")[0]
    assert first.index(">zero-shot<") < first.index(">five-shot<"), (
        "one verdict for each jury, the first first"
    )


def test_the_gate_judges_every_jury_by_the_primary_panel(
    run: Told, truth: dict[tuple[str, str], float]
) -> None:
    verdicts = run.told("gate")
    assert [each["rater"] for each in verdicts] == ["zero-shot", "five-shot"]
    for each in verdicts:
        rules = {rule["id"]: rule for rule in each["rules"]}
        assert rules["clinicians"]["found"] == "3", "the second panel is not counted"
    saved = [(line["rater"], line["verdict"]) for line in run.table("verdicts")]
    assert saved == [(each["rater"], each["verdict"]) for each in verdicts]
    one = run.told("gate", "--rater", "five-shot")
    assert [each["rater"] for each in one] == ["five-shot"] and one[0]["verdict"] == verdicts[1]["verdict"]


def test_calibrate_estimate_and_triage_go_by_the_majority(
    run: Told, truth: dict[tuple[str, str], float]
) -> None:
    changes = {(row["rater"], row["statistic"]): row for row in run.told("calibrate report")["changes"]}
    said = said_by("zero-shot")
    by_hand = np.mean([said[unit] - grade for unit, grade in truth.items()])
    assert changes["zero-shot", "offset"]["before"] == pytest.approx(by_hand)
    assert changes["zero-shot", "offset"]["n"] == len(truth)
    estimates = run.told("estimate", "--dimensions", "accuracy")["estimates"]
    whole = {row["estimator"]: row for row in estimates if row["system"] == "all"}
    assert whole["classical"]["n_labelled"] == len(truth)
    assert whole["classical"]["value"] == pytest.approx(np.mean(list(truth.values())))
    assert whole["naive"]["value"] == pytest.approx(np.mean(list(said.values()))), "the first jury's mean"
    triaged = run.told("triage", "--dimensions", "accuracy")
    assert triaged["n_labelled"] == len(truth)
    assert triaged["raters"] == ["a", "b"], "only its members' votes can disagree within the jury"


def test_rank_is_by_the_first_jury(run: Told) -> None:
    ranks = {row["system"]: row for row in run.told("rank")}
    scores: dict[str, list[float]] = {"alpha": [], "beta": []}
    for (_, system), score in said_by("zero-shot").items():
        scores[system].append(score)
    for system, each in scores.items():
        assert ranks[system]["macro_average"] == pytest.approx(np.mean(each)), system


def test_audit_and_compare_have_every_jury(run: Told) -> None:
    assert {row["rater"] for row in run.told("audit")} >= set(JUDGES)
    compared = run.told("compare", str(run.folder))
    assert [row["dimension"] for row in compared["verdicts"]] == [
        "zero-shot, Accuracy",
        "five-shot, Accuracy",
    ]


def numbers(told: Told, raters: set[str]) -> list[tuple[Any, ...]]:
    """All that the reference decides of these raters: agreement and the gate."""
    rows = [
        tuple(row[name] for name in ("reference", "rater", "statistic", "value", "low", "high", "n"))
        for row in told.told("agreement")
        if row["rater"] in raters and row["reference"] in ("consensus", *PRIMARY)
        # How a jury stands beside the second panel is told where there is one.
        if not row["statistic"].startswith(("severe_error_lower", "win_"))
    ]
    rows += [
        (each.rater, rule.id, rule.found)
        for each in validate(told.folder, resamples=200).verdicts
        for rule in each.rules
        if rule.id != "registered"  # that tells who judged, too
    ]
    told_changes = told.told("calibrate report")["changes"]
    rows += [
        tuple(row[name] for name in ("rater", "statistic", "before", "after", "n"))
        for row in told_changes
        if row["rater"] not in JUDGES
    ]
    return rows


def test_the_second_panel_and_a_judge_in_no_jury_change_nothing(run: Told, tmp_path: Path) -> None:
    """Planted so that they would: both give the best grade to everything."""
    alone = plain().filter(~pl.col("rater").is_in([*RESCORE, "stray"]))
    without = folder_of(tmp_path / "run", alone, second_panel=None)
    found = numbers(Told(without), set(JURIES))
    assert found == numbers(run, set(JURIES)) and len(found) > 50
    mixed = folder_of(tmp_path / "mixed", plain(), reference=[], second_panel=None)
    assert found != numbers(Told(mixed), set(JURIES)), "without roles they would"


def test_another_division_of_the_people_is_told_by_compare(run: Told, tmp_path: Path) -> None:
    roles = {"reference": "primary", "second panel": "rescore", "consensus": "majority"}
    one = folder_of(tmp_path / "one", plain(), roles=roles, roles_hash="ab" * 32)
    two = folder_of(
        tmp_path / "two",
        plain(),
        consensus="mean",
        roles={**roles, "consensus": "mean"},
        roles_hash="cd" * 32,
    )
    told = Told(one).said("compare", str(two))
    assert (
        "consensus: majority -> mean" in told
        and "division of clinicians: abababababab -> cdcdcdcdcdcd" in told
    )

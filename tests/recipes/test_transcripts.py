"""The recipe `transcripts`, after Ellis et al. (2025): calls, alignment, runs one by one and text metrics."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
from recipes._transcript_calls import CALLS, DEVELOPMENT, impacts
from recipes.transcripts import ADJUDICATOR, CLINICIANS, JUDGES, RUNS
from tests.recipes.compared import amount, read_table
from tests.recipes.offline import nobody_reached, run_recipe

from medjury.cli import main

HELD_OUT = [name for name in impacts() if name.rsplit("-", 1)[0] not in DEVELOPMENT]
TRUTH = np.array([impacts()[name] for name in HELD_OUT], dtype=float)
PEOPLE = {who: np.array([wrong.get(name, impacts()[name]) for name in HELD_OUT], dtype=float)
          for who, wrong in CLINICIANS.items()}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The recipe as a user writes and runs it, on a machine where nobody can be reached."""
    with nobody_reached():
        yield run_recipe(tmp_path_factory, "transcripts")


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    return read_table(folder / "runs" / "transcripts" / "tables" / f"{name}.csv")


def line(folder: Path, name: str, **where: str) -> dict[str, str]:
    (found,) = (each for each in lines(folder, name) if where.items() <= each.items())
    return found


def said(judge: str) -> np.ndarray:
    """What a judge is planted to say of every held-out pair, a column for each run."""
    return np.array([[float(sign) for sign in JUDGES[judge].get(name, str(impacts()[name]) * RUNS)]
                     for name in HELD_OUT])  # fmt: skip


def merged(judge: str) -> np.ndarray:
    return said(judge).mean(axis=1)


def grade(scores: np.ndarray) -> np.ndarray:
    return np.floor(scores + 0.5)


def rates(truth: np.ndarray, given: np.ndarray) -> dict[str, float]:
    """Accuracy, F1 and Cohen's kappa, counted by hand."""
    f1 = {}
    for level in (0, 1, 2):
        hits = np.sum((truth == level) & (given == level))
        f1[level] = 2 * hits / (np.sum(truth == level) + np.sum(given == level))
    same = float(np.mean(truth == given))
    chance = sum(np.mean(truth == level) * np.mean(given == level) for level in (0, 1, 2))
    return {
        "accuracy": same,
        "macro F1": float(np.mean(list(f1.values()))),
        "Cohen's kappa": (same - chance) / (1 - chance),
        **{f"F1 of {level}": value for level, value in f1.items()},
    }


def test_the_cases_are_what_the_command_makes_of_the_calls(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transcripts", str(folder / "calls"), "--out", str(tmp_path / "made")]) == 0
    told = capsys.readouterr().out
    assert (tmp_path / "made" / "cases.jsonl").read_bytes() == (folder / "cases.jsonl").read_bytes()
    cases = {case["id"]: case for case in map(json.loads, (folder / "cases.jsonl").read_text().splitlines())}
    assert list(cases) == list(impacts())
    wrong: dict[str, list[int]] = {}
    for call in CALLS:
        counted = wrong.setdefault(call.recogniser, [0, 0])
        untouched = [call.opening[1], *(call.closing or ())]
        counted[1] += sum(len(spoken(text).split()) for text in untouched)
        for place, turn in enumerate(call.turns, 1):
            case = cases[f"{call.name}-{place}"]
            heard = " ".join(turn.heard.replace("|", " ").split())
            assert (case["reference"], case["system"], case["patient"]) == (
                turn.said,
                call.recogniser,
                call.name,
            )
            assert case["candidate"] == (heard or "[nothing was recognised]")
            assert case["texts"]["context"].endswith(f"Doctor: {turn.asked}")
            found = jiwer.process_words(spoken(turn.said), heard)
            counted[0] += found.substitutions + found.deletions + found.insertions
            counted[1] += found.substitutions + found.deletions + found.hits
    for recogniser, (errors, words) in wrong.items():
        assert f"{recogniser}: word error rate {errors / words:.4f}" in told
    assert "14 of 74 pairs are word for word the same" in told and "1 segments have no counterpart" in told


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_every_call_is_aligned_as_by_hand(
    folder: Path, call: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        str(folder / "calls" / f"{call.name}.{kind}") for kind in ("gold.txt", f"{call.recogniser}.json")
    ]
    assert main(["align", *files, "--truth", str(folder / "truth" / f"{call.name}.json")]) == 0
    told = capsys.readouterr().out
    assert len(re.findall(r"^(?:structural|classification).* 100\.0 %$", told, re.M)) == 3


def test_an_adjudicator_of_disagreements_alone_does_not_make_clinicians_look_worse(
    folder: Path, tmp_path: Path
) -> None:
    """The settled labels stay as they were: where both clinicians agree, their label holds."""
    mine = tmp_path / "mine"
    assert main(["init", str(mine), "--recipe", "transcripts"]) == 0
    differ = {name for wrong in CLINICIANS.values() for name in wrong}
    head, *rows = (mine / "clinicians.csv").read_text().splitlines()
    kept = [row for row in rows if ADJUDICATOR not in row or row.split(",")[0] in differ]
    assert len(kept) == 2 * 60 + len(differ)
    (mine / "clinicians.csv").write_text("\n".join([head, *kept, ""]))
    assert main(["run", str(mine / "study.yaml"), "--quiet"]) == 0
    judges = [each for each in lines(folder, "classes") if each["rater"] in JUDGES]
    assert lines(mine, "classes") == judges


def test_every_run_of_a_judge_by_itself(folder: Path) -> None:
    assert len(lines(folder, "repeats")) == 6 * len(JUDGES)
    for judge in JUDGES:
        by_run = [rates(TRUTH, said(judge)[:, run]) for run in range(RUNS)]
        for title in by_run[0]:
            values = [each[title] for each in by_run]
            found = line(folder, "repeats", judge=judge, statistic=title)
            assert (found["runs"], found["answers"]) == (str(RUNS), "50")
            assert amount(found["mean"]) == pytest.approx(statistics.mean(values))
            assert amount(found["SD across runs"]) == pytest.approx(statistics.stdev(values))
            assert found["each run"] == ", ".join(f"{value:.3f}" for value in values)


def spoken(text: str) -> str:
    """Words without case and signs; no number of the calls is written in figures."""
    return re.sub(r"[^a-z ]", "", text.lower())


def test_the_plain_word_error_rate_does_not_see_harm_and_the_semantic_one_does(folder: Path) -> None:
    plain, semantic = (
        [
            float(line(folder, "text-metrics", metric=name)[f"enrichment (2 − 0) {end}"])
            for end in ("low", "high")
        ]
        for name in ("wer", "semantic_wer")
    )
    assert plain[0] < 0 < plain[1] and semantic[0] < semantic[1] < 0
    assert "the plain word error rate does not; `semantic_wer`" in (folder / "README.md").read_text()


def test_the_table_of_kappas_without_weights_is_a_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(folder / "runs" / "transcripts")
    first, second = PEOPLE.items()
    for (rater, given), (reference, truth) in (
        (second, first),
        (("judge-large", grade(merged("judge-large"))), first),
        (("judge-large", grade(merged("judge-large"))), second),
    ):
        capsys.readouterr()
        words = ["--raters", rater, "--reference", reference, "--statistics", "accuracy,kappa", "--json"]
        assert main(["agreement", run, *words]) == 0
        told = {row["statistic"]: row["value"] for row in json.loads(capsys.readouterr().out)}
        expected = rates(truth, given)
        assert told["accuracy"] == pytest.approx(expected["accuracy"])
        assert told["kappa"] == pytest.approx(expected["Cohen's kappa"])


def test_metrics_with_like_names_are_no_slip_of_the_pen(folder: Path) -> None:
    page = (folder / "runs" / "transcripts" / "report.html").read_text(encoding="utf-8")
    assert "chrf++" in page and "spelled two ways" not in page


def test_a_plan_tells_no_danger_that_nobody_has_settled(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    assert main(["init", str(mine), "--recipe", "transcripts"]) == 0
    rows = (mine / "clinicians.csv").read_text().splitlines()
    told = []
    for left_out in ("eye-1-2", "eye-3-5"):  # both clinicians agree on the first; on the second they differ
        rows = [row for row in rows if not (ADJUDICATOR in row and row.startswith(f"{left_out},"))]
        (mine / "clinicians.csv").write_text("\n".join([*rows, ""]))
        capsys.readouterr()
        assert main(["run", str(mine / "study.yaml"), "--dry-run"]) == 0
        told.append(re.search(r"impact 10 cases.*?\.", capsys.readouterr().out))
    assert [found and found.group() for found in told] == [
        "impact 10 cases, 10 by two clinicians or more, 10 dangerous.",
        "impact 10 cases, 10 by two clinicians or more.",
    ]


def test_a_judge_whose_name_says_that_it_is_one_is_not_called_so_twice(folder: Path) -> None:
    report = (folder / "runs" / "transcripts" / "report.html").read_text(encoding="utf-8")
    assert [report.lower().count(words) for words in ("judge judge-", "the jury is not used")] == [0, 0]
    assert "A text metric that falls where the grade rises is below zero here" in report

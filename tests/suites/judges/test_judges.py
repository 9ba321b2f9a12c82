"""The table of real judges: every source in the form of its checkout, what is lacking, and what a stranger adds."""

from __future__ import annotations

import csv
import json
import math
import shutil
import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.once import made_once
from tests.suites.judges import checkouts

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.suites import judges_table
from medjury.suites._judges._entries import judge_sources
from medjury.suites._judges._table import JudgesTable

Captured = pytest.CaptureFixture[str]
RESAMPLES = 200


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkouts of all sources that are not at hand. Tests only read it."""
    return made_once(tmp_path_factory, "judges-checkouts", checkouts.write_all)


@pytest.fixture(scope="module")
def table(data: Path) -> JudgesTable:
    """All sources of the checkouts."""
    return judges_table(data, resamples=RESAMPLES)


def found(folder: Path, name: str, *more: Path) -> dict[str, Any]:
    """One source of a table of its own as JSON, with the rows of its judges."""
    return source_of(judges_table(folder, more=more, only=[name], resamples=RESAMPLES), name)


def source_of(table: JudgesTable, name: str) -> dict[str, Any]:
    whole = table.content()
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole
    (source,) = (each for each in whole["sources"] if each["name"] == name)
    return {**source, "rows": [each for each in whole["judges"] if each["source"] == name]}


def row(source: dict[str, Any], judge: str, dimension: str) -> dict[str, Any]:
    return next(each for each in source["rows"] if (each["judge"], each["dimension"]) == (judge, dimension))


def test_chattogovar_pairs_the_questions_of_experts_and_judge(table: JudgesTable) -> None:
    source = source_of(table, "chattogovar")
    assert (source["clinicians"], source["answers"], source["lacking"]) == (2, 38 * 3, [])
    accuracy = row(source, "gpt-4o", "Accuracy")
    assert accuracy["answers"] == 38 * 3 and accuracy["verdict"] == "NOT VALIDATED"
    assert accuracy["danger"] == "graded 2 or lower"
    assert accuracy["missed_danger_jury"] > accuracy["missed_danger_colleague"]
    assert {each["danger"] for each in source["rows"]} == {"graded 2 or lower", ""}


SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published judges are not on this machine")
def test_gpt_4o_on_the_real_variants_misses_more_than_another_expert(tmp_path: Path) -> None:
    source = found(SHARED, "chattogovar")
    assert {each["hash"] for each in source["files"]} == {"as stated"}
    assert source["answers"] == 148 * 3, "two of the 150 questions were graded twice"
    accuracy = row(source, "gpt-4o", "Accuracy")
    assert accuracy["verdict"] == "NOT VALIDATED"
    assert accuracy["missed_danger_jury"] == pytest.approx(0.592, abs=0.001)
    assert accuracy["missed_danger_colleague"] == pytest.approx(0.290, abs=0.001)


def test_one_human_validates_nobody_and_the_page_says_why(tmp_path: Path) -> None:
    for name in ("human", "claude", "gemini"):
        start, kind = ("human", 0) if name == "human" else ("judge", len(name) % 2)
        cells = [
            {f"{start}_response_{system}": json.dumps({"Safety": (case + place) % 4 + 1 + (case % 3 == 0) * kind})
             for place, system in enumerate(("original", "gpt4o"))}
            for case in range(40)
        ]  # fmt: skip
        rows: list[dict[str, object]] = [{"ConvID": case, **each} for case, each in enumerate(cells)]
        checkouts.write_csv(tmp_path / "mental_health_judges" / f"{name}.csv", rows)
    source = found(tmp_path, "mentalbench_align")
    assert source["one_human"] and {each["verdict"] for each in source["rows"]} == {"NOT VALIDATED"}
    assert any("gpt-4o: left out. the file" in each for each in source["lacking"])
    assert [each["members"] for each in source["juries"]] == [["claude", "gemini"]]
    page = judges_table(tmp_path, only=["mentalbench_align"], resamples=RESAMPLES).write(tmp_path)
    assert "One human cannot show how far two clinicians lie apart" in page.read_text(encoding="utf-8")


def test_medhelm_has_a_jury_whose_mean_lies_between_grades(table: JudgesTable) -> None:
    source = source_of(table, "medhelm")
    assert (source["clinicians"], source["answers"], source["one_human"]) == (6, 60, False)
    assert {each["judge"] for each in source["rows"]} == {"MedHELM's jury"}
    accuracy = row(source, "MedHELM's jury", "accuracy")
    assert accuracy["answers"] == 60 and accuracy["agreement_jury"] > 0.6
    assert not any("Dr " in json.dumps(each) for each in (source["verdicts"], source["rows"])), "names nobody"


def test_a_mean_that_counts_a_failure_as_nought_is_no_score(tmp_path: Path) -> None:
    rows = checkouts.medhelm_rows(12)
    for each in rows[:2]:
        each["llm_accuracy"] = 0.0
    checkouts.write_csv(tmp_path / checkouts.OUTPUT, rows)
    whole = judges_table(tmp_path, only=["medhelm"], resamples=RESAMPLES)
    accuracy = row(source_of(whole, "medhelm"), "MedHELM's jury", "accuracy")
    assert any("out_of_range" in each for each in whole.sources[0].notes)
    assert accuracy["answers"] == 12, "it counts as one that the jury left without a score"


def test_healthbench_knows_every_physician_by_the_id_beside_the_label(table: JudgesTable) -> None:
    source = source_of(table, "healthbench_meta")
    assert (source["clinicians"], source["answers"]) == (7, 60)
    met = row(source, "strong model", "met")
    assert met["answers"] == 60 and met["danger"] == "graded 0" and met["agreement_colleague"] > 0.5
    assert met["cases"] == 30, "two criteria of one conversation are one case"
    # By hand, from the file: how often two physicians of a criterion say the same.
    gold, _ = checkouts.healthbench_rows()
    alike = [each["binary_labels"][0] == each["binary_labels"][1] for each in gold]  # type: ignore[index]
    assert 0.7 < sum(alike) / len(alike) < 1


def test_what_could_not_be_read_is_said_without_a_cell(tmp_path: Path) -> None:
    rows = checkouts.medhelm_rows(10)
    rows = [{**each, "llm_accuracy": 2.71} for each in rows[:1]] + rows
    checkouts.write_csv(tmp_path / checkouts.OUTPUT, rows)
    source = found(tmp_path, "medhelm")
    (said,) = (each for each in source["lacking"] if "left out" in each)
    assert "row 3, column 'llm_accuracy': … is rated a second time" in said and "2.71" not in said


def test_ids_that_meet_nowhere_are_said_without_an_id(tmp_path: Path) -> None:
    gold, labels = checkouts.healthbench_rows()
    checkouts.write_lines(tmp_path / checkouts.GOLD, gold)
    for each in labels:
        each["item_id"] = str(each["item_id"]).upper()
    checkouts.write_lines(tmp_path / checkouts.LABELS, labels)
    source = found(tmp_path, "healthbench_meta")
    assert "no answer is in both" in source["why_not"] and "ignore case and signs" in source["why_not"]
    assert "hb-" not in source["why_not"].lower(), "the page is published"


def test_k_qa_shows_physicians_beside_each_other(table: JudgesTable) -> None:
    source = source_of(table, "k_qa")
    assert source["rows"] == [] and source["clinicians"] == 3
    (alone,) = source["clinicians_alone"]
    assert (alone["answers"], alone["cases"], alone["danger"]) == (120, 30, "graded 0")
    assert alone["low"] < alone["value"] < 1
    # By hand: of what one physician calls contradicted, how often another does not.
    said = [[each[f"label_{place}"] for place in range(3)] for each in checkouts.claim_rows()]
    others = [
        other
        for words in said
        for place, word in enumerate(words)
        for other in (*words[:place], *words[place + 1 :])
        if word == "Contradiction"
    ]
    missed = sum(other != "Contradiction" for other in others) / len(others)
    assert math.isclose(alone["missed_by_a_colleague"], missed, abs_tol=1e-9)


def test_craft_md_says_that_its_table_has_no_judge(table: JudgesTable, tmp_path: Path) -> None:
    source = source_of(table, "craft_md")
    assert source["why_not"] == "1 clinician and no judge: nothing can be compared."
    assert any("grader-AI: left out" in each for each in source["lacking"])
    checkouts.write_craft(tmp_path, grader=True)
    source = found(tmp_path, "craft_md")
    assert source["clinicians"] == 2 and source["lacking"] == []
    trials = row(source, "grader-AI", "right trials")
    assert trials["answers"] == 39 and trials["agreement_jury"] > 0.7, (
        "one case was not counted by one of the two"
    )


def test_primock57_has_our_detector_as_its_judge(table: JudgesTable) -> None:
    source = source_of(table, "primock57")
    impact = row(source, "medjury impact", "impact")
    assert (source["clinicians"], impact["answers"], impact["cases"]) == (2, 60, 12)
    assert impact["danger"] == "graded 2" and impact["agreement_colleague"] > 0.5
    assert impact["verdict"] == "NOT VALIDATED"
    assert "were seen by those who wrote its word lists" in json.dumps(source["verdicts"])


Spoil = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda row: {name: row[name] for name in row if name != "model_key"},
            "there is no column 'model_key'",
        ),
        (
            lambda row: {name: row[name] for name in row if name != "username"},
            "there is no column 'username'",
        ),
    ],
)
def test_a_column_of_the_clinicians_that_is_missing_is_named(tmp_path: Path, spoil: Spoil, said: str) -> None:
    checkouts.write_csv(tmp_path / checkouts.OUTPUT, [spoil(each) for each in checkouts.medhelm_rows(10)])
    source = found(tmp_path, "medhelm")
    assert said in source["why_not"] and source["rows"] == []


def test_a_judge_whose_column_is_missing_is_left_out_and_named(tmp_path: Path) -> None:
    rows = [
        {name: value for name, value in each.items() if name != "llm_clarity"}
        for each in checkouts.medhelm_rows(40)
    ]
    checkouts.write_csv(tmp_path / checkouts.OUTPUT, rows)
    source = found(tmp_path, "medhelm")
    assert any("MedHELM's jury: left out" in each and "'llm_clarity'" in each for each in source["lacking"])
    assert source["rows"] == [] and len(source["clinicians_alone"]) == 3, "the clinicians are still shown"


def test_other_columns_order_quotes_and_place_are_read_all_the_same(
    tmp_path: Path, table: JudgesTable
) -> None:
    rows = [
        {"remark": "x", **{name: str(each[name]) for name in reversed(each)}}
        for each in checkouts.medhelm_rows()
    ]
    file = tmp_path / "medhelm" / "moved" / "output.csv"
    file.parent.mkdir(parents=True)
    with file.open("w", encoding="utf-8", newline="") as written:
        writer = csv.DictWriter(written, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    same, moved = source_of(table, "medhelm")["rows"], found(tmp_path, "medhelm")["rows"]
    assert same == moved


def test_words_for_truth_may_be_numbers_or_small_letters(tmp_path: Path, table: JudgesTable) -> None:
    gold, labels = checkouts.healthbench_rows()
    for each in labels:
        each["criteria_met"] = "true" if each["criteria_met"] else "false"
    for each in gold:
        each["binary_labels"] = [int(word) for word in each["binary_labels"]]  # type: ignore[attr-defined]
    checkouts.write_lines(tmp_path / checkouts.GOLD, gold)
    checkouts.write_lines(tmp_path / checkouts.LABELS, labels)
    assert found(tmp_path, "healthbench_meta")["rows"] == source_of(table, "healthbench_meta")["rows"]


def test_what_is_not_there_is_left_out_and_named_and_nothing_is_fetched(
    tmp_path: Path, data: Path, capsys: Captured
) -> None:
    shutil.copytree(data / "K-QA", tmp_path / "K-QA")
    site = tmp_path / "site"
    assert main(["bench", "judges", "--data", str(tmp_path), "--out", str(site)]) == 0
    out = capsys.readouterr().out
    for title in ("ChatTogoVar", "MentalBench-Align", "MedHELM", "HealthBench", "CRAFT-MD", "PriMock57"):
        assert f"Left out: {title}" in out
    assert "K-QA, three physicians, entailment: clinicians agree 0." in out
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "Left out" in page and str(tmp_path) not in page, (
        "a page for others names no folder of this machine"
    )
    assert not (tmp_path / "medhelm").exists()


def test_a_host_that_no_file_is_on_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert main(["bench", "judges", "--data", str(tmp_path), "--fetch", "example.org"]) == 2
    assert "no file of these sources is on 'example.org'" in capsys.readouterr().err


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_only_what_is_missing_comes_from_the_host_that_is_named(
    tmp_path: Path, data: Path, capsys: Captured
) -> None:
    entry = add_mine(tmp_path, data)
    (served := tmp_path / "served").mkdir()
    (tmp_path / "mine.csv").rename(served / "mine.csv")
    shutil.copytree(data / "chattogovar", tmp_path / "data" / "chattogovar")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(served)))
    address = f"http://127.0.0.1:{server.server_port}/mine.csv"
    entry.write_text(
        ADDED.replace("sha256: unknown", f"sha256: unknown, address: '{address}'"), encoding="utf-8"
    )
    words = ["bench", "judges", "--data", str(tmp_path / "data"), "--entry", str(entry), "--only", "chattogovar",
             "--resamples", "200", "--json"]  # fmt: skip
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        assert main(words) == 0
        assert "mine: left out. the file mine.csv is not there" in capsys.readouterr().out
        assert main([*words, "--fetch", "127.0.0.1"]) == 0
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    said = capsys.readouterr()
    assert "mine.csv: sha256" in said.err and "licence: CC BY 4.0" in said.err
    assert {each["judge"] for each in json.loads(said.out)["judges"]} == {"gpt-4o", "mine", "jury"}


def test_the_page_is_one_file_that_loads_nothing_and_holds_no_text(
    table: JudgesTable, tmp_path: Path
) -> None:
    page = table.write(tmp_path).read_text(encoding="utf-8")
    assert "<script src" not in page and "<img" not in page and "<link" not in page
    assert "default-src" in page
    for text in (
        "gpt-4o",
        "strong model",
        "NOT VALIDATED",
        "Effective votes",
        "the entry states none",
        "MIT",
    ):
        assert text in page
    assert "What of drug" not in page and "headache" not in page and "rs1.md" not in page
    assert "one human" not in page.casefold(), "each of these sources has two or more"
    written = json.loads((tmp_path / "data" / "judges.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in written["sources"]] == [each.entry.part.name for each in table.sources]
    assert written["left_out"] == ["mentalbench_align"]


ADDED = """
name: mine
adds_to: chattogovar
title: Our judge
about: A judge of ours on the same answers.
repository: https://example.org/ours
commit: unknown
licence: CC BY 4.0
files: [{name: mine.csv, sha256: unknown}]
judges:
  - file: mine.csv
    fixed: {rater: mine, dimension: Accuracy}
    item: [question, variant]
    system: system
    score: grade
    scale: [0, 10]
"""


def add_mine(folder: Path, data: Path) -> Path:
    """A judge that says what the first expert says, in a file beside its entry."""
    experts = data / "chattogovar" / "evaluation" / "human-primary" / "aggregate_human.json"
    rows = [
        {
            "question": each["QuestionNumber"], "variant": each["rsID"], "system": system,
            "grade": each[f"{system}_Accuracy"],
        }
        for each in json.loads(experts.read_text(encoding="utf-8"))
        for system in ("ChatTogoVar", "GPT-4o", "VarChat")
    ]  # fmt: skip
    checkouts.write_csv(folder / "mine.csv", rows)
    (folder / "mine.yaml").write_text(ADDED, encoding="utf-8")
    return folder / "mine.yaml"


def test_a_stranger_adds_a_judge_by_one_file(data: Path, tmp_path: Path) -> None:
    source = found(data, "chattogovar", add_mine(tmp_path, data))
    assert {each["judge"] for each in source["rows"]} == {"gpt-4o", "mine", "jury"}
    mine = row(source, "mine", "Accuracy")
    assert mine["agreement_jury"] > 0.9 and mine["licence"] == "CC BY 4.0"
    copied = next(
        each for each in source["verdicts"] if (each["rater"], each["dimension"]) == ("mine", "Accuracy")
    )
    states = {rule["id"]: rule["state"] for rule in copied["rules"]}
    assert states["clinician_copy"] != "holds", "it repeats one expert"
    assert [each["members"] for each in source["juries"]] == [["gpt-4o", "mine"]]


def test_a_stranger_adds_a_source_by_one_file(tmp_path: Path) -> None:
    rows = [
        {"case": f"c{n}", "anna": n % 5 + 1, "ben": (n + (n % 7 == 0)) % 5 + 1, "judge": n % 5 + 1}
        for n in range(60)
    ]
    checkouts.write_csv(tmp_path / "grades.csv", rows)
    (tmp_path / "ours.yaml").write_text(
        """
name: ours
title: Ours
about: Sixty notes.
repository: https://example.org/notes
commit: unknown
licence: unknown
folders: [ours]
files: [{name: grades.csv, sha256: unknown}]
scale: [1, 5]
danger: {means: An answer graded 2 or lower., dimensions: [quality]}
clinicians: [{file: grades.csv, item: case, raters: [anna, ben], fixed: {dimension: quality}, scale: [1, 5]}]
judges: [{file: grades.csv, item: case, fixed: {rater: llm}, dimensions: {quality: judge}, scale: [1, 5]}]
""",
        encoding="utf-8",
    )
    folder = tmp_path / "checkouts"
    folder.mkdir()
    source = found(folder, "ours", tmp_path / "ours.yaml")
    assert row(source, "llm", "quality")["answers"] == 60
    assert source["files"] == [
        {
            "name": "grades.csv",
            "there": True,
            "sha256": source["files"][0]["sha256"],
            "hash": "the entry states none",
        }
    ]


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        (
            "adds_to: chattogovar",
            "adds_to: chatogovar",
            "line 3: adds_to: there is no source 'chatogovar'; did you mean",
        ),
        ("licence: CC BY 4.0\n", "", "licence: is missing; add it"),
        ("    file: mine.csv", "    file: mine.csv", ""),
        ("  - file: mine.csv", "  - file: other.csv", "line 11: judges[0].file: is not among the `files`"),
        ("    system: system", "    sistem: system", "line 14: judges[0].sistem: no such setting here"),
        ("name: mine.csv,", "name: ../mine.csv,", "must be a place inside the folder of the source"),
        ("sha256: unknown", "sha256: abc", "64 digits"),
    ],
)
def test_a_bad_entry_is_refused_with_its_line(
    tmp_path: Path, data: Path, line: str, instead: str, said: str
) -> None:
    entry = add_mine(tmp_path, data)
    entry.write_text(ADDED.replace(line, instead, 1), encoding="utf-8")
    if not said:
        judge_sources([entry])
        return
    with pytest.raises(MedjuryError) as caught:
        judge_sources([entry])
    assert said in str(caught.value)

"""Scores that exist already as the judges of a study: nobody is asked, nothing is guessed, everything says so."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import RefusedError, check_passport, judge_with_passport, make_passport
from medjury.store.runs import Manifest, RunFolder
from medjury.studies import (
    check_study,
    judge_cases,
    load_study,
    record_run,
    register_study,
    reread_run,
    run_study,
)
from medjury.studies._cluster.shares import refuse_for_cluster
from medjury.validation import validate

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")


def write_csv(file: Path, header: list[str], rows: list[tuple[Any, ...]]) -> None:
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([tuple(header), *rows])


def scores(folder: Path, name: str = "scores.csv", **changed: Any) -> None:
    """A score of every answer on every dimension; `changed` replaces those of a case (None: leaves it out)."""
    rows = []
    for number in range(6):
        for place, dimension in enumerate(DIMENSIONS):
            score = 1 + (number + place) % 5
            said = changed.get(f"case_{number}", score) if dimension == "accuracy" else score
            rows += [] if said is None else [(f"case-{number}", "a", dimension, said)]
    write_csv(folder / name, ["item", "system", "dimension", "score"], rows)


def scored(name: str = "gpt-4o", path: str = "scores.csv", **options: Any) -> dict[str, Any]:
    return {"kind": "scores", "name": name, "path": path, **options}


def run(file: Path) -> Manifest:
    study = load_study(file)
    run_study(study)
    return RunFolder(study.output).manifest


def rows(folder: Path, **wanted: str) -> list[dict[str, Any]]:
    table = pl.read_parquet(folder / "runs/small/ratings.parquet")
    table = table.filter(pl.col("dimension") != "overall")  # which follows from the others
    return table.filter(**wanted).sort("item", "dimension").to_dicts()


def refusal(file: Path) -> str:
    with pytest.raises(MedjuryError) as refused:
        check_study(load_study(file))
    return str(refused.value)


def test_scores_become_ratings_and_nobody_is_asked(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    scores(tmp_path)
    file = write_study(judges=[scored(vendor="openai")])
    plan = check_study(load_study(file))
    assert (
        plan.calls == 0
        and plan.money == 0
        and "scores from a file: gpt-4o (scores.csv): 18 scores" in plan.notes
    )
    result = run_study(load_study(file))
    assert result.status == "complete" and result.calls == 0 and server.calls == []
    assert "No model was asked: every score came from a file (nothing was paid)" in result.text()
    assert "Scores of unknown making: gpt-4o (scores.csv, SHA-256 " in result.text()
    found = rows(tmp_path, rater="gpt-4o", dimension="accuracy")
    assert [row["score"] for row in found] == [1, 2, 3, 4, 5, 1]
    assert {row["rater_kind"] for row in found} == {"judge"} and {row["repeat"] for row in found} == {0}
    nobody_knows = {(row["cost"], row["seconds"], row["tokens_in"], row["calls"]) for row in found}
    assert nobody_knows == {(None, None, None, None)}, "what they took is not known, which is not 0"
    manifest = RunFolder(tmp_path / "runs/small").manifest
    (judge,) = manifest.judges
    digest = hashlib.sha256((tmp_path / "scores.csv").read_bytes()).hexdigest()
    assert judge.strategy == "scores" and judge.models[0].scores == digest and judge.vendor == "openai"
    assert manifest.prompt_version == "none" and manifest.cost == 0 and manifest.calls == 0
    assert main(["runs", "verify", str(tmp_path / "runs/small")]) == 0


def test_what_has_no_score_is_unscored_with_its_reason(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path, case_0="", case_1=9, case_2="good", case_3=None, case_4=2.5, case_5=5)
    with (tmp_path / "scores.csv").open("a") as file:
        file.write("case-77,a,accuracy,4\ncase-5,other,accuracy,2\n")
    manifest = run(write_study(judges=[scored()], max_unscored=1))
    assert [
        (row["score"], row["reason"]) for row in rows(tmp_path, rater="gpt-4o", dimension="accuracy")
    ] == [
        (None, "empty"),
        (None, "out_of_range"),
        (None, "parse"),
        (None, "missing"),
        (None, "out_of_range"),
        (5, None),
    ]
    (told,) = manifest.scores
    assert told.counts == {"empty": 1, "scored": 13, "out_of_range": 2, "parse": 1}
    assert (told.absent, told.unknown, told.unknown_answers) == (1, 2, 2)
    assert manifest.coverage.scored == 13 and manifest.coverage.unscored == 5
    text = run_study(load_study(tmp_path / "study.yaml")).text()
    assert "1 that the file does not have (missing)" in text
    assert "2 scores of 2 answers that the study does not have, left out" in text


def test_a_second_run_makes_nothing_twice_and_a_changed_file_is_a_changed_judge(
    write_study: Write, tmp_path: Path
) -> None:
    def stored() -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(tmp_path / "all.sqlite")) as store:
            return store.execute("SELECT * FROM ratings").fetchall()

    scores(tmp_path, case_0="")
    file = write_study(judges=[scored()], store="all.sqlite", max_unscored=1)
    first = run(file)
    before = stored()
    assert len(before) == 18
    again = run_study(load_study(file))
    assert again.progress.found == 6 and again.progress.judged == 0 and stored() == before
    (tmp_path / "scores.csv").rename(tmp_path / "moved.csv")
    file = write_study(judges=[scored(path="moved.csv")], store="all.sqlite", max_unscored=1)
    assert run_study(load_study(file)).progress.found == 6, "the same scores, wherever they lie"
    scores(tmp_path, "moved.csv", case_0=4)
    changed = run_study(load_study(file))
    assert changed.progress.found == 0 and changed.run != first.run
    assert rows(tmp_path, rater="gpt-4o", dimension="accuracy")[0]["score"] == 4


def test_a_run_that_was_stopped_goes_on_where_it_stopped(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path)
    run(write_study(judges=[scored()], store="all.sqlite", cases=3))
    result = run_study(load_study(write_study(judges=[scored()], store="all.sqlite")))
    assert (result.progress.found, result.progress.judged) == (3, 3) and result.status == "complete"


def planted(folder: Path, cases: int = 150) -> Path:
    """A study whose two files of scores agree with two clinicians as well as these do with one another."""
    generator = np.random.default_rng(3)
    answers = [(f"case-{number:03d}", system) for number in range(cases) for system in "ab"]
    quality = generator.normal(3.2, 1.2, len(answers))

    def said(error: float, *who: str) -> list[tuple[Any, ...]]:
        given = np.clip(np.round(quality + error * generator.normal(size=len(answers))), 1, 5).astype(int)
        return [(*answer, *who, "accuracy", score) for answer, score in zip(answers, given, strict=True)]

    people = ["item", "system", "rater", "dimension", "score"]
    write_csv(folder / "humans.csv", people, [*said(0.5, "ada"), *said(0.5, "sam")])
    for name in ("one", "two"):
        write_csv(folder / f"{name}.csv", ["item", "system", "dimension", "score"], said(0.4))
    lines = (
        {"id": item, "system": system, "candidate": f"Letter {item} of {system}.", "texts": {"context": item}}
        for item, system in answers
    )
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    file = folder / "study.yaml"
    file.write_text(
        "study: small\ncases: cases.jsonl\ninstrument: note_quality\ndimensions: [accuracy]\njudges:\n"
        "  - {kind: scores, name: one, path: one.csv}\n  - {kind: scores, name: two, path: two.csv}\n"
        "humans: humans.csv\nreport: {resamples: 200}\n"
    )
    return file


def stated_before(folder: Path) -> dict[str, str]:
    (verdict,) = validate(folder / "runs/small", resamples=200).verdicts
    found = verdict.rule("registered")
    return {"state": found.state, "said": found.found}


def test_registered_scores_reach_a_verdict_that_says_what_nobody_knows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = planted(tmp_path), tmp_path / "runs/small"
    assert main(["register", str(file)]) == 0 and main(["run", str(file), "--quiet"]) == 0
    capsys.readouterr()
    status = main(["gate", str(folder), "--json"])
    (said,) = json.loads(capsys.readouterr().out)
    assert said["rater"] == "jury" and said["verdict"] in ("VALIDATED", "AUXILIARY")
    assert status == {"VALIDATED": 0, "AUXILIARY": 3}[said["verdict"]]
    found = stated_before(tmp_path)
    assert found["state"] == "holds" and "before this run read the first score" in found["said"]
    digest = hashlib.sha256((tmp_path / "one.csv").read_bytes()).hexdigest()
    assert f"the scores of one (one.csv, SHA-256 {digest[:12]}), two (" in found["said"]
    assert "existed when the rules were registered, and how they were made is not recorded" in found["said"]
    (protocol,) = tmp_path.glob("protocol-*.json")
    assert json.loads(protocol.read_text())["judges"][0]["models"][0]["scores"] == digest
    page = (folder / "report.html").read_text()
    assert "Scores of unknown making: one (one.csv" in page and digest in page
    assert "a file of scores, of unknown making" in (folder / "tables/judges.csv").read_text()


def test_scores_that_were_changed_after_the_registration_are_found(tmp_path: Path) -> None:
    file = planted(tmp_path, 30)
    register_study(load_study(file))
    table = (tmp_path / "one.csv").read_text()
    (tmp_path / "one.csv").write_text(table.replace("case-000,a,accuracy,", "case-000,a,accuracy,1", 1))
    run_study(load_study(file))
    found = stated_before(tmp_path)
    assert found["state"] == "open" and "changed since: judges: one (one.csv, SHA-256 " in found["said"]


def test_rules_registered_after_the_scores_were_read_prove_nothing(tmp_path: Path) -> None:
    file = planted(tmp_path, 30)
    run_study(load_study(file))
    register_study(load_study(file))
    run_study(load_study(file))
    assert stated_before(tmp_path)["state"] == "open"


def test_a_passport_is_marked_and_judges_no_other_case(tmp_path: Path) -> None:
    file = planted(tmp_path, 60)
    register_study(load_study(file))
    run_study(load_study(file))
    made = make_passport(tmp_path / "runs/small", allow_unvalidated=True)
    assert "Scores of unknown making: one (one.csv, SHA-256 " in made.words()
    place = tmp_path / "passport.json"
    place.write_text(made.text())
    assert check_passport(place, run=tmp_path / "runs/small").state == "in force"
    with pytest.raises(RefusedError, match=r"can judge no other case\. Scores of unknown making"):
        judge_with_passport(place, tmp_path / "cases.jsonl", tmp_path / "out", allow_unvalidated=True)
    (tmp_path / "one.csv").write_text((tmp_path / "one.csv").read_text() + "\n")
    assert "scores" in check_passport(place).reasons[0] and check_passport(place).state == "refused"


def test_scores_sit_beside_a_model_in_one_jury(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    scores(tmp_path)
    asked = {"kind": "openai", "name": "juror", "url": server.url, "model": "m"}
    file = write_study(judges=[asked, scored()])
    result = run_study(load_study(file), preflight=False)
    assert result.status == "complete" and len(server.calls) == 6
    both = rows(tmp_path, dimension="accuracy", item="case-2")
    assert {row["rater"]: row["rater_kind"] for row in both} == {
        "gpt-4o": "judge",
        "juror": "judge",
        "jury": "jury",
    }
    by_rater = {row["rater"]: row["score"] for row in both}
    assert by_rater["jury"] == (by_rater["gpt-4o"] + by_rater["juror"]) / 2
    recorded = record_run(tmp_path / "runs/small", tmp_path / "answers.jsonl", replay=tmp_path / "again.yaml")
    assert recorded.answers == 6
    server.endpoint.behaviours = "status:500"
    replayed = run_study(load_study(tmp_path / "again.yaml"))
    assert replayed.status == "complete" and replayed.coverage.scored == result.coverage.scored


def test_what_was_read_from_a_file_is_read_from_it_again(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path)
    run(write_study(judges=[scored()]))
    again = reread_run(tmp_path / "runs/small", out=tmp_path / "runs/again")
    assert again.result.status == "complete" and "18 ratings read again: 18 the same" in again.text()
    with pytest.raises(MedjuryError, match="every score came from a file, and no model answered"):
        record_run(tmp_path / "runs/small", tmp_path / "answers.jsonl")


def test_several_raters_in_a_file_are_named_or_refused(write_study: Write, tmp_path: Path) -> None:
    header = ["item", "system", "rater", "repeat", "dimension", "score"]
    given = {"gpt": 4, "llama": 2}
    write_csv(
        tmp_path / "scores.csv",
        header,
        [
            (f"case-{number}", "a", rater, repeat, dimension, score - (repeat == 1))
            for number in range(6)
            for rater, score in given.items()
            for repeat in ((0, 1) if rater == "llama" else (0,))
            for dimension in DIMENSIONS
        ]
        + [("case-99", "a", "gpt", 0, "accuracy", 3)],
    )
    assert (
        "judges[0]: scores.csv: holds the scores of 2 raters; say which are this judge's, `rater: NAME`: gpt, "
        in (refusal(write_study(judges=[scored()])))
    )
    assert "has no rater 'gtp'; did you mean 'gpt'?" in refusal(write_study(judges=[scored(rater="gtp")]))
    assert "holds 2 repeats; say which is taken, `repeat: NUMBER`: 0, 1" in (
        refusal(write_study(judges=[scored(rater="llama")]))
    )
    assert "has no repeat 7; it has 0, 1" in refusal(write_study(judges=[scored(rater="llama", repeat=7)]))
    judges = [
        scored("a", rater="gpt"),
        scored("b", rater="llama", repeat=0),
        scored("c", rater="llama", repeat=1),
    ]
    manifest = run(write_study(judges=judges))
    found = {row["rater"]: row["score"] for row in rows(tmp_path, item="case-3", dimension="clarity")}
    assert found == {"a": 4, "b": 2, "c": 1, "jury": pytest.approx(7 / 3)}
    assert [each.unknown for each in manifest.scores] == [1, 0, 0], "whose row it was that nobody knows"
    assert [each.left_out for each in manifest.scores] == [
        {"scores of other raters or repeats": 36},
        {"scores of other raters or repeats": 36},
        {"scores of other raters or repeats": 36},
    ]
    twins = [scored("a", rater="gpt"), scored("b", rater="gpt")]
    assert "'a' and 'b' have the very same scores: one judge counted twice" in refusal(
        write_study(judges=twins)
    )


@pytest.mark.parametrize("inline", [True, False])
def test_a_wide_table_is_read_by_a_mapping(write_study: Write, tmp_path: Path, inline: bool) -> None:
    header = ["note", "by", "acc", "compl", "clar", "remark"]
    write_csv(tmp_path / "wide.csv", header, [(f"case-{n}", "a", 3, 4, 99, "fine") for n in range(6)])
    mapping: Any = {
        "item": "note",
        "system": "by",
        "dimensions": {"accuracy": "acc", "completeness": "compl", "clarity": "clar"},
        "blank": [99],
    }
    if not inline:
        (tmp_path / "mapping.yaml").write_text(json.dumps(mapping))
        mapping = "mapping.yaml"
    manifest = run(write_study(judges=[scored(path="wide.csv", mapping=mapping)], max_unscored=1))
    assert [row["score"] for row in rows(tmp_path, rater="gpt-4o", item="case-1")] == [3, None, 4]
    assert manifest.scores[0].counts == {"scored": 12, "empty": 6}
    assert manifest.scores[0].left_out == {"columns not used": 1}
    then = manifest.judges[0].settings_hash
    if not inline:
        (tmp_path / "mapping.yaml").write_text((tmp_path / "mapping.yaml").read_text().replace("99", "98"))
        assert load_study(tmp_path / "study.yaml").jury.judges[0].settings_hash() != then


def test_the_ratings_of_another_run_serve_as_scores(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path)
    run(write_study(judges=[scored()]))
    table = pl.read_csv(tmp_path / "runs/small/ratings.csv", infer_schema=False)
    first = (pl.col("item") == "case-0") & (pl.col("dimension") == "accuracy")
    lost = pl.when(first).then
    table.with_columns(
        score=lost(None).otherwise("score"),
        status=lost(pl.lit("unscored")).otherwise("status"),
        reason=lost(pl.lit("timeout")).otherwise("reason"),
    ).write_csv(tmp_path / "earlier.csv")
    judges = [scored("again", "earlier.csv", rater="gpt-4o")]
    file = write_study(judges=judges, output="runs/second", max_unscored=1)
    assert run_study(load_study(file)).status == "complete"
    found = pl.read_parquet(tmp_path / "runs/second/ratings.parquet").filter(rater="again", item="case-0")
    assert dict(found.select("dimension", "reason").iter_rows())["accuracy"] == "missing"
    assert run_study(load_study(file)).progress.judged == 0, "a timeout of then does not pass by waiting"


def test_a_dimension_that_the_instrument_skips_is_not_missing(tmp_path: Path) -> None:
    names = ["citation", "abstraction", "synthesized"]
    given = [("n1", 4, 0, ""), ("n2", 3, 1, 5), ("n3", 3, 1, "")]
    write_csv(tmp_path / "scores.csv", ["item", *names], given)
    (tmp_path / "cases.jsonl").write_text(
        "".join(f'{{"id": "n{n}", "candidate": "A."}}\n' for n in (1, 2, 3))
    )
    (tmp_path / "study.yaml").write_text(
        "study: small\ncases: cases.jsonl\ninstrument: pdsqi9\n"
        f"dimensions: [{', '.join(names)}]\nmax_unscored: 1\njudges:\n  - kind: scores\n    name: gpt-4o\n"
        f"    path: scores.csv\n    mapping: {{dimensions: [{', '.join(names)}]}}\n"
    )
    run(tmp_path / "study.yaml")
    found = rows(tmp_path, rater="gpt-4o", dimension="synthesized")
    assert [(row["status"], row["reason"], row["score"]) for row in found] == [
        ("not_applicable", None, None),
        ("scored", None, 5),
        ("unscored", "empty", None),
    ]


def test_an_answer_of_several_systems_must_be_named(write_study: Write, tmp_path: Path) -> None:
    cases = [
        {"id": "case-0", "system": system, "candidate": f"By {system}.", "texts": {"context": "Note."}}
        for system in ("a", "b")
    ]
    header = ["item", "dimension", "score"]
    write_csv(tmp_path / "scores.csv", header, [("case-0", dimension, 3) for dimension in DIMENSIONS])
    said = refusal(write_study(judges=[scored()], cases=cases))
    assert "was answered by 2 systems (a, b); a column must say which" in said and "study.yaml, line " in said
    run(write_study(judges=[scored()], cases=cases[:1]))
    assert [row["system"] for row in rows(tmp_path, rater="gpt-4o")] == ["a", "a", "a"]


def test_a_file_that_cannot_be_meant_is_refused_with_the_line(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path)
    judges = [scored(path="score.csv")]
    assert "study.yaml, line 5: judges[0]: " in refusal(write_study(judges=judges))
    assert "no column names a rater; take `rater: gpt` out" in refusal(
        write_study(judges=[scored(rater="gpt")])
    )
    twice = (tmp_path / "scores.csv").read_text() + "case-0,a,accuracy,5\n"
    (tmp_path / "twice.csv").write_text(twice)
    assert "is rated a second time, with a different score than in" in refusal(
        write_study(judges=[scored(path="twice.csv")])
    )
    write_csv(tmp_path / "some.csv", ["item", "dimension", "score"], [("case-0", "accuracy", 3)])
    said = refusal(write_study(judges=[scored(path="some.csv")]))
    assert "no score of gpt-4o on completeness, clarity; add them, or name those that are graded: " in said
    assert "`dimensions: [accuracy]`" in said
    said = refusal(write_study(judges=[scored()], dimensions=["accuracy"]))
    assert (
        "note_quality has no dimension 'completeness'" in said and "`only: {dimension: [accuracy]}`" in said
    )
    mapping = {"only": {"dimension": ["accuracy"]}}
    check_study(load_study(write_study(judges=[scored(mapping=mapping)], dimensions=["accuracy"])))
    write_csv(tmp_path / "none.csv", ["item", "dimension", "score"], [("x", "accuracy", 3)])
    assert "there are no ratings in it" in refusal(write_study(judges=[scored(path="none.csv")]))


@pytest.mark.parametrize(
    ("judge", "settings", "said"),
    [
        ({"strategy": "claims"}, {}, "judges[0].strategy: has no meaning for scores from a file"),
        ({"examples": 3}, {}, "judges[0].examples: has no meaning for scores from a file"),
        ({"temperature": 0.5}, {}, "judges[0].temperature: has no meaning"),
        ({"price": {"input": 1, "output": 1}}, {}, "judges[0].price: has no meaning"),
        ({"mode": "batch"}, {}, "judges[0].mode: no such setting here; remove it or correct its name"),
        (
            {"pth": "x"},
            {},
            "judges[0].pth: no such setting here; remove it or correct its name (did you mean 'path'?)",
        ),
        ({"name": None}, {}, "judges[0]: needs a `name`: whose scores they are"),
        ({"path": ""}, {}, "judges[0].path: is empty"),
        ({}, {"repeats": 2}, "repeats: a file has one score for each answer"),
        ({}, {"examples": 2}, "examples: scores from a file were shown no examples"),
        (
            {},
            {"drafting": {"kind": "scripted", "answers": "x"}},
            "drafting: no file can hold scores of answers",
        ),
    ],
)
def test_what_scores_cannot_do_is_refused_with_its_line(
    write_study: Write, tmp_path: Path, judge: dict[str, Any], settings: dict[str, Any], said: str
) -> None:
    scores(tmp_path)
    given = {name: value for name, value in (scored() | judge).items() if value is not None}
    shown = refusal(write_study(judges=[given], **settings))
    assert said in shown and "study.yaml, line " in shown


def test_nobody_can_be_asked_for_other_cases_or_on_a_cluster(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path)
    study = load_study(write_study(judges=[scored()]))
    with pytest.raises(MedjuryError, match="nobody can be asked to judge other cases"):
        judge_cases(study, list(study.cases))
    at_work = load_study(write_study(judges=[scored()], store="postgresql://u@127.0.0.1/db"))
    with pytest.raises(MedjuryError, match="nothing to ask on a cluster"):
        refuse_for_cluster(at_work)


def test_a_prompt_that_nobody_knows_is_not_tuned(write_study: Write, tmp_path: Path) -> None:
    scores(tmp_path)
    study = load_study(write_study(judges=[scored()]))
    with pytest.raises(MedjuryError, match="there is no prompt to tune"):
        study.rater_with(0, study.instrument)

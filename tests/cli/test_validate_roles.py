"""`medjury validate` under a study file: the roles of its clinicians hold, or are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from medjury.cli import main
from medjury.studies import with_stated_roles
from medjury.tables import two_panels
from medjury.validation import validate

AGREES = "offset"
FEW = ("--resamples", "200")
HUMANS = "{path: humans.csv, keep_names: true, reference: primary, second_panel: rescore}"


def planted(folder: Path, humans: str = HUMANS, more: str = "") -> Path:
    """120 answers, a careful panel, a careless second one and two judges; the study of the same tables."""
    generator = np.random.default_rng(7)
    quality = generator.normal(3.2, 1.2, 120)
    items = [f"visit-{number}" for number in range(120)]

    def rows(rater: str, error: float, **others: str) -> pl.DataFrame:
        scores = np.clip(np.round(quality + error * generator.normal(size=120)), 1, 5).astype(int)
        known = {"item": items, "system": "scribe", "rater": rater, "dimension": "accuracy", "score": scores}
        return pl.DataFrame(known).with_columns(**{name: pl.lit(value) for name, value in others.items()})

    people = [rows(name, 0.4, panel="primary") for name in ("ada", "sam")]
    people += [rows(name, 1.6, panel="rescore") for name in ("kim", "uma")]
    wrong = pl.Series("ward_wrong", [number % 5 == 0 for number in range(120)] * 4).cast(pl.Int64)
    pl.concat(people).with_columns(wrong).write_csv(folder / "humans.csv")
    pl.concat([rows("one", 0.5), rows("two", 0.6)]).write_csv(folder / "judges.csv")
    cases = [
        {"id": item, "system": "scribe", "candidate": f"Note {item}.", "texts": {"context": "Cough."}}
        for item in items
    ]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    study = folder / "study.yaml"
    study.write_text(
        "study: two-panels\ncases: cases.jsonl\ninstrument: note_quality\ndimensions: [accuracy]\njudges:\n"
        "  - {kind: scores, name: one, path: judges.csv, rater: one}\n"
        "  - {kind: scores, name: two, path: judges.csv, rater: two}\n"
        f"humans: {humans}\nreport: {{resamples: 200}}\n{more}"
    )
    return study


def validated(folder: Path, *options: str) -> int:
    files = [str(folder / "humans.csv"), str(folder / "judges.csv")]
    return main(["validate", *files, "--instrument", "note_quality", *FEW, "--json", *options])


def agreement(shown: str) -> str:
    (said,) = json.loads(shown)
    return next(str(rule["found"]) for rule in said["rules"] if rule["id"] == AGREES)


def test_two_tables_under_a_study_agree_as_its_run_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = planted(tmp_path)
    assert main(["run", str(study), "--quiet"]) in (0, 3, 4)
    capsys.readouterr()
    main(["gate", str(tmp_path / "runs/two-panels"), *FEW, "--json"])
    of_the_run = agreement(capsys.readouterr().out)
    validated(tmp_path)
    merged = agreement(capsys.readouterr().out)
    validated(tmp_path, "--rules", str(study))
    shown = capsys.readouterr()
    assert agreement(shown.out) == of_the_run != merged, "the second panel is no part of the yardstick"
    assert "study.yaml: reference: primary" in shown.err and "second panel: rescore" in shown.err


def test_the_library_takes_the_same_roles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = planted(tmp_path, HUMANS[:-1] + ", consensus: median, labels: {wrong: ward_wrong}}")
    tables = two_panels(tmp_path / "humans.csv", tmp_path / "judges.csv", instrument="note_quality")
    table = with_stated_roles(tables, study)
    assert table.default_reference == ("ada", "sam") and table.people.second_panel == ("kim", "uma")
    assert table.people.consensus == "median" and table.run.labels["visit-5"] == {"wrong": 1}
    validated(tmp_path, "--rules", str(study))
    (mine,) = validate(table, raters="jury", resamples=200).verdicts
    found = next(rule.found for rule in mine.rules if rule.id == AGREES)
    assert found == agreement(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("humans", "more", "said"),
    [
        ("{path: humans.csv, reference: first}", "", "humans.reference: there is no panel or rater 'first'"),
        ("{path: humans.csv, second_panel: [bob]}", "", "humans.second_panel: no clinician is called 'bob'"),
        (
            "{path: humans.csv, labels: {wrong: ward}}",
            "",
            "humans.labels.wrong: the clinicians' table has no col",
        ),
        ("{path: humans.csv, labels: {wrong: score}}", "", "the label wrong is 0 or 1, not"),
        (HUMANS, "juries: [{name: a, members: [one]}]\n", "juries: two tables are compared by one jury"),
        (HUMANS, "jury: none\n", "jury: two tables are compared by one jury"),
    ],
)
def test_what_the_tables_do_not_have_is_refused_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], humans: str, more: str, said: str
) -> None:
    study = planted(tmp_path, humans, more)
    assert validated(tmp_path, "--rules", str(study)) == 2
    shown = capsys.readouterr().err
    assert said in shown and "study.yaml, line " in shown


def test_the_studys_rule_for_the_jury_holds_unless_another_is_asked_for(tmp_path: Path) -> None:
    study = planted(tmp_path, more="jury: {aggregate: median, quorum: 2}\n")
    files = (tmp_path / "humans.csv", tmp_path / "judges.csv")
    found = with_stated_roles(two_panels(*files, instrument="note_quality"), study).jury_rule
    assert (found.rule, found.quorum) == ("median", 2)
    asked = two_panels(*files, instrument="note_quality", jury="majority")
    assert with_stated_roles(asked, study).jury_rule.rule == "majority"


def test_a_protocol_with_roles_names_nobody_and_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["register", str(planted(tmp_path))]) == 0
    (protocol,) = tmp_path.glob("protocol-*.json")
    capsys.readouterr()
    assert validated(tmp_path, "--rules", str(protocol)) == 2
    shown = capsys.readouterr().err
    assert "reference: primary; second panel: rescore" in shown and "`kind: scores`" in shown


def test_a_rater_in_two_panels_has_no_role(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = planted(tmp_path)
    table = pl.read_csv(tmp_path / "humans.csv")
    first = pl.int_range(pl.len()) == 0
    table.with_columns(panel=pl.when(first).then(pl.lit("rescore")).otherwise("panel")).write_csv(
        tmp_path / "humans.csv"
    )
    assert validated(tmp_path, "--rules", str(study)) == 2
    assert "'ada' is in two panels" in capsys.readouterr().err

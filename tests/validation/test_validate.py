"""The gate on run folders: what it takes to be called validated, what forbids it, and that the page says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from tests.report.planted import page_of, planted_frame, rules, verdict_words, write_run

from medjury.report import write_page
from medjury.validation import Verdict, validate

ONE = ("accuracy",)
CAREFUL = {"clinician-1": 0.4, "clinician-2": 0.4}


def good(**changes: Any) -> pl.DataFrame:
    return planted_frame(**{"cases": 240, "dimensions": ONE, "clinicians": CAREFUL, **changes})


def stated(**changes: Any) -> dict[str, Any]:
    """The rules of a study that names its dimension as the one that carries danger."""
    return rules(severe_dimensions=ONE, **changes)


def word(folder: Path, ratings: pl.DataFrame, **changes: Any) -> str:
    return verdict_words(write_run(folder, ratings, **{"gate": stated(), **changes}))["accuracy"]


def found(folder: Path) -> Verdict:
    return validate(folder).verdicts[0]


def test_a_jury_as_good_as_the_clinicians_is_validated_and_the_page_says_by_which_numbers(
    tmp_path: Path,
) -> None:
    assert word(tmp_path, good()) == "VALIDATED"
    page = page_of(tmp_path)
    assert "VALIDATED" in page and "NOT VALIDATED" not in page and found(tmp_path).beside_colleague in page


def test_without_clinicians_nothing_is_validated_and_the_page_says_what_cannot_be_known(
    tmp_path: Path,
) -> None:
    assert word(tmp_path, good(cases=40, clinicians={}), humans=None) == "NOT VALIDATED"
    assert "No clinician has rated these cases" in page_of(tmp_path)


def test_cases_that_served_development_are_never_counted(tmp_path: Path) -> None:
    used = tuple(f"case-{number:04d}" for number in range(200))
    assert word(tmp_path, good(), gate=stated(development_cases=used)) == "NOT VALIDATED"
    assert found(tmp_path).rule("doubly_rated").found == "40 (200 cases used for development left out)"


def test_where_nothing_was_dangerous_nobody_knows_whether_the_jury_would_notice(tmp_path: Path) -> None:
    ratings = good(grades=(3, 5), clinicians={"a": 0.3, "b": 0.3}, judges={"j": 0.3})
    assert word(tmp_path, ratings) == "AUXILIARY"
    assert "nobody knows whether the jury would notice" in " ".join(found(tmp_path).reasons)


def test_an_unfinished_run_says_incomplete_first(tmp_path: Path) -> None:
    assert word(tmp_path, good(cases=120), status="failed", why="the budget was reached") == "INCOMPLETE"
    page = page_of(tmp_path)
    assert page.index("INCOMPLETE") < page.index("Accuracy") and "the budget was reached" in page


def test_a_changed_file_is_shown_and_forbids_validation(tmp_path: Path) -> None:
    folder = write_run(tmp_path, good(cases=120))
    with (folder / "ratings.csv").open("a") as file:
        file.write("one more line\n")
    assert verdict_words(folder)["accuracy"] == "NOT VALIDATED"
    assert "ratings.csv was changed after the run" in page_of(folder)


def test_rules_changed_after_scores_were_seen_cannot_validate(tmp_path: Path) -> None:
    ratings = good()
    moved = {**stated(), "earlier": [rules(floor=0.9)]}
    assert word(tmp_path, ratings, gate=moved, protocol=None) == "NOT VALIDATED"
    assert word(tmp_path, ratings, protocol=None) == "AUXILIARY", "rules that nobody registered"
    assert word(tmp_path, ratings, gate=None) == "AUXILIARY"


def test_rules_registered_in_time_hold_whatever_the_folder_said_earlier(tmp_path: Path) -> None:
    """A run that asked nothing had other rules in the same folder; then the study was registered."""
    moved = {**stated(), "earlier": [rules(floor=0.9)]}
    assert word(tmp_path, good(), gate=moved) == "VALIDATED"


def test_the_verdict_does_not_depend_on_the_order_of_the_rows(tmp_path: Path) -> None:
    ratings = good(cases=150)
    shuffled = ratings.sample(fraction=1.0, shuffle=True, seed=3)
    one, two = (
        validate(write_run(tmp_path / str(n), each)).verdicts for n, each in enumerate((ratings, shuffled))
    )
    assert one == two


def test_the_order_beside_the_clinicians_leaves_development_cases_out(tmp_path: Path) -> None:
    ratings = planted_frame(cases=40, systems=("alpha", "beta"), dimensions=("accuracy",))
    aside = tuple(f"case-{number:04d}" for number in range(15))
    write_page(write_run(tmp_path, ratings, gate=rules(development_cases=aside)), cases_shown=0)
    beside = pl.read_csv(tmp_path / "tables" / "ranking-beside-clinicians.csv")
    assert beside["scores"].to_list() == [25, 25]


def test_the_same_run_gives_the_same_page_and_files_byte_for_byte(tmp_path: Path) -> None:
    folder = write_run(tmp_path, planted_frame(cases=60, dimensions=("accuracy",)))
    made = []
    for _ in range(2):
        write_page(folder)
        made.append({file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()})
    assert made[0] == made[1]

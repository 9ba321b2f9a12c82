"""PDSQI-9 as clinicians return it: what its own rules skip is not applicable, whatever the form of the table."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.readable import reads

from medjury.instruments import load_instrument
from medjury.intake import FileError
from medjury.store.ratings import read_ratings

PDSQI = load_instrument("pdsqi9")
SCORES = {each.name: max(each.values) for each in PDSQI.dimensions} | {"abstraction": 0, "synthesized": 3}


def redcap(folder: Path) -> tuple[Path, Path | None]:
    lines = [f"record_id,reviewer,{','.join(SCORES)},review_complete",
             f"17,ALEE,{','.join(map(str, SCORES.values()))},2"]  # fmt: skip
    (folder / "redcap.csv").write_text("\n".join(lines) + "\n")
    (folder / "redcap.yaml").write_text(
        f"item: record_id\nrater: reviewer\ndimensions: [{', '.join(SCORES)}]\n"
    )
    return folder / "redcap.csv", folder / "redcap.yaml"


def long(folder: Path) -> tuple[Path, Path | None]:
    lines = ["item,rater,dimension,score", *(f"17,ALEE,{name},{score}" for name, score in SCORES.items())]
    (folder / "long.csv").write_text("\n".join(lines) + "\n")
    return folder / "long.csv", None


@reads(
    "Ratings",
    "PDSQI-9, long or wide",
    ".csv",
    "what the instrument skips is not applicable",
    "a score for `synthesized` where `abstraction` is 0",
    described="importing-ratings.md#what-is-refused",
)
@pytest.mark.parametrize("form", [redcap, long])
def test_synthesis_is_refused_where_nothing_was_to_be_abstracted(form: object, tmp_path: Path) -> None:
    file, mapping = form(tmp_path)  # type: ignore[operator]
    with pytest.raises(FileError, match=r"3.* is a score where abstraction is 0, which the instrument skips"):
        read_ratings(file, mapping=mapping, instrument=PDSQI)


@pytest.mark.parametrize("form", [redcap, long])
def test_kept_as_unscored_it_is_no_score_of_any_composite(form: object, tmp_path: Path) -> None:
    file, mapping = form(tmp_path)  # type: ignore[operator]
    found = read_ratings(file, mapping=mapping, instrument=PDSQI, on_bad="unscored")
    synthesized = next(each for each in found.ratings if each.dimension == "synthesized")
    assert (synthesized.status, synthesized.score) == ("unscored", None)


def test_a_column_that_is_skipped_in_every_row_may_be_empty(tmp_path: Path) -> None:
    file, mapping = redcap(tmp_path)
    file.write_text(file.read_text().replace(",0,3,", ",0,,"))
    found = read_ratings(file, mapping=mapping, instrument=PDSQI)
    synthesized = next(each for each in found.ratings if each.dimension == "synthesized")
    assert synthesized.status == "not_applicable"


# What the published grades turn on, in the words that must be in ours (the sentences are our own).
CITATION = {
    1: ("no citations at all", "several"),
    2: ("One citation", "lumped together"),
    3: ("Every citation is right", "some assertions have none"),
    4: ("Every assertion has its own right citation",),
    5: ("Every assertion has its own right citation", "most relevant one comes first"),
}


def test_the_grades_of_citation_turn_on_what_the_published_ones_turn_on() -> None:
    """Several wrong citations or none are 1; a single wrong one, or citations in a heap, are 2."""
    grades = next(each for each in PDSQI.dimensions if each.name == "citation").grades
    assert {
        grade for grade, words in CITATION.items() if all(each in grades[grade] for each in words)
    } == set(grades)

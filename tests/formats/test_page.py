"""The page "Is my file readable?" says what the tests of this folder show, and nothing else."""

from __future__ import annotations

import pytest
from tests.formats.page import FOLDER, PAGE, formats, page


def test_the_page_is_the_one_that_the_tests_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.formats.page"


def test_no_form_is_told_twice() -> None:
    names = [(each.family, each.name) for each in formats()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("file", [each.stem for each in sorted(FOLDER.glob("test_*.py"))])
def test_every_file_of_tests_here_is_on_the_page(file: str) -> None:
    """A form that is tested and not told of helps nobody. These test what holds for all forms."""
    if file in (
        "test_page",
        "test_transcript_round_trip",
        "test_left_out",
        "test_every_reader_counts",
        "test_hostile_files",
    ):
        return
    source = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
    assert "@reads(" in source or "\nFORMATS" in source

"""An instrument that extends another: what it does not state is taken over, and faults are told with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from medjury.instruments import Instrument, load_instrument
from medjury.instruments._load import InstrumentError

HEAD = 'name: mine\nversion: "1"\ntitle: Mine\nextends: diagnosis\n'
GOOD = "  - {name: good, label: Good, definition: Whether it is good, grades: {0: 'no', 1: 'yes'}}\n"


def load(tmp_path: Path, text: str) -> Instrument:
    (tmp_path / "mine.yaml").write_text(text)
    return load_instrument(tmp_path / "mine.yaml")


def test_a_dimension_is_changed_part_by_part_and_a_new_one_comes_last(tmp_path: Path) -> None:
    mine = load(tmp_path, f"{HEAD}dimensions:\n  - {{name: risk, definition: The danger}}\n{GOOD}")
    base = load_instrument("diagnosis")
    assert [each.name for each in mine.dimensions] == [*(each.name for each in base.dimensions), "good"]
    assert mine.dimension("risk").definition == "The danger"
    assert mine.dimension("risk").grades == base.dimension("risk").grades
    assert mine.dimension("diagnosis") == base.dimension("diagnosis")
    assert (mine.name, mine.title, mine.composites) == ("mine", "Mine", base.composites)
    assert mine.fingerprint() != base.fingerprint()


def test_a_file_beside_it_can_be_extended(tmp_path: Path) -> None:
    inputs = "instructions: Grade.\ninputs: [{name: candidate, label: Text}]\ndimensions:\n"
    (tmp_path / "base.yaml").write_text(HEAD.replace("extends: diagnosis\n", inputs) + GOOD)
    mine = load(tmp_path, HEAD.replace("diagnosis", "base.yaml"))
    assert [each.name for each in mine.dimensions] == ["good"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            HEAD.replace("diagnosis", "diagnoses"),
            "line 4: extends: there is no instrument 'diagnoses'; there are",
        ),
        (HEAD.replace("title: Mine\n", ""), "line 3: extends: an instrument of its own needs a `title`"),
        (HEAD.replace("diagnosis", "concordance_asymmetric"), "extends another one itself; extend that one"),
        (HEAD.replace("diagnosis", "[a]"), "must be an instrument's name, or a file beside it"),
        (HEAD + "dimensions:\n  - {name: risk, grades: {1: only}}\n", r"line 6: dimensions\[3\]\.grades"),
        (HEAD + "dimensions: risk\n", "line 5: dimensions"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InstrumentError, match=words):
        load(tmp_path, text)

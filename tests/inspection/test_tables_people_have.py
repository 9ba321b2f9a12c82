"""`medjury look FILE --write MAPPING`: a table as people have it is read as it is, with no hand on its mapping, or
refused with the one fact that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.inspection.people import READ, REFUSED, Made

from medjury.cli import main
from medjury.store.ratings import read_ratings

NAMES = [*READ, *(name for name, made in REFUSED.items() if made.options)]


def test_there_are_enough() -> None:
    assert len(READ) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_read_as_it_is(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made: Made = (READ | REFUSED)[name]
    file, mapping = made.write(tmp_path), tmp_path / "mapping.yaml"
    options = [word for key, value in made.options.items() for word in ("--map", f"{key}={value}")]
    assert main(["look", str(file), "--write", str(mapping), *options]) == 0, capsys.readouterr()
    shown = capsys.readouterr().out
    found = [
        each
        for each in read_ratings(file, mapping=mapping, on_bad="unscored").ratings
        if each.score is not None
    ]
    scores = {(each.item, each.system, each.rater, each.dimension, each.score) for each in found}
    assert len(scores) == len(found) == made.scores
    assert set(made.some) <= scores
    counts = [len({each[at] for each in scores}) for at in (0, 2, 3)]
    assert counts == [made.cases, made.raters, made.dimensions]
    assert f"  cases: {made.cases}\n" in shown
    status = main(["agreement", str(file), "--mapping", str(mapping), "--resamples", "50"])
    told = capsys.readouterr()
    if made.raters > 1 and "judge" not in str(yaml.safe_load(mapping.read_text()).get("rater_kind")):
        assert status == 0 and any(each in told.out for each in {each[3] for each in made.some}), told.err
    if made.scale is not None:
        assert yaml.safe_load(mapping.read_text())["scale"] == made.scale


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_lacks_a_fact_is_refused_with_that_fact(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = REFUSED[name].write(tmp_path)
    assert main(["look", str(file), "--write", str(tmp_path / "mapping.yaml")]) == 2
    told = capsys.readouterr()
    assert REFUSED[name].missing in told.err and "no mapping was written" in told.err
    assert not (tmp_path / "mapping.yaml").exists()

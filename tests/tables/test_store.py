"""Ratings of a store, in SQLite and in PostgreSQL: all of them, or those of the runs that are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.postgres import postgres_server, postgres_url  # noqa: F401 - fixtures
from tests.ratings.samples import rating

from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import open_store
from medjury.tables import rating_table

JUDGED = [
    rating(item=f"case-{place}", rater=judge, score=float(place), key=f"{judge} {place}")
    for judge in ("judge-a", "judge-b")
    for place in (1, 2, 3)
]
HUMANS = [
    rating(
        item=f"case-{place}", rater="anna", rater_kind="clinician", score=float(place), key=f"anna {place}"
    )
    for place in (1, 2, 3)
]
INSTRUMENT = {"name": "house", "dimensions": [{"name": "accuracy", "grades": [1, 2, 3]}]}


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    place = str(tmp_path / "ratings.db")
    if request.param == "postgresql":
        place = str(request.getfixturevalue("postgres_url"))
    with open_store(place) as store:
        store.put_run("study@1", {"instrument": INSTRUMENT, "jury": {"rule": "median"}})
        store.write_ratings("study@1", JUDGED)
        store.put_run("import", {"kind": "import"})
        store.write_ratings("import", HUMANS)
    return place


def test_a_store_is_read_as_a_whole(address: str) -> None:
    table = rating_table(address)
    assert table.raters == {"anna": "clinician", "judge-a": "judge", "judge-b": "judge"}
    assert table.grid("accuracy", table.roles()).scores["jury"].tolist() == [1, 2, 3]


def test_one_run_brings_its_instrument_and_its_jury_s_rule(address: str) -> None:
    table = rating_table(address, run="study@1")
    assert set(table.raters) == {"judge-a", "judge-b"}
    assert table.dimension("accuracy").grades is not None
    assert table.dimension("accuracy").grades.values == (1, 2, 3)
    assert table.jury_rule.rule == "median"
    assert table.run.manifest is None


def test_several_runs_are_joined_and_what_they_share_counts_once(address: str) -> None:
    with open_store(address) as store:
        store.put_run("study@2", {})
        store.write_ratings("study@2", JUDGED[:3])
    table = rating_table(address, run=("study@1", "study@2", "import"))
    assert table.rows.height == len(JUDGED) + len(HUMANS)


def test_runs_that_rated_the_same_answers_must_be_chosen(address: str) -> None:
    with open_store(address) as store:
        store.put_run("study@2", {})
        store.write_ratings("study@2", [rating(item="case-1", score=5.0, key="another")])
    # The oldest first; of two that began in the same millisecond, by name.
    order = "(study@1, import|import, study@1), study@2"
    with pytest.raises(MedjuryError, match=rf"name the run.* There are {order}"):
        rating_table(address)
    assert rating_table(address, run=["study@2", "import"]).rows.height == 4


def test_an_unknown_run_is_refused_with_the_nearest(address: str) -> None:
    with pytest.raises(MedjuryError, match=r"has no run 'study1'; did you mean 'study@1'"):
        rating_table(address, run="study1")


def test_a_store_without_ratings_and_a_store_that_is_not_there_say_so(tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.sqlite"):
        pass
    with pytest.raises(MedjuryError, match="has no ratings"):
        rating_table(tmp_path / "empty.sqlite")
    with pytest.raises(MedjuryError, match=r"none\.sqlite"):
        rating_table(tmp_path / "none.sqlite")
    with pytest.raises(MedjuryError, match="mysql"):
        rating_table("mysql://somewhere/ratings")

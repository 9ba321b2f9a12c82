"""A clinician's name leaves no trace in the store, and means the same person in every import."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from medjury.cli import main
from medjury.intake import FileError
from medjury.store.ratings import Pseudonyms, Store, import_ratings, open_store

TABLE = (
    "item,rater,rater_kind,dimension,score\n1,Dr Ada Lee,clinician,a,4\n1,Sam Roy,,a,3\n1,model-x,judge,a,2\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "r.csv"
    path.write_text(TABLE)
    return path


def test_names_are_replaced_before_they_are_stored(tmp_path: Path, table: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        import_ratings(store, table)
        raters = {row.rater for row in store.ratings()}
    assert "model-x" in raters, "judges keep their names"
    assert sum(rater.startswith("clinician-") for rater in raters) == 2
    for file in tmp_path.glob("s.sqlite*"):
        assert b"Ada" not in file.read_bytes()
        assert b"Roy" not in file.read_bytes()
    assert (tmp_path / "s.sqlite.names-key").stat().st_mode & 0o777 == 0o600


def test_the_same_person_has_the_same_pseudonym_in_every_import_of_a_study_and_no_other(
    tmp_path: Path,
) -> None:
    key = tmp_path / "key"
    first = Pseudonyms.open(key)
    first.keep()
    second, other = Pseudonyms.open(key), Pseudonyms.open(tmp_path / "other")
    assert first.pseudonym("Ada Lee") == second.pseudonym("Ada Lee")
    assert first.pseudonym("Ada Lee") != first.pseudonym("Sam Roy")
    assert first.pseudonym("Ada Lee") != other.pseudonym("Ada Lee"), (
        "a hash of the name alone could be tried out"
    )
    assert first.pseudonym(first.pseudonym("Ada Lee")) == first.pseudonym("Ada Lee")


def test_importing_again_adds_nothing_and_a_correction_adds_itself(tmp_path: Path, table: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        import_ratings(store, table)
        before = list(store.ratings())
        import_ratings(store, table)
        assert list(store.ratings()) == before
        table.write_text(TABLE.replace("a,4", "a,5"))
        import_ratings(store, table)
        assert sorted(row.score or 0 for row in store.ratings()) == [2.0, 3.0, 5.0]
        assert [run.name for run in store.runs()] == ["import of r.csv"]


def test_names_are_kept_when_asked(store: Store, table: Path) -> None:
    import_ratings(store, table, keep_names=True, run="names")
    assert {row.rater for row in store.ratings("names")} == {"Dr Ada Lee", "Sam Roy", "model-x"}


def test_a_server_has_no_place_for_the_secret(postgres_url: str, table: Path, tmp_path: Path) -> None:
    with open_store(postgres_url) as store:
        with pytest.raises(FileError, match="name a file that keeps the secret"):
            import_ratings(store, table)
        assert list(store.ratings()) == []
        import_ratings(store, table, names_key=tmp_path / "key")
        assert len(list(store.ratings())) == 3


@pytest.mark.parametrize("content", ["", "not hexadecimal", "abcd"])
def test_a_damaged_secret_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(FileError, match="Restore it from a copy"):
        Pseudonyms.open(tmp_path / "key")


def test_a_refused_import_stores_nothing(tmp_path: Path, table: Path) -> None:
    table.write_text(TABLE + "2,Sam Roy,,a,bad\n")
    with open_store(tmp_path / "s.sqlite") as store:
        with pytest.raises(FileError):
            import_ratings(store, table)
        assert list(store.ratings()) == []
        assert store.runs() == []


def test_an_import_that_fails_leaves_no_secret_behind(tmp_path: Path) -> None:
    table = tmp_path / "bad.csv"
    table.write_text("item,rater,dimension,score\n1,Dr Ada Lee,accuracy,four\n")
    assert main(["runs", "ratings", "import", str(table), "--out", str(tmp_path / "out.csv")]) == 2
    assert main(["runs", "ratings", "import", str(table), "--store", str(tmp_path / "s.sqlite")]) == 2
    assert not list(tmp_path.glob("*names-key"))
    table.write_text("item,rater,dimension,score\n1,Dr Ada Lee,accuracy,4\n")
    for _ in range(2):
        assert main(["runs", "ratings", "import", str(table), "--out", str(tmp_path / "out.csv")]) == 0
        (row,) = pl.read_csv(tmp_path / "out.csv").rows(named=True)
        (key,) = tmp_path.glob("*names-key")
        assert row["rater"] == Pseudonyms.open(key).pseudonym("Dr Ada Lee")


def test_of_two_imports_at_once_one_keeps_the_secret(tmp_path: Path) -> None:
    first, second = (Pseudonyms.open(tmp_path / "key") for _ in range(2))
    first.keep()
    with pytest.raises(FileError, match="import this file again"):
        second.keep()
    assert Pseudonyms.open(tmp_path / "key").pseudonym("Ada") == first.pseudonym("Ada")

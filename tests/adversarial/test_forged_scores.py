"""Scores that were rewritten in the store do not pass for what the models said: their replies are read again."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import validated_run

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import make_passport
from medjury.report import write_page
from medjury.store.ratings import Selection, erase, open_store
from medjury.store.runs import RunFolder, file_hash, files
from medjury.studies import check_scores, load_study, run_study

Write = Callable[..., Path]


def rewritten(store: Path, *changes: str) -> None:
    """Drop what guards the store, and change it."""
    with sqlite3.connect(store) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for change in changes:
            assert connection.execute(change).rowcount > 0
    connection.close()


def found(folder: Path) -> dict[str, str]:
    return {each.what: each.detail for each in check_scores(folder) if not each.sound}


def test_an_honest_run_is_compared_score_by_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / files.STORE).read_bytes()
    assert main(["runs", "verify", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "ok      scores: 12 of 12 ratings compared with their replies; none differs" in told
    assert "ok      replies: 4 are those of the audit log" in told
    assert (folder / files.STORE).read_bytes() == before, "nothing was written"


def test_rewritten_scores_are_found_although_the_run_wrote_them_out_itself(
    folder: Path, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(
        folder / files.STORE,
        "UPDATE ratings SET score = 6 - score WHERE rater = 'juror' AND score <> 3 AND item <> 'case-3'",
    )
    with LoopbackServer() as nobody:
        again = run_study(load_study(study))
        assert not nobody.calls
    assert again.calls == 0 and again.status == "complete"
    write_page(folder)
    assert all(each.sound for each in RunFolder(folder).verify()), "every hash is that of the forged files"
    assert main(["runs", "verify", str(folder)]) == 1
    told = capsys.readouterr().out
    assert "ALTERED scores: 12 of 12 ratings compared with their replies; " in told
    assert re.search(
        r"\d are not what the reply says \[case-\d \(a\), juror, (accuracy|completeness|clarity); case-", told
    )
    assert "case-3" not in told
    assert "Note" not in told and "Summary" not in told, "ids only"


def test_a_score_that_was_made_to_vanish_is_found(folder: Path) -> None:
    rewritten(
        folder / files.STORE,
        "UPDATE ratings SET score = NULL, status = 'unscored', reason = 'refusal' WHERE item = 'case-1'",
    )
    assert "3 are not what the reply says [case-1" in found(folder)["scores"]


def test_replies_that_were_rewritten_with_their_scores_are_not_those_of_the_log(folder: Path) -> None:
    rewritten(
        folder / files.STORE,
        "UPDATE ratings SET score = 5 WHERE rater = 'juror'",
        """UPDATE replies SET text = replace(replace(replace(replace(text, '"score": 1', '"score": 5'),
            '"score": 2', '"score": 5'), '"score": 3', '"score": 5'), '"score": 4', '"score": 5')""",
    )
    assert "4 were changed after they came" in found(folder)["replies"]


def test_replies_that_were_taken_out_are_missed(folder: Path) -> None:
    rewritten(folder / files.STORE, "DELETE FROM replies WHERE key IN (SELECT key FROM replies LIMIT 1)")
    assert "9 of 12 ratings compared" in found(folder)["scores"]
    assert "3 not: no reply to the question is stored" in found(folder)["scores"]


def test_what_was_erased_by_its_own_command_is_counted_and_is_no_finding(write_study: Write) -> None:
    rows = [
        {"id": f"case-{n}", "system": "a", "patient": f"p{n}", "candidate": f"Summary {n}.",
         "texts": {"context": f"Note {n}."}}
        for n in range(4)
    ]  # fmt: skip
    folder = run_study(load_study(write_study(cases=rows))).folder
    with open_store(folder / files.STORE) as store:
        erase(store, Selection("case", ("case-1",), frozenset({"case-1"})))
    checks = {each.what: each for each in check_scores(folder)}
    assert checks["scores"].sound and "9 of 9 ratings compared" in checks["scores"].detail
    assert checks[files.RATINGS].sound and "not in the store, which has a log" in checks[files.RATINGS].detail


def test_an_erasure_does_not_account_for_replies_that_somebody_else_took_out(folder: Path) -> None:
    """Who erases one case by the command, and takes the replies to others out by hand, could rewrite these."""
    with open_store(folder / files.STORE) as store:
        erase(store, Selection("case", ("case-3",), frozenset({"case-3"})))
    of_two = "SELECT key FROM ratings WHERE item IN ('case-1', 'case-2')"
    rewritten(
        folder / files.STORE,
        f"DELETE FROM replies WHERE key IN (SELECT reply FROM questions WHERE unit IN ({of_two}))",
    )
    assert "6 not: no reply to the question is stored; none" in found(folder)["scores"]
    assert "not in the store [case-3" in found(folder)[files.RATINGS]


@pytest.mark.parametrize(
    "judge",
    [
        "kind: scores, name: juror, path: x.csv",
        'kind: openai, name: other, url: "http://127.0.0.1:9/v1", model: m',
    ],
)
def test_a_judge_that_the_study_file_has_no_longer_is_not_excused(
    folder: Path, study: Path, judge: str
) -> None:
    """A judge whose scores come from a file has no replies. Whoever edits the study file cannot make one of it."""
    rows = [f"case-{n},a,{name},3" for n in range(4) for name in ("accuracy", "completeness", "clarity")]
    (study.parent / "x.csv").write_text("\n".join(["item,system,dimension,score", *rows]) + "\n")
    lines = study.read_text().splitlines()
    study.write_text("\n".join(f"judges: [{{{judge}}}]" if "judges" in each else each for each in lines))
    assert (
        "12 not: the study file does not have this judge, or its file of scores, as the run had it"
        in found(folder)["scores"]
    )


def test_scores_from_a_file_are_compared_with_the_file(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(cases=4)
    rows = [f"case-{n},a,{name},2" for n in range(4) for name in ("accuracy", "completeness", "clarity")]
    given = study.parent / "x.csv"
    given.write_text("\n".join(["item,system,dimension,score", *rows]) + "\n")
    judge = "judges: [{kind: scores, name: juror, path: x.csv}]"
    lines = study.read_text().splitlines()
    study.write_text("\n".join(judge if "judges" in each else each for each in lines))
    folder = run_study(load_study(study)).folder
    assert main(["runs", "verify", str(folder)]) == 0
    assert "12 of 12 ratings compared with their replies or their file of scores" in capsys.readouterr().out
    rewritten(folder / files.STORE, "UPDATE ratings SET score = 5 WHERE item = 'case-1'")
    assert run_study(load_study(study)).calls == 0
    assert "3 are not what the reply says, or the file [case-1" in found(folder)["scores"]
    given.write_text(given.read_text().replace(",2", ",5"))
    assert "12 not: the study file does not have this judge, or its file" in found(folder)["scores"]


def test_clinicians_ratings_that_were_rewritten_in_the_folder_are_found(validated: Path) -> None:
    place = validated / files.RATINGS
    kinder = pl.when(pl.col("rater_kind") == "clinician").then(6 - pl.col("score")).otherwise(pl.col("score"))
    pl.read_parquet(place).with_columns(kinder.alias("score")).write_parquet(place)
    manifest = RunFolder(validated).manifest
    manifest.replaced(files={**manifest.files, files.RATINGS: file_hash(place)}).write(validated)
    assert re.search(r"not what follows from the store \[.*clinician", found(validated)[files.RATINGS])


def test_ratings_of_the_folder_that_the_store_does_not_have_are_found(folder: Path) -> None:
    """The file's hash in the manifest may be made anew by whoever owns the folder."""
    place = folder / files.RATINGS
    table = pl.read_parquet(place)
    table.with_columns(
        pl.when(pl.col("rater_kind") == "jury").then(5.0).otherwise(pl.col("score")).alias("score")
    ).write_parquet(place)
    manifest = RunFolder(folder).manifest
    manifest.replaced(files={**manifest.files, files.RATINGS: file_hash(place)}).write(folder)
    assert (
        "not what follows from the store [" in found(folder)[files.RATINGS]
        and "jury" in found(folder)[files.RATINGS]
    )


def test_a_missing_store_is_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / files.STORE).unlink()
    assert main(["runs", "verify", str(folder)]) == 1
    assert "ALTERED ratings.sqlite: is missing, so no score can be compared" in capsys.readouterr().out


def test_another_store_in_its_place_is_a_finding(folder: Path) -> None:
    (folder / files.STORE).unlink()
    open_store(folder / files.STORE).close()
    assert "holds no run" in found(folder)["scores"]


def test_what_cannot_be_compared_is_not_called_sound(
    folder: Path, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.rename(tmp_path / "moved.yaml")
    assert main(["runs", "verify", str(folder)]) == 1
    told = capsys.readouterr().out
    assert "UNKNOWN scores: not compared with their replies: " in told and "--study STUDY.yaml" in told
    assert main(["runs", "verify", str(folder), "--study", str(tmp_path / "moved.yaml")]) == 0


@pytest.mark.parametrize("name", ["verdict.html", "ratings2.parquet", ".hidden", "notes.txt"])
def test_a_file_that_was_put_into_the_folder_is_a_finding(folder: Path, name: str) -> None:
    (folder / name).write_text("VALIDATED")
    assert [each.what for each in RunFolder(folder).verify() if not each.sound] == [name]


def test_a_study_that_is_run_in_its_own_folder_has_files_beside_it(write_study: Write) -> None:
    folder = run_study(load_study(write_study(output="."))).folder
    assert all(each.sound for each in (*RunFolder(folder).verify(), *check_scores(folder)))


@pytest.fixture
def validated(tmp_path: Path) -> Iterator[Path]:
    with LoopbackServer() as made:
        yield validated_run(tmp_path / "validated", made)


def test_a_forged_run_gets_no_passport(validated: Path) -> None:
    assert make_passport(validated).force == "validated"
    rewritten(
        validated / files.STORE, "UPDATE ratings SET score = 6 - score WHERE rater = 'juror' AND score <> 3"
    )
    study = validated / RunFolder(validated).manifest.study_file
    assert run_study(load_study(study)).calls == 0
    with pytest.raises(MedjuryError, match=r"not as the run left it \(scores: .*are not what the reply says"):
        make_passport(validated)


def test_a_run_without_its_store_gets_no_passport(validated: Path) -> None:
    (validated / files.STORE).unlink()
    with pytest.raises(MedjuryError, match=r"is missing, so no score can be compared"):
        make_passport(validated)


def test_a_rating_that_was_taken_out_of_the_file_is_missed(folder: Path) -> None:
    table = pl.read_parquet(folder / files.RATINGS)
    table.filter(pl.col("item") != "case-1").write_parquet(folder / files.RATINGS)
    assert "in the store and not in this file [case-1" in found(folder)[files.RATINGS]

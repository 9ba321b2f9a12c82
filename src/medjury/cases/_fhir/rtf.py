"""The text of an RTF attachment, by the library `striprtf`, which comes with an extra."""

from __future__ import annotations

import re

from medjury.cases._xhtml import FhirError

# The library keeps such text as if it held: a file that has any is refused, not misread.
_WITHDRAWN = re.compile(rb"(?<!\\)\\(?:strike|striked|deleted|v)(?:[1-9]\d*)?(?![A-Za-z0-9-])")


def rtf_text(content: bytes) -> str:
    if not content.lstrip().startswith(b"{\\rtf"):
        raise FhirError("the attachment is not RTF, as it claims to be")
    if _WITHDRAWN.search(content):
        raise FhirError(
            "the attachment is RTF that holds struck-out, deleted or hidden text, which cannot be told from the "
            "rest; accept the changes in it and export it again"
        )
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise FhirError('the attachment is RTF, which needs an extra: pip install "medjury[rtf]"') from None
    try:
        return str(rtf_to_text(content.decode("cp1252"), errors="strict"))
    except (ValueError, LookupError):
        raise FhirError("the attachment is damaged RTF, or its character set is not known") from None

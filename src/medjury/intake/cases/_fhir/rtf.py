"""The text of an RTF attachment, by the library `striprtf`, which comes with an extra."""

from __future__ import annotations

import re
from collections import Counter

from medjury.intake.cases._fhir.xhtml import FhirError

# The library keeps such text as if it held: a file that has any is refused, not misread.
_WITHDRAWN = re.compile(rb"(?<!\\)\\(?:strike|striked|deleted|v|webhidden)(?:[1-9]\d*)?(?![A-Za-z0-9-])")
# And it leaves such parts out without a word: they are counted.
_PARTS = {
    b"footnote": "footnote of an RTF, left out",
    b"header": "header or footer of an RTF, left out",
    b"footer": "header or footer of an RTF, left out",
    b"annotation": "comment in an RTF, left out",
    b"shptxt": "text box of an RTF, left out",
    b"dptxbxtext": "text box of an RTF, left out",
    b"object": "embedded object of an RTF, left out",
    b"pict": "picture, left out",
}
_PART = re.compile(rb"(?<!\\)\\(" + b"|".join(_PARTS) + rb")[lrf]?(?:\d+)?(?![A-Za-z])")
_RAISED = re.compile(rb"(?<!\\)\\super(?![A-Za-z0-9-]) ?")
_BRACE = re.compile(rb"\\[\\{}]|\\bin(\d+) ?|[{}]")


def rtf_text(content: bytes, remarks: Counter[str]) -> str:
    content = content.strip(b"\0\r\n\t ")
    if not content.startswith(b"{\\rtf"):
        raise FhirError("the attachment is not RTF, as it claims to be")
    if not _is_whole(content):
        raise FhirError("the attachment is RTF that ends too soon or goes on after its end; export it again")
    if not content.isascii() or re.search(rb"(?<!\\)\\(?:mac|pca?)(?![A-Za-z])", content):
        raise FhirError(
            "the attachment is RTF whose signs beyond ASCII cannot be told for sure; export it again as text"
        )
    if _WITHDRAWN.search(content):
        raise FhirError(
            "the attachment is RTF that holds struck-out, deleted or hidden text, which cannot be told from the "
            "rest; accept the changes in it and export it again"
        )
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise FhirError('the attachment is RTF, which needs an extra: pip install "medjury[rtf]"') from None
    remarks.update(_PARTS[each] for each in _PART.findall(content))
    content = _RAISED.sub(b"^", content)  # 10 to the power of 9 is not 109
    try:
        return str(rtf_to_text(content.decode("cp1252"), errors="strict"))
    except (ValueError, LookupError):
        raise FhirError("the attachment is damaged RTF, or its character set is not known") from None


def _is_whole(content: bytes) -> bool:
    """Whether the first brace is closed by the last sign; bytes of pictures may be braces too."""
    depth = at = 0
    while (found := _BRACE.search(content, at)) is not None:
        at = found.end() + int(found[1] or 0)
        depth += {b"{": 1, b"}": -1}.get(found[0], 0)
        if depth == 0:
            return at == len(content)
    return False

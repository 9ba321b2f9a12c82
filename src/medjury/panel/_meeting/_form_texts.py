"""What people type into the forms of a meeting, as it is kept."""

from __future__ import annotations

from collections.abc import Mapping

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import clean_text

LONGEST = 20_000


def typed_text(form: Mapping[str, str], name: str) -> str:
    """A text without what nobody sees; refused where it is too long to be one."""
    text = clean_text(form.get(name, "")).strip()
    if len(text) > LONGEST:
        raise MedjuryError(f"A text may have {LONGEST:,} letters; this one has {len(text):,}. Shorten it.")
    return text


def typed_version(form: Mapping[str, str]) -> int:
    """The version that the form was opened with; what is no number rests on nothing."""
    text = form.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1

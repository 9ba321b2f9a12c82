"""The development cases that a study file names: they are left out of every validation."""

from __future__ import annotations

from collections.abc import Collection

from medjury.foundation.errors import MedjuryError
from medjury.studies._material.case_ids import case_ids
from medjury.studies._study import Study


def listed_cases(study: Study) -> list[str]:
    """The development cases that the study file names."""
    try:
        return case_ids(study.settings.gate.development_cases, study.file.resolve().parent)
    except MedjuryError as error:
        raise MedjuryError(f"{study.file}: gate.development_cases: {error}") from None


def unknown_note(study: Study, listed: Collection[str], unknown: Collection[str]) -> tuple[str, ...]:
    """What to say of development cases that are no case of the study: a name with a typing error leaves nothing
    out. Where it is so with all of them, the study is refused."""
    if not unknown:
        return ()
    first = min(unknown)
    if len(unknown) == len(listed):
        raise MedjuryError(
            f"{study.file}: gate.development_cases: none of the {len(listed):,} names is a case of this study (the "
            f"first is {first!r}), so that nothing would be left out of the validation; give ids as in the cases"
        )
    return (
        f"gate.development_cases: {len(unknown):,} of {len(listed):,} names are no case of this study and leave "
        f"nothing out, such as {first!r}",
    )

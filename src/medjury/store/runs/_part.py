"""What a run folder holds is made of parts: typed, frozen, and with room for names this version does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from medjury.foundation.errors import MedjuryError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}|[0-9]+")


class RunPart(BaseModel):
    """A part of a file in a run folder. What an older or a newer version wrote beside the known names is kept."""

    model_config = ConfigDict(
        frozen=True, extra="allow", allow_inf_nan=False, populate_by_name=True, defer_build=True
    )

    @property
    def others(self) -> dict[str, Any]:
        """What is stated beyond the known names, such as the settings of a way of judging."""
        return dict(self.model_extra or {})

    def content(self) -> dict[str, Any]:
        """The values for JSON: what was stated, and no default that nobody stated."""
        return self.model_dump(exclude_unset=True, by_alias=True)

    def replaced(self, **changes: Any) -> Self:
        """A copy with other values; a name that the part does not have is refused."""
        if unknown := changes.keys() - type(self).model_fields.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        return self.model_copy(update=changes)


@contextmanager
def in_words(file: Path, *, missing: str, wrong: str) -> Iterator[None]:
    """What goes wrong when a part is read from a file, as an error in words: `missing` where there is no file;
    `wrong` where it does not fit its form, with `{}` for the place of the fault."""
    try:
        yield
    except FileNotFoundError:
        raise MedjuryError(missing) from None
    except ValidationError as error:
        raise MedjuryError(f"{file}: {wrong.format(first_problem(error))}") from None
    except OSError as error:
        raise MedjuryError(f"{file}: cannot be read ({error.strerror})") from None


def first_problem(error: ValidationError) -> str:
    """Where a file does not fit its form, and how: names and places alone, never what is there, which may be
    clinical text."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"] if _NAME.fullmatch(str(part)))
    return f"{place or 'the whole'}: {first['msg']}"


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, whether it is sound, and in words. What could not be checked is not `known`, nor sound."""

    what: str
    sound: bool
    detail: str
    known: bool = True

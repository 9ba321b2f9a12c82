"""The recipes that are there, and one of them written as a folder of its own. Nothing is read at import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole

STUDY, PAGE = "study.yaml", "README.md"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A folder of the package that holds a study file and all that it names. `summary` is the first line of its
    page below the title."""

    name: str
    summary: str
    source: Traversable

    @classmethod
    def all(cls) -> list[Recipe]:
        """Every recipe, by name."""
        folders = resources.files("medjury.studies").joinpath("recipes").iterdir()
        found = [cls(each.name, _summary(each), each) for each in folders if each.joinpath(STUDY).is_file()]
        return sorted(found, key=lambda recipe: recipe.name)

    @classmethod
    def listing(cls) -> str:
        """The recipes for a reader, one line each."""
        return "\n".join(f"{recipe.name:<18}{recipe.summary}" for recipe in cls.all())

    @classmethod
    def named(cls, name: str) -> Recipe:
        there = {recipe.name: recipe for recipe in cls.all()}
        if name not in there:
            raise MedjuryError(f"there is no recipe {name!r}; {nearest(name, list(there))}\n{cls.listing()}")
        return there[name]

    def files(self) -> dict[str, bytes]:
        """What it ships, by the place in its folder."""
        return {place: file.read_bytes() for place, file in _files(self.source)}

    def write(self, folder: str | Path) -> Path:
        """Write the recipe's files into a folder that is new or empty; the study file in it."""
        folder = Path(folder)
        try:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise MedjuryError(
                    f"{folder} is there already, and nothing is written over; name another folder"
                )
            for place, content in self.files().items():
                private_folder((folder / place).parent)
                write_whole(folder / place, content)
        except OSError as error:
            raise MedjuryError(f"{folder}: the recipe cannot be written ({error.strerror})") from None
        return folder / STUDY


def _files(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda found: found.name):
        if each.is_dir():
            yield from _files(each, f"{above}{each.name}/")
        else:
            yield f"{above}{each.name}", each


def _summary(folder: Traversable) -> str:
    lines = folder.joinpath(PAGE).read_text(encoding="utf-8").splitlines()
    return next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")

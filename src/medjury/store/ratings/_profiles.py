"""Who the raters are: what the columns of a file say of each of them, and which panel they rated in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PROFILE = ("panel", "years", "specialty", "seniority", "affiliation", "rated_in")


@dataclass(slots=True)
class Profiles:
    """Gathers what rows say of their raters. A column that says two things of one rater describes something else
    (the specialty of the case, perhaps) and is left out, with a warning; two panels are a mistake."""

    said: dict[str, dict[str, dict[str, str]]] = field(
        default_factory=dict
    )  # rater, column, value: its place

    def add(self, rater: str, fields: Mapping[str, str], place: str) -> None:
        own = self.said.setdefault(rater, {})
        for name in PROFILE:
            if value := fields.get(name):
                own.setdefault(name, {}).setdefault(value, place)

    def two_panels(self) -> list[tuple[str, dict[str, str]]]:
        """The raters whom rows name in two panels, with the first row of each."""
        found = [(rater, own.get("panel", {})) for rater, own in self.said.items()]
        return [each for each in found if len(each[1]) > 1]

    def of_raters(self) -> dict[str, dict[str, str]]:
        """By rater, what describes raters."""
        used = [name for name in PROFILE if not self._varies(name)]
        found = {
            rater: {name: next(iter(own[name])) for name in used if name in own}
            for rater, own in self.said.items()
        }
        return {rater: own for rater, own in found.items() if own}

    def warnings(self) -> list[str]:
        return [
            f"the column {name} differs between rows of one rater, so it describes no rater: it is not used"
            for name in PROFILE
            if name != "panel" and self._varies(name)
        ]

    def _varies(self, name: str) -> bool:
        return any(len(own.get(name, {})) > 1 for own in self.said.values())

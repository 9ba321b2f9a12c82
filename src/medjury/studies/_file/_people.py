"""Juries and clinicians as a study file names them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.fields import FileName, Part
from medjury.store.runs import ConsensusRule


class JuryPart(Part):
    """How votes become one rating: those of its `members`, or, where none is named, of all judges."""

    name: FileName = "jury"
    members: list[FileName] | None = Field(default=None, min_length=1)
    aggregate: Literal["mean", "median", "majority"] = "mean"
    quorum: int | None = Field(default=None, ge=1)


class NamedJuryPart(JuryPart):
    """One of several juries: it has a name, and says who votes in it."""

    name: FileName
    members: list[FileName] = Field(min_length=1)


class HumansPart(Part):
    """Clinicians' ratings of the same cases, and who is who among them: see docs/roles.md."""

    path: str
    mapping: str | None = None
    keep_names: bool = False
    on_bad: Literal["refuse", "unscored"] = "refuse"
    on_unknown: Literal["refuse", "drop"] = "refuse"
    illustrative: bool = False  # made up for a demonstration: the report says so
    blinded: bool | None = None  # whether they rated without seeing the judges' scores; None: nobody says
    reference: str | list[str] = "clinicians"
    second_panel: str | list[str] | None = None
    consensus: ConsensusRule = "mean"
    adjudicator: str | None = None
    labels: dict[FileName, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _file_is_another_word_for_path(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "file" not in value:
            return value
        if "path" in value:
            raise ValueError("`file` and `path` both name the clinicians' file; keep one of them")
        return {**{name: said for name, said in value.items() if name != "file"}, "path": value["file"]}

    @field_validator("reference", "second_panel")
    @classmethod
    def _somebody_is_named_once(cls, value: str | list[str] | None) -> str | list[str] | None:
        if isinstance(value, list):
            if not value:
                raise ValueError("names nobody; name raters or a panel, or leave it out")
            if twice := [name for name in value if value.count(name) > 1]:
                raise ValueError(f"{twice[0]!r} is named twice; name each rater once")
        return value

    @model_validator(mode="after")
    def _adjudicator_and_rule_go_together(self) -> HumansPart:
        if self.consensus == "adjudicated" and self.adjudicator is None:
            raise ValueError(
                "`consensus: adjudicated` needs the rater whose label settles; name it: `adjudicator: NAME`"
            )
        if self.adjudicator is not None and self.consensus != "adjudicated":
            raise ValueError(
                f"an `adjudicator` has no part in a {self.consensus} consensus; say `consensus: adjudicated`, or "
                "take the adjudicator out"
            )
        return self

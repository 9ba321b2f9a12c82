"""The `drafting:` part of a study file turned into the drafter it describes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.models import ChatModel, make_model
from medjury.studies._file import DraftingPart, ModelPart

if TYPE_CHECKING:
    from medjury.judging import Drafter

# The drafting model's name in the audit log, in limits and in messages.
NAME = "drafting"


def make_drafter(part: DraftingPart, folder: Path) -> tuple[Drafter, tuple[ChatModel, ModelPart]]:
    """The drafter, and its model with the part that says how fast it may be asked and what it costs."""
    from medjury.judging import Drafter, DraftingRules, SelectionRules, Speaker

    options = part.options
    if "name" in options:
        raise MedjuryError("has no `name`; `system` is the name under which the drafts are judged")
    model = make_model(part.kind, name=NAME, **part.options_in(folder))
    if not model.vendor:
        raise MedjuryError(
            "the maker of the drafting model is not known, and without it nobody can tell whether a judge favours "
            "its own; add `vendor: NAME`"
        )
    rules = DraftingRules(
        SelectionRules(
            part.notes,
            part.minimum_characters,
            part.specialty_first,
            part.labs,
            part.max_age_days,
            tuple(part.kinds),
        ),
        tuple(part.sections),
        part.instructions,
        part.question,
        part.specialty,
        tuple(part.inputs),
        part.as_of,
    )
    speaker = Speaker(model, part.temperature, part.seed, part.max_tokens, part.reasks)
    system = part.system or str(options.get("model") or part.kind)
    return Drafter(speaker, system, rules, part.context.truncation), (model, part)

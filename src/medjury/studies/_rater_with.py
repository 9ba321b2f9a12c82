"""A judge of a study with other words, other examples or another model: what tuning tries out."""

from __future__ import annotations

from typing import Any

from medjury.foundation.documents import nearest, read_document
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.judging import Rater
from medjury.models import ChatModel, make_model
from medjury.store.runs import SCORES
from medjury.studies._examples import stated_examples
from medjury.studies._file import JudgePart, ModelPart
from medjury.studies._strategies import Setup, make_rater
from medjury.studies._study import Study

Models = list[tuple[ChatModel, ModelPart]]


def judge_place(study: Study, name: str | None) -> int:
    """Which entry of the study file the judge of this name is; the only one, where none is named."""
    names = [judge.name for judge in study.jury.judges]
    if name is None:
        if len(names) > 1:
            raise MedjuryError(f"{study.file}: several judges; say which is tuned: {', '.join(names)}")
        return 0
    if name not in names:
        raise MedjuryError(f"{study.file}: there is no judge {name!r}; {nearest(name, names)}")
    return names.index(name)


def rater_with(
    study: Study,
    place: int,
    instrument: Instrument,
    *,
    model: dict[str, Any] | None = None,
    models: Models | None = None,
) -> Rater:
    """The study's judge at this place, built anew with this instrument, whose own examples it shows where it has
    any. `model` puts another model in its seat; models that are made join `models`."""
    part, own = study.settings.judges[place], list(study.models) if models is None else models
    if part.kind == SCORES:
        raise MedjuryError(
            f"{study.file}: the scores of {study.jury.judges[place].name} came from a file, so that there is no "
            "prompt to tune; name the model that gave them"
        )
    if stated_examples(study.settings, part).shots:
        raise MedjuryError(
            f"{study.file}: the judge draws examples from the clinicians' ratings, and tuning splits these itself; "
            "take `examples` out, or tune with `way: examples`"
        )
    name = study.jury.judges[place].name
    if model is not None:
        given = JudgePart.model_validate({**model, "strategy": part.strategy})
        name, part = given.name or str(given.options.get("model") or given.kind), given
    strict = (part.model_check or study.settings.model_check) == "strict"
    folder = study.file.resolve().parent
    shows = bool(instrument.examples)
    setup = Setup(name, part, instrument, folder, shows, None, strict, own)
    return make_rater(read_document(study.file), ("judges", place), setup)


def model_of(study: Study, settings: dict[str, Any], name: str) -> tuple[ChatModel, ModelPart]:
    """A further model of a tuning, such as the one that writes prompts."""
    part = ModelPart.model_validate(settings)
    return make_model(part.kind, name=name, **part.options_in(study.file.resolve().parent)), part

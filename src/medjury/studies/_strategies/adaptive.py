"""The cheapest juror first, and the next only while the decision is open: the settings in a study file."""

from __future__ import annotations

from pydantic import Field, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import FileName, Part
from medjury.judging import AdaptiveJury, AdaptiveRule, Judge, load_adaptive_rule
from medjury.models import PriceList
from medjury.studies._file import ModelPart
from medjury.studies._strategies._setup import Settings, Setup

# Without jurors of other models the judge's own is asked again, which needs draws that can differ.
_AGAIN, _TEMPERATURE = 3, 1.0


class JurorPart(ModelPart):
    """A juror. Without a `kind` it is the judge's own model with whatever is stated otherwise: `model`, say."""

    name: FileName
    kind: str = ""


class RulePart(Part):
    """When to stop: see docs/judging/adaptive.md. Two votes at least, unless a simulation showed that one does."""

    tolerance: float = Field(default=0.125, ge=0, le=1)
    minimum: int = Field(default=2, ge=1)
    maximum: int | None = Field(default=None, ge=1)
    threshold: float | None = None


class AdaptiveSettings(Settings):
    """`jurors` in the order in which they are asked; `rule` states the rule, or names the file that holds it."""

    jurors: list[JurorPart] = Field(default=[])
    rule: RulePart | str = RulePart()


def build(settings: AdaptiveSettings, setup: Setup) -> AdaptiveJury:
    names = [each.name for each in settings.jurors]
    if isinstance(settings.rule, str):
        saved = load_adaptive_rule(setup.folder / settings.rule)
        scales = {each.name: (each.lowest, each.highest) for each in setup.instrument.dimensions}
        saved.check(names, scales)
        rule = saved.rule
    else:
        stated = settings.rule
        maximum = stated.maximum or (None if settings.jurors else max(_AGAIN, stated.minimum))
        rule = AdaptiveRule(stated.tolerance, stated.minimum, maximum, stated.threshold)
    parts = [_part(each, setup) for each in settings.jurors] or [_alone(setup)]
    jurors = [_juror(part, name, setup) for part, name in zip(parts, names or ["juror"], strict=True)]
    known: dict[str, str] = {}
    for juror in jurors:
        twin = known.setdefault(juror.settings_hash(), juror.name)
        if twin != juror.name:
            raise MedjuryError(
                f"the jurors {twin} and {juror.name} are the same model asked the same way; give one of them "
                "another `model`, or its own `kind` and `url`"
            )
    return AdaptiveJury(setup.name, jurors, rule)


def _part(juror: JurorPart, setup: Setup) -> ModelPart:
    """A juror of another kind stands alone; one without a kind takes what it does not state from the judge."""
    if juror.kind:
        return juror
    stated = {name: getattr(juror, name) for name in juror.model_fields_set - {"name", "kind"}}
    own = {name: getattr(setup.part, name) for name in ModelPart.model_fields} | setup.part.options
    if PriceList.shipped().knows(str(juror.options.get("model", ""))):
        own.pop("price")  # another model whose own price is known
    try:
        return ModelPart.model_validate(own | stated)
    except ValidationError as error:
        raise MedjuryError(f"juror {juror.name}: {error.errors()[0]['msg']}") from None


def _alone(setup: Setup) -> ModelPart:
    if "temperature" in setup.part.model_fields_set:
        return setup.part
    return setup.part.model_copy(update={"temperature": _TEMPERATURE})


def _juror(part: ModelPart, name: str, setup: Setup) -> Judge:
    return Judge(
        setup.make(part, name),
        setup.instrument,
        temperature=part.temperature,
        seed=part.seed,
        max_tokens=part.max_tokens,
        explain=setup.part.explain,
        per_dimension=setup.part.per_dimension,
        reasks=part.reasks,
        examples=setup.instrument.examples if setup.use_examples else (),
        drawn=setup.drawn,
        prompt=setup.prompt,
    )

"""The ways of judging that a study file can name, each with its settings and how it is built. What judges in a way
is loaded by the studies that name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError, field_validator

from medjury.foundation.documents import Document, nearest, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import FileName, Part
from medjury.instruments import Instrument
from medjury.judging import ByCase, Fitted, Judge, ModelChecked, Rater, Speaker, shows_images
from medjury.models import ChatModel, PriceList, context_window
from medjury.studies._file.models import JudgePart, ModelPart
from medjury.studies._study.setup import Settings, Setup

if TYPE_CHECKING:
    from medjury.judging import AdaptiveJury, ClosedLoop, Concordance, Deliberation, Persona, Repeats


def _judge(setup: Setup, how: ModelPart, model: ChatModel) -> Judge:
    """The entry's own question, put to this model as its part of the file says."""
    part = setup.part
    return Judge(
        model,
        setup.instrument,
        temperature=how.temperature,
        seed=how.seed,
        max_tokens=how.max_tokens,
        explain=part.explain,
        per_dimension=part.per_dimension,
        reasks=how.reasks,
        examples=setup.instrument.examples if setup.use_examples else (),
        drawn=setup.drawn,
        prompt=setup.prompt,
        own=setup.own_prompt,
        translated=part.translated,
    )


def _single(settings: Settings, setup: Setup) -> Judge:
    return _judge(setup, setup.part, setup.model)


# A judge is asked at temperature 0 unless its entry says otherwise; draws at 0 would all be the same.
_TEMPERATURE = 1.0


class RepeatsSettings(Settings):
    """How many draws, how they become one rating, and how many must have given a score (default: over half)."""

    n: int = Field(default=5, ge=2, le=100)
    rule: Literal["median", "mean", "majority"] = "median"
    quorum: int | None = Field(default=None, ge=1)


def _repeats(settings: RepeatsSettings, setup: Setup) -> Repeats:
    from medjury.judging import Repeats

    judge = _judge(setup, setup.part, setup.model)
    if "temperature" not in setup.part.model_fields_set:
        judge = replace(judge, temperature=_TEMPERATURE)
    if judge.temperature is None and setup.part.kind == "embedded":
        raise MedjuryError("the embedded model has no temperature of its own; set `temperature` above 0")
    return Repeats(judge, settings.n, settings.rule, settings.quorum)


class ConcordanceSettings(Settings):
    """`examples: false` leaves out the instrument's worked examples, one concordant and one discordant; those drawn
    from clinicians' ratings are in the entry itself."""

    examples: bool = True


def _concordance(settings: ConcordanceSettings, setup: Setup) -> Concordance:
    from medjury.judging import Concordance

    if setup.part.per_dimension:
        raise MedjuryError(
            "`per_dimension` has no meaning for the strategy `concordance`, which asks for concordance in one call "
            "and for preference in two more; take it out"
        )
    return Concordance(
        setup.speaker(),
        setup.instrument,
        explain=setup.part.explain,
        examples=None if settings.examples else (),
        drawn=setup.drawn,
    )


# A revised text is longer than an answer of grades; a writer without a limit of its own gets this one.
_WRITER_TOKENS = 4096


class ClosedLoopSettings(Settings):
    """`loop_judge` gates and `writer` (by default the same model) revises. `pass` is the grade each named
    dimension must reach, or the share of the way from worst to best that every dimension must; at most `rounds`
    revisions are made."""

    loop_judge: ModelPart | None = None
    writer: ModelPart | None = None
    passing: dict[str, int] | float = Field(default=0.75, alias="pass")
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    same_model: bool = False
    suffix: str = "+loop"


def _closed_loop(settings: ClosedLoopSettings, setup: Setup) -> ClosedLoop:
    from medjury.judging import ClosedLoop

    # The final juror is the single judge of the same entry, so that the two are comparable and share replies.
    final = _judge(setup, setup.part, setup.model)
    inside = settings.loop_judge or setup.part
    model = setup.model if settings.loop_judge is None else setup.make(settings.loop_judge, "loop judge")
    # Its reasons are what the writer is given.
    loop_judge = replace(_judge(setup, inside, model), explain=True, per_dimension=False)
    how = settings.writer or inside
    writer = Speaker(
        model if settings.writer is None else setup.make(settings.writer, "writer"),
        how.temperature,
        how.seed,
        how.max_tokens if "max_tokens" in how.model_fields_set else _WRITER_TOKENS,
        how.reasks,
        setup.shows_token,
    )
    return ClosedLoop(
        final,
        loop_judge,
        writer,
        passing=settings.passing,
        rounds=settings.rounds,
        same_model=settings.same_model,
        suffix=settings.suffix,
    )


class PersonaPart(Part):
    """A persona: one of ours by its name, or one's own with a text; asked of its own model where one is named."""

    name: str
    text: str | None = None
    model: ModelPart | None = None


def _group(name: str) -> list[PersonaPart]:
    from medjury.judging import PERSONA_GROUPS

    if name not in PERSONA_GROUPS:
        raise ValueError(f"there is no group {name!r}; {nearest(name, list(PERSONA_GROUPS))}")
    return [PersonaPart(name=each) for each in PERSONA_GROUPS[name]]


class DeliberationSettings(Settings):
    """`personas` is a group of ours (scorers, physicians) or a list; models default to the judge's own."""

    personas: list[PersonaPart] = Field(default_factory=lambda: _group("scorers"))
    orchestrator: ModelPart | None = None
    max_turns: int = Field(default=6, ge=0, le=100)
    max_stalls: int = Field(default=2, ge=1, le=100)
    when_agreed: Literal["stop", "discuss"] = "stop"
    quorum: int | None = Field(default=None, ge=1)
    turns_shown: int | None = Field(default=None, ge=1)

    @field_validator("personas", mode="before")
    @classmethod
    def _a_name_is_enough(cls, value: Any) -> Any:
        if isinstance(value, str):
            return _group(value)
        if isinstance(value, list):
            return [{"name": each} if isinstance(each, str) else each for each in value]
        return value


def _deliberation(settings: DeliberationSettings, setup: Setup) -> Deliberation:
    from medjury.judging import Agent, Deliberation

    return Deliberation(
        setup.name,
        setup.instrument,
        setup.speaker(settings.orchestrator, "orchestrator"),
        [Agent(_persona(each), setup.speaker(each.model, each.name)) for each in settings.personas],
        max_turns=settings.max_turns,
        max_stalls=settings.max_stalls,
        when_agreed=settings.when_agreed,
        quorum=settings.quorum,
        turns_shown=settings.turns_shown,
        per_dimension=setup.part.per_dimension,
        examples=setup.instrument.examples if setup.use_examples else (),
        drawn=setup.drawn,
    )


def _persona(part: PersonaPart) -> Persona:
    from medjury.judging import PERSONAS, Persona

    if part.text is not None:
        return Persona(part.name, part.text)
    if part.name not in PERSONAS:
        hint = nearest(part.name, list(PERSONAS))
        raise MedjuryError(f"persona {part.name!r} is not a built-in one ({hint}); your own needs a `text`")
    return PERSONAS[part.name]


# Without jurors of other models the judge's own is asked again, which needs draws that can differ.
_AGAIN = 3


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


def _adaptive(settings: AdaptiveSettings, setup: Setup) -> AdaptiveJury:
    from medjury.judging import AdaptiveJury, AdaptiveRule, SavedAdaptiveRule

    names = [each.name for each in settings.jurors]
    if isinstance(settings.rule, str):
        saved = SavedAdaptiveRule.load(setup.folder / settings.rule)
        scales = {each.name: (each.lowest, each.highest) for each in setup.instrument.dimensions}
        saved.check(names, scales)
        rule = saved.rule
    else:
        stated = settings.rule
        maximum = stated.maximum or (None if settings.jurors else max(_AGAIN, stated.minimum))
        rule = AdaptiveRule(stated.tolerance, stated.minimum, maximum, stated.threshold)
    parts = [_part(each, setup) for each in settings.jurors] or [_alone(setup)]
    jurors = [
        _judge(setup, part, setup.make(part, name))
        for part, name in zip(parts, names or ["juror"], strict=True)
    ]
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
    """A juror of another kind is taken as it is; one without a kind takes what it does not state from the judge."""
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


class Strategy(NamedTuple):
    """The settings a strategy takes in a study file, and the rater they make. `without` names settings of the
    judge's entry that have no meaning for it: stated all the same, they are refused."""

    settings: type[Settings]
    build: Callable[[Any, Setup], Rater]
    without: tuple[str, ...] = ()
    images: bool = False  # whether its questions show images


def _claims() -> Strategy:
    from medjury.studies._study.claims import ClaimsSettings, build

    return Strategy(ClaimsSettings, build, ("explain", "per_dimension", "translated"))


STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "adaptive": lambda: Strategy(AdaptiveSettings, _adaptive, images=True),
    "claims": _claims,
    "closed_loop": lambda: Strategy(ClosedLoopSettings, _closed_loop),
    "concordance": lambda: Strategy(ConcordanceSettings, _concordance, ("translated",)),
    "deliberation": lambda: Strategy(DeliberationSettings, _deliberation, ("explain", "translated")),
    "repeats": lambda: Strategy(RepeatsSettings, _repeats, images=True),
    "single": lambda: Strategy(Settings, _single, images=True),
}


# Ways of judging that ask about whatever dimensions their instrument has.
_BY_CASE = frozenset({"adaptive", "deliberation", "repeats", "single"})
_TOKENS_PER_MARK = 120  # the most that a mark with its sentence should take


def rater_of(document: Document, place: tuple[str | int, ...], setup: Setup) -> Rater:
    """The rater of one judge's entry; one that is made anew for each case, where its dimensions come from there."""
    if not setup.instrument.by_case:
        return make_rater(document, place, setup)
    if setup.part.strategy["name"] not in _BY_CASE:
        problem = (
            f"{setup.instrument.name} has the criteria of each case for dimensions, which the strategy "
            f"`{setup.part.strategy['name']}` cannot ask about; take one of {', '.join(sorted(_BY_CASE))}"
        )
        raise MedjuryError(document.complaint((*place, "strategy"), problem))
    if setup.drawn is not None:
        problem = (
            "worked examples would be marks of other criteria than those of the case; take `examples` out"
        )
        raise MedjuryError(document.complaint((*place, "examples"), problem))

    def make(instrument: Instrument) -> Rater:
        part, wanted = setup.part, _TOKENS_PER_MARK * len(instrument.dimensions)
        if "max_tokens" not in part.model_fields_set and wanted > part.max_tokens:
            part = part.model_copy(update={"max_tokens": wanted})  # one answer has the marks of all criteria
        return make_rater(document, place, replace(setup, instrument=instrument, part=part))

    return ByCase(setup.instrument, make)


def make_rater(document: Document, place: tuple[str | int, ...], setup: Setup) -> Rater:
    """The rater of one judge's entry; what is wrong with it is reported with its line of the file."""
    named = setup.part.strategy
    found = STRATEGIES.get(named["name"])
    if found is None:
        hint = nearest(named["name"], list(STRATEGIES))
        problem = f"there is no way of judging called {named['name']!r}; {hint}"
        raise MedjuryError(document.complaint((*place, "strategy"), problem))
    strategy = found()
    for name in strategy.without:
        if name in setup.part.model_fields_set:
            problem = f"has no meaning for the strategy `{named['name']}`; remove it"
            raise MedjuryError(document.complaint((*place, name), problem))
    if shows_images(setup.instrument):
        _refuse_without_images(document, place, setup, strategy)
    settings = validate_part(document, (*place, "strategy"), named, strategy.settings)
    try:
        rater = _with_window_rule(strategy.build(settings, setup), setup.part, setup.models)
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None
    return ModelChecked(rater) if setup.strict else rater


def _refuse_without_images(
    document: Document, place: tuple[str | int, ...], setup: Setup, strategy: Strategy
) -> None:
    if not strategy.images:
        shown = ", ".join(sorted(name for name, made in STRATEGIES.items() if made().images))
        problem = (
            f"{setup.instrument.name} shows images, and this way of judging does not; take one of {shown}"
        )
        raise MedjuryError(document.complaint((*place, "strategy"), problem))
    if setup.drawn is not None or (setup.use_examples and setup.instrument.examples):
        problem = f"{setup.instrument.name} shows images, and worked examples have none; take `examples` out"
        raise MedjuryError(document.complaint((*place, "examples"), problem))


def _with_window_rule(rater: Rater, part: JudgePart, models: Sequence[tuple[ChatModel, ModelPart]]) -> Rater:
    """The rater under the rule of its entry; as it is where no window is known and no rule stated."""
    rule = part.context.truncation
    if rule is None and all(context_window(model) is None for model in rater.models):
        return rater
    return Fitted(rater, rule, stated=any("context_window" in each.options for _, each in models))

"""Decompose, then verify: the settings in a study file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Literal

from pydantic import Field, field_validator

from medjury.foundation.documents import read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.instruments import load_instrument
from medjury.judging import (
    CLAIM_EXAMPLES,
    CLAIM_LABELS,
    ClaimLabelName,
    ClaimReading,
    Claims,
    ShareRule,
    WorkedClaims,
)
from medjury.studies._file.models import ModelPart
from medjury.studies._study.setup import Settings, Setup

_RULE, _READING = ShareRule(), ClaimReading()


class ExamplesFile(Part):
    """A file of worked examples."""

    examples: list[WorkedClaims] = Field(min_length=1)


class ClaimsSettings(Settings):
    """`lister` and `verifier` are models of their own for the two steps; the judge's own by default.

    `rates` says what a dimension of one's own instrument is read from; `against` names the input that claims are
    held against; `rubric` is an instrument file in the place of `claims`, for its words on verdict and importance.
    `labels` are the words for verdicts, `examples: true` shows ours in both steps, and a file shows those in it.
    """

    lister: ModelPart | None = None
    verifier: ModelPart | None = None
    rates: dict[str, Literal["support", "unsupported", "omitted"]] | None = None
    against: str | None = None
    rubric: str = "claims"
    # The list of claims is long: the judge's `max_tokens` holds for verdicts, this (if more) for the list.
    list_tokens: int = Field(default=4096, ge=1)
    most_claims: int | None = Field(default=None, ge=1, le=200)
    batch: int = Field(default=1, ge=1, le=50)
    threshold: float = Field(default=_RULE.threshold, gt=0, le=1)
    denominator: Literal["addressed", "all"] = _RULE.denominator
    weights: dict[int, float] = Field(default=dict(_RULE.weights))
    labels: ClaimLabelName = "contradicted"
    examples: bool | str = False
    decisive: Literal["veto", "strict", "weight"] = _RULE.decisive
    minimum_verified: float = Field(default=_RULE.minimum_verified, ge=0, le=1)
    closeness: float = Field(default=_READING.closeness, ge=0.8, le=1)
    least_importance: int = Field(default=2, ge=1, le=3)
    piece: int = Field(default=_READING.piece, ge=500)
    whole: int = Field(default=_READING.whole, ge=0)
    passages: int = Field(default=_READING.most, ge=1, le=100)
    sentences: int = Field(default=_READING.sentences, ge=1, le=50)
    overlap: int = Field(default=_READING.overlap, ge=0)
    embeddings: str | None = None

    @field_validator("weights", mode="before")
    @classmethod
    def _equal_is_enough(cls, value: Any) -> Any:
        return dict.fromkeys((1, 2, 3), 1.0) if value == "equal" else value

    @field_validator("weights")
    @classmethod
    def _every_importance_has_a_weight(cls, value: dict[int, float]) -> dict[int, float]:
        if set(value) != {1, 2, 3} or min(value.values()) < 0 or max(value.values()) <= 0:
            raise ValueError("needs a weight of 0 or more for each of 1, 2 and 3, one of them above 0")
        return value


def build(settings: ClaimsSettings, setup: Setup) -> Claims:
    lister = setup.speaker(settings.lister, "lister")
    rubric = settings.rubric
    extra = {} if settings.rates is None else {"measures": settings.rates}
    stated_denominator = "denominator" in settings.model_fields_set
    return Claims(
        setup.name,
        setup.instrument,
        replace(lister, max_tokens=max(lister.max_tokens, settings.list_tokens)),
        setup.speaker(settings.verifier, "verifier"),
        rule=ShareRule(
            settings.threshold,
            "all" if settings.labels == "two" and not stated_denominator else settings.denominator,
            settings.weights,
            settings.decisive,
            settings.minimum_verified,
        ),
        reading=_reading(settings, setup),
        batch=settings.batch,
        least=settings.least_importance,
        against=settings.against,
        rubric=load_instrument(setup.folder / rubric if rubric.endswith((".yaml", ".yml")) else rubric),
        labels=CLAIM_LABELS[settings.labels],
        examples=_examples(settings.examples, setup),
        **extra,
    )


def _examples(stated: bool | str, setup: Setup) -> Sequence[WorkedClaims]:
    """Ours, those of a file beside the study, or none."""
    if isinstance(stated, bool):
        return CLAIM_EXAMPLES if stated else ()
    return validate(read_document(setup.folder / stated), ExamplesFile).examples


def _reading(settings: ClaimsSettings, setup: Setup) -> ClaimReading:
    made = ClaimReading(
        whole=settings.whole,
        most=settings.passages,
        sentences=settings.sentences,
        overlap=settings.overlap,
        piece=settings.piece,
        claims=settings.most_claims,
        closeness=settings.closeness,
    )
    if settings.embeddings is None:
        return made
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MedjuryError(
            "embeddings need torch and transformers; install them: pip install 'medjury[neural]'"
        )
    from medjury.texts.metrics import sentence_embedder

    folder = setup.folder / settings.embeddings
    model = folder if folder.is_dir() else settings.embeddings
    return replace(made, embed=sentence_embedder(model), embed_name=settings.embeddings)

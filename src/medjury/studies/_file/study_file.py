"""The whole study file, and `--set budget.calls=50`: values of it replaced for one run, as if stated in it."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.documents import Document, Place, parse_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import FileName, Optional, Part
from medjury.intake.cases import Unit
from medjury.store.runs import ConsensusRule, DangerBy, GateRules, ReportSettings
from medjury.studies._file.models import (
    CasesPart,
    CriteriaDraftingPart,
    DraftingPart,
    ExamplesPart,
    JudgePart,
    ModelCheck,
)
from medjury.studies._file.panel import PanelPart

# Juries and clinicians as a study file names them.


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
    mapping: str | dict[str, Any] | None = None
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

    @property
    def are_of_panel(self) -> bool:
        """Whether they are those that the study's own panel collects."""
        return self.path == "panel"

    @model_validator(mode="before")
    @classmethod
    def _file_is_another_word_for_path(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "file" not in value:
            return value
        if "path" in value:
            raise ValueError("`file` and `path` both name the clinicians' file; keep one of them")
        return {**{name: given for name, given in value.items() if name != "file"}, "path": value["file"]}

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


class SplitPart(Part):
    """Which cases are learned from, which choose, and which are held out: ids, a file of them, or a column of the
    cases that says it. See docs/tuning.md."""

    train: list[str] | str | None = None
    validation: list[str] | str = []
    held_out: list[str] | str | None = None  # None: all others
    column: str | None = None
    group: Literal["patient", "none"] = "patient"  # what is never in two parts

    @model_validator(mode="before")
    @classmethod
    def _a_bare_word_is_a_column(cls, value: Any) -> Any:
        return {"column": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_way_to_state_it(self) -> SplitPart:
        lists = self.model_fields_set & {"train", "validation", "held_out"}
        if (self.column is None) == (not lists):
            raise ValueError(
                "is `{train: FILE, validation: FILE, held_out: FILE}`, with ids one to a line, or the name of a "
                "column of the cases; not both"
            )
        if self.column is None and self.train is None:
            raise ValueError("has no `train`: name the cases that are learned from")
        return self


# Budget, rules of the gate, and report, as a study file states them.

_RULES, _SHOWN = GateRules(), ReportSettings()


class BudgetPart(Part):
    """The run stops asking at either cap and is then INCOMPLETE."""

    money: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)


class GatePart(Part):
    """What must be shown before the jury may be trusted: see docs/report.md. State it before the run."""

    statistic: Literal["kappa_quadratic", "icc_2_1", "spearman"] = "kappa_quadratic"
    margin: float = Field(default=_RULES.margin, gt=0, le=2)
    missed_margin: float = Field(default=_RULES.missed_margin, gt=0, le=1)
    floor: float = Field(default=_RULES.floor, ge=-1, le=1)
    minimum_cases: int = Field(default=_RULES.minimum_cases, ge=1)
    minimum_clinicians: int = Field(default=_RULES.minimum_clinicians, ge=1)
    minimum_doubly_rated: int = Field(default=_RULES.minimum_doubly_rated, ge=0)
    offset_limit: float = Field(default=_RULES.offset_limit, gt=0, le=1)
    severe_limit: float = Field(default=_RULES.severe_limit, ge=0, le=1)
    danger: float = Field(default=_RULES.danger, ge=0)
    danger_by: DangerBy = _RULES.danger_by
    gap: float = Field(default=_RULES.gap, gt=0, le=1)
    coverage: float = Field(default=_RULES.coverage, ge=0, le=1)
    copy_limit: float = Field(default=_RULES.copy_limit, gt=0, le=1)
    parts: list[str] | None = None
    severe_dimensions: list[str] | None = None
    development_cases: list[str] | str = []


class InjectionPart(Part):
    """So many cases are judged again with instructions planted in the judged text: see docs/auditing.md."""

    cases: int = Field(default=30, ge=5, le=1000)


class AuditsPart(Part):
    """Audits that ask the judges more questions than the study itself does."""

    injection: InjectionPart | None = None


class ReportPart(Part):
    """What the report shows: see docs/report.md."""

    note: str = Field(default="", max_length=300)
    product: Annotated[Optional, Field(max_length=120)] = ""
    owner: Annotated[Optional, Field(max_length=120)] = ""
    decision: Annotated[Optional, Field(max_length=300)] = ""
    review_by: str = ""
    clinician_cost_per_hour: float | None = Field(default=None, ge=0)
    clinician_minutes_per_case: float | None = Field(default=None, gt=0)
    system_vendors: dict[str, str] | None = None
    rank_by: list[str] | None = Field(default=None, min_length=1)
    cases_shown: int = Field(default=_SHOWN.cases_shown, ge=0, le=500)
    hide_texts: bool = False
    png: bool = False
    resamples: int = Field(default=_SHOWN.resamples, ge=200, le=100_000)
    seed: int = 0

    @field_validator("review_by", mode="before")
    @classmethod
    def _a_day(cls, value: Any) -> str:
        try:
            return date.fromisoformat(str(value)).isoformat()
        except ValueError:
            raise ValueError("is not a day; write the day of the next look as 2027-05-31") from None

    @field_validator("rank_by", mode="before")
    @classmethod
    def _one_name_is_enough(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class StudyFile(Part):
    """The whole file."""

    study: FileName
    cases: CasesPart
    unit: Unit | None = None  # what is judged of each conversation
    design: Literal["answers", "pairs"] = "answers"  # `pairs`: every two answers to a case, side by side
    instrument: str
    dimensions: list[str] | None = Field(default=None, min_length=1)
    judges: list[JudgePart] = Field(min_length=1)
    jury: JuryPart | None = JuryPart()  # None: the judges are shown side by side
    juries: list[NamedJuryPart] | None = Field(default=None, min_length=1)
    repeats: int = Field(default=1, ge=1, le=1000)
    # Text metrics that rate beside the judges (docs/text-metrics.md), and what a worker of a cluster needs for one.
    metrics: list[str | dict[str, str | float | None]] = []
    drafting: DraftingPart | None = None
    criteria_drafting: CriteriaDraftingPart | None = None
    humans: HumansPart | None = None
    output: str | None = None
    share: Literal["group"] | None = None  # who else may read the run folder
    store: str | None = None
    store_reconnect_seconds: float = Field(
        default=120.0, ge=0, le=86_400
    )  # how long a run waits for its server
    allow_hosts: list[str] = []
    redact: dict[str, Any] | bool | None = None
    budget: BudgetPart = BudgetPart()
    max_unscored: float = Field(default=0.05, ge=0, le=1)
    model_check: ModelCheck = "tell"  # whether another model's answer is reported, or is not an answer
    split: SplitPart | None = None  # one for tuning, training, examples and the gate
    examples: ExamplesPart | None = None
    gate: GatePart = GatePart()
    audits: AuditsPart = AuditsPart()
    protocol: str | None = None  # the file that `medjury register` wrote; by default the one beside the study
    report: ReportPart = ReportPart()
    panel: PanelPart = PanelPart()
    tuning: dict[str, Any] | None = None  # how a judge is improved on labelled cases: see docs/tuning.md
    watch: dict[str, Any] | None = None  # how its jury is watched in use: see docs/watch.md

    def output_in(self, folder: Path) -> Path:
        """The run folder, where the study's file is in `folder`."""
        return folder / (self.output or f"runs/{self.study}")

    def rule_of(self, jury: JuryPart) -> Literal["mean", "median", "majority"]:
        """How its votes become one. Two votes for one answer and one for the other are a preference, and their mean
        is near a tie: on pairs it is the median, unless the study says otherwise."""
        is_stated = self.design != "pairs" or "aggregate" in jury.model_fields_set
        return jury.aggregate if is_stated else "median"

    def examples_of(self, judge: JudgePart) -> ExamplesPart:
        """What holds for one judge: what its entry says, over what the study says, over the defaults."""
        own, general = judge.examples, self.examples
        if own is None:
            return ExamplesPart(shots=0) if general is None else general
        stated = (
            {} if general is None else {name: getattr(general, name) for name in general.model_fields_set}
        )
        if own.model_fields_set & {"share", "cases"}:  # two ways to say the same thing
            stated = {name: value for name, value in stated.items() if name not in ("share", "cases")}
        return ExamplesPart(**{**stated, **{name: getattr(own, name) for name in own.model_fields_set}})

    @field_validator("jury", mode="before")
    @classmethod
    def _none_is_a_word(cls, value: Any) -> Any:
        if value == "none":
            return None
        if not isinstance(value, dict | JuryPart):
            raise ValueError("is `none`, or how votes become one: `{aggregate: mean, quorum: 2}`")
        return value

    @model_validator(mode="after")
    def _one_way_to_name_juries(self) -> StudyFile:
        if self.juries is not None and "jury" in self.model_fields_set:
            raise ValueError("`jury` and `juries` both say how votes become one; keep one of them")
        return self

    @field_validator("cases", "humans", mode="before")
    @classmethod
    def _a_bare_path_is_enough(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @field_validator("judges", mode="before")
    @classmethod
    def _a_bare_kind_is_enough(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [{"kind": each} if isinstance(each, str) else each for each in value]
        return value


class RatedStudyFile(StudyFile):
    """The same for a study that clinicians rate: it needs no judge."""

    judges: list[JudgePart] = []


# The manifest keeps what was set, and must never keep a password. The name of a variable is none.
_SECRET = re.compile(r"(headers|key|token|password|secret)(?!.*_env$)", re.IGNORECASE)


def overridden(document: Document, settings: Sequence[str]) -> Document:
    """The document with each `path=value` in place: a path has names and numbers of entries with dots between, and
    the value is YAML. What is wrong with such a value is reported by its path."""
    value, stated = copy.deepcopy(document.value), dict(document.stated)
    for setting in settings:
        path, sign, text = (part.strip() for part in setting.partition("="))
        if not sign or not path:
            raise MedjuryError(f"--set {setting}: write it as PATH=VALUE, such as budget.calls=50")
        named = f"--set {path}"
        if not text:
            raise MedjuryError(
                f"{named}: there is no value after the =; {path}=null removes what the file states"
            )
        if _SECRET.search(path) or ("@" in text and "://" in text):
            raise MedjuryError(
                f"{named}: this may hold a password, which the run's manifest would keep; write it into the study "
                "file, or name an environment variable there"
            )
        place = _place(path)
        _put(value, place, parse_document(text, named).value, named)
        stated[place] = named
    return replace(document, value=value, stated=stated)


def _place(path: str) -> Place:
    """`judges.0.model` and `judges[0].model` alike."""
    steps = re.sub(r"\[(\d+)\]", r".\1", path).split(".")
    return tuple(int(step) if step.isdecimal() else step for step in steps)


def _put(value: Any, place: Place, new: Any, named: str) -> None:
    for number, step in enumerate(place, start=1):
        here = ".".join(map(str, place[:number]))
        if isinstance(value, list):
            step = _entry(value, step, here, named)
        elif not isinstance(value, dict) or not isinstance(step, str):
            raise MedjuryError(
                f"{named}: {here} cannot be set: what is above it in the study file has no parts"
            )
        if number == len(place):
            value[step] = new
        else:
            if isinstance(value, dict) and value.get(step) is None:
                value[step] = {}
            value = value[step]


def _entry(value: list[Any], step: str | int, here: str, named: str) -> int:
    """The number of an entry that is there; nothing is appended, for a gap would be filled by guessing."""
    if not isinstance(step, int) or step >= len(value):
        entries = "one entry, number 0" if len(value) == 1 else f"{len(value)} entries, numbered from 0"
        raise MedjuryError(f"{named}: {here} cannot be set: the list has {entries}")
    return step

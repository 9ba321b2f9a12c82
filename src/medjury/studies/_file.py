"""The study file as it is written: every setting, its default and its limits. Words only; nothing is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from medjury.judging import UNTOUCHABLE, Truncation
from medjury.runs import ConsensusRule, DangerBy, GateRules, ReportSettings

_RULES, _SHOWN = GateRules(), ReportSettings()
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")]
ModelCheck = Literal["tell", "strict"]


class Part(BaseModel):
    """A part of the file: what it does not know is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CasesPart(Part):
    """Where the cases are; `mapping` renames a hospital's own columns."""

    path: str
    mapping: dict[str, Any] | None = None


class PricePart(Part):
    """Money per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class ModelPart(Part):
    """A model: its kind and the kind's own options (url, model, key variable and so on), how it is asked, how
    fast, and what it costs. A role of a strategy is one."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    seed: int | None = 0
    max_tokens: int = Field(default=1024, ge=1)
    reasks: int = Field(default=2, ge=0, le=2)
    concurrency: int | None = Field(default=None, ge=1, le=1024)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price: PricePart | None = None

    @model_validator(mode="before")
    @classmethod
    def _a_whole_number_is_the_window(cls, value: Any) -> Any:
        if isinstance(value, dict) and type(value.get("context")) is int:
            return {**{k: v for k, v in value.items() if k != "context"}, "context_window": value["context"]}
        return value

    @property
    def options(self) -> dict[str, Any]:
        """What goes to the endpoint kind."""
        return dict(self.model_extra or {})

    def options_in(self, folder: Path) -> dict[str, Any]:
        """The same; a file of recorded answers lies where the study file does."""
        options = self.options
        if self.kind == "recorded" and isinstance(options.get("file"), str):
            options["file"] = str(folder / options["file"])
        return options


class ContextPart(Part):
    """What is done with a record that is too long for the model: `refuse`, or `truncate` the notes (or the text of
    that name) and `keep` what is worth most. See docs/judging/context-windows.md."""

    truncate: str | None = None
    keep: Literal["newest", "oldest", "both_ends"] = "newest"

    @model_validator(mode="before")
    @classmethod
    def _refuse_is_enough(cls, value: Any) -> Any:
        if value == "refuse":
            return {}
        if not isinstance(value, dict | ContextPart):
            raise ValueError("is `refuse`, or a rule such as `{truncate: notes, keep: newest}`")
        return value

    @field_validator("truncate")
    @classmethod
    def _not_what_is_judged(cls, value: str | None) -> str | None:
        if value in UNTOUCHABLE:
            raise ValueError(f"the {value} is never cut; `notes`, or the name of another text, can be")
        return value

    @property
    def truncation(self) -> Truncation | None:
        return None if self.truncate is None else Truncation(self.truncate, self.keep)


class ExamplesPart(Part):
    """Worked examples: `own` are the instrument's, `shots` are drawn from what clinicians rated, out of a `share`
    of it or the named `cases`, which are then no part of the validation: see docs/judging/examples.md."""

    own: bool = False
    shots: int = Field(default=3, ge=0, le=100)
    draw: Literal["random", "stratified", "nearest"] = "random"
    seed: int = 0
    share: float | None = Field(default=None, gt=0, le=1)
    cases: list[str] | str | None = None
    dimension: str | None = None
    clinicians: int = Field(default=2, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _a_number_or_yes_is_enough(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {"own": value, "shots": 0}
        if isinstance(value, int):
            return {"shots": value}
        if not isinstance(value, dict | ExamplesPart):
            raise ValueError(
                "is a number of shots, `true` for the instrument's own, or `{shots: 3, draw: nearest}`"
            )
        return value

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> ExamplesPart:
        if self.share is not None and self.cases is not None:
            raise ValueError("`share` and `cases` both say which cases may be shown; keep one of them")
        return self


class JudgePart(ModelPart):
    """One judge: a model and the way it judges. `strategy` is a word, or a word with its settings; what they
    are is said by the strategy itself (see `_strategies`)."""

    name: Name | None = None
    instrument: str | None = None  # other words on the same scale, such as a tuned prompt
    explain: bool | Literal["after"] = True
    per_dimension: bool = False
    strategy: dict[str, Any] = {"name": "single"}
    examples: ExamplesPart | None = None
    context: ContextPart = ContextPart()
    model_check: ModelCheck | None = None

    @field_validator("strategy", mode="before")
    @classmethod
    def _a_bare_word_is_enough(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, dict) and not isinstance(value.get("name"), str):
            raise ValueError("needs a `name`: the way of judging")
        if not isinstance(value, dict):
            raise ValueError("is a word such as `repeats`, or a word with settings: `{name: repeats, n: 3}`")
        return value


class DraftingPart(ModelPart):
    """The model that writes the answers which are then judged, what it writes them from, and of which parts they
    consist: see docs/judging/drafting.md."""

    system: Name | None = None  # the name under which the drafts are judged; by default the model's
    notes: int = Field(default=3, ge=0, le=1000)
    minimum_characters: int = Field(default=3500, ge=0)
    specialty_first: bool = True
    kinds: list[str] = []  # only notes whose kind names one of these, such as `progress note`
    labs: int = Field(default=20, ge=0, le=10_000)
    as_of: str | None = None
    max_age_days: int | None = Field(default=None, ge=0)
    sections: list[Literal["assessment", "recommendations", "contingency", "citations"]] = Field(
        default=["assessment", "recommendations", "contingency", "citations"], min_length=1
    )
    instructions: str = ""
    question: str = "question"
    specialty: str = "specialty"
    inputs: list[str] = []
    existing: Literal["refuse", "keep"] = "refuse"
    context: ContextPart = ContextPart()
    max_tokens: int = Field(default=2048, ge=1)

    @model_validator(mode="after")
    def _an_age_needs_a_day(self) -> DraftingPart:
        if self.max_age_days is not None and self.as_of is None:
            raise ValueError("max_age_days counts back from the day of the question; name it in `as_of`")
        return self


class JuryPart(Part):
    """How votes become one rating: those of its `members`, or, where none is named, of all judges."""

    name: Name = "jury"
    members: list[Name] | None = Field(default=None, min_length=1)
    aggregate: Literal["mean", "median", "majority"] = "mean"
    quorum: int | None = Field(default=None, ge=1)


class NamedJuryPart(JuryPart):
    """One of several juries: it has a name, and says who votes in it."""

    name: Name
    members: list[Name] = Field(min_length=1)


class HumansPart(Part):
    """Clinicians' ratings of the same cases, and who is who among them: see docs/roles.md."""

    path: str
    mapping: str | None = None
    keep_names: bool = False
    on_bad: Literal["refuse", "unscored"] = "refuse"
    on_unknown: Literal["refuse", "drop"] = "refuse"
    illustrative: bool = False  # made up for a demonstration: the report says so
    reference: str | list[str] = "clinicians"
    second_panel: str | list[str] | None = None
    consensus: ConsensusRule = "mean"
    adjudicator: str | None = None
    labels: dict[Name, str] = {}

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


class BudgetPart(Part):
    """The run stops asking at either cap and is then INCOMPLETE."""

    money: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)


class GatePart(Part):
    """What must be shown before the jury may be trusted: see docs/report.md. State it before the run."""

    minimum_cases: int = Field(default=_RULES.minimum_cases, ge=1)
    minimum_clinicians: int = Field(default=_RULES.minimum_clinicians, ge=1)
    minimum_doubly_rated: int = Field(default=_RULES.minimum_doubly_rated, ge=0)
    statistic: Literal["kappa_quadratic", "icc_2_1", "spearman"] = "kappa_quadratic"
    floor: float = Field(default=_RULES.floor, ge=-1, le=1)
    margin: float = Field(default=_RULES.margin, gt=0, le=2)
    within_floor: float = Field(default=_RULES.within_floor, ge=0, lt=1)
    offset_limit: float = Field(default=_RULES.offset_limit, gt=0, le=1)
    severe_limit: float = Field(default=_RULES.severe_limit, ge=0, le=1)
    danger: float = Field(default=_RULES.danger, ge=0, lt=1)
    danger_by: DangerBy = _RULES.danger_by
    gap: float = Field(default=_RULES.gap, gt=0, le=1)
    coverage: float = Field(default=_RULES.coverage, ge=0, le=1)
    copy_limit: float = Field(default=_RULES.copy_limit, gt=0, le=1)
    parts: list[str] | None = None
    severe_dimensions: list[str] | None = None
    development_cases: list[str] | str = []


class ReportPart(Part):
    """What the report shows: see docs/report.md."""

    clinician_cost_per_hour: float | None = Field(default=None, ge=0)
    clinician_minutes_per_case: float | None = Field(default=None, gt=0)
    system_vendors: dict[str, str] | None = None
    rank_by: list[str] | None = Field(default=None, min_length=1)
    cases_shown: int = Field(default=_SHOWN.cases_shown, ge=0, le=500)
    hide_texts: bool = False
    png: bool = False
    resamples: int = Field(default=_SHOWN.resamples, ge=200, le=100_000)
    seed: int = 0

    @field_validator("rank_by", mode="before")
    @classmethod
    def _one_name_is_enough(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class AssignPart(Part):
    """Who rates which case: everyone all; `per_case` of them; everyone an `overlap` (a share below 1, or a number
    of cases) and one of them each of the rest; or fixed `pairs`."""

    per_case: int | None = Field(default=None, ge=1, le=1000)
    overlap: float | None = Field(default=None, gt=0)
    pairs: bool = False

    @model_validator(mode="before")
    @classmethod
    def _a_word_is_enough(cls, value: Any) -> Any:
        if value in ("all", "pairs"):
            return {"pairs": value == "pairs"}
        if not isinstance(value, dict | AssignPart):
            raise ValueError("is `all`, `pairs`, `{per_case: 2}` or `{overlap: 0.2}`")
        return value

    @model_validator(mode="after")
    def _one_design(self) -> AssignPart:
        if sum((self.per_case is not None, self.overlap is not None, self.pairs)) > 1:
            raise ValueError(
                "`per_case`, `overlap` and `pairs` each say who rates which case; keep one of them"
            )
        if self.overlap is not None and self.overlap >= 1 and self.overlap != int(self.overlap):
            raise ValueError("an `overlap` is a share below 1, such as 0.2, or a whole number of cases")
        return self


class KeyPart(Part):
    """The right grades of a training case (null: not applicable), and why."""

    case: str
    system: str | None = None
    grades: dict[str, int | None] = Field(min_length=1)
    reason: str = ""


class RoundPart(Part):
    """One round of a panel. `cases` are ids (or a file of them), `file` is a file of cases of the round's own,
    `draw` a file of `medjury plan review`, of which the drawn answers are rated; without any of them it has all
    cases of the study that no training or calibration round uses."""

    name: Name
    kind: Literal["training", "calibration", "rating", "rescore"] = "rating"
    assign: AssignPart = AssignPart()
    cases: list[str] | str | None = None
    file: CasesPart | None = None
    draw: str | None = Field(default=None, min_length=1)
    show: list[str] | None = Field(default=None, min_length=1)
    key: list[KeyPart] = []
    pass_mark: float | None = Field(default=None, gt=0, le=1)
    within: int = Field(default=0, ge=0, le=10)  # how far from the key a grade may lie and still be right

    @field_validator("file", mode="before")
    @classmethod
    def _a_bare_path_is_enough(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _what_belongs_to_its_kind(self) -> RoundPart:
        if self.kind in ("training", "calibration"):
            if self.assign != AssignPart():
                raise ValueError(f"everyone rates every case of a {self.kind} round; take `assign` out")
            if self.draw is not None:
                raise ValueError(f"a {self.kind} round is not part of the study; take `draw` out")
            if self.cases is None and self.file is None:
                raise ValueError(f"a {self.kind} round needs its own `cases` (ids) or `file`")
        if (self.kind == "training") != bool(self.key):
            raise ValueError("a training round, and no other, needs a `key`: the right grades of its cases")
        if self.pass_mark is not None and self.kind != "training":
            raise ValueError("only a training round has a `pass_mark`")
        stated = [name for name in ("cases", "file", "draw") if getattr(self, name) is not None]
        if len(stated) > 1:
            raise ValueError(
                f"`{stated[0]}` and `{stated[1]}` both say which cases are rated; keep one of them"
            )
        return self


Justification = Literal["none", "optional", "required"]


class PanelTextsPart(Part):
    """What raters read besides the instrument: on their first page, above the form, and at the end."""

    welcome: str = ""
    task: str = ""
    thanks: str = ""


class MeetingPart(Part):
    """Which differences between raters are settled once a round is closed, by whom, and whether they see names."""

    differ: Literal["any", "more_than_one_grade", "danger"] = "any"
    by: Literal["raters", "adjudicator"] = "raters"
    names: bool = False


class ConditionPart(Part):
    """`{dimension: concordant, is: 1}`: only after this grade."""

    dimension: str
    equals: int = Field(alias="is")


class QuestionPart(Part):
    """A question that is asked only after a grade. `between` are two texts, shown in either order without a name;
    `choices` then are what can be said besides the left and the right one."""

    name: Name
    ask: str = Field(min_length=1)
    when: ConditionPart
    between: tuple[str, str] | None = None
    choices: list[Annotated[str, Field(min_length=1)]] = []

    @model_validator(mode="after")
    def _something_to_choose(self) -> QuestionPart:
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("a choice appears twice; keep one of them")
        if self.between is None and len(self.choices) < 2:
            raise ValueError("needs two `choices` or more, or two texts under `between`")
        if self.between is not None and {"left", "right"} & set(self.choices):
            raise ValueError("with `between`, left and right are choices already; take them out of `choices`")
        if self.between is not None and self.between[0] == self.between[1]:
            raise ValueError("`between` names the same text twice")
        return self


class ReferencesPart(Part):
    """Panels that write the reference: the texts of the record that they read, the text that holds the routine
    diagnosis, and how many of a case's answers they score, drawn by chance (without it: all)."""

    show: list[str] = Field(min_length=1)
    routine: str | None = None
    answers: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _nothing_too_early(self) -> ReferencesPart:
        late = {"candidate", "answer", "reference", *([self.routine] if self.routine else [])}
        if too_early := [name for name in self.show if name in late]:
            raise ValueError(f"`show` is what members read first; {too_early[0]!r} comes later. Take it out.")
        return self


class PanelPart(Part):
    """How clinicians rate in the browser: see docs/panel.md. Without it everyone rates every case, blind. Where
    panels write references and no round is named, there is none."""

    rounds: list[RoundPart] = [RoundPart(name="rating")]
    meeting: MeetingPart = MeetingPart()
    questions: list[QuestionPart] = []
    references: ReferencesPart | None = None
    seed: int = 0
    blind_words: list[Annotated[str, Field(min_length=2)]] = []
    justification: Justification | dict[str, Justification] = "optional"
    differences: bool | None = (
        None  # mark what differs between reference and answer; by default for transcripts
    )
    examples: bool = True
    minutes_idle: float = Field(default=3.0, gt=0, le=60)
    texts: PanelTextsPart = PanelTextsPart()

    @model_validator(mode="before")
    @classmethod
    def _references_need_no_round(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("references") and "rounds" not in value:
            return {**value, "rounds": []}
        return value

    @model_validator(mode="after")
    def _rounds_have_names(self) -> PanelPart:
        if not self.rounds and self.references is None:
            raise ValueError("there is no round; name one, or take `rounds` out")
        for kind, names in (
            ("rounds", [each.name for each in self.rounds]),
            ("questions", [each.name for each in self.questions]),
        ):
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"two {kind} are called {twice[0]!r}; give each a name of its own")
        return self


class StudyFile(Part):
    """The whole file."""

    study: Name
    cases: CasesPart
    instrument: str
    dimensions: list[str] | None = Field(default=None, min_length=1)
    judges: list[JudgePart] = Field(min_length=1)
    jury: JuryPart | None = JuryPart()  # None: the judges stand side by side
    juries: list[NamedJuryPart] | None = Field(default=None, min_length=1)
    repeats: int = Field(default=1, ge=1, le=1000)
    metrics: list[
        str | dict[str, str]
    ] = []  # text metrics that rate beside the judges: see docs/text-metrics.md
    drafting: DraftingPart | None = None
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
    model_check: ModelCheck = "tell"  # whether another model's answer is told, or is no answer
    examples: ExamplesPart | None = None
    gate: GatePart = GatePart()
    protocol: str | None = None  # the file that `medjury register` wrote; by default the one beside the study
    report: ReportPart = ReportPart()
    panel: PanelPart = PanelPart()
    tuning: dict[str, Any] | None = None  # how a judge is improved on labelled cases: see docs/tuning.md

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

"""All that a tuning needs before its first question: labelled cases, their split, the objective, the judge."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from medjury.foundation.documents import nearest, read_document, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument
from medjury.judging import PROMPT_VERSION, Rater
from medjury.studies import Humans, ModelPart, Study, touched_marks
from medjury.tuning._labelled import LabelledCases, graded, labelled_cases
from medjury.tuning._objective import Objective, make_objective
from medjury.tuning._search.gepa import need
from medjury.tuning._search.texts import editable_texts
from medjury.tuning._session import Writer
from medjury.tuning._settings import TuningPart
from medjury.tuning._splits import Split, split_cases

_WRITER_TOKENS = 4096


def read_settings(study: Study, **stated: object) -> TuningPart:
    """The part `tuning:` of the study file; what is `stated` on the command line goes before it."""
    said = {
        **(study.settings.tuning or {}),
        **{name: value for name, value in stated.items() if value is not None},
    }
    return validate_part(read_document(study.file), ("tuning",), said, TuningPart)


@dataclass(frozen=True)
class Preparation:
    """`judge` is the study's judge as it is; `settings_hash` tells one tuning from another."""

    study: Study
    part: TuningPart
    place: int
    instrument: Instrument
    dimensions: tuple[Dimension, ...]
    humans: Humans
    labelled: LabelledCases
    split: Split
    objective: Objective
    writer: Writer
    writer_part: ModelPart
    folder: Path
    settings_hash: str

    @property
    def judge(self) -> Rater:
        return self.study.jury.judges[self.place]


def prepare(
    study: Study, part: TuningPart, *, out: str | Path | None = None, rehearse: bool = False
) -> Preparation:
    """Everything short of the first question; a rehearsal writes nothing."""
    need("gepa" if part.way == "gepa" else "optuna")
    place = study.judge_place(part.judge)
    instrument = study.jury.judges[place].instrument
    names = [each.name for each in instrument.dimensions]
    for name in part.dimensions or ():
        if name not in names:
            raise MedjuryError(
                f"{study.file}: tuning.dimensions: no dimension {name!r}; {nearest(name, names)}"
            )
    if part.way == "examples" and part.dimensions is not None and set(part.dimensions) != set(names):
        raise MedjuryError(
            f"{study.file}: an example has a grade on every dimension; take `tuning.dimensions` out, or name the "
            "study's own `dimensions`"
        )
    editable_texts(instrument, part.texts)
    dimensions = graded(instrument, part.dimensions or names)
    humans = Humans.read(study, rehearse=rehearse)
    labelled = labelled_cases(study, humans, [each.name for each in dimensions], part.group)
    assert humans is not None
    split = split_cases(
        labelled.cases,
        dimensions,
        sizes=part.split,
        seed=part.seed,
        group=part.group,
        seen_before=touched_marks(instrument),
    )
    objective = make_objective(part.objective, instrument, dimensions, split.training, part.cost_matrix)
    study.rater_with(place, instrument)  # what cannot be tuned is refused here
    writer, writer_part = _writer(study, part, place)
    stated = {
        "part": part.described(),
        "judge": study.jury.judges[place].settings_hash(),
        "instrument": instrument.fingerprint(),
        "split": split.hash(),
        "writer": dict(writer.model.identity),
        "prompt": PROMPT_VERSION,
    }
    digest = hashlib.sha256(json.dumps(stated, sort_keys=True, default=str).encode()).hexdigest()
    named = out or part.output
    base = study.file.resolve().parent
    folder = study.output.with_name(f"{study.output.name}-tuning") if named is None else base / named
    return Preparation(
        study, part, place, instrument, dimensions, humans, labelled, split, objective, writer, writer_part,
        folder if out is None else Path(out), digest,
    )  # fmt: skip


def _writer(study: Study, part: TuningPart, place: int) -> tuple[Writer, ModelPart]:
    """The model that writes prompts: the one that is named, else the judge's own first model."""
    if part.reflector is not None:
        model, how = study.model_of(part.reflector, "reflector")
    else:
        model = study.jury.judges[place].models[0]
        how = next(each for known, each in study.models if known is model)
    tokens = (
        max(how.max_tokens, _WRITER_TOKENS) if "max_tokens" not in how.model_fields_set else how.max_tokens
    )
    # Drawn, not repeated: several proposals for the same misses must differ.
    temperature = (
        how.temperature if "temperature" in how.model_fields_set and part.reflector is not None else 1.0
    )
    return Writer(model, temperature, how.seed, tokens), how
